! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Errors by ierror and without it, messages, log, texts.
module sink_m
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  implicit none
  integer, target :: lines = 0
contains
  subroutine sink(level, line, context)
    integer, intent(in) :: level
    character(len=*), intent(in) :: line
    type(c_ptr), intent(in) :: context
    integer, pointer :: counter
    call c_f_pointer(context, counter)
    if (level <= 3 .and. len(line) > 0) counter = counter + 1
  end subroutine
end module

program errors
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use mpi_f08
  use mpix_tide
  use check_m
  use sink_m
  implicit none
  type(MPIX_Tide_group) :: group
  type(MPIX_Tide_list) :: empty, shards, params
  type(MPIX_Tide_topology) :: topology
  real(real32), target :: full(2, 4), shard(2, 4)
  integer(int64) :: first, rows
  integer :: ierror, kind, major, minor, patch
  character(len=:), allocatable :: text

  call MPIX_Tide_get_version(major, minor, patch) ! before MPI_Init, too
  call begin()
  call check(major == 0 .and. minor >= 1 .and. patch >= 0, 'get_version')
  call MPIX_Tide_get_config(text)
  call check(index(text, 'MPI') > 0 .and. index(text, achar(0)) == 0, 'get_config')
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)

  call MPIX_Tide_group_create(MPI_COMM_WORLD, 1, [MPIX_Tide_param(4, 2, 0, 99, 0)], MPI_INFO_NULL, group, ierror)
  call check_class(MPI_ERR_ARG, 'a bad dtype')
  call check(group == MPIX_TIDE_GROUP_NULL, 'outputs are written on success only')
  call check(index(MPIX_Tide_error_message(), 'dtype') > 0, 'the message names the field')
  call MPIX_Tide_group_create(MPI_COMM_WORLD, 1, [MPIX_Tide_param(4 + rank, 2, 0, MPIX_TIDE_FP32, 0)], MPI_INFO_NULL, &
    group, ierror)
  call MPIX_Tide_error_kind(ierror, kind)
  call check(kind == merge(MPIX_TIDE_ERR_MISMATCH, 0, ranks > 1), 'ranks that differ')
  if (ranks == 1) call MPIX_Tide_group_free(group)
  call MPIX_Tide_comm_topology(MPI_COMM_NULL, topology, ierror)
  call check_class(MPI_ERR_COMM, 'a null communicator')
  call MPIX_Tide_group_free(group, ierror)
  call check_class(MPI_ERR_ARG, 'a null group')
  call MPIX_Tide_group_free(group) ! without ierror: nothing to see, and no abort

  call MPIX_Tide_group_create(MPI_COMM_WORLD, 1, [MPIX_Tide_param(4, 2, 0, MPIX_TIDE_FP32, 0)], MPI_INFO_NULL, group)
  first = -7
  call MPIX_Tide_group_shard(group, 0, 0, first, rows, ierror)
  call check_class(MPI_ERR_ARG, 'parameter 0: they count from 1')
  call MPIX_Tide_group_shard(group, 2, 0, first, rows, ierror)
  call check_class(MPI_ERR_ARG, 'a parameter beyond the last')
  call MPIX_Tide_group_shard(group, 1, ranks, first, rows, ierror)
  call check_class(MPI_ERR_ARG, 'a rank beyond the last')
  call check(first == -7, 'an output after an error')
  call MPIX_Tide_group_set_names(group, 'model.', [character(len=8) :: 'w', 'b'], ierror)
  call check_class(MPI_ERR_ARG, 'more names than parameters')
  call MPIX_Tide_group_set_names(group, 'model.', ['weight  '], ierror)
  call check(ierror == MPI_SUCCESS, 'group_set_names')

  ! One rank's list is too short, or too long: all ranks get an error.
  call MPIX_Tide_list_add(params, full)
  call MPIX_Tide_list_add(shards, shard)
  if (rank == 0) then
    call MPIX_Tide_allgather(empty, params, group, ierror)
  else
    call MPIX_Tide_allgather(shards, params, group, ierror)
  end if
  call check_class(MPI_ERR_BUFFER, 'a list without entries')
  if (rank == ranks - 1) call MPIX_Tide_list_set(params, 2, full)
  call MPIX_Tide_allgather(shards, params, group, ierror)
  call check_class(MPI_ERR_BUFFER, 'a list with too many entries')
  params%ptr = params%ptr(:1)
  call MPIX_Tide_reduce_scatter(params, shards, 0, 77, 1._real64, group, ierror)
  call check_class(MPI_ERR_ARG, 'a bad op')
  call MPIX_Tide_list_set(shards, 1, full)
  call MPIX_Tide_reduce_scatter(params, shards, 0, MPIX_TIDE_SUM, 1._real64, group, ierror)
  call check_class(MPI_ERR_BUFFER, 'an output among the gradients')
  call check(index(MPIX_Tide_error_message(), 'model.weight') > 0, 'the message names the parameter')
  call MPIX_Tide_list_set(shards, 1, shard)
  call MPIX_Tide_allgather(shards, params, group, ierror)
  call check(ierror == MPI_SUCCESS, 'the communicator stays usable')

  call MPIX_Tide_group_report(group, text)
  call check(text(1:1) == '{' .and. index(text, '}') > 0 .and. index(text, achar(0)) == 0, 'group_report')
  call MPIX_Tide_group_free(group)
  call log_lines()
  call finish()

contains

  !> TIDE_LOG=debug: the next group says something.
  subroutine log_lines()
    integer :: before
    call MPIX_Tide_set_log(sink, c_loc(lines), ierror)
    call check(ierror == MPI_SUCCESS, 'set_log')
    call MPIX_Tide_group_create(MPI_COMM_SELF, 1, [MPIX_Tide_param(4, 2, 0, 99, 0)], MPI_INFO_NULL, group, ierror)
    call check(lines > 0, 'the sink gets lines')
    call MPIX_Tide_set_log(ierror=ierror)
    before = lines
    call MPIX_Tide_group_create(MPI_COMM_SELF, 1, [MPIX_Tide_param(4, 2, 0, 99, 0)], MPI_INFO_NULL, group, ierror)
    call check(lines == before, 'and none when it is taken away')
  end subroutine

  subroutine check_class(wanted, what)
    integer, intent(in) :: wanted
    character(len=*), intent(in) :: what
    integer :: class
    call MPI_Error_class(ierror, class)
    call check(class == wanted, what)
    ierror = -1
  end subroutine
end program
