# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
"""Man pages from the words of the public header: an overview, one for each function, for the types and for info keys;
and one of the Fortran module, from its sources.

man3.py HEADER VERSION FOLDER [--list]      --list prints the files that it would write
"""

import re
import sys
from pathlib import Path

import header
import manf

START = '.\\" SPDX-FileCopyrightText: 2026 the Tide authors\n.\\" SPDX-License-Identifier: BSD-3-Clause\n'
START += '.\\" Made from mpix_tide.h.\n'
ARGUMENT = re.compile(r"^  ([a-z_0-9]+(?:, [a-z_0-9]+)*) +(in|out)(?:  +(.*))?$")
LABEL = re.compile(r"^(Errors|Completion|Layout|Arithmetic|Order)\b.*")


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def flowed(lines):
    """Running text, one sentence a line."""
    text = re.sub(r"\s+", " ", " ".join(line.strip() for line in lines)).strip()
    return roff(re.sub(r"([.:;]) (?=[A-Z])", r"\1\n", text)) + "\n" if text else ""


def shown(lines):
    """Lines that are shown as they are."""
    return ".EX\n" + roff("\n".join(lines)) + "\n.EE\n"


def blocks(lines):
    """('text' | 'argument' | 'shown', lines) in their order; an argument's first line is (name, direction)."""
    result = []
    for line in lines:
        argument = ARGUMENT.match(line)
        kind = result[-1][0] if result else None
        if argument:
            result.append(("argument", [argument.groups()[:2], argument.group(3) or ""]))
        elif kind == "argument" and line.startswith("    "):
            result[-1][1].append(line)
        elif kind == "text" and result[-1][1][0].startswith("Errors"):
            result[-1][1].append(line)
        elif line.startswith("  "):
            if kind != "shown":
                result.append(("shown", []))
            result[-1][1].append(line)
        elif kind != "text" or LABEL.match(line):
            result.append(("text", [line]))
        else:
            result[-1][1].append(line)
    return result


def split_errors(entry_blocks):
    """Takes what follows "Errors:" out of the text; there it may stand inside a line."""
    rest, errors = [], []
    for kind, lines in entry_blocks:
        if kind == "text":
            text = " ".join(line.strip() for line in lines)
            text, found, problem = text.partition("Errors: ")
            if found:
                errors.append(problem)
            lines = [text] if text.strip() else []
        if lines:
            rest.append((kind, lines))
    return rest, errors


def body(parts):
    text, first = "", True
    for kind, lines in parts:
        if kind == "argument":
            (name, direction), words = lines[0], lines[1:]
            text += f".TP\n.IR {name} \" ({direction})\"\n" + flowed(words)
            if not "".join(words).strip():
                text += "the group\n"
        else:
            text += "" if first else ".PP\n"
            text += flowed(lines) if kind == "text" else shown(lines)
        first = False
    return text


def brief(words):
    text = re.sub(r" \([^)]*\)", "", " ".join(words))
    text = re.split(r"\.(?:\s|$)|:|;", text)[0].strip()
    return roff(text[0].lower() + text[1:])


def declaration(text):
    lines = text.splitlines()
    return "\n".join([lines[0]] + ["    " + line.strip() for line in lines[1:]]) + ";"


def page(name, volume, version, text):
    return f'{START}.TH {roff(name)} {volume} "" "Tide {version}" "Tide"\n{text}'


def structures(section):
    return re.findall(r"^typedef struct .*?^\} \w+;", section.text, re.S | re.M)


def function_page(entry, section, version):
    names = entry.names()
    if not "".join(entry.words).strip():
        sys.exit(f"mpix_tide.h has no words before {names[0]}: write a comment that says what it does")
    words = [line.replace("table below", "tide_environment(7)") for line in entry.words]
    parts, errors = split_errors(blocks(words))
    text = f".SH NAME\n{', '.join(names)} \\- {brief(entry.words)}\n.SH SYNOPSIS\n.nf\n.B #include <mpix_tide.h>\n.PP\n"
    text += "".join(f"\\fB{roff(line)}\\fR\n" for d in entry.declarations for line in declaration(d).splitlines())
    text += ".fi\n"
    for structure in structures(section):
        if any(structure.split()[2] in d for d in entry.declarations):
            text += ".PP\n" + shown(structure.splitlines())
    text += ".SH DESCRIPTION\n" + body(parts)
    if section.notes:
        text += ".SH NOTES\n" + body(split_errors(blocks(section.notes))[0])
        errors += split_errors(blocks(section.notes))[1]
    if "const char*" not in entry.declarations[0].split("(")[0]:
        text += ".SH RETURN VALUE\nMPI_SUCCESS or an MPI error code, after the error handler was called.\n"
        text += ".BR mpix_tide (3)\nexplains the words and the classes of errors.\n"
    if errors:
        text += ".SH ERRORS\n" + ".PP\n".join(flowed([e]) for e in errors)
    others = [e.names()[0] for e in section.entries if e is not entry]
    related = [f"{n} (3)" for n in sorted(others)] + ["mpix_tide (3)", "mpix_tide_types (3)", "tide_environment (7)"]
    text += ".SH SEE ALSO\n" + ",\n".join(f".BR {name}" for name in related) + "\n"
    return page(names[0], 3, version, text)


def types_page(section, version):
    text = section.text.split("\n", 2)[2].rstrip()
    text = f""".SH NAME
mpix_tide_types \\- handles, constants and structures of mpix_tide.h
.SH SYNOPSIS
.B #include <mpix_tide.h>
.SH DESCRIPTION
{shown(text.splitlines())}.SH SEE ALSO
.BR mpix_tide (3)
"""
    return page("mpix_tide_types", 3, version, text)


def keys_page(section, version):
    """The table of info keys: rows of a name and words, as a list."""
    text, opened = "", False
    for line in section.notes:
        row = re.match(r"^  ((?:tide|TIDE|mpi)_\w+(?:, tide_\w+)*,?) *(.*)$", line)
        if row:
            text += f".TP\n.B {roff(row.group(1))}\n" + (roff(row.group(2)) + "\n" if row.group(2) else "")
        elif line.startswith("    "):
            name = re.match(r"^ +(tide_\w+(?:, tide_\w+)*)$", line)
            text += f".br\n.B {roff(name.group(1))}\n" if name else roff(line.strip()) + "\n"
        else:
            opened = opened and not line.startswith(("For ", "Environment "))
            text += ("" if opened or not text else ".PP\n") + roff(line.strip()) + "\n"
            opened = True
    text = f""".SH NAME
tide_environment \\- info keys and environment variables of Tide
.SH DESCRIPTION
{text}.SH SEE ALSO
.BR tide\\-info (1),
.BR mpix_tide (3)
"""
    return page("tide_environment", 7, version, text)


def opening(text):
    """What the header says before its first declaration of all functions: terms, errors, progress, time limit."""
    lines = header.comment_lines(re.search(r"/\* Tide: (.*?)\*/", text, re.S).group(1))
    lines = lines[lines.index("Terms used below") + 1 :]
    result = ".SH TERMS\n"
    while lines:
        line = lines.pop(0)
        term = re.match(r"^  (\w+) {3,}(.*)$", line)
        if term:
            result += f".TP\n.B {term.group(1)}\n" + roff(term.group(2)) + "\n"
        elif re.match(r"^[A-Z][a-z ]+$", line):
            result += f".SH {line.upper()}\n"
        elif not line:
            result += ".PP\n" if lines and not re.match(r"^[A-Z][a-z ]+$", lines[0]) else ""
        else:
            result += roff(line.strip()) + "\n"
    return result


def pages(text, version, overview):
    result = {"man3/mpix_tide.3": overview.replace("@WORDS@\n", opening(text)).replace("@VERSION@", version)}
    for section in header.sections(text):
        for entry in section.entries:
            names = entry.names()
            result[f"man3/{names[0]}.3"] = function_page(entry, section, version)
            for name in names[1:]:
                result[f"man3/{name}.3"] = f".so man3/{names[0]}.3\n"
        if section.title.startswith("Handles"):
            result["man3/mpix_tide_types.3"] = types_page(section, version)
            for name in sorted(set(re.findall(r"\} (MPIX_Tide_\w+);|\* (MPIX_Tide_\w+);", section.text))):
                result[f"man3/{''.join(name)}.3"] = ".so man3/mpix_tide_types.3\n"
        elif section.title.startswith("Info keys"):
            result["man7/tide_environment.7"] = keys_page(section, version)
        else:
            for name in (s.split()[2] for s in structures(section)):
                user = next(e for e in section.entries if any(name in d for d in e.declarations))
                result[f"man3/{name}.3"] = f".so man3/{user.names()[0]}.3\n"
    return result


def fortran_pages(header_file, version):
    folder = Path(header_file).parents[1] / "bindings/fortran"
    return {"man3/mpix_tide_fortran.3": manf.page(folder, version, page)}


def main():
    header_file, version, folder = sys.argv[1:4]
    overview = Path(__file__).with_name("mpix_tide.3.in").read_text()
    made = pages(Path(header_file).read_text(), version, overview)
    made |= fortran_pages(Path(header_file).resolve(), version)
    for name, text in made.items():
        file = Path(folder, name)
        if "--list" in sys.argv:
            print(file)
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


if __name__ == "__main__":
    main()
