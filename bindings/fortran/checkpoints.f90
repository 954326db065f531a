! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Checkpoints in safetensors form.  An array w(nout, nin) has the shape [nin, nout] in the file.
module tide_fortran_checkpoints
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_loc, c_null_char, c_null_ptr, c_ptr
  use mpi_f08, only: MPI_Comm, MPI_Info
  use tide_fortran_c_sharding
  use tide_fortran_codes, only: return_code
  use tide_fortran_lists, only: in_c, MPIX_Tide_list
  use tide_fortran_types
  implicit none
  private
  public :: MPIX_Tide_save, MPIX_Tide_load

  !> One list of shards; kind '' (or not allocated): parameters, else put before their names: 'adam.m'.
  type, public :: MPIX_Tide_item
    character(len=:), allocatable :: kind
    type(MPIX_Tide_group) :: group
    integer :: dtype = 0
    type(MPIX_Tide_list) :: shards
  end type

  !> metadata: a JSON object of strings, or ''.
  interface MPIX_Tide_save
    procedure save_items, save_items_f08
  end interface
  interface MPIX_Tide_load
    procedure load_items, load_items_f08
  end interface

contains

  subroutine save_items(comm, path, nitems, items, metadata, info, ierror)
    integer, intent(in) :: comm, nitems, info
    character(len=*), intent(in) :: path, metadata
    type(MPIX_Tide_item), intent(in) :: items(:)
    integer, optional, intent(out) :: ierror
    character(kind=c_char, len=longest_kind(items) + 1), target :: kinds(size(items))
    character(kind=c_char, len=len(metadata) + 1), target :: text
    type(c_ptr) :: metadata_or_null
    integer :: code
    text = trim(metadata)//c_null_char
    metadata_or_null = c_null_ptr
    if (len_trim(metadata) > 0) metadata_or_null = c_loc(text)
    call set_kinds(items, kinds)
    code = c_save(comm, trim(path)//c_null_char, nitems, size(items), as_c(items, kinds), metadata_or_null, info)
    call return_code(code, ierror)
  end subroutine

  subroutine save_items_f08(comm, path, nitems, items, metadata, info, ierror)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: path, metadata
    integer, intent(in) :: nitems
    type(MPIX_Tide_item), intent(in) :: items(:)
    type(MPI_Info), intent(in) :: info
    integer, optional, intent(out) :: ierror
    call save_items(comm%MPI_VAL, path, nitems, items, metadata, info%MPI_VAL, ierror)
  end subroutine

  subroutine load_items(comm, path, nitems, items, metadata, info, ierror)
    integer, intent(in) :: comm, nitems, info
    character(len=*), intent(in) :: path
    type(MPIX_Tide_item), intent(in) :: items(:)
    character(len=:), allocatable, intent(inout) :: metadata
    integer, optional, intent(out) :: ierror
    character(kind=c_char, len=longest_kind(items) + 1), target :: kinds(size(items))
    character(kind=c_char), pointer :: text(:)
    type(c_ptr) :: found
    integer :: code, i
    call set_kinds(items, kinds)
    found = c_null_ptr
    code = c_load(comm, trim(path)//c_null_char, nitems, size(items), as_c(items, kinds), found, info)
    if (code == 0 .and. c_associated(found)) then
      call c_f_pointer(found, text, [c_length(found)])
      if (allocated(metadata)) deallocate (metadata)
      allocate (character(len=size(text)) :: metadata)
      do i = 1, size(text)
        metadata(i:i) = text(i)
      end do
      call c_free_text(found)
    end if
    call return_code(code, ierror)
  end subroutine

  subroutine load_items_f08(comm, path, nitems, items, metadata, info, ierror)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    integer, intent(in) :: nitems
    type(MPIX_Tide_item), intent(in) :: items(:)
    character(len=:), allocatable, intent(inout) :: metadata
    type(MPI_Info), intent(in) :: info
    integer, optional, intent(out) :: ierror
    call load_items(comm%MPI_VAL, path, nitems, items, metadata, info%MPI_VAL, ierror)
  end subroutine

  pure integer function longest_kind(items)
    type(MPIX_Tide_item), intent(in) :: items(:)
    integer :: i
    longest_kind = 0
    do i = 1, size(items)
      if (allocated(items(i)%kind)) longest_kind = max(longest_kind, len(items(i)%kind))
    end do
  end function

  subroutine set_kinds(items, kinds)
    type(MPIX_Tide_item), intent(in) :: items(:)
    character(kind=c_char, len=*), intent(out) :: kinds(:)
    integer :: i
    do i = 1, size(items)
      kinds(i) = c_null_char
      if (allocated(items(i)%kind)) kinds(i) = trim(items(i)%kind)//c_null_char
    end do
  end subroutine

  function as_c(items, kinds) result(c_items)
    type(MPIX_Tide_item), intent(in) :: items(:)
    character(kind=c_char, len=*), target, intent(in) :: kinds(:)
    type(c_item) :: c_items(size(items))
    integer :: i
    do i = 1, size(items)
      c_items(i) = c_item(c_loc(kinds(i)), items(i)%group%handle, items(i)%dtype, &
        in_c(items(i)%shards))
    end do
  end function
end module
