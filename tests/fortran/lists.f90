! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> One rank's array of another size or kind, or a list or array of another length: the same error on all ranks.
program lists
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: int16, int64, int8, real32, real64
  use mpi_f08
  use mpix_tide
  use check_m
  implicit none
  type(MPIX_Tide_group) :: group, none
  type(MPIX_Tide_request) :: request
  type(MPIX_Tide_list) :: shards, params, grads, sums, wrong, empty
  type(MPIX_Tide_param) :: list(2)
  real(real32), target :: w(2, 6), g(2, 6), s(2, 6), other(2, 5), larger(2, 7)
  real(real64), target :: doubles(2, 6)
  integer(int16), target :: b(6), bg(6), bs(6), shorts(2, 6)
  integer(int8), target :: bytes(6)
  integer :: ierror, last

  call begin()
  last = ranks - 1
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  list = [MPIX_Tide_param(6, 2, 0, MPIX_TIDE_FP32, 0), MPIX_Tide_param(6, 1, 0, MPIX_TIDE_BF16, 0)]
  call MPIX_Tide_group_create(MPI_COMM_WORLD, 2, list, MPI_INFO_NULL, group)
  call MPIX_Tide_group_set_names(group, '', ['w', 'b'])
  w = 0; g = 0; s = 0; b = 0; bg = 0; bs = 0
  call MPIX_Tide_list_set(params, 2, b) ! grows over the first, which follows
  call MPIX_Tide_list_set(params, 1, w)
  call both(shards, s, bs)
  call both(grads, g, bg)
  call both(sums, s, bs)

  wrong = params
  call MPIX_Tide_list_set(wrong, 1, other)
  call gather(shards, wrong, 'output of parameter 0 (w) is an array of 10 elements but 12 belong there')
  call MPIX_Tide_list_set(wrong, 1, larger)
  call gather(shards, wrong, 'output of parameter 0 (w) is an array of 14 elements but 12 belong there')
  call MPIX_Tide_list_set(wrong, 1, doubles)
  call gather(shards, wrong, 'output of parameter 0 (w) is an array of type fp64 but fp32 belongs there')
  call MPIX_Tide_list_set(wrong, 1, shorts)
  call gather(shards, wrong, 'output of parameter 0 (w) is an array of type bf16 or fp16 but fp32 belongs there')
  wrong = shards
  call MPIX_Tide_list_set(wrong, 1, other(:, :1))
  call gather(wrong, params, 'input of parameter 0 (w) is an array of 2 elements but')
  wrong = shards
  call MPIX_Tide_list_set(wrong, 2, bytes)
  call gather(wrong, params, 'input of parameter 1 (b) is an array of type uint8 but bf16 belongs there')
  wrong = grads
  call MPIX_Tide_list_set(wrong, 1, other)
  call reduce(wrong, sums, 0, 'input of parameter 0 (w) is an array of 10 elements but 12 belong there')
  call MPIX_Tide_list_set(wrong, 1, doubles)
  call reduce(wrong, sums, 0, 'input of parameter 0 (w) is an array of type fp64 but fp32 belongs there')
  wrong = sums
  call MPIX_Tide_list_set(wrong, 2, bytes)
  call reduce(grads, wrong, 0, 'output of parameter 1 (b) is an array of type uint8 but bf16 belongs there')
  call reduce(grads, sums, MPIX_TIDE_FP32, 'output of parameter 1 (b) is an array of type bf16 or fp16 but fp32 belongs there')
  wrong = sums
  call MPIX_Tide_list_add(wrong, w)
  call gather(wrong, params, 'the list of inputs has 3 entries but the group has 2 parameters')
  call reduce(grads, wrong, 0, 'the list of outputs has 3 entries but the group has 2 parameters')
  call gather(empty, params, 'the list of inputs has 0 entries')
  call requests()

  ! An address alone is not compared, nor is what was compared in the call before.
  wrong = params
  call MPIX_Tide_list_set_cptr(wrong, 1, c_loc(w))
  call MPIX_Tide_allgather(shards, wrong, group, ierror)
  call check(ierror == MPI_SUCCESS, 'an address without a kind')
  call MPIX_Tide_reduce_scatter(grads, sums, 0, MPIX_TIDE_SUM, 1._real64, group, ierror)
  call check(ierror == MPI_SUCCESS, 'the communicator stays usable')
  call lengths()
  call long_list()
  call MPIX_Tide_group_free(group)
  call finish()

contains

  subroutine both(into, first, second)
    type(MPIX_Tide_list), intent(inout) :: into
    real(real32), target, contiguous, intent(in) :: first(:, :)
    integer(int16), target, contiguous, intent(in) :: second(:)
    call MPIX_Tide_list_add(into, first)
    call MPIX_Tide_list_add(into, second)
  end subroutine

  !> The last rank passes these lists, the others right ones.
  subroutine gather(inputs, outputs, words)
    type(MPIX_Tide_list), intent(in) :: inputs, outputs
    character(len=*), intent(in) :: words
    if (rank == last) then
      call MPIX_Tide_allgather(inputs, outputs, group, ierror)
    else
      call MPIX_Tide_allgather(shards, params, group, ierror)
    end if
    call expect(MPI_ERR_BUFFER, words)
    call MPIX_Tide_allgather(shards, params, group, ierror)
    call check(ierror == MPI_SUCCESS, 'right lists after: '//words)
  end subroutine

  !> out_dtype is the same on all ranks: a type that no rank's output has.
  subroutine reduce(inputs, outputs, out_dtype, words)
    type(MPIX_Tide_list), intent(in) :: inputs, outputs
    integer, intent(in) :: out_dtype
    character(len=*), intent(in) :: words
    if (rank == last .or. out_dtype /= 0) then
      call MPIX_Tide_reduce_scatter(inputs, outputs, out_dtype, MPIX_TIDE_SUM, 1._real64, group, ierror)
    else
      call MPIX_Tide_reduce_scatter(grads, sums, out_dtype, MPIX_TIDE_SUM, 1._real64, group, ierror)
    end if
    call expect(MPI_ERR_BUFFER, words, merge(0, last, out_dtype /= 0))
  end subroutine

  subroutine requests()
    wrong = params
    if (rank == last) call MPIX_Tide_list_set(wrong, 1, other)
    call MPIX_Tide_iallgather(shards, wrong, group, request, ierror)
    call check(ierror == MPI_SUCCESS, 'iallgather starts')
    call MPIX_Tide_wait(request, ierror)
    call expect(MPI_ERR_BUFFER, 'an array of 10 elements but 12')
    call MPIX_Tide_allgather_init(shards, wrong, group, MPI_INFO_NULL, request)
    call MPIX_Tide_start(request)
    call MPIX_Tide_wait(request, ierror)
    call expect(MPI_ERR_BUFFER, 'an array of 10 elements but 12')
    call MPIX_Tide_request_free(request)
    if (rank == last) call MPIX_Tide_list_add(wrong, b)
    call MPIX_Tide_reduce_scatter_init(wrong, sums, 0, MPIX_TIDE_SUM, 1._real64, group, MPI_INFO_NULL, request)
    call MPIX_Tide_start(request)
    call MPIX_Tide_wait(request, ierror)
    call expect(MPI_ERR_BUFFER, 'the list of inputs has 3 entries')
    call MPIX_Tide_request_free(request)
  end subroutine

  !> Lengths that are told when a group is made or named.
  subroutine lengths()
    integer(int64) :: rows(0:ranks, 2)
    rows = 0
    call MPIX_Tide_group_create(MPI_COMM_WORLD, merge(3, 2, rank == last), list, MPI_INFO_NULL, none, ierror)
    call expect(MPI_ERR_ARG, 'params has 2 elements but nparams is 3')
    call MPIX_Tide_group_create_explicit(MPI_COMM_WORLD, 2, list, rows(1:, :), MPI_INFO_NULL, none, ierror)
    call expect(MPI_ERR_ARG, 'first_row has ', 0)
    call MPIX_Tide_group_set_names(group, '', ['w'], ierror)
    call check(index(MPIX_Tide_error_message(), 'there are 1 names but the group has 2 parameters') > 0, 'names')
    call MPIX_Tide_group_shard(group, 0, 0, rows(0, 1), ierror=ierror)
    call check(index(MPIX_Tide_error_message(), 'Fortran') > 0, 'they count from 1')
  end subroutine

  subroutine long_list()
    type(MPIX_Tide_list) :: long
    integer :: i
    do i = 1, 1000
      call MPIX_Tide_list_add(long, w(:, mod(i, 6) + 1))
    end do
    do i = 3000, 1001, -1
      call MPIX_Tide_list_set(long, i, w(:, mod(i, 6) + 1))
    end do
    do i = 1, 3000
      if (.not. same(long, i)) exit
    end do
    call check(i == 3001, 'entries of a long list stay')
    call gather(long, params, 'the list of inputs has 3000 entries')
  end subroutine
  logical function same(long, i)
    use, intrinsic :: iso_c_binding, only: c_associated
    type(MPIX_Tide_list), intent(in) :: long
    integer, intent(in) :: i
    same = c_associated(long%ptr(i), c_loc(w(1, mod(i, 6) + 1)))
  end function

  !> The class, and a message that names the rank and is the same on all ranks.
  subroutine expect(class, words, who)
    integer, intent(in) :: class
    character(len=*), intent(in) :: words
    integer, optional, intent(in) :: who
    character(len=512) :: mine, first
    character(len=16) :: name
    integer :: got, culprit
    culprit = last
    if (present(who)) culprit = who
    write (name, '(a, i0, a)') 'rank ', culprit, ':'
    mine = MPIX_Tide_error_message()
    call MPI_Error_class(ierror, got)
    call check(got == class, 'class: '//words)
    call check(index(mine, words) > 0, words//' is not in '//trim(mine))
    call check(index(mine, trim(name)) == 1, trim(name)//' does not begin '//trim(mine))
    first = mine
    call MPI_Bcast(first, 512, MPI_CHARACTER, 0, MPI_COMM_WORLD)
    call check(first == mine, 'the same on all ranks: '//trim(mine))
    ierror = -1
  end subroutine
end program
