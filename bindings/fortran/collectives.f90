! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Collectives.  In place: leave `shards` of an all-gather out, MPIX_Tide_allgather(params=list, group=group).
!> A list of another length, or an array of another kind or size, than the group's is an error (BUFFER) on all ranks.
module tide_fortran_collectives
  use, intrinsic :: iso_c_binding, only: c_double, c_ptr
  use mpi_f08, only: MPI_Info
  use tide_fortran_codes, only: return_code
  use tide_fortran_c_collectives
  use tide_fortran_lists, only: in_c, MPIX_Tide_list
  use tide_fortran_types
  implicit none
  private
  public :: MPIX_Tide_allgather, MPIX_Tide_iallgather, MPIX_Tide_allgather_init, MPIX_Tide_allgather_enqueue, &
    MPIX_Tide_reduce_scatter, MPIX_Tide_ireduce_scatter, MPIX_Tide_reduce_scatter_init, &
    MPIX_Tide_reduce_scatter_enqueue

  interface MPIX_Tide_allgather_init
    procedure allgather_init, allgather_init_f08
  end interface
  interface MPIX_Tide_reduce_scatter_init
    procedure reduce_scatter_init, reduce_scatter_init_f08
  end interface

contains

  subroutine MPIX_Tide_allgather(shards, params, group, ierror)
    type(MPIX_Tide_list), optional, intent(in) :: shards
    type(MPIX_Tide_list), intent(in) :: params
    type(MPIX_Tide_group), intent(in) :: group
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_allgather(in_c(shards), in_c(params), group%handle)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_iallgather(shards, params, group, request, ierror)
    type(MPIX_Tide_list), optional, intent(in) :: shards
    type(MPIX_Tide_list), intent(in) :: params
    type(MPIX_Tide_group), intent(in) :: group
    type(MPIX_Tide_request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_iallgather(in_c(shards), in_c(params), group%handle, request)
    call return_code(code, ierror)
  end subroutine

  subroutine allgather_init(shards, params, group, info, request, ierror)
    type(MPIX_Tide_list), optional, intent(in) :: shards
    type(MPIX_Tide_list), intent(in) :: params
    type(MPIX_Tide_group), intent(in) :: group
    integer, intent(in) :: info
    type(MPIX_Tide_request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_allgather_init(in_c(shards), in_c(params), group%handle, &
      info, request)
    call return_code(code, ierror)
  end subroutine

  subroutine allgather_init_f08(shards, params, group, info, request, ierror)
    type(MPIX_Tide_list), optional, intent(in) :: shards
    type(MPIX_Tide_list), intent(in) :: params
    type(MPIX_Tide_group), intent(in) :: group
    type(MPI_Info), intent(in) :: info
    type(MPIX_Tide_request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    call allgather_init(shards, params, group, info%MPI_VAL, request, ierror)
  end subroutine

  subroutine MPIX_Tide_allgather_enqueue(shards, params, group, stream, ierror)
    type(MPIX_Tide_list), optional, intent(in) :: shards
    type(MPIX_Tide_list), intent(in) :: params
    type(MPIX_Tide_group), intent(in) :: group
    type(c_ptr), intent(in) :: stream !< a cudaStream_t
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_allgather_enqueue(in_c(shards), in_c(params), group%handle, &
      stream)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_reduce_scatter(grads, shards, out_dtype, op, scale, group, ierror)
    type(MPIX_Tide_list), intent(in) :: grads, shards
    integer, intent(in) :: out_dtype, op
    real(c_double), intent(in) :: scale
    type(MPIX_Tide_group), intent(in) :: group
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_reduce_scatter(in_c(grads), in_c(shards), out_dtype, op, &
      scale, group%handle)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_ireduce_scatter(grads, shards, out_dtype, op, scale, group, request, ierror)
    type(MPIX_Tide_list), intent(in) :: grads, shards
    integer, intent(in) :: out_dtype, op
    real(c_double), intent(in) :: scale
    type(MPIX_Tide_group), intent(in) :: group
    type(MPIX_Tide_request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_ireduce_scatter(in_c(grads), in_c(shards), out_dtype, op, &
      scale, group%handle, request)
    call return_code(code, ierror)
  end subroutine

  subroutine reduce_scatter_init(grads, shards, out_dtype, op, scale, group, info, request, ierror)
    type(MPIX_Tide_list), intent(in) :: grads, shards
    integer, intent(in) :: out_dtype, op
    real(c_double), intent(in) :: scale
    type(MPIX_Tide_group), intent(in) :: group
    integer, intent(in) :: info
    type(MPIX_Tide_request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_reduce_scatter_init(in_c(grads), in_c(shards), out_dtype, op, &
      scale, group%handle, info, request)
    call return_code(code, ierror)
  end subroutine

  subroutine reduce_scatter_init_f08(grads, shards, out_dtype, op, scale, group, info, request, ierror)
    type(MPIX_Tide_list), intent(in) :: grads, shards
    integer, intent(in) :: out_dtype, op
    real(c_double), intent(in) :: scale
    type(MPIX_Tide_group), intent(in) :: group
    type(MPI_Info), intent(in) :: info
    type(MPIX_Tide_request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    call reduce_scatter_init(grads, shards, out_dtype, op, scale, group, info%MPI_VAL, request, ierror)
  end subroutine

  subroutine MPIX_Tide_reduce_scatter_enqueue(grads, shards, out_dtype, op, scale, group, stream, ierror)
    type(MPIX_Tide_list), intent(in) :: grads, shards
    integer, intent(in) :: out_dtype, op
    real(c_double), intent(in) :: scale
    type(MPIX_Tide_group), intent(in) :: group
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_reduce_scatter_enqueue(in_c(grads), in_c(shards), out_dtype, &
      op, scale, group%handle, stream)
    call return_code(code, ierror)
  end subroutine
end module
