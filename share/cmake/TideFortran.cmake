# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# Can the Fortran module be built?  It takes a compiler that knows Fortran 2018 and an MPI with module mpi_f08.
set(TIDE_HAVE_FORTRAN 0)
set(TIDE_HAVE_FORTRAN_ACC 0)
set(TIDE_FORTRAN_NEEDS TIDE_WITH_FORTRAN)  # for the summary
if(NOT TIDE_WITH_FORTRAN OR TIDE_SANITIZE OR TIDE_BUILD_FUZZERS)
  return()
endif()
include(CheckLanguage)
check_language(Fortran)
if(NOT CMAKE_Fortran_COMPILER)
  set(TIDE_FORTRAN_NEEDS CMAKE_Fortran_COMPILER=gfortran)
  message(STATUS "Fortran module left out: no compiler.  Debian: apt-get install gfortran")
  return()
endif()
enable_language(Fortran)
set(TIDE_FORTRAN_NEEDS "TIDE_FORTRAN_COMPILES=an MPI with module mpi_f08 for ${CMAKE_Fortran_COMPILER}")
find_package(MPI COMPONENTS Fortran)
if(NOT MPI_Fortran_FOUND OR NOT MPI_Fortran_HAVE_F08_MODULE)
  message(STATUS "Fortran module left out: ${MPI_Fortran_COMPILER} has no module mpi_f08")
  return()
endif()
include(tideMpiFortran)
tide_mpi_header(TIDE_MPI_FORTRAN_HEADER Fortran)
include(CheckSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_Fortran)
check_source_compiles(Fortran "program p
  use mpi_f08, only: MPI_Comm
  use, intrinsic :: iso_c_binding
  real, target :: x(2)
  call list(x)
contains
  subroutine list(array)
    real, pointer, contiguous, intent(in) :: array(..)
    type(c_ptr) :: ptr
    ptr = c_loc(array)
  end subroutine
end program" TIDE_FORTRAN_COMPILES SRC_EXT f90)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT TIDE_FORTRAN_COMPILES)
  message(STATUS "Fortran module left out: ${CMAKE_Fortran_COMPILER} lacks Fortran 2018's assumed rank, or reads no mpi_f08 of ${MPI_Fortran_COMPILER}")
  return()
endif()
set(TIDE_HAVE_FORTRAN 1)
set(TIDE_FORTRAN_MODULES_INSTALLED
  ${CMAKE_INSTALL_INCLUDEDIR}/tide/fortran/${CMAKE_Fortran_COMPILER_ID}-${CMAKE_Fortran_COMPILER_VERSION})
set(TIDE_FORTRAN_OPTIONS "")
if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
  set(TIDE_FORTRAN_OPTIONS -std=f2018)
endif()

find_package(OpenACC QUIET COMPONENTS Fortran)
if(OpenACC_Fortran_FOUND)
  set(CMAKE_REQUIRED_LIBRARIES OpenACC::OpenACC_Fortran)
  check_source_compiles(Fortran "program p
    use openacc, only: acc_handle_kind
    integer(acc_handle_kind) :: queue = 1
    print *, queue
  end program" TIDE_FORTRAN_ACC_COMPILES SRC_EXT f90)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
if(TIDE_FORTRAN_ACC_COMPILES)
  set(TIDE_HAVE_FORTRAN_ACC 1)
else()
  message(STATUS "Fortran module mpix_tide_acc left out: ${CMAKE_Fortran_COMPILER} has no module openacc")
endif()
