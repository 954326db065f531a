! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> The training pipeline.  Layers count from 1; a frozen layer is bound without grad_shards.
module tide_fortran_pipeline
  use, intrinsic :: iso_c_binding, only: c_double, c_int, c_int64_t, c_loc, c_ptr
  use mpi_f08, only: MPI_Info
  use tide_fortran_c_groups, only: c_group_get
  use tide_fortran_c_pipeline
  use tide_fortran_codes, only: return_code
  use tide_fortran_lists, only: in_c, MPIX_Tide_list, of_pointers
  use tide_fortran_types
  implicit none
  private
  public :: MPIX_Tide_pipeline_create, MPIX_Tide_pipeline_sizes, MPIX_Tide_pipeline_bind, MPIX_Tide_pipeline_begin, &
    MPIX_Tide_pipeline_gather, MPIX_Tide_pipeline_release, MPIX_Tide_pipeline_grads, MPIX_Tide_pipeline_reduce, &
    MPIX_Tide_pipeline_finish, MPIX_Tide_pipeline_free

  interface MPIX_Tide_pipeline_create
    procedure pipeline_create, pipeline_create_f08
  end interface

contains

  subroutine pipeline_create(schedule, info, pipeline, ierror)
    type(MPIX_Tide_schedule), intent(in) :: schedule
    integer, intent(in) :: info
    type(MPIX_Tide_pipeline), intent(inout) :: pipeline
    integer, optional, intent(out) :: ierror
    type(MPIX_Tide_group), allocatable, target :: groups(:)
    integer(c_int), allocatable, target :: flags(:), forward(:), backward(:)
    integer(c_int), allocatable :: nparams(:)
    integer :: code, l, n, comm, unused
    n = 0
    if (allocated(schedule%groups)) n = size(schedule%groups)
    allocate (groups(n + 1), nparams(n), flags(n + 1)) ! none is empty, so that each has an address
    if (n > 0) groups(:n) = schedule%groups
    flags = 0
    if (allocated(schedule%layer_flags)) then
      l = min(n, size(schedule%layer_flags)) ! of another length: refused
      flags(:l) = schedule%layer_flags(:l)
    end if
    forward = visits(schedule%forward)
    backward = visits(schedule%backward)
    code = c_pipeline_create(n, c_loc(groups), length(schedule%layer_flags), c_loc(flags), length(schedule%forward), &
      c_loc(forward), length(schedule%backward), c_loc(backward), schedule%mode, schedule%prefetch, &
      schedule%reshard_after_forward, info, pipeline%handle)
    if (code == 0) then
      nparams = 0
      do l = 1, n
        unused = c_group_get(groups(l)%handle, comm, nparams(l))
      end do
      call pipeline%set_nparams(nparams)
    end if
    call return_code(code, ierror)
  end subroutine

  subroutine pipeline_create_f08(schedule, info, pipeline, ierror)
    type(MPIX_Tide_schedule), intent(in) :: schedule
    type(MPI_Info), intent(in) :: info
    type(MPIX_Tide_pipeline), intent(inout) :: pipeline
    integer, optional, intent(out) :: ierror
    call pipeline_create(schedule, info%MPI_VAL, pipeline, ierror)
  end subroutine

  !> As C counts layers, with an entry more; how many, -1 where the list is not allocated.
  function visits(list) result(c)
    integer, allocatable, intent(in) :: list(:)
    integer(c_int), allocatable :: c(:)
    allocate (c(1))
    c = 0
    if (allocated(list)) c = [list - 1, 0]
  end function
  integer(c_int) function length(list)
    integer, allocatable, intent(in) :: list(:)
    length = -1
    if (allocated(list)) length = size(list)
  end function

  subroutine MPIX_Tide_pipeline_sizes(pipeline, param_bytes, grad_bytes, workspace_bytes, ierror)
    type(MPIX_Tide_pipeline), intent(in) :: pipeline
    integer(c_int64_t), intent(inout) :: param_bytes, grad_bytes, workspace_bytes
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_pipeline_sizes(pipeline%handle, param_bytes, grad_bytes, workspace_bytes)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_pipeline_bind(pipeline, layer, shards, grad_shards, ierror)
    type(MPIX_Tide_pipeline), intent(in) :: pipeline
    integer, intent(in) :: layer
    type(MPIX_Tide_list), intent(in) :: shards
    type(MPIX_Tide_list), optional, intent(in) :: grad_shards
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_pipeline_bind(pipeline%handle, layer - 1, in_c(shards), in_c(grad_shards), pipeline%of_layer(layer))
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_pipeline_begin(pipeline, flags, stream, ierror)
    type(MPIX_Tide_pipeline), intent(in) :: pipeline
    integer, intent(in) :: flags
    type(c_ptr), intent(in) :: stream !< c_null_ptr
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_pipeline_begin(pipeline%handle, flags, stream)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_pipeline_gather(pipeline, layer, params, stream, ierror)
    type(MPIX_Tide_pipeline), intent(in) :: pipeline
    integer, intent(in) :: layer
    type(MPIX_Tide_list), intent(inout) :: params
    type(c_ptr), intent(in) :: stream !< c_null_ptr
    type(c_ptr), allocatable :: pieces(:)
    integer, optional, intent(out) :: ierror
    integer :: code
    allocate (pieces(pipeline%of_layer(layer)))
    code = c_pipeline_gather(pipeline%handle, layer - 1, pieces, stream)
    if (code == 0) call of_pointers(params, pieces)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_pipeline_release(pipeline, layer, stream, ierror)
    type(MPIX_Tide_pipeline), intent(in) :: pipeline
    integer, intent(in) :: layer
    type(c_ptr), intent(in) :: stream !< c_null_ptr
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_pipeline_release(pipeline%handle, layer - 1, stream)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_pipeline_grads(pipeline, layer, grads, stream, ierror)
    type(MPIX_Tide_pipeline), intent(in) :: pipeline
    integer, intent(in) :: layer
    type(MPIX_Tide_list), intent(inout) :: grads
    type(c_ptr), intent(in) :: stream !< c_null_ptr
    type(c_ptr), allocatable :: pieces(:)
    integer, optional, intent(out) :: ierror
    integer :: code
    allocate (pieces(pipeline%of_layer(layer)))
    code = c_pipeline_grads(pipeline%handle, layer - 1, pieces, stream)
    if (code == 0) call of_pointers(grads, pieces)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_pipeline_reduce(pipeline, layer, out_dtype, op, scale, stream, ierror)
    type(MPIX_Tide_pipeline), intent(in) :: pipeline
    integer, intent(in) :: layer, out_dtype, op
    real(c_double), intent(in) :: scale
    type(c_ptr), intent(in) :: stream !< c_null_ptr
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_pipeline_reduce(pipeline%handle, layer - 1, out_dtype, op, scale, stream)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_pipeline_finish(pipeline, stream, ierror)
    type(MPIX_Tide_pipeline), intent(in) :: pipeline
    type(c_ptr), intent(in) :: stream !< c_null_ptr
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_pipeline_finish(pipeline%handle, stream)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_pipeline_free(pipeline, ierror)
    type(MPIX_Tide_pipeline), intent(inout) :: pipeline
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_pipeline_free(pipeline%handle)
    call return_code(code, ierror)
  end subroutine
end module
