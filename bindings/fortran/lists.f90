! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Lists of addresses, one for each parameter, counted from 1.
!>
!> Only an array whose address lasts can enter a list: `pointer, contiguous, intent(in)` dummies take a TARGET (or a
!> contiguous pointer) that is simply contiguous.  The compiler refuses a strided section, an expression, an array
!> without TARGET and another kind.
module tide_fortran_lists
  use, intrinsic :: iso_c_binding, only: c_int, c_loc, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int16, int8, real32, real64
  implicit none
  private
  public :: MPIX_Tide_list_add, MPIX_Tide_list_set, MPIX_Tide_list_add_cptr, MPIX_Tide_list_set_cptr
  public :: entries, count_of

  type, public :: MPIX_Tide_list
    type(c_ptr), allocatable :: ptr(:) !< c_null_ptr where there is no piece
  end type

  !> Appends an array: call MPIX_Tide_list_add(list, array)
  interface MPIX_Tide_list_add
    procedure add_real32, add_real64, add_int16, add_int8
  end interface
  !> Sets the entry of a parameter; the list grows where needed: call MPIX_Tide_list_set(list, param, array)
  interface MPIX_Tide_list_set
    procedure set_real32, set_real64, set_int16, set_int8
  end interface

contains

  subroutine MPIX_Tide_list_add_cptr(list, ptr)
    type(MPIX_Tide_list), intent(inout) :: list
    type(c_ptr), intent(in) :: ptr
    if (.not. allocated(list%ptr)) allocate (list%ptr(0))
    list%ptr = [list%ptr, ptr]
  end subroutine

  subroutine MPIX_Tide_list_set_cptr(list, param, ptr)
    type(MPIX_Tide_list), intent(inout) :: list
    integer, intent(in) :: param
    type(c_ptr), intent(in) :: ptr
    if (param < 1) error stop 'MPIX_Tide_list_set: parameters count from 1'
    if (.not. allocated(list%ptr)) allocate (list%ptr(0))
    do while (size(list%ptr) < param)
      list%ptr = [list%ptr, c_null_ptr]
    end do
    list%ptr(param) = ptr
  end subroutine

  subroutine add_real32(list, array)
    type(MPIX_Tide_list), intent(inout) :: list
    real(real32), pointer, contiguous, intent(in) :: array(..)
    call MPIX_Tide_list_add_cptr(list, address_real32(array))
  end subroutine
  subroutine set_real32(list, param, array)
    type(MPIX_Tide_list), intent(inout) :: list
    integer, intent(in) :: param
    real(real32), pointer, contiguous, intent(in) :: array(..)
    call MPIX_Tide_list_set_cptr(list, param, address_real32(array))
  end subroutine
  type(c_ptr) function address_real32(array) result(ptr)
    real(real32), pointer, contiguous, intent(in) :: array(..)
    ptr = c_null_ptr
    if (associated(array)) ptr = c_loc(array)
  end function

  subroutine add_real64(list, array)
    type(MPIX_Tide_list), intent(inout) :: list
    real(real64), pointer, contiguous, intent(in) :: array(..)
    call MPIX_Tide_list_add_cptr(list, address_real64(array))
  end subroutine
  subroutine set_real64(list, param, array)
    type(MPIX_Tide_list), intent(inout) :: list
    integer, intent(in) :: param
    real(real64), pointer, contiguous, intent(in) :: array(..)
    call MPIX_Tide_list_set_cptr(list, param, address_real64(array))
  end subroutine
  type(c_ptr) function address_real64(array) result(ptr)
    real(real64), pointer, contiguous, intent(in) :: array(..)
    ptr = c_null_ptr
    if (associated(array)) ptr = c_loc(array)
  end function

  subroutine add_int16(list, array)
    type(MPIX_Tide_list), intent(inout) :: list
    integer(int16), pointer, contiguous, intent(in) :: array(..)
    call MPIX_Tide_list_add_cptr(list, address_int16(array))
  end subroutine
  subroutine set_int16(list, param, array)
    type(MPIX_Tide_list), intent(inout) :: list
    integer, intent(in) :: param
    integer(int16), pointer, contiguous, intent(in) :: array(..)
    call MPIX_Tide_list_set_cptr(list, param, address_int16(array))
  end subroutine
  type(c_ptr) function address_int16(array) result(ptr)
    integer(int16), pointer, contiguous, intent(in) :: array(..)
    ptr = c_null_ptr
    if (associated(array)) ptr = c_loc(array)
  end function

  subroutine add_int8(list, array)
    type(MPIX_Tide_list), intent(inout) :: list
    integer(int8), pointer, contiguous, intent(in) :: array(..)
    call MPIX_Tide_list_add_cptr(list, address_int8(array))
  end subroutine
  subroutine set_int8(list, param, array)
    type(MPIX_Tide_list), intent(inout) :: list
    integer, intent(in) :: param
    integer(int8), pointer, contiguous, intent(in) :: array(..)
    call MPIX_Tide_list_set_cptr(list, param, address_int8(array))
  end subroutine
  type(c_ptr) function address_int8(array) result(ptr)
    integer(int8), pointer, contiguous, intent(in) :: array(..)
    ptr = c_null_ptr
    if (associated(array)) ptr = c_loc(array)
  end function

  !> The address of a list's entries, and how many they are (-1: the list is absent), for C.
  type(c_ptr) function entries(list) result(ptr)
    type(MPIX_Tide_list), optional, target, intent(in) :: list
    ptr = c_null_ptr
    if (count_of(list) > 0) ptr = c_loc(list%ptr)
  end function
  integer(c_int) function count_of(list) result(n)
    type(MPIX_Tide_list), optional, intent(in) :: list
    n = -1
    if (.not. present(list)) return
    n = 0
    if (allocated(list%ptr)) n = size(list%ptr)
  end function
end module
