# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
"""Completion for bash and zsh from a tool's --help.

completion.py NAME HELP_FILE BASH_FILE ZSH_FILE
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

START = "# SPDX-FileCopyrightText: 2026 the Tide authors\n# SPDX-License-Identifier: BSD-3-Clause\n"


@dataclass
class Option:
    names: list
    value: str = ""  # "", "any", "file" or "choice"
    choices: tuple = ()
    several: bool = False  # a comma list
    words: str = ""


def option(line):
    form, _, words = line.strip().partition("  ")
    names, _, rest = form.partition(" ")
    names = re.sub(r"\{.*?\}", "", names).split(",")  # --no-x{false}: a flag that turns off
    rest = re.split(r"(?:^| )(?:Excludes|Needs|REQUIRED)\b", rest)[0].strip()
    choices = re.search(r"\{(.*?)\}", rest)
    result = Option(names, words=words.strip(), several=rest.endswith("..."))
    if choices:
        result.value = "choice"
        result.choices = tuple(re.sub(r"->.*", "", c) for c in choices.group(1).split(","))
    elif re.match(r"(FILE|PATH)\b", rest):
        result.value = "file"
    elif rest:
        result.value = "any"
    return result


def options(text):
    result, following = [], False
    for line in text.splitlines():
        if re.match(r"  -", line):
            result.append(option(line))
            following = True
        elif following and re.match(r" {4,}\S", line):
            result[-1].words = f"{result[-1].words} {line.strip()}".strip()
        else:
            following = False
    return result


def bash(name, known):
    function = "_" + name.replace("-", "_")
    cases = ""
    for o in known:
        if o.value:
            action = "COMPREPLY=()"
            if o.value == "file":
                action = 'mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames'
            if o.value == "choice":
                listed = f'COMPREPLY=($(compgen -P "$before" -W "{" ".join(o.choices)}" -- "${{cur##*,}}"))'
                before = 'case $cur in *,*) before=${cur%,*}, ;; esac; ' if o.several else ""
                action = before + listed
            cases += f"    {' | '.join(o.names)}) {action}; return ;;\n"
    every = " ".join(n for o in known for n in o.names)
    return f"""{START}# Made from {name} --help.
{function}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} before=
  if [ "$cur" = = ]; then cur=; elif [ "$prev" = = ]; then prev=${{COMP_WORDS[COMP_CWORD-2]}}; fi
  case $prev in
{cases}  esac
  COMPREPLY=($(compgen -W "{every}" -- "$cur"))
}}
complete -F {function} {name}
"""


def zsh(name, known):
    lines = []
    for o in known:
        words = re.sub(r"([\[\]:\\])", r"\\\1", o.words).replace("'", "'\\''")
        exclusive = f"'({' '.join(o.names)})'" if len(o.names) > 1 else ""
        form = "{" + ",".join(o.names) + "}" if len(o.names) > 1 else o.names[0]
        action = {"": "", "any": ":value: ", "file": ":file:_files"}.get(o.value)
        if o.value == "choice":
            listed = " ".join(o.choices)
            action = f":value:_values -s , value {listed}" if o.several else f":value:({listed})"
        lines.append(f"  {exclusive}{form}'[{words}]{action}'")
    return f"#compdef {name}\n{START}# Made from {name} --help.\n_arguments \\\n" + " \\\n".join(lines) + "\n"


def main():
    name, help_file, bash_file, zsh_file = sys.argv[1:]
    known = options(Path(help_file).read_text())
    Path(bash_file).write_text(bash(name, known))
    Path(zsh_file).write_text(zsh(name, known))


main()
