! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> The error code of a call on its way to the caller.
module tide_fortran_codes
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer, c_int, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private
  public :: return_code, string

  interface
    integer(c_int) function mpi_is_up() bind(C, name='tide_fortran_mpi_is_up')
      import
    end function
    type(c_ptr) function c_error_message() bind(C, name='MPIX_Tide_error_message')
      import
    end function
    integer(c_size_t) function c_strlen(text) bind(C, name='strlen')
      import
      type(c_ptr), value :: text
    end function
  end interface

contains

  !> Without ierror MPI's error handler has had its say; where there is no MPI, nobody has: the program ends.
  subroutine return_code(code, ierror)
    integer, intent(in) :: code
    integer, optional, intent(out) :: ierror
    if (present(ierror)) then
      ierror = code
    else if (code /= 0) then
      if (mpi_is_up() /= 0) return
      write (error_unit, '(2a)') 'tide: ', string(c_error_message())
      error stop 1, quiet=.true.
    end if
  end subroutine

  function string(text)
    type(c_ptr), intent(in) :: text !< ends with 0
    character(len=:), allocatable :: string
    character(kind=c_char), pointer :: chars(:)
    integer :: i
    call c_f_pointer(text, chars, [c_strlen(text)])
    allocate (character(len=size(chars)) :: string)
    do i = 1, size(chars)
      string(i:i) = chars(i)
    end do
  end function
end module
