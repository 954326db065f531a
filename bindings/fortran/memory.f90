! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Memory that the ranks of a node address directly; c_f_pointer makes arrays of it.
module tide_fortran_memory
  use, intrinsic :: iso_c_binding, only: c_int, c_intptr_t, c_null_ptr, c_ptr
  use mpi_f08, only: MPI_Comm, MPI_Info
  use tide_fortran_codes, only: return_code
  use tide_fortran_c_groups
  use tide_fortran_lists, only: MPIX_Tide_list, of_pointers
  use tide_fortran_types
  implicit none
  private
  public :: MPIX_Tide_alloc, MPIX_Tide_free, MPIX_Tide_group_alloc

  interface MPIX_Tide_alloc
    procedure alloc, alloc_f08
  end interface
  interface MPIX_Tide_free
    procedure free, free_f08
  end interface
  !> ptrs gets an entry for each parameter, base what MPIX_Tide_free takes.
  interface MPIX_Tide_group_alloc
    procedure group_alloc, group_alloc_f08
  end interface

contains

  subroutine alloc(comm, bytes, info, baseptr, ierror)
    integer, intent(in) :: comm, info
    integer(c_intptr_t), intent(in) :: bytes
    type(c_ptr), intent(inout) :: baseptr
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_alloc(comm, bytes, info, baseptr)
    call return_code(code, ierror)
  end subroutine

  subroutine alloc_f08(comm, bytes, info, baseptr, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer(c_intptr_t), intent(in) :: bytes
    type(MPI_Info), intent(in) :: info
    type(c_ptr), intent(inout) :: baseptr
    integer, optional, intent(out) :: ierror
    call alloc(comm%MPI_VAL, bytes, info%MPI_VAL, baseptr, ierror)
  end subroutine

  subroutine free(comm, base, ierror)
    integer, intent(in) :: comm
    type(c_ptr), intent(in) :: base
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_free(comm, base)
    call return_code(code, ierror)
  end subroutine

  subroutine free_f08(comm, base, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(c_ptr), intent(in) :: base
    integer, optional, intent(out) :: ierror
    call free(comm%MPI_VAL, base, ierror)
  end subroutine

  subroutine group_alloc(group, what, dtype, info, ptrs, base, ierror)
    type(MPIX_Tide_group), intent(in) :: group
    integer, intent(in) :: what, dtype, info
    type(MPIX_Tide_list), intent(inout) :: ptrs
    type(c_ptr), intent(inout) :: base
    integer, optional, intent(out) :: ierror
    type(c_ptr), allocatable :: pieces(:)
    integer :: code, comm, n
    code = c_group_get(group%handle, comm, n)
    if (code == 0) then
      allocate (pieces(n))
      pieces = c_null_ptr
      code = c_group_alloc(group%handle, what, dtype, info, pieces, base)
      if (code == 0) call of_pointers(ptrs, pieces)
    end if
    call return_code(code, ierror)
  end subroutine

  subroutine group_alloc_f08(group, what, dtype, info, ptrs, base, ierror)
    type(MPIX_Tide_group), intent(in) :: group
    integer, intent(in) :: what, dtype
    type(MPI_Info), intent(in) :: info
    type(MPIX_Tide_list), intent(inout) :: ptrs
    type(c_ptr), intent(inout) :: base
    integer, optional, intent(out) :: ierror
    call group_alloc(group, what, dtype, info%MPI_VAL, ptrs, base, ierror)
  end subroutine
end module
