! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> A call before MPI_Init: with ierror it returns, without it the program says why and ends.
program before_init
  use mpi_f08, only: MPI_COMM_WORLD, MPI_INFO_NULL
  use mpix_tide
  implicit none
  type(MPIX_Tide_group) :: group
  type(MPIX_Tide_param) :: params(1)
  integer :: ierror
  params = MPIX_Tide_param(4, 1, 0, MPIX_TIDE_FP32, 0)
  ierror = 0
  call MPIX_Tide_group_create(MPI_COMM_WORLD, 1, params, MPI_INFO_NULL, group, ierror)
  if (ierror == 0) error stop 'no error code'
  print '(a)', 'it returned'
  call MPIX_Tide_group_create(MPI_COMM_WORLD, 1, params, MPI_INFO_NULL, group)
  print '(a)', 'it went on'
end program
