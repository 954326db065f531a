! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Requests: started, completed and freed as in C; flags are logical.
module tide_fortran_requests
  use, intrinsic :: iso_c_binding, only: c_double, c_int, c_ptr
  use mpi_f08, only: MPI_Request
  use tide_fortran_codes, only: return_code
  use tide_fortran_c_collectives
  use tide_fortran_types
  implicit none
  private
  public :: MPIX_Tide_start, MPIX_Tide_startall, MPIX_Tide_test, MPIX_Tide_testall, MPIX_Tide_wait, &
    MPIX_Tide_waitall, MPIX_Tide_wait_inputs, MPIX_Tide_test_inputs, MPIX_Tide_start_enqueue, &
    MPIX_Tide_wait_inputs_enqueue, MPIX_Tide_wait_enqueue, MPIX_Tide_request_set, MPIX_Tide_request_free, &
    MPIX_Tide_request_mpi, MPIX_Tide_group_async_error

  interface MPIX_Tide_request_mpi
    procedure request_mpi, request_mpi_f08
  end interface

contains

  subroutine MPIX_Tide_start(request, ierror)
    type(MPIX_Tide_request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_start(request)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_startall(count, requests, ierror)
    integer, intent(in) :: count
    type(MPIX_Tide_request), intent(inout) :: requests(count)
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_startall(count, requests)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_test(request, flag, ierror)
    type(MPIX_Tide_request), intent(inout) :: request
    logical, intent(inout) :: flag
    integer, optional, intent(out) :: ierror
    integer :: code
    integer(c_int) :: done
    code = c_test(request, done)
    if (code == 0) flag = done /= 0
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_testall(count, requests, flag, ierror)
    integer, intent(in) :: count
    type(MPIX_Tide_request), intent(inout) :: requests(count)
    logical, intent(inout) :: flag
    integer, optional, intent(out) :: ierror
    integer :: code
    integer(c_int) :: done
    code = c_testall(count, requests, done)
    if (code == 0) flag = done /= 0
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_wait(request, ierror)
    type(MPIX_Tide_request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_wait(request)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_waitall(count, requests, ierror)
    integer, intent(in) :: count
    type(MPIX_Tide_request), intent(inout) :: requests(count)
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_waitall(count, requests)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_wait_inputs(request, ierror)
    type(MPIX_Tide_request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_wait_inputs(request)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_test_inputs(request, flag, ierror)
    type(MPIX_Tide_request), intent(inout) :: request
    logical, intent(inout) :: flag
    integer, optional, intent(out) :: ierror
    integer :: code
    integer(c_int) :: done
    code = c_test_inputs(request, done)
    if (code == 0) flag = done /= 0
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_start_enqueue(request, stream, ierror)
    type(MPIX_Tide_request), intent(inout) :: request
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_start_enqueue(request, stream)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_wait_inputs_enqueue(request, stream, ierror)
    type(MPIX_Tide_request), intent(inout) :: request
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_wait_inputs_enqueue(request, stream)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_wait_enqueue(request, stream, ierror)
    type(MPIX_Tide_request), intent(inout) :: request
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_wait_enqueue(request, stream)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_request_set(request, op, scale, ierror)
    type(MPIX_Tide_request), intent(in) :: request
    integer, intent(in) :: op
    real(c_double), intent(in) :: scale
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_request_set(request%handle, op, scale)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_request_free(request, ierror)
    type(MPIX_Tide_request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_request_free(request)
    call return_code(code, ierror)
  end subroutine

  subroutine request_mpi(request, mpi_req, ierror)
    type(MPIX_Tide_request), intent(in) :: request
    integer, intent(inout) :: mpi_req
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_request_mpi(request%handle, mpi_req)
    call return_code(code, ierror)
  end subroutine

  subroutine request_mpi_f08(request, mpi_req, ierror)
    type(MPIX_Tide_request), intent(in) :: request
    type(MPI_Request), intent(inout) :: mpi_req
    integer, optional, intent(out) :: ierror
    call request_mpi(request, mpi_req%MPI_VAL, ierror)
  end subroutine

  subroutine MPIX_Tide_group_async_error(group, code, ierror)
    type(MPIX_Tide_group), intent(in) :: group
    integer, intent(inout) :: code
    integer, optional, intent(out) :: ierror
    integer :: rc
    rc = c_group_async_error(group%handle, code)
    call return_code(rc, ierror)
  end subroutine
end module
