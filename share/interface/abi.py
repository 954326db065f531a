# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the C interface with the one that programs were compiled against (abi.txt), or records it there.

abi.py check|accept HEADER ABI_TXT COMPILER [ARGUMENT...]     the compiler finds mpi.h and tide_version.h with these

Sizes, offsets and values come from a compiled program; signatures and macros from the header's text, without the names
of arguments.  MPI's own types are named, not resolved: they are the MPI library's.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import header

HEAD = """# The C interface that programs are compiled against: functions, structures, constants, macros.  Checked by the
# test abi; rewritten by the target tide_abi_accept, after a change that was made on purpose.
"""


def split(text):
    """At the commas that stand in no parentheses."""
    parts, depth = [""], 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def parameter(text):
    """The type of a parameter: `const float x[]` is `const float *`."""
    text = " ".join(text.split())
    pointer_to_function = re.match(r"(.*)\(\*\w+\)\((.*)\)$", text)
    if pointer_to_function:
        inner = ", ".join(parameter(p) for p in split(pointer_to_function.group(2)))
        return f"{pointer_to_function.group(1).strip()} (*)({inner})"
    array = text.endswith("[]")
    text = text.removesuffix("[]") if array else text
    match = re.match(r"(.*[\s*])(\w+)$", text)
    type_of = match.group(1) if match and match.group(1).strip() not in ("const", "") else text
    return re.sub(r"\s*\*", "*", type_of.strip()) + ("*" if array else "")


def function(declaration):
    result, name, arguments = re.match(r"(.*?)(MPIX_Tide_\w+)\((.*)\)$", " ".join(declaration.split())).groups()
    return f"function {name}", f"{result.strip()} ({', '.join(parameter(p) for p in split(arguments))})"


def structures(text):
    """name: [(member, type, elements)]"""
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", text, re.S):
        members = []
        for line in filter(str.strip, body.split(";")):
            type_of, names = re.match(r"\s*((?:const )?\w+(?:\*| const)*)\s+(.*)", line, re.S).groups()
            for member in names.split(","):
                members.append((member.split("[")[0].strip(), type_of))
        yield name, members


def measured(text, compiler):
    """What only a compiler knows: {key: value}."""
    lines = []
    for name, members in structures(text):
        lines.append(f'printf("struct {name}: %zu bytes, aligned to %zu\\n", sizeof({name}), _Alignof({name}));')
        for member, type_of in members:
            place = f"offsetof({name}, {member}), sizeof((({name}*)0)->{member})"
            lines.append(f'printf("member {name}.{member}: {type_of} at %zu, %zu bytes\\n", {place});')
    for body in re.findall(r"enum \{(.*?)\};", text, re.S):
        for constant in re.findall(r"\bMPIX_TIDE_\w+", re.sub(r"=[^,]*", "", body)):
            lines.append(f'printf("constant {constant}: %ld\\n", (long){constant});')
    program = "#include <mpix_tide.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n"
    program += "\n".join(lines) + "\nreturn 0;\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        source, probe = Path(folder, "probe.c"), Path(folder, "probe")
        source.write_text(program)
        subprocess.run([*compiler, str(source), "-o", str(probe)], check=True)
        output = subprocess.run([str(probe)], check=True, capture_output=True, text=True).stdout
    return dict(line.split(": ", 1) for line in output.splitlines())


def described(header_text, compiler):
    sections = header.sections(header_text)
    text = header.without_comments("".join(s.text for s in sections))
    result = measured(text, compiler)
    for name, value in re.findall(r"^#define (MPIX_TIDE_\w+(?:\(.*?\))?) (.*)$", text, re.M):
        result[f"macro {name}"] = value.strip()
    for value, name in re.findall(r"^typedef (struct \w+\*) (MPIX_Tide_\w+);", text, re.M):
        result[f"handle {name}"] = value
    for section in sections:
        result |= dict(function(d) for e in section.entries for d in e.declarations)
    return result


def recorded(text):
    return dict(line.split(": ", 1) for line in text.splitlines() if not line.startswith("#"))


def extent(value):
    """First byte of a member, and the byte behind it."""
    first, size = map(int, re.search(r" at (\d+), (\d+) bytes", value).groups())
    return first, first + size


def from_reserve(key, value, old, new):
    """Whether a member stands in what its structure had reserved, or is the rest of that."""
    reserve = re.sub(r"\.\w+$", ".reserved", key)
    if reserve not in old or reserve not in new or extent(old[reserve])[1] != extent(new[reserve])[1]:
        return False
    return key == reserve or extent(value)[0] >= extent(old[reserve])[0]


def compare(old, new):
    """(what breaks programs that exist, what is merely new), as lines."""
    broken = [f"  gone     {k}: {v}" for k, v in old.items() if k not in new]
    added = []
    for key, value in new.items():
        member = key.startswith("member ")
        harmless = member and from_reserve(key, value, old, new)
        if key in old and old[key] != value:
            (added if harmless else broken).append(f"  changed  {key}: was {old[key]}, is {value}")
        elif key not in old:
            in_old_structure = member and f"struct {key.split()[1].split('.')[0]}" in old
            (added if harmless or not in_old_structure else broken).append(f"  new      {key}: {value}")
    return broken, added


def main():
    action, header_file, stored, *compiler = sys.argv[1:]
    new = described(Path(header_file).read_text(), compiler)
    if action == "accept":
        Path(stored).write_text(HEAD + "".join(f"{k}: {v}\n" for k, v in new.items()))
        return
    broken, added = compare(recorded(Path(stored).read_text()), new)
    if broken:
        print("Programs that were compiled against the recorded interface break:", *broken, sep="\n")
        print("If that is on purpose: raise the version so that the library's soname changes, say it in CHANGELOG.md,\n"
              "and record it: cmake --build BUILD --target tide_abi_accept")
    if added:
        print("New in the interface; programs go on working:", *added, sep="\n")
        print("Record it: cmake --build BUILD --target tide_abi_accept, and a line in CHANGELOG.md")
    print(f"{len(new)} entries compared with {stored}")
    sys.exit(1 if broken or added else 0)


main()
