#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# A test: bash offers every option that --help names, and the values that it lists.  check_bash.sh TOOL COMPLETION
set -eu
tool=$1
name=$(basename "$tool")
compopt() { :; } # refused outside a real completion
# shellcheck source=/dev/null
. "$2"
complete -p "$name" > /dev/null
fail() { echo "$name: $*"; exit 1; }
offers() { # offers WORDS... : what the last word is completed to
  COMP_WORDS=("$name" "$@") COMP_CWORD=$# COMPREPLY=()
  "_${name//-/_}" "$name" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
  echo " ${COMPREPLY[*]-} "
}
export ASAN_OPTIONS=detect_leaks=0
help=$("$tool" --help)
options=$(grep -oE '^  -[^ {]+' <<< "$help" | tr , '\n' | tr -d ' ')
[ "$(wc -w <<< "$options")" -ge 10 ] || fail "--help has too few options: $options"
all=$(offers -)
for option in $options; do
  case $all in *" $option "*) ;; *) fail "$option is not offered:$all" ;; esac
done
[ "$(wc -w <<< "$all")" = "$(wc -w <<< "$options")" ] || fail "offered are also others than --help's:$all"
values_seen=0
while read -r form; do
  option=${form%%[ ,]*}
  values=${form#*\{} values=${values%%\}*}
  for value in ${values//,/ }; do
    values_seen=$((values_seen + 1))
    value=${value%%->*}
    case $(offers "$option" "") in *" $value "*) ;; *) fail "$option: $value is not offered" ;; esac
    case $(offers "$option" = "${value:0:1}") in *" $value "*) ;; *) fail "$option=: $value is not offered" ;; esac
  done
done < <(grep -oE '^  -[^ ]+ [A-Z]+:[^{]*\{.*' <<< "$help" | sed 's/^ *//')
# A flag that turns something off, --no-x{false}, has no values.
if grep -qE '^  -[^{]* [^{]*\{' <<< "$help" && [ $values_seen = 0 ]; then fail "--help lists values, none was tried"; fi
if [ "$name" = tide-perf ]; then # the next of a comma list
  [ "$(offers -b stock,fl)" = " stock,flat " ] || fail "after 'stock,fl': $(offers -b stock,fl)"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
file="$name of two words"
touch "$work/$file"
cd "$work"
if grep -qE '^  --?[a-z-]+.* FILE' <<< "$help"; then
  option=$(grep -oE '^  -[^ ]+ FILE' <<< "$help" | head -n 1 | sed 's/^ *//; s/[ ,].*//')
  COMP_WORDS=("$name" "$option" "${file:0:4}") COMP_CWORD=2 COMPREPLY=()
  "_${name//-/_}" "$name" "${file:0:4}" "$option"
  [ "${#COMPREPLY[@]}" = 1 ] && [ "${COMPREPLY[0]}" = "$file" ] || fail "$option offers '${COMPREPLY[*]-}', not '$file'"
fi
echo "$name: $(wc -w <<< "$options") options"
