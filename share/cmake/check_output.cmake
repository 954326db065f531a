# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# A test: a command prints what a file holds.  cmake -DEXPECTED=<file> -P check_output.cmake -- <command> <argument>...
set(command "")
set(begun FALSE)
foreach(i RANGE ${CMAKE_ARGC})
  if(begun AND i LESS CMAKE_ARGC)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(begun TRUE)
  endif()
endforeach()
execute_process(COMMAND ${command} RESULT_VARIABLE rc OUTPUT_VARIABLE out ERROR_VARIABLE err)
file(READ ${EXPECTED} expected)
if(NOT rc EQUAL 0 OR NOT out STREQUAL expected)
  message(FATAL_ERROR "${command} (exit ${rc})\n${err}\nprints\n${out}\ninstead of what ${EXPECTED} holds:\n${expected}")
endif()
