# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# A man page from a tool's own --help, so that the two cannot differ.
# cmake -DPROGRAM=path -DNAME=tide-perf -DVERSION=x.y.z -DOUTPUT=tide-perf.1 -P make_man.cmake
execute_process(COMMAND ${PROGRAM} --help OUTPUT_VARIABLE help RESULT_VARIABLE code ERROR_VARIABLE problem)
if(NOT code STREQUAL "0")
  message(FATAL_ERROR "${NAME} --help ended with ${code}: ${problem}")
endif()
string(REPLACE "\\" "\\e" help "${help}")
string(REPLACE "-" "\\-" help "${help}")
string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" help "${help}")
string(REPLACE "-" "\\-" roff_name "${NAME}")

# next_line(): takes the first line from `help` into `line`; FALSE in `more` at the end
macro(next_line)
  string(FIND "${help}" "\n" end)
  if(end EQUAL -1)
    set(line "${help}")
    set(help "")
  else()
    string(SUBSTRING "${help}" 0 ${end} line)
    math(EXPR end "${end} + 1")
    string(SUBSTRING "${help}" ${end} -1 help)
  endif()
endmacro()

set(description "")
while(NOT "${help}" STREQUAL "")
  next_line()
  if("${line}" MATCHES "^Usage: ")
    string(REGEX REPLACE "^Usage: " "" usage "${line}")
    break()
  endif()
  string(APPEND description "${line}\n")
endwhile()
string(REGEX REPLACE "^[^:\n]*: " "" description "${description}")
string(REGEX MATCH "^[^:.,\n]+" brief "${description}")

set(body "")
set(example FALSE)   # inside lines that are shown as they are
macro(end_example)
  if(example)
    string(APPEND body ".EE\n")
    set(example FALSE)
  endif()
endmacro()
while(NOT "${help}" STREQUAL "")
  next_line()
  if("${line}" MATCHES "^  (\\\\-.*)$")                     # an option, perhaps with its text
    set(option "${CMAKE_MATCH_1}")
    set(text "")
    if("${option}" MATCHES "^(.*[^ ])   *([^ ].*)$")
      set(option "${CMAKE_MATCH_1}")
      set(text "${CMAKE_MATCH_2}\n")
    endif()
    string(REGEX REPLACE ",([a-z])" ",\\\\:\\1" option "${option}")  # a long list may break after a comma
    string(APPEND body ".TP\n.B ${option}\n${text}")
  elseif("${line}" MATCHES "^([A-Z][a-z]+):$")
    end_example()
    string(TOUPPER "${CMAKE_MATCH_1}" title)
    string(APPEND body ".SH ${title}\n")
  elseif("${line}" MATCHES "^   +([^ ].*)$")
    string(APPEND body "${CMAKE_MATCH_1}\n")
  elseif("${line}" MATCHES "^  [^ ]")
    if(NOT example)
      string(APPEND body ".EX\n")
      set(example TRUE)
    endif()
    string(APPEND body "${line}\n")
  elseif("${line}" STREQUAL "")
    end_example()
    string(APPEND body ".PP\n")
  else()
    end_example()
    string(APPEND body "${line}\n.br\n")
  endif()
endwhile()
end_example()
string(REGEX REPLACE "((\\.PP|\\.br)\n)+(\\.SH|$)" "\\3" body "${body}")
string(REGEX REPLACE "(\\.SH OPTIONS\n([^\n]|\n)*)\\.PP\n([^.\n])" "\\1.SH NOTES\n\\3" body "${body}")

set(others "")
foreach(tool info perf train)
  if(NOT NAME STREQUAL "tide-${tool}")
    string(APPEND others ".BR tide\\-${tool} (1),\n")
  endif()
endforeach()
file(WRITE ${OUTPUT} ".\\\" SPDX-FileCopyrightText: 2026 the Tide authors
.\\\" SPDX-License-Identifier: BSD-3-Clause
.\\\" Made from ${NAME} --help.
.TH ${roff_name} 1 \"\" \"Tide ${VERSION}\" \"Tide\"
.SH NAME
${roff_name} \\- ${brief}
.SH SYNOPSIS
[mpirun \\-n RANKS] ${usage}
.SH DESCRIPTION
${description}${body}.SH ENVIRONMENT
The TIDE_ variables:
.B tide\\-info \\-\\-env
lists them.
.SH EXIT STATUS
0, or 2 after an error, which is said in one line on the error output.
.SH SEE ALSO
${others}.BR mpix_tide (3),
.BR tide_environment (7)
")
