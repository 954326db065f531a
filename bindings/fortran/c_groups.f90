! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Groups and memory as C sees them.  MPIX_Tide_ names are the library's, tide_fortran_ ones stand in shim.c.
module tide_fortran_c_groups
  use, intrinsic :: iso_c_binding
  use tide_fortran_types
  implicit none
  public
  interface
    integer(c_int) function c_group_create(comm, nparams, params, length, info, group) &
      bind(C, name='tide_fortran_group_create')
      import
      integer(c_int), value :: comm, nparams
      type(MPIX_Tide_param), intent(in) :: params(*)
      integer(c_int64_t), value :: length
      integer(c_int), value :: info
      type(MPIX_Tide_group), intent(inout) :: group
    end function
    integer(c_int) function c_group_create_explicit(comm, nparams, params, length, first_row, rows, info, group) &
      bind(C, name='tide_fortran_group_create_explicit')
      import
      integer(c_int), value :: comm, nparams
      type(MPIX_Tide_param), intent(in) :: params(*)
      integer(c_int64_t), value :: length
      type(c_ptr), value :: first_row
      integer(c_int64_t), value :: rows
      integer(c_int), value :: info
      type(MPIX_Tide_group), intent(inout) :: group
    end function
    integer(c_int) function c_group_free(group) bind(C, name='MPIX_Tide_group_free')
      import
      type(MPIX_Tide_group), intent(inout) :: group
    end function
    integer(c_int) function c_group_get(group, comm, nparams, params) bind(C, name='tide_fortran_group_get')
      import
      type(c_ptr), value :: group
      integer(c_int), intent(inout) :: comm
      integer(c_int), optional, intent(out) :: nparams
      type(MPIX_Tide_param), optional, intent(inout) :: params(*)
    end function
    integer(c_int) function c_group_set_names(group, prefix, names, length) bind(C, name='tide_fortran_group_set_names')
      import
      type(c_ptr), value :: group, prefix, names
      integer(c_int64_t), value :: length
    end function
    integer(c_int) function c_group_shard(group, param, rank, first_row, rows) bind(C, name='MPIX_Tide_group_shard')
      import
      type(c_ptr), value :: group
      integer(c_int), value :: param, rank
      integer(c_int64_t), optional, intent(out) :: first_row, rows
    end function
    integer(c_int) function c_group_sizes(group, sizes) bind(C, name='MPIX_Tide_group_sizes')
      import
      type(c_ptr), value :: group
      type(MPIX_Tide_sizes), intent(inout) :: sizes
    end function
    integer(c_int) function c_group_report(group, json, size, needed) bind(C, name='MPIX_Tide_group_report')
      import
      type(c_ptr), value :: group
      character(kind=c_char), optional, intent(inout) :: json(*)
      integer(c_size_t), value :: size
      integer(c_size_t), optional, intent(out) :: needed
    end function
    integer(c_int) function c_group_offsets(group, what, dtype, align, offsets, total_bytes) &
      bind(C, name='MPIX_Tide_group_offsets')
      import
      type(c_ptr), value :: group
      integer(c_int), value :: what, dtype
      integer(c_int64_t), value :: align
      integer(c_int64_t), optional, intent(inout) :: offsets(*)
      integer(c_int64_t), optional, intent(out) :: total_bytes
    end function
    integer(c_int) function c_alloc(comm, bytes, info, base) bind(C, name='tide_fortran_alloc')
      import
      integer(c_int), value :: comm
      integer(c_intptr_t), value :: bytes
      integer(c_int), value :: info
      type(c_ptr), intent(inout) :: base
    end function
    integer(c_int) function c_free(comm, base) bind(C, name='tide_fortran_free')
      import
      integer(c_int), value :: comm
      type(c_ptr), value :: base
    end function
    integer(c_int) function c_group_alloc(group, what, dtype, info, ptrs, base) &
      bind(C, name='tide_fortran_group_alloc')
      import
      type(c_ptr), value :: group
      integer(c_int), value :: what, dtype, info
      type(c_ptr), intent(inout) :: ptrs(*), base
    end function
  end interface
end module
