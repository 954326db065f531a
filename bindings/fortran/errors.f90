! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Errors, log, version.
module tide_fortran_errors
  use, intrinsic :: iso_c_binding, only: c_char, c_funloc, c_int, c_loc, c_null_funptr, &
    c_null_ptr, c_ptr, c_size_t
  use tide_fortran_codes, only: return_code, string
  use tide_fortran_c_other
  implicit none
  private
  public :: MPIX_Tide_error_kind, MPIX_Tide_error_message, MPIX_Tide_set_log, MPIX_Tide_log_sink, &
    MPIX_Tide_get_version, MPIX_Tide_get_config

  abstract interface
    !> level: 0 error, 1 warn, 2 info, 3 debug.  Called from any thread; no internal procedure.
    subroutine MPIX_Tide_log_sink(level, line, context)
      import :: c_ptr
      integer, intent(in) :: level
      character(len=*), intent(in) :: line
      type(c_ptr), intent(in) :: context
    end subroutine
  end interface
  procedure(MPIX_Tide_log_sink), pointer :: log_sink => null()

contains

  subroutine MPIX_Tide_error_kind(error_code, kind, ierror)
    integer, intent(in) :: error_code
    integer, intent(inout) :: kind
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_error_kind(error_code, kind)
    call return_code(code, ierror)
  end subroutine

  !> This thread's last error on one line, '' if there was none.  It counts parameters and layers from 0, as C
  !> does, and says so.
  function MPIX_Tide_error_message() result(message)
    character(len=:), allocatable :: message
    message = string(c_error_message())
    if (index(message, 'parameter ') > 0 .or. index(message, 'layer ') > 0 .or. index(message, 'ward[') > 0) &
      message = message//' [the message counts parameters and layers from 0]'
  end function

  !> Without sink log lines go to the error output again.
  subroutine MPIX_Tide_set_log(sink, context, ierror)
    procedure(MPIX_Tide_log_sink), optional :: sink
    type(c_ptr), optional, intent(in) :: context
    integer, optional, intent(out) :: ierror
    type(c_ptr) :: passed
    integer :: code
    passed = c_null_ptr
    if (present(context)) passed = context
    if (present(sink)) then
      log_sink => sink
      code = c_set_log(c_funloc(log_line), passed)
    else
      code = c_set_log(c_null_funptr, passed)
    end if
    call return_code(code, ierror)
  end subroutine

  subroutine log_line(level, line, context) bind(C, name='')
    integer(c_int), value :: level
    type(c_ptr), value :: line, context
    call log_sink(level, string(line), context)
  end subroutine

  subroutine MPIX_Tide_get_version(major, minor, patch, ierror)
    integer, intent(inout) :: major, minor, patch
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_get_version(major, minor, patch)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_get_config(text, ierror)
    character(len=:), allocatable, intent(inout) :: text
    integer, optional, intent(out) :: ierror
    character(kind=c_char), allocatable, target :: chars(:)
    integer(c_size_t) :: needed
    integer :: code
    code = c_get_config(size=0_c_size_t, needed=needed)
    if (code == 0) then
      allocate (chars(needed))
      code = c_get_config(chars, needed)
      text = string(c_loc(chars))
    end if
    call return_code(code, ierror)
  end subroutine
end module
