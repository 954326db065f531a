! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Training steps through a pipeline: a tied layer, one that is frozen, both modes, micro-batches.
program pipeline_test
  use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_null_ptr
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use mpi_f08
  use mpix_tide
  use check_m
  implicit none
  integer, parameter :: nrows = 5, elems = 3, visits(4) = [1, 2, 3, 1]
  type :: layer_t
    real(real32), pointer, contiguous :: shard(:, :), total(:, :)
    type(MPIX_Tide_list) :: shards, totals
  end type
  type(layer_t) :: layers(3)
  type(MPIX_Tide_schedule) :: schedule
  type(MPIX_Tide_pipeline) :: pipeline
  type(MPIX_Tide_list) :: nothing
  integer(int64) :: lower, upper, params, grads, workspace
  integer :: l, mode, step, ierror, class

  call begin()
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  allocate (schedule%groups(3))
  do l = 1, 3
    call MPIX_Tide_group_create(MPI_COMM_WORLD, 1, [MPIX_Tide_param(nrows, elems, 0, MPIX_TIDE_FP32, 0)], &
      MPI_INFO_NULL, schedule%groups(l))
    call MPIX_Tide_bounds(schedule%groups(l), 1, rank, lower, upper)
    allocate (layers(l)%shard(elems, lower:upper), layers(l)%total(elems, lower:upper))
    call MPIX_Tide_list_add(layers(l)%shards, layers(l)%shard)
    call MPIX_Tide_list_add(layers(l)%totals, layers(l)%total)
  end do
  schedule%layer_flags = [0, MPIX_TIDE_LAYER_FROZEN, MPIX_TIDE_LAYER_KEEP]
  schedule%forward = visits
  schedule%prefetch = 1
  schedule%reshard_after_forward = 1
  do mode = MPIX_TIDE_IN_PLACE_MODE, MPIX_TIDE_SLOT_REUSE_MODE
    schedule%mode = mode
    call MPIX_Tide_pipeline_create(schedule, MPI_INFO_NULL, pipeline, ierror)
    call check(ierror == MPI_SUCCESS .and. c_associated(pipeline%handle), 'create')
    call MPIX_Tide_pipeline_sizes(pipeline, params, grads, workspace, ierror)
    call check(ierror == MPI_SUCCESS .and. params + grads == 4 * 64 .and. workspace >= 0, 'sizes')
    call MPIX_Tide_pipeline_bind(pipeline, 1, nothing, layers(1)%totals, ierror)
    call check_class(ierror, MPI_ERR_ARG, 'a list of another length')
    call MPIX_Tide_pipeline_bind(pipeline, 1, layers(1)%shards, layers(1)%totals)
    call MPIX_Tide_pipeline_bind(pipeline, 2, layers(2)%shards)
    call MPIX_Tide_pipeline_bind(pipeline, 3, layers(3)%shards, layers(3)%totals, ierror)
    call check(ierror == MPI_SUCCESS, 'bind')
    call micro_batch(1, 0)
    call check_totals(1)
    call micro_batch(2, MPIX_TIDE_NO_SYNC)
    call micro_batch(3, 0)
    call check_totals(2 + 3)
    call MPIX_Tide_pipeline_gather(pipeline, 4, nothing, c_null_ptr, ierror)
    call check_class(ierror, MPI_ERR_ARG, 'a layer that there is not')
    call check(index(MPIX_Tide_error_message(), 'counts parameters and layers from 0') > 0, 'how messages count')
    call MPIX_Tide_pipeline_finish(pipeline, c_null_ptr, ierror)
    call check_class(ierror, MPI_ERR_REQUEST, 'finish without begin')
    call MPIX_Tide_pipeline_free(pipeline, ierror)
    call check(ierror == MPI_SUCCESS .and. .not. c_associated(pipeline%handle), 'free')
  end do
  schedule%layer_flags = [0]
  call MPIX_Tide_pipeline_create(schedule, MPI_INFO_NULL%MPI_VAL, pipeline, ierror)
  call check_class(ierror, MPI_ERR_ARG, 'too few flags')
  schedule%layer_flags = [0, 0, 0, 0]
  call MPIX_Tide_pipeline_create(schedule, MPI_INFO_NULL, pipeline, ierror)
  call check_class(ierror, MPI_ERR_ARG, 'too many flags')
  call check(index(MPIX_Tide_error_message(), 'layer_flags has 4 elements but groups has 3') > 0, 'too many flags: words')
  do l = 1, 3
    call MPIX_Tide_group_free(schedule%groups(l))
  end do
  call finish()

contains

  subroutine micro_batch(number, flags)
    integer, intent(in) :: number, flags
    integer :: v
    step = number
    do l = 1, 3
      layers(l)%shard(:, :) = 100 * step + 10 * l + rank
    end do
    call MPIX_Tide_pipeline_begin(pipeline, flags, c_null_ptr, ierror)
    call check(ierror == MPI_SUCCESS, 'begin')
    do v = 1, 4
      call visit(visits(v), .false.)
    end do
    do v = 4, 1, -1
      call visit(visits(v), visits(v) /= 2)
    end do
    call MPIX_Tide_pipeline_finish(pipeline, c_null_ptr, ierror)
    call check(ierror == MPI_SUCCESS, 'finish')
  end subroutine

  subroutine visit(layer, trains)
    integer, intent(in) :: layer
    logical, intent(in) :: trains
    type(MPIX_Tide_list) :: full, grad
    real(real32), pointer :: w(:, :), g(:, :)
    integer(int64) :: first, last
    integer :: r
    call MPIX_Tide_pipeline_gather(pipeline, layer, full, c_null_ptr, ierror)
    call check(ierror == MPI_SUCCESS, 'gather')
    call c_f_pointer(full%ptr(1), w, [elems, nrows])
    do r = 0, ranks - 1
      call MPIX_Tide_bounds(schedule%groups(layer), 1, r, first, last)
      call check(all(nint(w(:, first:last)) == 100 * step + 10 * layer + r), 'gathered parameters')
    end do
    if (trains) then
      call MPIX_Tide_pipeline_grads(pipeline, layer, grad, c_null_ptr, ierror)
      call check(ierror == MPI_SUCCESS, 'grads')
      call c_f_pointer(grad%ptr(1), g, [elems, nrows])
      g = g + step * layer * (rank + 1)
      call MPIX_Tide_pipeline_reduce(pipeline, layer, 0, MPIX_TIDE_SUM, 2._real64, c_null_ptr, ierror)
      call check(ierror == MPI_SUCCESS, 'reduce')
    end if
    call MPIX_Tide_pipeline_release(pipeline, layer, c_null_ptr, ierror)
    call check(ierror == MPI_SUCCESS, 'release')
  end subroutine

  !> Layer 1 has two visits; steps: the sum of the micro-batches' numbers.
  subroutine check_totals(steps)
    integer, intent(in) :: steps
    integer :: sum_of_ranks
    sum_of_ranks = ranks * (ranks + 1) / 2
    call check(all(nint(layers(1)%total) == 2 * 2 * steps * sum_of_ranks), 'a tied layer')
    call check(all(nint(layers(3)%total) == 2 * 3 * steps * sum_of_ranks), 'a kept layer')
  end subroutine

  subroutine check_class(code, wanted, what)
    integer, intent(in) :: code, wanted
    character(len=*), intent(in) :: what
    call MPI_Error_class(code, class)
    call check(class == wanted, what)
  end subroutine
end program
