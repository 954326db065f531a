# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# A test: Sphinx builds the site without a warning, from the start, and the functions of the header are in it.
# cmake -DBUILD="sphinx-build;..." -DPAGES=html -DHEADER=mpix_tide.h -P check_site.cmake
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${PAGES})
execute_process(COMMAND ${BUILD} -E RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(NOT code STREQUAL "0")
  message(FATAL_ERROR "${said}")
endif()
file(READ ${PAGES}/share/site/api.html api)
file(STRINGS ${HEADER} lines REGEX "^MPIX_TIDE_API .*[ *]MPIX_Tide_[a-z_]+\\(")
foreach(line IN LISTS lines)
  string(REGEX MATCH "MPIX_Tide_[a-z_]+" function "${line}")
  if(NOT api MATCHES "<h3>[^\n]*${function}[,<]")
    message(FATAL_ERROR "the site's page of functions lacks ${function}")
  endif()
endforeach()
list(LENGTH lines count)
if(count LESS 40)
  message(FATAL_ERROR "only ${count} functions were found in the header")
endif()
message(STATUS "${count} functions")
