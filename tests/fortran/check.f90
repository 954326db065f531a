! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> What the test programs share: checks that count on every rank, and the patterns of the cases.
module check_m
  use, intrinsic :: iso_fortran_env, only: error_unit, int16, int64
  use mpi_f08
  implicit none
  private
  public :: check, begin, finish, pattern_bits, pattern_sum, pattern_value
  integer, public :: rank = -1, ranks = -1
  integer :: failures = 0

contains

  !> Starts MPI; the program's argument is how many ranks it must have.
  subroutine begin(required)
    integer, optional, intent(in) :: required !< a thread level
    character(len=8) :: text
    integer :: provided, wanted
    if (present(required)) then
      call MPI_Init_thread(required, provided)
    else
      call MPI_Init()
    end if
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call get_command_argument(1, text)
    read (text, *) wanted
    call check(wanted == ranks, 'as many ranks as were started')
  end subroutine

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    failures = failures + 1
    if (failures < 20) write (error_unit, '(a, i0, 2a)') 'rank ', rank, ' FAILED: ', what
  end subroutine

  !> Ends the program; a failure on any rank is one on all.
  subroutine finish()
    integer :: total
    call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Finalize()
    if (total > 0) error stop 1, quiet=.true.
    if (rank == 0) print '(a)', 'passed'
  end subroutine

  !> Bits of element i (from 0) of parameter p (from 0).
  elemental integer(int16) function pattern_bits(i, p)
    integer, intent(in) :: i, p
    integer(int64) :: bits
    bits = mod(40503_int64 * i + 13 * p + 1, 65536_int64)
    pattern_bits = int(bits - merge(65536, 0, bits > 32767), int16)
  end function

  !> What rank r gives for it, and the sum over n ranks: exact in every type.
  elemental integer function pattern_value(i, p, r)
    integer, intent(in) :: i, p, r
    pattern_value = mod(7 * i + 13 * p + 3 * r, 31) - 15
  end function
  elemental integer function pattern_sum(i, p, n)
    integer, intent(in) :: i, p, n
    integer :: r
    pattern_sum = 0
    do r = 0, n - 1
      pattern_sum = pattern_sum + pattern_value(i, p, r)
    end do
  end function
end module
