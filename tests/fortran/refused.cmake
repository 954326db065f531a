# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# A test: what cannot enter a list does not compile, and says so at that line; what can does.
# cmake -DCOMPILER=... -DMODULES=... -DMPI_MODULES=... -DWORK=... -P refused.cmake
file(MAKE_DIRECTORY ${WORK})

# Compiles a program that adds the given array to a list.
function(compile what array)
  string(MAKE_C_IDENTIFIER "${what}" id)
  file(WRITE ${WORK}/${id}.f90 "program p
  use, intrinsic :: iso_fortran_env
  use mpix_tide
  implicit none
  type(MPIX_Tide_list) :: list
  integer(int16), target :: a(8, 4), g(6, 4)
  integer(int16) :: no_target(8, 4)
  integer(int32), target :: wrong_kind(8, 4)
  complex(real32), target :: wrong_type(8, 4)
  integer(int16), pointer :: may_be_strided(:, :)
  integer(int16), pointer, contiguous :: is_contiguous(:, :)
  may_be_strided => a
  is_contiguous => a
  call MPIX_Tide_list_add(list, ${array})
end program
")
  execute_process(COMMAND ${COMPILER} -I${MODULES} -I${MPI_MODULES} -fsyntax-only ${WORK}/${id}.f90
    RESULT_VARIABLE rc OUTPUT_VARIABLE out ERROR_VARIABLE out)
  set(rc ${rc} PARENT_SCOPE)
  set(out "${out}" PARENT_SCOPE)
endfunction()

foreach(good "an array=a" "a contiguous section=a(:, 2:3)" "one column=a(:, 2)" "a contiguous pointer=is_contiguous")
  string(REGEX MATCH "^([^=]+)=(.*)$" _ "${good}")
  compile("${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}")
  if(rc)
    message(SEND_ERROR "${good} is refused:\n${out}")
  endif()
endforeach()
foreach(bad "rows of four with a stride of six=g(1:4, :)" "every other element=a(1:8:2, :)" "a transposed array=transpose(a)"
            "an expression=a + 1_int16" "an array without TARGET=no_target" "a wrong kind=wrong_kind" "a wrong type=wrong_type"
            "a pointer that may be strided=may_be_strided")
  string(REGEX MATCH "^([^=]+)=(.*)$" _ "${bad}")
  compile("${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}")
  if(NOT rc)
    message(SEND_ERROR "${bad} compiles")
  elseif(NOT out MATCHES "no specific subroutine for the generic[^a-z]*mpix_tide_list_add")
    message(SEND_ERROR "${bad} is refused for another reason:\n${out}")
  endif()
endforeach()
