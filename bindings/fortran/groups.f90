! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Groups.  Communicators and infos are those of mpi_f08 or integers.
module tide_fortran_groups
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t
  use mpi_f08, only: MPI_Comm, MPI_Info
  use tide_fortran_codes, only: return_code
  use tide_fortran_c_groups
  use tide_fortran_types
  implicit none
  private
  public :: MPIX_Tide_group_create, MPIX_Tide_group_create_explicit, MPIX_Tide_group_free, MPIX_Tide_group_get, &
    MPIX_Tide_group_set_names, MPIX_Tide_group_shard, MPIX_Tide_bounds, MPIX_Tide_group_sizes, &
    MPIX_Tide_group_report, MPIX_Tide_group_offsets

  interface MPIX_Tide_group_create
    procedure group_create, group_create_f08
  end interface
  !> first_row(0:ranks, nparams), or the same in one dimension: rows count from 0.  Of another size: ARG on all ranks.
  interface MPIX_Tide_group_create_explicit
    procedure group_create_explicit, group_create_explicit_f08
  end interface
  !> Of params the first size(params) are told.
  interface MPIX_Tide_group_get
    procedure group_get, group_get_f08
  end interface

contains

  subroutine group_create(comm, nparams, params, info, group, ierror)
    integer, intent(in) :: comm, nparams, info
    type(MPIX_Tide_param), intent(in) :: params(:) !< nparams of them
    type(MPIX_Tide_group), intent(inout) :: group
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_group_create(comm, nparams, params, size(params, kind=c_int64_t), info, group)
    call return_code(code, ierror)
  end subroutine

  subroutine group_create_f08(comm, nparams, params, info, group, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: nparams
    type(MPIX_Tide_param), intent(in) :: params(:) !< nparams of them
    type(MPI_Info), intent(in) :: info
    type(MPIX_Tide_group), intent(inout) :: group
    integer, optional, intent(out) :: ierror
    call group_create(comm%MPI_VAL, nparams, params, info%MPI_VAL, group, ierror)
  end subroutine

  subroutine group_create_explicit(comm, nparams, params, first_row, info, group, ierror)
    integer, intent(in) :: comm, nparams, info
    type(MPIX_Tide_param), intent(in) :: params(:) !< nparams of them
    integer(c_int64_t), contiguous, target, intent(in) :: first_row(..)
    type(MPIX_Tide_group), intent(inout) :: group
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_group_create_explicit(comm, nparams, params, size(params, kind=c_int64_t), c_loc(first_row), &
      size(first_row, kind=c_int64_t), info, group)
    call return_code(code, ierror)
  end subroutine

  subroutine group_create_explicit_f08(comm, nparams, params, first_row, info, group, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: nparams
    type(MPIX_Tide_param), intent(in) :: params(:) !< nparams of them
    integer(c_int64_t), contiguous, target, intent(in) :: first_row(..)
    type(MPI_Info), intent(in) :: info
    type(MPIX_Tide_group), intent(inout) :: group
    integer, optional, intent(out) :: ierror
    call group_create_explicit(comm%MPI_VAL, nparams, params, first_row, info%MPI_VAL, group, ierror)
  end subroutine

  subroutine MPIX_Tide_group_free(group, ierror)
    type(MPIX_Tide_group), intent(inout) :: group
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_group_free(group)
    call return_code(code, ierror)
  end subroutine

  subroutine group_get(group, comm, nparams, params, ierror)
    type(MPIX_Tide_group), intent(in) :: group
    integer, intent(inout) :: comm
    integer, optional, intent(inout) :: nparams
    type(MPIX_Tide_param), optional, intent(inout) :: params(:)
    integer, optional, intent(out) :: ierror
    type(MPIX_Tide_param), allocatable :: all(:)
    integer :: code, n
    code = c_group_get(group%handle, comm, n)
    if (code == 0 .and. present(params)) then
      allocate (all(n))
      code = c_group_get(group%handle, comm, params=all)
      params(:min(n, size(params))) = all(:min(n, size(params)))
    end if
    if (code == 0 .and. present(nparams)) nparams = n
    call return_code(code, ierror)
  end subroutine

  subroutine group_get_f08(group, comm, nparams, params, ierror)
    type(MPIX_Tide_group), intent(in) :: group
    type(MPI_Comm), intent(inout) :: comm
    integer, optional, intent(inout) :: nparams
    type(MPIX_Tide_param), optional, intent(inout) :: params(:)
    integer, optional, intent(out) :: ierror
    call group_get(group, comm%MPI_VAL, nparams, params, ierror)
  end subroutine

  !> prefix '': none.  Another number of names than of parameters is an ARG error.
  subroutine MPIX_Tide_group_set_names(group, prefix, names, ierror)
    type(MPIX_Tide_group), intent(in) :: group
    character(len=*), intent(in) :: prefix, names(:)
    integer, optional, intent(out) :: ierror
    character(kind=c_char, len=len(names) + 1), target :: texts(size(names))
    character(kind=c_char, len=len(prefix) + 1), target :: first
    type(c_ptr), target :: ptrs(size(names) + 1)
    integer :: code, i
    first = trim(prefix)//c_null_char
    do i = 1, size(names)
      texts(i) = trim(names(i))//c_null_char
      ptrs(i) = c_loc(texts(i))
    end do
    code = c_group_set_names(group%handle, merge(c_loc(first), c_null_ptr, len_trim(prefix) > 0), c_loc(ptrs), &
      size(names, kind=c_int64_t))
    call return_code(code, ierror)
  end subroutine

  !> param counts from 1; rank and first_row count from 0.
  subroutine MPIX_Tide_group_shard(group, param, rank, first_row, rows, ierror)
    type(MPIX_Tide_group), intent(in) :: group
    integer, intent(in) :: param, rank
    integer(c_int64_t), optional, intent(inout) :: first_row, rows
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_group_shard(group%handle, param - 1, rank, first_row, rows)
    call return_code(code, ierror)
  end subroutine

  !> The rows of a rank as bounds of the last dimension, from 1: w(:, lower:upper).  upper < lower: none.
  subroutine MPIX_Tide_bounds(group, param, rank, lower, upper, ierror)
    type(MPIX_Tide_group), intent(in) :: group
    integer, intent(in) :: param, rank
    integer(c_int64_t), intent(inout) :: lower, upper
    integer, optional, intent(out) :: ierror
    integer(c_int64_t) :: first_row, rows
    integer :: code
    code = c_group_shard(group%handle, param - 1, rank, first_row, rows)
    if (code == 0) then
      lower = first_row + 1
      upper = first_row + rows
    end if
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_group_sizes(group, sizes, ierror)
    type(MPIX_Tide_group), intent(in) :: group
    type(MPIX_Tide_sizes), intent(inout) :: sizes
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_group_sizes(group%handle, sizes)
    call return_code(code, ierror)
  end subroutine

  subroutine MPIX_Tide_group_report(group, json, ierror)
    type(MPIX_Tide_group), intent(in) :: group
    character(len=:), allocatable, intent(inout) :: json
    integer, optional, intent(out) :: ierror
    integer(c_size_t) :: needed
    integer :: code
    character(kind=c_char), allocatable :: text(:)
    code = c_group_report(group%handle, size=0_c_size_t, needed=needed)
    if (code == 0) then
      allocate (text(needed))
      code = c_group_report(group%handle, text, needed)
      json = joined(text)
    end if
    call return_code(code, ierror)
  end subroutine

  !> Bytes; of offsets the first size(offsets) are told.
  subroutine MPIX_Tide_group_offsets(group, what, dtype, align, offsets, total_bytes, ierror)
    type(MPIX_Tide_group), intent(in) :: group
    integer, intent(in) :: what, dtype
    integer(c_int64_t), intent(in) :: align
    integer(c_int64_t), optional, intent(inout) :: offsets(:), total_bytes
    integer, optional, intent(out) :: ierror
    integer(c_int64_t), allocatable :: all(:)
    integer :: code, comm, n
    code = c_group_get(group%handle, comm, n)
    if (code == 0) then
      allocate (all(n))
      code = c_group_offsets(group%handle, what, dtype, align, all, total_bytes)
      if (code == 0 .and. present(offsets)) offsets(:min(n, size(offsets))) = all(:min(n, size(offsets)))
    end if
    call return_code(code, ierror)
  end subroutine

  pure function joined(text) result(string)
    character(kind=c_char), intent(in) :: text(:) !< with C's final 0
    character(len=size(text) - 1) :: string
    integer :: i
    do i = 1, len(string)
      string(i:i) = text(i)
    end do
  end function
end module
