# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
"""Reads include/mpix_tide.h: sections, functions with their words, types and constants."""

import re
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"/\*(?P<comment>.*?)\*/"
    r"|^MPIX_TIDE_API (?P<function>.*?);"
    r"|^(?P<type>typedef .*?;|enum \{.*?\};)(?=\s*\n(?!\s))"
    r"|^#define (?P<macro>(?:[^\n]*\\\n)*[^\n]*)$",
    re.S | re.M,
)


@dataclass
class Entry:
    """One comment and the functions it speaks of."""

    words: list  # lines, without the comment's own indentation
    declarations: list = field(default_factory=list)

    def names(self):
        return [re.search(r"(MPIX_Tide_\w+)\(", d).group(1) for d in self.declarations]


@dataclass
class Section:
    title: str
    notes: list = field(default_factory=list)
    entries: list = field(default_factory=list)
    text: str = ""


def comment_lines(text):
    lines = text.strip().splitlines()
    return [lines[0]] + [re.sub(r"^ {3}", "", line).rstrip() for line in lines[1:]]


def sections(header):
    """The sections between extern "C" and the profiling interface, which repeats the functions."""
    body = header[header.index('extern "C" {') : header.index("/* ---- Profiling interface")]
    parts = re.split(r"(?=^/\* ---- )", body, flags=re.M)[1:]
    return [section(part) for part in parts]


def section(part):
    title = re.match(r"/\* ---- (.*?) -{3,}", part).group(1)
    result = Section(title, text=part)
    waiting = None  # a comment whose functions have not come yet
    for token in TOKEN.finditer(part):
        comment, function = token.group("comment"), token.group("function")
        if comment is not None:
            comment = re.sub(r"^ ---- .*?-{3,}\s*", "   ", comment)
            if waiting:
                result.notes += waiting
            waiting = comment_lines(comment) if comment.strip() else None
        elif function is not None:
            if waiting or not result.entries:
                result.entries.append(Entry(waiting or []))
                waiting = None
            result.entries[-1].declarations.append(function)
        else:
            waiting = None  # of a type or a macro
    if waiting:
        result.notes += waiting
    return result


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)
