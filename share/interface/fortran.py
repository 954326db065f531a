# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
"""Reads bindings/fortran: the public names of module mpix_tide, their procedures, arguments and words."""

import re
from dataclasses import dataclass, field
from pathlib import Path

PROCEDURE = re.compile(
    r"(?P<words>(?:^ *!> .*\n)*)^  +(?P<head>[^!\n]*?)\b(?P<kind>subroutine|function) (?P<name>\w+)\((?P<arguments>[^)]*)\)"
    r"(?: result\((?P<result>\w+)\))?(?P<tail>[^\n]*)\n(?P<body>[\s\S]*?)^ +end (?P=kind)",
    re.M,
)
INTERFACE = re.compile(r"((?:^ *!> .*\n)*)^  interface (\w+)\n +procedure ([^\n]*(?:&\n[^\n]*)*)\n", re.M)
DECLARATION = re.compile(r"^ +([^!\n]*?) :: ([^!\n]*)(?:!< *(.*))?$", re.M)


@dataclass
class Argument:
    name: str
    form: str  # "type(MPI_Comm), intent(in)"
    shape: str = ""
    words: str = ""


@dataclass
class Procedure:
    name: str
    arguments: list
    words: list = field(default_factory=list)
    result: str = ""  # a function's type


def spread(names):
    """Names of a declaration with their shapes: "ptrs, base" or "offsets(:), total_bytes"."""
    return [(m.group(1), m.group(2) or "") for m in re.finditer(r"(\w+)(\([^)]*\))?", names)]


def procedures(text):
    found = {}
    for m in PROCEDURE.finditer(text.replace("&\n", " ")):
        declared = {}
        for form, names, words in DECLARATION.findall(m.group("body")):
            for name, shape in spread(names.split("=")[0]):
                declared.setdefault(name, Argument(name, form, shape, words))
        order = [a.strip() for a in m.group("arguments").split(",") if a.strip()]
        result = ""
        if m.group("kind") == "function":
            name = m.group("result") or m.group("name")
            result = m.group("head").replace("elemental ", "").strip()
            result = result or declared[name].form.replace(", allocatable", "")
        words = [line.strip()[3:] for line in m.group("words").splitlines()]
        found[m.group("name")] = Procedure(m.group("name"), [declared[a] for a in order], words, result)
    return found


def public_names(text):
    """What a module offers: the names after `public ::`."""
    joined = re.sub(r" *& *\n *", " ", text)
    return [n.strip() for line in re.findall(r"^  public :: (.*)$", joined, re.M) for n in line.split(",")]


def interface_of(folder):
    """{name: (words, [Procedure, ...])} of module mpix_tide, in the order of its modules."""
    top = re.sub(r" *& *\n *", " ", (Path(folder) / "mpix_tide.f90").read_text())
    result = {}
    for module, only in re.findall(r"^  use tide_fortran_(\w+)(?:, only: (.*))?$", top, re.M):
        text = (Path(folder) / f"{module}.f90").read_text()
        known = procedures(text)
        generic = {m[1]: m for m in INTERFACE.findall(text)}
        for name in [n.strip() for n in only.split(",")] if only else public_names(text):
            if name in generic:
                words, _, specific = generic[name]
                specific = [known[s.strip()] for s in specific.replace("&", " ").split(",")]
                result[name] = ([line.strip()[3:] for line in words.splitlines()], specific)
            elif name in known:
                result[name] = (known[name].words, [known[name]])
    return result


def types_of(folder):
    """The public types with their words, without what is private to the module."""
    text = "".join((Path(folder) / f"{name}.f90").read_text() for name in ("types", "lists", "checkpoints"))
    text = re.sub(r"^.*, private :: .*\n|^  contains\n    procedure :: .*\n", "", text, flags=re.M)
    types = re.findall(r"(?:^  !> [^\n]*\n)*^  type, [^\n]*public :: MPIX_\w+\n.*?^  end type", text, re.S | re.M)
    return [re.sub(r"!([<>])", "!", t) for t in types]
