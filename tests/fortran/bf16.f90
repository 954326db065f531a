! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> bf16 conversions: every pattern, ties to even, values between two singles.
program bf16
  use, intrinsic :: iso_fortran_env, only: int16, int32, real32, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
  use mpix_tide
  implicit none
  integer :: bits, wrong
  integer(int16) :: b
  real(real32) :: x
  real(real64) :: d

  wrong = 0
  do bits = 0, 65535
    b = int(bits - merge(65536, 0, bits > 32767), int16)
    x = MPIX_Tide_from_bf16(b)
    call expect(transfer(x, 0_int32) == ishft(bits, 16), 'from_bf16')
    if (ieee_is_nan(x)) then
      call expect(ieee_is_nan(MPIX_Tide_from_bf16(MPIX_Tide_to_bf16(x))), 'a NaN stays one')
      call expect(ieee_is_nan(MPIX_Tide_from_bf16(MPIX_Tide_to_bf16(real(x, real64)))), 'a NaN stays one, real64')
    else
      call expect(MPIX_Tide_to_bf16(x) == b, 'there and back')
      call expect(MPIX_Tide_to_bf16(real(x, real64)) == b, 'there and back, real64')
    end if
  end do

  ! 1 + 2**-8 lies between 1 (even) and 1 + 2**-7; 1 + 3 * 2**-8 between 1 + 2**-7 and 1 + 2**-6 (even).
  call rounds(1 + 2d0**(-8), int(z'3f80'), 'a tie, down to even')
  call rounds(1 + 3 * 2d0**(-8), int(z'3f82'), 'a tie, up to even')
  call rounds(-1 - 3 * 2d0**(-8), int(z'bf82'), 'a negative tie')
  call rounds(1 + 2d0**(-8) + 2d0**(-23), int(z'3f81'), 'beyond a tie')
  call rounds(real(huge(x), real64), int(z'7f80'), 'overflow')
  call rounds(2d0**(-133), int(z'0001'), 'the smallest')
  call rounds(-2d0**(-134), int(z'8000'), 'a tie with -0')

  ! Rounded to a single first these would be ties.
  d = 1 + 2d0**(-8) + 2d0**(-40)
  call expect(MPIX_Tide_to_bf16(d) == int(int(z'3f81'), int16), 'just beyond a tie, real64')
  d = 1 + 3 * 2d0**(-8) - 2d0**(-40)
  call expect(MPIX_Tide_to_bf16(d) == int(int(z'3f81'), int16), 'just before a tie, real64')
  call expect(MPIX_Tide_to_bf16(-d) == int(int(z'bf81') - 65536, int16), 'just before a negative tie, real64')
  call expect(MPIX_Tide_to_bf16(1d300) == int(int(z'7f80'), int16), 'overflow, real64')
  call expect(MPIX_Tide_to_bf16(1d-300) == 0, 'underflow, real64')
  call expect(all(MPIX_Tide_to_bf16([1., -2.]) == [int(int(z'3f80'), int16), int(int(z'c000') - 65536, int16)]), 'elemental')
  if (wrong > 0) error stop 1
  print '(a)', 'passed'

contains

  subroutine rounds(value, wanted, what)
    real(real64), intent(in) :: value
    integer, intent(in) :: wanted
    character(len=*), intent(in) :: what
    integer(int16) :: bf16_wanted
    bf16_wanted = int(wanted - merge(65536, 0, wanted > 32767), int16)
    call expect(MPIX_Tide_to_bf16(value) == bf16_wanted, what//', real64')
    call expect(MPIX_Tide_to_bf16(real(value, real32)) == bf16_wanted, what)
  end subroutine

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    wrong = wrong + 1
    if (wrong < 20) print '(2a)', 'FAILED: ', what
  end subroutine
end program
