! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> bf16 in integer(int16): the upper half of an IEEE single.
module tide_fortran_bf16
  use, intrinsic :: iso_fortran_env, only: int16, int32, real32, real64
  implicit none
  private
  integer(int32), parameter :: infinity = int(z'7f800000', int32)
  public :: MPIX_Tide_to_bf16, MPIX_Tide_from_bf16

  !> Rounds once, to nearest even; a NaN stays one.
  interface MPIX_Tide_to_bf16
    procedure from_real32, from_real64
  end interface

contains

  elemental integer(int16) function from_real32(value) result(bf16)
    real(real32), intent(in) :: value
    integer(int32) :: bits, upper
    bits = transfer(value, bits)
    if (iand(bits, huge(bits)) > infinity) then
      upper = ior(shiftr(bits, 16), 64)
    else
      upper = shiftr(bits + 32767 + iand(shiftr(bits, 16), 1), 16)
    end if
    bf16 = int(upper - merge(65536, 0, upper > 32767), int16)
  end function

  !> By way of a single that is rounded to odd, so that the second rounding sees what the first one left.
  elemental integer(int16) function from_real64(value) result(bf16)
    real(real64), intent(in) :: value
    real(real32) :: single
    integer(int32) :: bits
    single = real(value, real32)
    bits = transfer(single, bits)
    if (abs(value - real(single, real64)) > 0 .and. iand(bits, 1) == 0) &
      bits = bits + merge(1, -1, abs(value) > abs(real(single, real64)))
    bf16 = from_real32(transfer(bits, single))
  end function

  elemental real(real32) function MPIX_Tide_from_bf16(bf16) result(value)
    integer(int16), intent(in) :: bf16
    value = transfer(shiftl(int(bf16, int32), 16), value)
  end function
end module
