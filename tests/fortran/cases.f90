! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> V06: a parameter is contiguous; a section with a row stride of 6 does not compile (refused.cmake), a copy of it does.
!> V32: handles, in place, sections, counts beyond 32 bits, ierror left out.
program cases
  use, intrinsic :: iso_fortran_env, only: int16, int64, real32, real64
  use mpi_f08
  use mpix_tide
  use check_m
  implicit none
  integer :: i

  call begin()
  call v06()
  call v06_transposed()
  call v32_strided_gradient()
  call v32_in_place()
  call v32_large()
  call finish()

contains

  !> 2 ranks, [4x4] of bf16 in rows of 6 elements; the gap holds 0xABCD.
  subroutine v06()
    integer(int16), parameter :: gap = int(int(z'abcd') - 65536, int16)
    integer(int16), target :: wide(6, 4), grad(4, 4)
    real(real32), target :: sums(4, 4)
    wide = gap
    wide(1:4, :) = pattern(4, 4)
    grad = wide(1:4, :)
    call reduce(grad, sums)
    call check(all(wide(5:6, :) == gap), 'V06: the gap')
    call check(all(wide(1:4, :) == grad), 'V06: the values beside the gap')
  end subroutine

  !> [4x4] stored the other way round: what C calls column-major is a copy, too.
  subroutine v06_transposed()
    integer(int16), target :: other(4, 4), grad(4, 4)
    real(real32), target :: sums(4, 4)
    other = transpose(pattern(4, 4))
    grad = transpose(other)
    call reduce(grad, sums)
  end subroutine

  !> a(1:8:2, :) as gradient: refused at compile time (refused.cmake), exact from a copy.
  subroutine v32_strided_gradient()
    integer(int16), target :: a(8, 4), grad(4, 4)
    real(real32), target :: sums(4, 4)
    a = -1
    a(1:8:2, :) = pattern(4, 4)
    grad = a(1:8:2, :)
    call reduce(grad, sums)
    call check(all(a(2:8:2, :) == -1), 'V32: the elements between')
  end subroutine

  subroutine v32_in_place()
    type(MPIX_Tide_group) :: group
    type(MPIX_Tide_list) :: params
    integer(int16), target :: full(8, 5)
    integer(int16) :: wanted(8, 5)
    integer(int64) :: lower, upper
    wanted = reshape([(pattern_bits(i, 0), i = 0, 39)], [8, 5])
    full = 0 ! what a lost MPI_IN_PLACE would leave
    call MPIX_Tide_group_create(MPI_COMM_WORLD, 1, [MPIX_Tide_param(5, 8, 0, MPIX_TIDE_BF16, 0)], MPI_INFO_NULL, group)
    call MPIX_Tide_bounds(group, 1, rank, lower, upper)
    full(:, lower:upper) = wanted(:, lower:upper)
    call MPIX_Tide_list_add(params, full)
    call MPIX_Tide_allgather(params=params, group=group)
    call check(all(full == wanted), 'V32: all-gather in place')
    call MPIX_Tide_group_free(group)
  end subroutine

  !> 2**33 rows, asked about only.
  subroutine v32_large()
    integer(int64), parameter :: rows = 2_int64**33
    type(MPIX_Tide_group) :: group
    type(MPIX_Tide_param) :: told(1)
    type(MPIX_Tide_sizes) :: sizes
    type(MPI_Comm) :: comm
    integer(int64) :: first, n, lower, upper
    call MPIX_Tide_group_create(MPI_COMM_WORLD, 1, [MPIX_Tide_param(rows, 1, 0, MPIX_TIDE_BF16, 0)], MPI_INFO_NULL, group)
    call MPIX_Tide_group_get(group, comm, params=told)
    call check(told(1)%rows == rows, 'V32: rows')
    call MPIX_Tide_group_shard(group, 1, ranks - 1, first, n)
    call check(n == rows / 2 .and. first == rows / 2, 'V32: rows of the last rank')
    call MPIX_Tide_bounds(group, 1, ranks - 1, lower, upper)
    call check(lower == rows / 2 + 1 .and. upper == rows, 'V32: bounds')
    call MPIX_Tide_group_sizes(group, sizes)
    call check(sizes%full_bytes == 2 * rows .and. sizes%shard_bytes == rows, 'V32: bytes')
    call MPIX_Tide_group_free(group)
  end subroutine

  !> PAT-S of this rank as bf16.
  function pattern(elems, rows)
    integer, intent(in) :: elems, rows
    integer(int16) :: pattern(elems, rows)
    pattern = MPIX_Tide_to_bf16(real(reshape([(pattern_value(i, 0, rank), i = 0, elems * rows - 1)], [elems, rows]), real32))
  end function

  !> The rows of this rank summed over the ranks; ierror is left out everywhere.
  subroutine reduce(grad, sums)
    integer(int16), target, contiguous, intent(in) :: grad(:, :)
    real(real32), target, contiguous, intent(inout) :: sums(:, :)
    type(MPIX_Tide_group) :: group
    type(MPIX_Tide_list) :: grads, shards
    integer(int64) :: lower, upper
    integer :: wanted(size(grad, 1), size(grad, 2))
    call MPIX_Tide_group_create(MPI_COMM_WORLD, 1, [MPIX_Tide_param(size(grad, 2), size(grad, 1), 0, MPIX_TIDE_BF16, &
      MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_BF16))], MPI_INFO_NULL, group)
    call MPIX_Tide_bounds(group, 1, rank, lower, upper)
    call MPIX_Tide_list_add(grads, grad)
    call MPIX_Tide_list_add(shards, sums(:, lower:upper))
    call MPIX_Tide_reduce_scatter(grads, shards, 0, MPIX_TIDE_SUM, 1._real64, group)
    wanted = reshape([(pattern_sum(i, 0, ranks), i = 0, size(grad) - 1)], shape(grad))
    call check(all(transfer(sums(:, lower:upper), [0]) == transfer(real(wanted(:, lower:upper)), [0])), 'sums of the rows')
    call MPIX_Tide_group_free(group)
  end subroutine
end program
