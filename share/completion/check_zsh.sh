#!/usr/bin/env zsh
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# A test, for zsh: what the completion hands to _arguments has every option that --help names, with its words in
# brackets that close.  check_zsh.sh TOOL COMPLETION
emulate -R zsh
setopt err_exit extended_glob
tool=$1 completion=$2 name=${1:t}
export ASAN_OPTIONS=detect_leaks=0
_arguments() { specifications=("$@") }
[[ $(head -n 1 $completion) == "#compdef $name" ]]
source $completion
wanted=(${=$($tool --help | grep -oE '^  -[^ {]+' | tr , '\n')})
(( $#wanted >= 10 && $#wanted == $#specifications ))
for option in $wanted; do
  found=no
  for specification in $specifications; do # (others)option[words] and perhaps :value:how or :file:how
    [[ ${specification#\(*\)} == $option\[*[^\\]\](|:[a-z]##:*) ]] && found=yes
  done
  [[ $found == yes ]] || { print "$name: $option is not offered"; exit 1 }
done
print "$name: $#wanted options"
