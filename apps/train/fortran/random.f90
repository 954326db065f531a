! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> splitmix64, as random.hpp.  Integers wrap around: the module is compiled with -fwrapv.
module train_random
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  private
  public :: mix, next_random, next_below, unit_interval
  integer(int64), parameter, public :: golden = -7046029254386353131_int64 ! 9e3779b97f4a7c15

contains

  elemental integer(int64) function mix(word) result(z)
    integer(int64), intent(in) :: word
    z = ieor(word, shiftr(word, 30)) * (-4658895280553007687_int64) ! bf58476d1ce4e5b9
    z = ieor(z, shiftr(z, 27)) * (-7723592293110705685_int64)       ! 94d049bb133111eb
    z = ieor(z, shiftr(z, 31))
  end function

  integer(int64) function next_random(state) result(bits)
    integer(int64), intent(inout) :: state
    state = state + golden
    bits = mix(state)
  end function

  !> The next number, taken without a sign, modulo n.
  integer(int64) function next_below(state, n) result(below)
    integer(int64), intent(inout) :: state
    integer(int64), intent(in) :: n
    integer(int64) :: bits
    bits = next_random(state)
    below = mod(2 * mod(shiftr(bits, 1), n) + iand(bits, 1_int64), n)
  end function

  !> In [0, 1).
  elemental real(real64) function unit_interval(bits) result(u)
    integer(int64), intent(in) :: bits
    u = real(shiftr(bits, 11), real64) * 2._real64**(-53)
  end function
end module
