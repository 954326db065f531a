! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Gathers and reduces lists of every kind, in several ranks of arrays, and compares every bit.
program round_trips
  use, intrinsic :: iso_fortran_env, only: int16, int32, int64, int8, real32, real64
  use mpi_f08
  use mpix_tide
  use check_m
  implicit none
  integer, parameter :: nrows = 7, elems = 6
  type(MPIX_Tide_group) :: group
  integer(int64) :: lo(5), hi(5)
  integer :: dtypes(5), p
  integer(int16), target :: bf16(elems, nrows), fp16(2, 3, nrows)
  real(real32), target :: fp32(elems, nrows)
  real(real64), target :: fp64(1, 2, 3, nrows)
  integer(int8), target :: bytes(elems, nrows)
  integer(int16), target :: g1(elems, nrows), g2(elems, nrows)
  real(real32), target :: g3(elems, nrows)
  real(real64), target :: g4(elems, nrows)
  real(real32), allocatable, target :: s1(:, :), s3(:, :)
  integer(int16), allocatable, target :: s2(:, :)
  real(real64), allocatable, target :: s4(:, :)
  integer :: value(elems, nrows, 4), wanted(elems, nrows, 4)

  call begin()
  dtypes = [MPIX_TIDE_BF16, MPIX_TIDE_FP16, MPIX_TIDE_FP32, MPIX_TIDE_FP64, MPIX_TIDE_UINT8]
  call MPIX_Tide_group_create(MPI_COMM_WORLD, 5, [(MPIX_Tide_param(rows=nrows, row_elems=elems, dtype=dtypes(p)), &
    p = 1, 5)], MPI_INFO_NULL, group)
  do p = 1, 5
    call MPIX_Tide_bounds(group, p, rank, lo(p), hi(p))
  end do
  call gather_from_sections()
  call gather_in_place()
  call MPIX_Tide_group_free(group)
  call check(group == MPIX_TIDE_GROUP_NULL, 'a freed group is null')
  call reduce()
  call finish()

contains

  !> All arrays hold the pattern; bits that are no number pass unchanged.
  subroutine fill()
    integer :: i
    bf16 = reshape([(pattern_bits(i, 0), i = 0, size(bf16) - 1)], shape(bf16))
    fp16 = reshape([(pattern_bits(i, 1), i = 0, size(fp16) - 1)], shape(fp16))
    fp32 = reshape([(transfer(ior(ishft(int(pattern_bits(i, 2), int32), 16), i), 0._real32), i = 0, size(fp32) - 1)], &
      shape(fp32))
    fp64 = reshape([(transfer([i, int(pattern_bits(i, 3), int32)], 0._real64), i = 0, size(fp64) - 1)], shape(fp64))
    bytes = reshape([(int(pattern_bits(i, 4) / 256, int8), i = 0, size(bytes) - 1)], shape(bytes))
  end subroutine

  !> Keeps the rows of this rank.
  subroutine forget_others()
    integer(int64) :: row
    do row = 1, nrows
      if (row >= lo(1) .and. row <= hi(1)) cycle
      bf16(:, row) = -1
      fp16(:, :, row) = -1
      fp32(:, row) = -1
      fp64(:, :, :, row) = -1
      bytes(:, row) = -1
    end do
  end subroutine

  subroutine check_filled(what)
    character(len=*), intent(in) :: what
    integer(int16) :: bf16_got(elems, nrows), fp16_got(2, 3, nrows)
    integer(int32) :: fp32_got(elems * nrows)
    integer(int64) :: fp64_got(elems * nrows)
    integer(int8) :: bytes_got(elems, nrows)
    bf16_got = bf16
    fp16_got = fp16
    fp32_got = transfer(fp32, fp32_got)
    fp64_got = transfer(fp64, fp64_got)
    bytes_got = bytes
    call fill()
    call check(all(bf16_got == bf16), what//': bf16')
    call check(all(fp16_got == fp16), what//': fp16')
    call check(all(fp32_got == transfer(fp32, fp32_got)), what//': fp32')
    call check(all(fp64_got == transfer(fp64, fp64_got)), what//': fp64')
    call check(all(bytes_got == bytes), what//': uint8')
  end subroutine

  subroutine gather_from_sections()
    integer(int16), allocatable, target :: bf16_shard(:, :), fp16_shard(:, :, :)
    real(real32), allocatable, target :: fp32_shard(:, :)
    real(real64), target :: fp64_source(1, 2, 3, nrows)
    integer(int8), target :: bytes_source(elems, nrows)
    type(MPIX_Tide_list) :: shards, params
    call fill()
    bf16_shard = bf16(:, lo(1):hi(1))
    fp16_shard = fp16(:, :, lo(2):hi(2))
    fp32_shard = fp32(:, lo(3):hi(3))
    fp64_source = fp64
    bytes_source = bytes
    call forget_others()
    bf16 = 0
    bytes = 0
    call MPIX_Tide_list_set(shards, 5, bytes_source(:, lo(5):hi(5))) ! contiguous: the last dimension alone is cut
    call MPIX_Tide_list_set(shards, 4, fp64_source(:, :, :, lo(4):hi(4)))
    call MPIX_Tide_list_set(shards, 3, fp32_shard)
    call MPIX_Tide_list_set(shards, 2, fp16_shard)
    call MPIX_Tide_list_set(shards, 1, bf16_shard)
    call add_all(params)
    call MPIX_Tide_allgather(shards, params, group)
    call check_filled('all-gather')
  end subroutine

  subroutine gather_in_place()
    type(MPIX_Tide_list) :: params
    integer :: ierror
    call fill()
    call forget_others()
    call add_all(params)
    ierror = -1
    call MPIX_Tide_allgather(params=params, group=group, ierror=ierror)
    call check(ierror == MPI_SUCCESS, 'all-gather in place succeeds')
    call check_filled('all-gather in place')
  end subroutine

  subroutine add_all(list)
    type(MPIX_Tide_list), intent(inout) :: list
    call MPIX_Tide_list_add(list, bf16)
    call MPIX_Tide_list_add(list, fp16)
    call MPIX_Tide_list_add(list, fp32)
    call MPIX_Tide_list_add(list, fp64)
    call MPIX_Tide_list_add(list, bytes)
  end subroutine

  !> bf16 to fp32, bf16 to bf16, fp32, fp64; averaged, scaled and accumulated.
  subroutine reduce()
    type(MPIX_Tide_param) :: list(4)
    type(MPIX_Tide_list) :: grads, sums
    integer :: i
    list = [MPIX_Tide_param(nrows, elems, 0, MPIX_TIDE_BF16, MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_BF16)), &
      MPIX_Tide_param(nrows, elems, 0, MPIX_TIDE_BF16, 0), MPIX_Tide_param(nrows, elems, 0, MPIX_TIDE_FP32, 0), &
      MPIX_Tide_param(nrows, elems, 0, MPIX_TIDE_FP64, 0)]
    call MPIX_Tide_group_create(MPI_COMM_WORLD, 4, list, MPI_INFO_NULL, group)
    do i = 1, 4
      value(:, :, i) = reshape(pattern_value([(p, p = 0, elems * nrows - 1)], i - 1, rank), [elems, nrows])
      wanted(:, :, i) = reshape(pattern_sum([(p, p = 0, elems * nrows - 1)], i - 1, ranks), [elems, nrows])
    end do
    g1 = MPIX_Tide_to_bf16(real(value(:, :, 1), real32))
    g2 = MPIX_Tide_to_bf16(real(value(:, :, 2), real64))
    g3 = value(:, :, 3)
    g4 = value(:, :, 4)
    allocate (s1(elems, lo(1):hi(1)), s2(elems, lo(1):hi(1)), s3(elems, lo(1):hi(1)), s4(elems, lo(1):hi(1)))
    call MPIX_Tide_list_add(grads, g1)
    call MPIX_Tide_list_add(grads, g2)
    call MPIX_Tide_list_add(grads, g3)
    call MPIX_Tide_list_add(grads, g4)
    call MPIX_Tide_list_add(sums, s1)
    call MPIX_Tide_list_add(sums, s2)
    call MPIX_Tide_list_add(sums, s3)
    call MPIX_Tide_list_add(sums, s4)
    call MPIX_Tide_reduce_scatter(grads, sums, 0, MPIX_TIDE_SUM, 1._real64, group)
    call check_sums(1)
    call MPIX_Tide_reduce_scatter(grads, sums, 0, MPIX_TIDE_AVG + MPIX_TIDE_ACCUMULATE, 2._real64 * ranks, group)
    call check_sums(3)
    call MPIX_Tide_group_free(group)
  end subroutine

  subroutine check_sums(times)
    integer, intent(in) :: times
    integer(int64) :: r
    do r = lo(1), hi(1)
      call check(all(transfer(s1(:, r), [0]) == transfer(real(times * wanted(:, r, 1), real32), [0])), 'bf16 to fp32')
      call check(all(s2(:, r) == MPIX_Tide_to_bf16(real(times * wanted(:, r, 2), real32))), 'bf16 to bf16')
      call check(all(nint(s3(:, r)) == times * wanted(:, r, 3)), 'fp32')
      call check(all(nint(s4(:, r)) == times * wanted(:, r, 4)), 'fp64')
    end do
  end subroutine
end program
