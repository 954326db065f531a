! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Collectives and requests as C sees them.
module tide_fortran_c_collectives
  use, intrinsic :: iso_c_binding
  use tide_fortran_lists, only: c_list
  use tide_fortran_types
  implicit none
  public
  interface
    integer(c_int) function c_allgather(shards, params, group) &
      bind(C, name='tide_fortran_allgather')
      import
      type(c_list), value :: shards, params
      type(c_ptr), value :: group
    end function
    integer(c_int) function c_iallgather(shards, params, group, request) &
      bind(C, name='tide_fortran_iallgather')
      import
      type(c_list), value :: shards, params
      type(c_ptr), value :: group
      type(MPIX_Tide_request), intent(inout) :: request
    end function
    integer(c_int) function c_allgather_init(shards, params, group, info, request) &
      bind(C, name='tide_fortran_allgather_init')
      import
      type(c_list), value :: shards, params
      type(c_ptr), value :: group
      integer(c_int), value :: info
      type(MPIX_Tide_request), intent(inout) :: request
    end function
    integer(c_int) function c_allgather_enqueue(shards, params, group, stream) &
      bind(C, name='tide_fortran_allgather_enqueue')
      import
      type(c_list), value :: shards, params
      type(c_ptr), value :: group, stream
    end function
    integer(c_int) function c_reduce_scatter(grads, shards, out_dtype, op, scale, group) &
      bind(C, name='tide_fortran_reduce_scatter')
      import
      type(c_list), value :: grads, shards
      integer(c_int), value :: out_dtype, op
      real(c_double), value :: scale
      type(c_ptr), value :: group
    end function
    integer(c_int) function c_ireduce_scatter(grads, shards, out_dtype, op, scale, group, request) &
      bind(C, name='tide_fortran_ireduce_scatter')
      import
      type(c_list), value :: grads, shards
      integer(c_int), value :: out_dtype, op
      real(c_double), value :: scale
      type(c_ptr), value :: group
      type(MPIX_Tide_request), intent(inout) :: request
    end function
    integer(c_int) function c_reduce_scatter_init(grads, shards, out_dtype, op, scale, group, info, &
      request) bind(C, name='tide_fortran_reduce_scatter_init')
      import
      type(c_list), value :: grads, shards
      integer(c_int), value :: out_dtype, op
      real(c_double), value :: scale
      type(c_ptr), value :: group
      integer(c_int), value :: info
      type(MPIX_Tide_request), intent(inout) :: request
    end function
    integer(c_int) function c_reduce_scatter_enqueue(grads, shards, out_dtype, op, scale, group, &
      stream) bind(C, name='tide_fortran_reduce_scatter_enqueue')
      import
      type(c_list), value :: grads, shards
      integer(c_int), value :: out_dtype, op
      real(c_double), value :: scale
      type(c_ptr), value :: group, stream
    end function
    integer(c_int) function c_start(request) bind(C, name='MPIX_Tide_start')
      import
      type(MPIX_Tide_request), intent(inout) :: request
    end function
    integer(c_int) function c_startall(count, requests) bind(C, name='MPIX_Tide_startall')
      import
      integer(c_int), value :: count
      type(MPIX_Tide_request), intent(inout) :: requests(*)
    end function
    integer(c_int) function c_test(request, flag) bind(C, name='MPIX_Tide_test')
      import
      type(MPIX_Tide_request), intent(inout) :: request
      integer(c_int), intent(inout) :: flag
    end function
    integer(c_int) function c_testall(count, requests, flag) bind(C, name='MPIX_Tide_testall')
      import
      integer(c_int), value :: count
      type(MPIX_Tide_request), intent(inout) :: requests(*)
      integer(c_int), intent(inout) :: flag
    end function
    integer(c_int) function c_wait(request) bind(C, name='MPIX_Tide_wait')
      import
      type(MPIX_Tide_request), intent(inout) :: request
    end function
    integer(c_int) function c_waitall(count, requests) bind(C, name='MPIX_Tide_waitall')
      import
      integer(c_int), value :: count
      type(MPIX_Tide_request), intent(inout) :: requests(*)
    end function
    integer(c_int) function c_wait_inputs(request) bind(C, name='MPIX_Tide_wait_inputs')
      import
      type(MPIX_Tide_request), intent(inout) :: request
    end function
    integer(c_int) function c_test_inputs(request, flag) bind(C, name='MPIX_Tide_test_inputs')
      import
      type(MPIX_Tide_request), intent(inout) :: request
      integer(c_int), intent(inout) :: flag
    end function
    integer(c_int) function c_start_enqueue(request, stream) bind(C, name='MPIX_Tide_start_enqueue')
      import
      type(MPIX_Tide_request), intent(inout) :: request
      type(c_ptr), value :: stream
    end function
    integer(c_int) function c_wait_inputs_enqueue(request, stream) bind(C, name='MPIX_Tide_wait_inputs_enqueue')
      import
      type(MPIX_Tide_request), intent(inout) :: request
      type(c_ptr), value :: stream
    end function
    integer(c_int) function c_wait_enqueue(request, stream) bind(C, name='MPIX_Tide_wait_enqueue')
      import
      type(MPIX_Tide_request), intent(inout) :: request
      type(c_ptr), value :: stream
    end function
    integer(c_int) function c_request_set(request, op, scale) bind(C, name='MPIX_Tide_request_set')
      import
      type(c_ptr), value :: request
      integer(c_int), value :: op
      real(c_double), value :: scale
    end function
    integer(c_int) function c_request_free(request) bind(C, name='MPIX_Tide_request_free')
      import
      type(MPIX_Tide_request), intent(inout) :: request
    end function
    integer(c_int) function c_request_mpi(request, mpi_request) bind(C, name='tide_fortran_request_mpi')
      import
      type(c_ptr), value :: request
      integer(c_int), intent(inout) :: mpi_request
    end function
    integer(c_int) function c_group_async_error(group, code) bind(C, name='MPIX_Tide_group_async_error')
      import
      type(c_ptr), value :: group
      integer(c_int), intent(inout) :: code
    end function
  end interface
end module
