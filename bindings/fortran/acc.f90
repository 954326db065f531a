! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> OpenACC beside Tide: queues as streams, device addresses for lists, Tide's memory as the device copy of an array.
module mpix_tide_acc
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_size_t
  use openacc, only: acc_handle_kind
  use mpix_tide, only: MPIX_Tide_list
  implicit none
  private
  public :: MPIX_Tide_acc_stream, MPIX_Tide_acc_device_cptr, MPIX_Tide_acc_device_list, MPIX_Tide_acc_map_cptr, &
    MPIX_Tide_acc_unmap_cptr

  interface
    type(c_ptr) function acc_get_cuda_stream(queue) bind(C)
      import
      integer(c_int), value :: queue
    end function
    type(c_ptr) function acc_deviceptr(host) bind(C)
      import
      type(c_ptr), value :: host
    end function
    subroutine acc_map_data(host, device, bytes) bind(C)
      import
      type(c_ptr), value :: host, device
      integer(c_size_t), value :: bytes
    end subroutine
    subroutine acc_unmap_data(host) bind(C)
      import
      type(c_ptr), value :: host
    end subroutine
  end interface

contains

  !> The stream of a queue, the number in `async(queue)`, for the _enqueue calls.  c_null_ptr: no CUDA device.
  type(c_ptr) function MPIX_Tide_acc_stream(queue) result(stream)
    integer(acc_handle_kind), intent(in) :: queue
    stream = acc_get_cuda_stream(int(queue, c_int))
  end function

  !> The device address of host data that is present; c_null_ptr where it is not.
  type(c_ptr) function MPIX_Tide_acc_device_cptr(host) result(device)
    type(c_ptr), intent(in) :: host
    device = acc_deviceptr(host)
  end function

  !> The same for each entry of a list.
  function MPIX_Tide_acc_device_list(list) result(device)
    type(MPIX_Tide_list), intent(in) :: list
    type(MPIX_Tide_list) :: device
    integer :: i
    device = list
    if (.not. allocated(device%ptr)) return
    do i = 1, size(device%ptr)
      device%ptr(i) = acc_deviceptr(list%ptr(i))
    end do
  end function

  !> Makes device memory, for example of MPIX_Tide_alloc, the device copy of host data; nothing is transferred.
  subroutine MPIX_Tide_acc_map_cptr(host, device, bytes)
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes
    call acc_map_data(host, device, bytes)
  end subroutine

  subroutine MPIX_Tide_acc_unmap_cptr(host)
    type(c_ptr), intent(in) :: host
    call acc_unmap_data(host)
  end subroutine
end module
