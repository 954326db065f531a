! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Replicas, norms, whole parameters and checkpoints, with both kinds of communicator.
program sharding
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use mpi_f08
  use mpix_tide
  use check_m
  implicit none
  integer, parameter :: nin = 7, nout = 3
  character(len=*), parameter :: path = 'fortran_sharding.safetensors'
  type(MPI_Comm) :: shard, replica
  type(MPIX_Tide_group) :: group
  integer(int64) :: lower, upper
  integer :: i
  real(real32), target :: all(nout, nin), back(nout, nin)
  real(real32), allocatable, target :: w(:, :), v(:, :)

  call begin()
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPIX_Tide_comm_grid(MPI_COMM_WORLD, 1, shard, replica)
  call MPI_Comm_set_errhandler(replica, MPI_ERRORS_RETURN)
  call replicas()
  call MPIX_Tide_group_create(MPI_COMM_WORLD, 1, [MPIX_Tide_param(rows=nin, row_elems=nout, dtype=MPIX_TIDE_FP32)], &
    MPI_INFO_NULL, group)
  call MPIX_Tide_group_set_names(group, '', ['w'])
  call MPIX_Tide_bounds(group, 1, rank, lower, upper)
  allocate (w(nout, lower:upper), v(nout, lower:upper))
  all = reshape([(real(i, real32), i = 1, size(all))], shape(all))
  call whole_parameters()
  call norms()
  call checkpoints()
  call arrays_that_do_not_fit()
  call finish()

contains

  subroutine replicas()
    type(MPIX_Tide_group) :: mine
    type(MPIX_Tide_list) :: list, empty
    type(MPIX_Tide_request) :: request
    real(real32), target :: x(4)
    integer :: code, kind
    call MPIX_Tide_group_create(shard, 1, [MPIX_Tide_param(rows=4, row_elems=1, dtype=MPIX_TIDE_FP32)], MPI_INFO_NULL, &
      mine)
    call MPIX_Tide_list_add(list, x)
    x = rank
    call MPIX_Tide_replica_allreduce(list, 0, MPIX_TIDE_SUM, 2._real64, mine, replica, code)
    call check(code == 0 .and. all_are(x, ranks * (ranks - 1)), 'a sum over replicas')
    x = rank
    call MPIX_Tide_replica_allreduce(list, 0, MPIX_TIDE_SUM, 2._real64, mine, replica%MPI_VAL, code)
    call check(code == 0 .and. all_are(x, ranks * (ranks - 1)), 'with an integer')
    x = rank
    call MPIX_Tide_ireplica_allreduce(list, MPIX_TIDE_FP32, MPIX_TIDE_AVG, 2._real64, mine, replica, request)
    call MPIX_Tide_wait(request, code)
    call check(code == 0 .and. all_are(x, ranks - 1), 'an average, nonblocking')
    x = rank
    call MPIX_Tide_ireplica_allreduce(list, 0, MPIX_TIDE_AVG, 2._real64, mine, replica%MPI_VAL, request)
    call MPIX_Tide_wait(request, code)
    call check(code == 0 .and. all_are(x, ranks - 1), 'nonblocking with an integer')
    call MPIX_Tide_replica_allreduce(empty, 0, MPIX_TIDE_SUM, 1._real64, mine, replica, code)
    call check(code /= 0, 'a list of another length')
    call MPIX_Tide_replica_allreduce_enqueue(list, 0, MPIX_TIDE_SUM, 1._real64, mine, replica, list%ptr(1), code)
    call MPIX_Tide_error_kind(code, kind)
    call check(kind == MPIX_TIDE_ERR_UNSUPPORTED, 'on a stream')
    call MPIX_Tide_replica_allreduce_enqueue(list, 0, MPIX_TIDE_SUM, 1._real64, mine, replica%MPI_VAL, list%ptr(1), code)
    call check(code /= 0, 'on a stream with an integer')
    call MPIX_Tide_group_free(mine)
  end subroutine

  !> On the last rank: another kind, fewer elements, a count above an array's.  All ranks hear.
  subroutine arrays_that_do_not_fit()
    real(real64), target :: wide(nout, nin)
    real(real32), target :: few(1)
    type(MPIX_Tide_list) :: kinds, sizes, mine
    type(MPIX_Tide_item) :: items(1)
    character(len=:), allocatable :: metadata
    real(real64) :: norm
    integer :: code
    call MPIX_Tide_list_add(mine, w)
    call MPIX_Tide_list_add(kinds, wide)
    call MPIX_Tide_list_add(sizes, few)
    if (rank < ranks - 1) then
      kinds = mine
      sizes = mine
    end if
    call MPIX_Tide_norm2(MPI_COMM_WORLD, 1, [group], [kinds], 0, norm, code)
    call refused(code, MPI_ERR_BUFFER, 'a norm of another kind')
    call MPIX_Tide_norm2(MPI_COMM_WORLD, 2, [group], [mine], 0, norm, code)
    call refused(code, MPI_ERR_COUNT, 'more groups than there are')
    call MPIX_Tide_scatter(0, mine, sizes, group, code)
    call refused(code, MPI_ERR_BUFFER, 'scatter into too few elements')
    items(1)%group = group
    items(1)%shards = kinds
    call MPIX_Tide_save(MPI_COMM_WORLD, path, 1, items, '', MPI_INFO_NULL, code)
    call refused(code, MPI_ERR_BUFFER, 'save of another kind')
    items(1)%shards = sizes
    call MPIX_Tide_load(MPI_COMM_WORLD, path, 1, items, metadata, MPI_INFO_NULL, code)
    call refused(code, MPI_ERR_BUFFER, 'load into too few elements')
    items(1)%shards = mine
    call MPIX_Tide_save(MPI_COMM_WORLD, path, 2, items, '', MPI_INFO_NULL, code)
    call refused(code, MPI_ERR_COUNT, 'more items than there are')
  end subroutine

  subroutine refused(code, wanted, what)
    integer, intent(in) :: code, wanted
    character(len=*), intent(in) :: what
    integer :: class
    call MPI_Error_class(code, class)
    call check(class == wanted, what)
  end subroutine

  logical function all_are(x, value)
    real(real32), intent(in) :: x(:)
    integer, intent(in) :: value
    all_are = count(abs(x - real(value, real32)) > 0) == 0
  end function

  subroutine whole_parameters()
    type(MPIX_Tide_list) :: params, shards, gathered
    integer :: code
    call MPIX_Tide_list_add(params, all)
    call MPIX_Tide_list_add(gathered, back)
    call MPIX_Tide_list_add(shards, w)
    w = 0
    back = 0
    if (rank == 0) then
      call MPIX_Tide_scatter(0, params, shards, group, code)
    else
      call MPIX_Tide_scatter(0, shards=shards, group=group, ierror=code)
    end if
    call check(code == 0 .and. count(abs(w - all(:, lower:upper)) > 0) == 0, 'scatter')
    if (rank == ranks - 1) then
      call MPIX_Tide_gather(ranks - 1, shards, gathered, group, code)
      call check(code == 0 .and. count(abs(back - all) > 0) == 0, 'gather')
    else
      call MPIX_Tide_gather(ranks - 1, shards=shards, group=group, ierror=code)
      call check(code == 0, 'gather')
    end if
  end subroutine

  subroutine norms()
    type(MPIX_Tide_list) :: shards
    real(real64) :: norm, wanted
    integer :: code
    call MPIX_Tide_list_add(shards, w)
    wanted = norm2(real(all, real64))
    call MPIX_Tide_norm2(MPI_COMM_WORLD, 1, [group], [shards], 0, norm, code)
    call check(code == 0 .and. abs(norm - wanted) < 1e-12_real64 * wanted, 'the norm')
    norm = 0
    call MPIX_Tide_norm2(MPI_COMM_WORLD%MPI_VAL, 1, [group], [shards], 0, norm, code)
    call check(code == 0 .and. abs(norm - wanted) < 1e-12_real64 * wanted, 'with an integer')
  end subroutine

  subroutine checkpoints()
    type(MPIX_Tide_item) :: items(2)
    character(len=:), allocatable :: metadata
    integer :: code, unit
    items(1)%group = group
    items(2)%kind = 'adam.m'
    items(2)%group = group
    call MPIX_Tide_list_add(items(1)%shards, w)
    call MPIX_Tide_list_add(items(2)%shards, v)
    v = 2 * w
    call MPIX_Tide_save(MPI_COMM_WORLD, path, 2, items, '{"step":"5"}', MPI_INFO_NULL, code)
    call check(code == 0, 'save')
    call MPIX_Tide_save(MPI_COMM_WORLD%MPI_VAL, path//' ', 2, items, '{"step":"6"}', MPI_INFO_NULL%MPI_VAL, code)
    call check(code == 0, 'save with an integer')
    w = 0
    v = 0
    call MPIX_Tide_load(MPI_COMM_WORLD, path, 2, items, metadata, MPI_INFO_NULL, code)
    call check(code == 0 .and. metadata == '{"step":"6"}', 'its metadata')
    call check(count(abs(w - all(:, lower:upper)) > 0) == 0, 'parameters come back')
    call check(count(abs(v - 2 * w) > 0) == 0, 'moments come back')
    w = 0
    call MPIX_Tide_load(MPI_COMM_WORLD%MPI_VAL, path, 1, items, metadata, MPI_INFO_NULL%MPI_VAL, code)
    call check(code == 0 .and. count(abs(w - all(:, lower:upper)) > 0) == 0, 'load with an integer')
    call MPIX_Tide_load(MPI_COMM_WORLD, 'no such file', 1, items, metadata, MPI_INFO_NULL, code)
    call check(code /= 0 .and. metadata == '{"step":"6"}', 'no such file')
    items(1)%shards = items(2)%shards
    deallocate (items(1)%shards%ptr)
    call MPIX_Tide_save(MPI_COMM_WORLD, path, 2, items, '', MPI_INFO_NULL, code)
    call check(code /= 0, 'a list of another length')
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) then
      open (newunit=unit, file=path, status='old')
      close (unit, status='delete')
    end if
  end subroutine
end program
