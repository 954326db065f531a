# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
"""The page of the functions, from the words of the public header."""

import re
from pathlib import Path

import header
import man3


def code(text, language=""):
    return f"```{language}\n{text}\n```\n\n"


def plain(lines):
    """Running text; what Markdown would read as a mark stands for itself."""
    text = re.sub(r"\s+", " ", " ".join(lines)).strip()
    return re.sub(r"([\\`*_<>\[\]|])", r"\\\1", text)


def words(lines):
    result, parts = "", man3.blocks(lines)
    for (kind, content), (following, _) in zip(parts, parts[1:] + [("", [])]):
        if kind == "argument":
            (name, direction), text = content[0], content[1:]
            result += f"- **{plain([name])}** ({direction}): {plain(text)}".rstrip(": ") + "\n"
            result += "" if following == "argument" else "\n"
        else:
            result += plain(content) + "\n\n" if kind == "text" else code("\n".join(content))
    return result


def markdown(text):
    result = ""
    for section in header.sections(text):
        result += f"## {section.title}\n\n"
        if not section.entries and section.title.startswith("Handles"):
            result += code(section.text.split("\n", 2)[2].rstrip(), "c")
            continue
        result += words(section.notes) if section.entries else code("\n".join(section.notes))
        for entry in section.entries:
            result += "### " + ", ".join(plain([n]) for n in entry.names()) + "\n\n"
            result += code("\n".join(man3.declaration(d) for d in entry.declarations), "c")
            result += words(entry.words)
    return result


def fill(app, name, source):
    if name == "share/site/api":
        source[0] += markdown(Path(app.srcdir, "include/mpix_tide.h").read_text())
