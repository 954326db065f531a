! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> All calls with handles of module mpi.
program handles_integer
  use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use mpi
  use mpix_tide
  use check_m
  implicit none
  integer :: comm, info, mpi_req, no_info, other, world
  integer :: ierror

  call begin(MPI_THREAD_MULTIPLE)
  world = MPI_COMM_WORLD
  no_info = MPI_INFO_NULL
  call groups()
  call memory()
  call communicators()
  call requests()
  call finish()

contains

  include 'handles_body.inc'
end program
