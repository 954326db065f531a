! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Nonblocking and persistent requests.
program requests
  use, intrinsic :: iso_c_binding, only: c_null_ptr
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use mpi_f08
  use mpix_tide
  use check_m
  implicit none
  integer, parameter :: nrows = 5, elems = 3
  type(MPIX_Tide_group) :: group(2)
  type(MPIX_Tide_list) :: shards, params, grads, sums
  type(MPIX_Tide_request) :: request, pair(2)
  real(real32), target :: full(elems, nrows), grad(elems, nrows)
  real(real32), allocatable, target :: shard(:, :), total(:, :)
  integer(int64) :: lower, upper
  integer :: g, ierror, step
  logical :: flag

  call begin()
  do g = 1, 2 ! one request at a time is active in a group
    call MPIX_Tide_group_create(MPI_COMM_WORLD, 1, [MPIX_Tide_param(nrows, elems, 0, MPIX_TIDE_FP32, 0)], &
      MPI_INFO_NULL, group(g))
  end do
  call MPIX_Tide_bounds(group(1), 1, rank, lower, upper)
  allocate (shard(elems, lower:upper), total(elems, lower:upper))
  call MPIX_Tide_list_add(shards, shard)
  call MPIX_Tide_list_add(params, full)
  call MPIX_Tide_list_add(grads, grad)
  call MPIX_Tide_list_add(sums, total)

  call set(1)
  call MPIX_Tide_iallgather(shards, params, group(1), request, ierror)
  call check(ierror == MPI_SUCCESS .and. request /= MPIX_TIDE_REQUEST_NULL, 'iallgather')
  call MPIX_Tide_wait_inputs(request)
  call MPIX_Tide_test_inputs(request, flag)
  call check(flag, 'inputs have been read')
  call MPIX_Tide_wait(request, ierror)
  call check(ierror == MPI_SUCCESS .and. request == MPIX_TIDE_REQUEST_NULL, 'a completed request is null')
  call check_gathered(1)
  call MPIX_Tide_ireduce_scatter(grads, sums, 0, MPIX_TIDE_SUM, 1._real64, group(1), request)
  flag = .false.
  do while (.not. flag)
    call MPIX_Tide_test(request, flag, ierror)
  end do
  call check(ierror == MPI_SUCCESS, 'test')
  call check_summed(1, 1._real32)

  call MPIX_Tide_allgather_init(shards, params, group(1), MPI_INFO_NULL, pair(1))
  call MPIX_Tide_reduce_scatter_init(grads, sums, 0, MPIX_TIDE_SUM, 1._real64, group(2), MPI_INFO_NULL, pair(2))
  do step = 2, 5
    call set(step)
    if (step == 4) call MPIX_Tide_request_set(pair(2), MPIX_TIDE_AVG, 2._real64)
    call MPIX_Tide_startall(2, pair)
    if (step == 2) then
      call MPIX_Tide_waitall(2, pair)
    else
      flag = .false.
      do while (.not. flag)
        call MPIX_Tide_testall(2, pair, flag)
      end do
    end if
    call check_gathered(step)
    call check_summed(step, merge(2._real32 / ranks, 1._real32, step > 3))
  end do
  call MPIX_Tide_start(pair(1))
  call MPIX_Tide_wait(pair(1))

  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call unsupported('start_enqueue')
  call MPIX_Tide_request_free(pair(1))
  call MPIX_Tide_request_free(pair(2), ierror)
  call check(ierror == MPI_SUCCESS .and. pair(2) == MPIX_TIDE_REQUEST_NULL, 'request_free')
  call MPIX_Tide_start(pair(1), ierror)
  call check_class(ierror, MPI_ERR_REQUEST, 'start of a null request')
  call MPIX_Tide_group_free(group(1))
  call MPIX_Tide_group_free(group(2))
  call finish()

contains

  subroutine set(step)
    integer, intent(in) :: step
    shard(:, :) = 10 * step + rank
    grad = step * (rank + 1)
    full = -1
    total(:, :) = -1
  end subroutine

  subroutine check_gathered(step)
    integer, intent(in) :: step
    integer(int64) :: first, last
    integer :: r
    do r = 0, ranks - 1
      call MPIX_Tide_bounds(group(1), 1, r, first, last)
      call check(all(nint(full(:, first:last)) == 10 * step + r), 'all-gather by request')
    end do
  end subroutine

  subroutine check_summed(step, factor)
    integer, intent(in) :: step
    real(real32), intent(in) :: factor
    call check(all(abs(total - factor * step * ranks * (ranks + 1) / 2) < 1e-4), 'reduce-scatter by request')
  end subroutine

  !> The stream-ordered calls reach the library, which says that there is no device.
  subroutine unsupported(what)
    character(len=*), intent(in) :: what
    integer :: code(5), kind, i
    call MPIX_Tide_allgather_enqueue(shards, params, group(1), c_null_ptr, code(1))
    call MPIX_Tide_reduce_scatter_enqueue(grads, sums, 0, MPIX_TIDE_SUM, 1._real64, group(1), c_null_ptr, code(2))
    call MPIX_Tide_start_enqueue(pair(1), c_null_ptr, code(3))
    call MPIX_Tide_wait_inputs_enqueue(pair(1), c_null_ptr, code(4))
    call MPIX_Tide_wait_enqueue(pair(1), c_null_ptr, code(5))
    do i = 1, 5
      call MPIX_Tide_error_kind(code(i), kind)
      call check(kind == MPIX_TIDE_ERR_UNSUPPORTED, what)
    end do
    call MPIX_Tide_group_async_error(group(1), i, ierror)
    call check(ierror == MPI_SUCCESS .and. i == MPI_SUCCESS, 'group_async_error')
  end subroutine

  subroutine check_class(code, wanted, what)
    integer, intent(in) :: code, wanted
    character(len=*), intent(in) :: what
    integer :: class
    call MPI_Error_class(code, class)
    call check(class == wanted, what)
  end subroutine
end program
