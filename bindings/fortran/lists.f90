! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Lists of addresses, one for each parameter, counted from 1.
!>
!> Only an array whose address lasts can enter a list: `pointer, contiguous, intent(in)` dummies take a TARGET (or a
!> contiguous pointer) that is simply contiguous.  The compiler refuses a strided section, an expression, an array
!> without TARGET and another kind.  A list knows kind and size of its arrays; the calls compare them with the group's.
module tide_fortran_lists
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_loc, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int16, int8, real32, real64
  use tide_fortran_types, only: MPIX_TIDE_BF16, MPIX_TIDE_FP16, MPIX_TIDE_FP32, MPIX_TIDE_FP64, MPIX_TIDE_UINT8
  implicit none
  private
  public :: MPIX_Tide_list_add, MPIX_Tide_list_set, MPIX_Tide_list_add_cptr, MPIX_Tide_list_set_cptr
  public :: of_pointers, c_list, in_c

  !> ptr has an entry for each parameter, and may have room for more.
  type, public :: MPIX_Tide_list
    type(c_ptr), allocatable :: ptr(:) !< c_null_ptr where there is no piece
    integer(c_int), allocatable, private :: dtypes(:)    !< 0: not known
    integer(c_int64_t), allocatable, private :: elems(:) !< -1: not known
    integer, private :: used = -1                        !< entries; -1: all of ptr
  end type

  !> What shim.c sees of a list; count -1: the list is absent.
  type, bind(C) :: c_list
    type(c_ptr) :: ptr = c_null_ptr
    integer(c_int) :: count = -1
    type(c_ptr) :: dtypes = c_null_ptr, elems = c_null_ptr
  end type

  !> Appends an array.
  interface MPIX_Tide_list_add
    procedure add_real32, add_real64, add_int16, add_int8
  end interface
  !> Sets the entry of a parameter, counted from 1; the list grows where needed.
  interface MPIX_Tide_list_set
    procedure set_real32, set_real64, set_int16, set_int8
  end interface

  integer, parameter :: two_bytes = ior(MPIX_TIDE_BF16, ishft(MPIX_TIDE_FP16, 8)) !< MPIX_TIDE_TWO_BYTES of tide_bindings.h

contains

  integer function length_of(list) result(n)
    type(MPIX_Tide_list), intent(in) :: list
    n = 0
    if (allocated(list%ptr)) n = size(list%ptr)
    if (list%used >= 0) n = min(n, list%used)
  end function

  !> A list has n entries, what is new is empty.  Room grows by factors, so that appending costs no copy each time.
  subroutine resize(list, n)
    type(MPIX_Tide_list), intent(inout) :: list
    integer, intent(in) :: n
    type(c_ptr), allocatable :: ptr(:)
    integer(c_int), allocatable :: dtypes(:)
    integer(c_int64_t), allocatable :: elems(:)
    integer :: known, old, room
    old = length_of(list)
    known = 0
    if (allocated(list%elems)) known = min(old, size(list%elems))
    room = 0
    if (allocated(list%ptr)) room = size(list%ptr)
    if (allocated(list%elems)) room = min(room, size(list%elems))
    if (n > room .or. .not. allocated(list%elems)) then
      room = max(n, 2 * room)
      allocate (ptr(room), dtypes(room), elems(room))
      if (old > 0) ptr(:old) = list%ptr(:old)
      if (known > 0) dtypes(:known) = list%dtypes(:known)
      if (known > 0) elems(:known) = list%elems(:known)
      call move_alloc(ptr, list%ptr)
      call move_alloc(dtypes, list%dtypes)
      call move_alloc(elems, list%elems)
    end if
    list%ptr(old + 1:n) = c_null_ptr
    list%dtypes(known + 1:n) = 0
    list%elems(known + 1:n) = -1
    list%used = n
  end subroutine

  subroutine set_entry(list, param, ptr, dtype, elems)
    type(MPIX_Tide_list), intent(inout) :: list
    integer, intent(in) :: param
    type(c_ptr), intent(in) :: ptr
    integer, intent(in) :: dtype
    integer(c_int64_t), intent(in) :: elems
    if (param < 1) error stop 'MPIX_Tide_list_set: param is less than 1; parameters count from 1'
    call resize(list, max(param, length_of(list)))
    list%ptr(param) = ptr
    list%dtypes(param) = dtype
    list%elems(param) = elems
  end subroutine

  !> A list of addresses alone, of which nothing is known.
  subroutine of_pointers(list, ptr)
    type(MPIX_Tide_list), intent(inout) :: list
    type(c_ptr), allocatable, intent(inout) :: ptr(:)
    type(MPIX_Tide_list) :: made
    call move_alloc(ptr, made%ptr)
    list = made
  end subroutine

  subroutine MPIX_Tide_list_add_cptr(list, ptr)
    type(MPIX_Tide_list), intent(inout) :: list
    type(c_ptr), intent(in) :: ptr !< of memory whose kind and size nobody compares
    call set_entry(list, length_of(list) + 1, ptr, 0, -1_c_int64_t)
  end subroutine

  subroutine MPIX_Tide_list_set_cptr(list, param, ptr)
    type(MPIX_Tide_list), intent(inout) :: list
    integer, intent(in) :: param !< from 1
    type(c_ptr), intent(in) :: ptr
    call set_entry(list, param, ptr, 0, -1_c_int64_t)
  end subroutine

  subroutine add_real32(list, array)
    type(MPIX_Tide_list), intent(inout) :: list
    real(real32), pointer, contiguous, intent(in) :: array(..)
    call set_real32(list, length_of(list) + 1, array)
  end subroutine
  subroutine set_real32(list, param, array)
    type(MPIX_Tide_list), intent(inout) :: list
    integer, intent(in) :: param
    real(real32), pointer, contiguous, intent(in) :: array(..)
    if (associated(array)) then
      call set_entry(list, param, c_loc(array), MPIX_TIDE_FP32, size(array, kind=c_int64_t))
    else
      call set_entry(list, param, c_null_ptr, 0, -1_c_int64_t)
    end if
  end subroutine

  subroutine add_real64(list, array)
    type(MPIX_Tide_list), intent(inout) :: list
    real(real64), pointer, contiguous, intent(in) :: array(..)
    call set_real64(list, length_of(list) + 1, array)
  end subroutine
  subroutine set_real64(list, param, array)
    type(MPIX_Tide_list), intent(inout) :: list
    integer, intent(in) :: param
    real(real64), pointer, contiguous, intent(in) :: array(..)
    if (associated(array)) then
      call set_entry(list, param, c_loc(array), MPIX_TIDE_FP64, size(array, kind=c_int64_t))
    else
      call set_entry(list, param, c_null_ptr, 0, -1_c_int64_t)
    end if
  end subroutine

  subroutine add_int16(list, array)
    type(MPIX_Tide_list), intent(inout) :: list
    integer(int16), pointer, contiguous, intent(in) :: array(..)
    call set_int16(list, length_of(list) + 1, array)
  end subroutine
  subroutine set_int16(list, param, array)
    type(MPIX_Tide_list), intent(inout) :: list
    integer, intent(in) :: param
    integer(int16), pointer, contiguous, intent(in) :: array(..)
    if (associated(array)) then
      call set_entry(list, param, c_loc(array), two_bytes, size(array, kind=c_int64_t))
    else
      call set_entry(list, param, c_null_ptr, 0, -1_c_int64_t)
    end if
  end subroutine

  subroutine add_int8(list, array)
    type(MPIX_Tide_list), intent(inout) :: list
    integer(int8), pointer, contiguous, intent(in) :: array(..)
    call set_int8(list, length_of(list) + 1, array)
  end subroutine
  subroutine set_int8(list, param, array)
    type(MPIX_Tide_list), intent(inout) :: list
    integer, intent(in) :: param
    integer(int8), pointer, contiguous, intent(in) :: array(..)
    if (associated(array)) then
      call set_entry(list, param, c_loc(array), MPIX_TIDE_UINT8, size(array, kind=c_int64_t))
    else
      call set_entry(list, param, c_null_ptr, 0, -1_c_int64_t)
    end if
  end subroutine

  type(c_list) function in_c(list)
    type(MPIX_Tide_list), optional, target, intent(in) :: list
    if (.not. present(list)) return
    in_c%count = length_of(list)
    if (in_c%count == 0) return
    in_c%ptr = c_loc(list%ptr)
    if (.not. allocated(list%elems)) return
    if (size(list%elems) < in_c%count) return
    in_c%dtypes = c_loc(list%dtypes)
    in_c%elems = c_loc(list%elems)
  end function
end module
