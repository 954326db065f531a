! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> OpenACC beside Tide.  Without a device a host address is its own device address and there are no streams.
program acc
  use, intrinsic :: iso_c_binding, only: c_associated, c_loc, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: real32
  use openacc, only: acc_device_host, acc_handle_kind, acc_set_device_type
  use mpix_tide
  use mpix_tide_acc
  implicit none
  real(real32), target :: x(16)
  type(MPIX_Tide_list) :: host, device

  call acc_set_device_type(acc_device_host)
  if (c_associated(MPIX_Tide_acc_stream(1_acc_handle_kind))) error stop 'a stream without a CUDA device'
  if (.not. c_associated(MPIX_Tide_acc_device_cptr(c_loc(x)), c_loc(x))) error stop 'device address of host memory'
  call MPIX_Tide_list_add(host, x)
  call MPIX_Tide_list_add_cptr(host, c_null_ptr)
  device = MPIX_Tide_acc_device_list(host)
  if (size(device%ptr) /= 2) error stop 'length of the list'
  if (.not. c_associated(device%ptr(1), c_loc(x)) .or. c_associated(device%ptr(2))) error stop 'entries of the list'
  call MPIX_Tide_acc_map_cptr(c_loc(x), c_loc(x), storage_size(x, kind=8) * size(x) / 8)
  call MPIX_Tide_acc_unmap_cptr(c_loc(x))
  print '(a)', 'passed'
end program
