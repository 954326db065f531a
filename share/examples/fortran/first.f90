! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
program first
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use mpix_tide
  implicit none
  type(MPIX_Tide_group) :: group
  type(MPIX_Tide_list) :: shards, params, grads, sums
  real, target :: mine(3, 4), full(3, 4), grad(3, 4), total(3, 4) ! on one rank the shard is all 4 rows
  integer :: rank

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPIX_Tide_group_create(MPI_COMM_WORLD, 1, &
    [MPIX_Tide_param(rows=4, row_elems=3, dtype=MPIX_TIDE_FP32)], MPI_INFO_NULL, group)

  mine = rank + 1
  grad = rank + 1
  call MPIX_Tide_list_add(shards, mine)
  call MPIX_Tide_list_add(params, full)
  call MPIX_Tide_list_add(grads, grad)
  call MPIX_Tide_list_add(sums, total)
  call MPIX_Tide_allgather(shards, params, group)
  call MPIX_Tide_reduce_scatter(grads, sums, 0, MPIX_TIDE_SUM, 1.0_real64, group)
  if (rank == 0) print '(a, *(f4.1))', 'gathered rows:', full(1, :)
  if (rank == 0) print '(a, f4.1)', 'sum of gradients:', total(1, 1)

  call MPIX_Tide_group_free(group)
  call MPI_Finalize()
end program
