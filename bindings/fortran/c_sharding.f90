! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Replicas, norms, whole parameters and checkpoints as C sees them.
module tide_fortran_c_sharding
  use, intrinsic :: iso_c_binding
  use tide_fortran_lists, only: c_list
  use tide_fortran_types
  implicit none
  public
  type, bind(C) :: c_item
    type(c_ptr) :: kind = c_null_ptr, group = c_null_ptr
    integer(c_int) :: dtype = 0
    type(c_list) :: shards
  end type
  interface
    integer(c_int) function c_replica_allreduce(shards, dtype, op, scale, group, replica) &
      bind(C, name='tide_fortran_replica_allreduce')
      import
      type(c_list), value :: shards
      integer(c_int), value :: dtype, op
      real(c_double), value :: scale
      type(c_ptr), value :: group
      integer(c_int), value :: replica
    end function
    integer(c_int) function c_ireplica_allreduce(shards, dtype, op, scale, group, replica, request) &
      bind(C, name='tide_fortran_ireplica_allreduce')
      import
      type(c_list), value :: shards
      integer(c_int), value :: dtype, op
      real(c_double), value :: scale
      type(c_ptr), value :: group
      integer(c_int), value :: replica
      type(MPIX_Tide_request), intent(inout) :: request
    end function
    integer(c_int) function c_replica_allreduce_enqueue(shards, dtype, op, scale, group, replica, stream) &
      bind(C, name='tide_fortran_replica_allreduce_enqueue')
      import
      type(c_list), value :: shards
      integer(c_int), value :: dtype, op
      real(c_double), value :: scale
      type(c_ptr), value :: group
      integer(c_int), value :: replica
      type(c_ptr), value :: stream
    end function
    integer(c_int) function c_norm2(shard, ngroups, size, groups, lists, dtype, norm2) bind(C, name='tide_fortran_norm2')
      import
      integer(c_int), value :: shard, ngroups, size
      type(MPIX_Tide_group), intent(in) :: groups(*)
      type(c_list), intent(in) :: lists(*)
      integer(c_int), value :: dtype
      real(c_double), intent(inout) :: norm2
    end function
    integer(c_int) function c_scatter(root, params, shards, group) bind(C, name='tide_fortran_scatter')
      import
      integer(c_int), value :: root
      type(c_list), value :: params, shards
      type(c_ptr), value :: group
    end function
    integer(c_int) function c_gather(root, shards, params, group) bind(C, name='tide_fortran_gather')
      import
      integer(c_int), value :: root
      type(c_list), value :: shards, params
      type(c_ptr), value :: group
    end function
    integer(c_int) function c_save(comm, path, nitems, size, items, metadata, info) bind(C, name='tide_fortran_save')
      import
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: nitems, size
      type(c_item), intent(in) :: items(*)
      type(c_ptr), value :: metadata
      integer(c_int), value :: info
    end function
    integer(c_int) function c_load(comm, path, nitems, size, items, metadata, info) bind(C, name='tide_fortran_load')
      import
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: nitems, size
      type(c_item), intent(in) :: items(*)
      type(c_ptr), intent(inout) :: metadata !< the text, for c_free_text
      integer(c_int), value :: info
    end function
    subroutine c_free_text(text) bind(C, name='tide_fortran_free_text')
      import
      type(c_ptr), value :: text
    end subroutine
    integer(c_size_t) function c_length(text) bind(C, name='strlen')
      import
      type(c_ptr), value :: text
    end function
  end interface
end module
