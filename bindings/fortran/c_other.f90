! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Communicators, errors, log and version as C sees them.
module tide_fortran_c_other
  use, intrinsic :: iso_c_binding
  use tide_fortran_types
  implicit none
  public
  interface
    integer(c_int) function c_comm_topology(comm, topology) bind(C, name='tide_fortran_comm_topology')
      import
      integer(c_int), value :: comm
      type(MPIX_Tide_topology), intent(inout) :: topology
    end function
    integer(c_int) function c_comm_node(comm, node) bind(C, name='tide_fortran_comm_node')
      import
      integer(c_int), value :: comm
      integer(c_int), intent(inout) :: node
    end function
    integer(c_int) function c_comm_rail(comm, rail) bind(C, name='tide_fortran_comm_rail')
      import
      integer(c_int), value :: comm
      integer(c_int), intent(inout) :: rail
    end function
    integer(c_int) function c_comm_grid(comm, shard_size, shard, replica) bind(C, name='tide_fortran_comm_grid')
      import
      integer(c_int), value :: comm, shard_size
      integer(c_int), intent(inout) :: shard, replica
    end function
    integer(c_int) function c_error_kind(error_code, kind) bind(C, name='MPIX_Tide_error_kind')
      import
      integer(c_int), value :: error_code
      integer(c_int), intent(inout) :: kind
    end function
    integer(c_int) function c_set_log(sink, context) bind(C, name='MPIX_Tide_set_log')
      import
      type(c_funptr), value :: sink
      type(c_ptr), value :: context
    end function
    integer(c_int) function c_get_version(major, minor, patch) bind(C, name='MPIX_Tide_get_version')
      import
      integer(c_int), intent(inout) :: major, minor, patch
    end function
    integer(c_int) function c_get_config(text, size, needed) bind(C, name='MPIX_Tide_get_config')
      import
      character(kind=c_char), optional, intent(inout) :: text(*)
      integer(c_size_t), value :: size
      integer(c_size_t), optional, intent(out) :: needed
    end function
    type(c_ptr) function c_error_message() bind(C, name='MPIX_Tide_error_message')
      import
    end function
  end interface
end module
