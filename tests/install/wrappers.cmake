# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# A test: projects whose compilers are MPI's own wrappers, where FindMPI finds no folder of headers.  Those of Tide's MPI are
# welcome, those of another one are refused with what to do.
# cmake -DHEADER=... -DMODULES=... -DMPICC=... -DMPIFC=... -DOTHER_MPICC=... -DOTHER_MPIFC=... -DPREFIX=... -DC=... -DFORTRAN=...
#   -DWORK=... -P wrappers.cmake     HEADER, MODULES: folders of mpi.h and mpif.h as the installed package states them
include(${CMAKE_CURRENT_LIST_DIR}/../../share/cmake/tideMpiHeader.cmake)
set(CMAKE_CURRENT_BINARY_DIR ${WORK})
foreach(language C Fortran)  # as in the configuration of a Tide that is built with wrappers
  set(CMAKE_C_COMPILER ${MPICC})
  set(CMAKE_Fortran_COMPILER ${MPIFC})
  set(expected_C "${HEADER}")
  set(expected_Fortran "${MODULES}")
  tide_mpi_header(found ${language})
  if(CMAKE_${language}_COMPILER AND (NOT found OR NOT found STREQUAL "${expected_${language}}"))
    message(FATAL_ERROR "the header of ${CMAKE_${language}_COMPILER} is in '${found}', not in '${expected_${language}}'")
  endif()
endforeach()

# project_with(<name> <source> <accepted> <option>...)
function(project_with name source accepted)
  execute_process(COMMAND ${CMAKE_COMMAND} --fresh -S ${source} -B ${WORK}/${name} -DCMAKE_PREFIX_PATH=${PREFIX}
    -DTIDE_WANTED_PREFIX=${PREFIX} ${ARGN} RESULT_VARIABLE rc OUTPUT_VARIABLE out ERROR_VARIABLE out)
  string(REGEX REPLACE "[ \n]+" " " out "${out}")  # CMake breaks lines where the path lets it
  if(accepted AND rc)
    message(FATAL_ERROR "${name}: the wrapper of Tide's own MPI was refused\n${out}")
  elseif(NOT accepted AND NOT out MATCHES "was built with the MPI of [^ ]+ this project uses that of [^ ]+ [Ss]elect the same")
    message(FATAL_ERROR "${name}: the wrapper of another MPI was not refused as such\n${out}")
  endif()
endfunction()

project_with(c ${C} TRUE -DCMAKE_C_COMPILER=${MPICC})
if(MPIFC)
  project_with(fortran ${FORTRAN} TRUE -DCMAKE_Fortran_COMPILER=${MPIFC})
endif()
if(OTHER_MPICC)
  project_with(c_other ${C} FALSE -DCMAKE_C_COMPILER=${OTHER_MPICC})
endif()
if(OTHER_MPIFC)
  project_with(fortran_other ${FORTRAN} FALSE -DCMAKE_Fortran_COMPILER=${OTHER_MPIFC})
endif()
