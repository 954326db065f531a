# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# A test: module mpix_tide has every function of mpix_tide.h.
# cmake -DCOMPILER=... -DMODULES=... -DMPI_MODULES=... -DHEADER=... -DWORK=... -P complete.cmake
file(MAKE_DIRECTORY ${WORK})
file(STRINGS ${HEADER} lines REGEX "^MPIX_TIDE_API ")
set(names "")
foreach(line IN LISTS lines)
  if(line MATCHES " \\*?(MPIX_Tide_[a-z0-9_]+)\\(|char\\* (MPIX_Tide_[a-z0-9_]+)\\(")
    list(APPEND names ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
  endif()
endforeach()
list(LENGTH names count)
if(count LESS 40)
  message(FATAL_ERROR "only ${count} functions were found in ${HEADER}")
endif()
set(text "program p\n")
foreach(name IN LISTS names)
  string(APPEND text "  use mpix_tide, only: ${name}\n")
endforeach()
file(WRITE ${WORK}/complete.f90 "${text}end program\n")
execute_process(COMMAND ${COMPILER} -I${MODULES} -I${MPI_MODULES} -fsyntax-only ${WORK}/complete.f90
  RESULT_VARIABLE rc ERROR_VARIABLE out)
if(rc)
  message(FATAL_ERROR "${out}")
endif()
message("${count} functions")
