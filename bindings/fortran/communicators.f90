! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Where a communicator lives, and communicators made from it.
module tide_fortran_communicators
  use mpi_f08, only: MPI_Comm
  use tide_fortran_codes, only: return_code
  use tide_fortran_c_other
  use tide_fortran_types
  implicit none
  private
  public :: MPIX_Tide_comm_topology, MPIX_Tide_comm_node, MPIX_Tide_comm_rail, MPIX_Tide_comm_grid

  interface MPIX_Tide_comm_topology
    procedure comm_topology, comm_topology_f08
  end interface
  interface MPIX_Tide_comm_node
    procedure comm_node, comm_node_f08
  end interface
  interface MPIX_Tide_comm_rail
    procedure comm_rail, comm_rail_f08
  end interface
  interface MPIX_Tide_comm_grid
    procedure comm_grid, comm_grid_f08
  end interface

contains

  subroutine comm_topology(comm, topology, ierror)
    integer, intent(in) :: comm
    type(MPIX_Tide_topology), intent(inout) :: topology
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_comm_topology(comm, topology)
    call return_code(code, ierror)
  end subroutine

  subroutine comm_topology_f08(comm, topology, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(MPIX_Tide_topology), intent(inout) :: topology
    integer, optional, intent(out) :: ierror
    call comm_topology(comm%MPI_VAL, topology, ierror)
  end subroutine

  subroutine comm_node(comm, node, ierror)
    integer, intent(in) :: comm
    integer, intent(inout) :: node
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_comm_node(comm, node)
    call return_code(code, ierror)
  end subroutine

  subroutine comm_node_f08(comm, node, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Comm), intent(inout) :: node
    integer, optional, intent(out) :: ierror
    call comm_node(comm%MPI_VAL, node%MPI_VAL, ierror)
  end subroutine

  subroutine comm_rail(comm, rail, ierror)
    integer, intent(in) :: comm
    integer, intent(inout) :: rail
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_comm_rail(comm, rail)
    call return_code(code, ierror)
  end subroutine

  subroutine comm_rail_f08(comm, rail, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Comm), intent(inout) :: rail
    integer, optional, intent(out) :: ierror
    call comm_rail(comm%MPI_VAL, rail%MPI_VAL, ierror)
  end subroutine

  subroutine comm_grid(comm, shard_size, shard, replica, ierror)
    integer, intent(in) :: comm, shard_size
    integer, intent(inout) :: shard, replica
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_comm_grid(comm, shard_size, shard, replica)
    call return_code(code, ierror)
  end subroutine

  subroutine comm_grid_f08(comm, shard_size, shard, replica, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: shard_size
    type(MPI_Comm), intent(inout) :: shard, replica
    integer, optional, intent(out) :: ierror
    call comm_grid(comm%MPI_VAL, shard_size, shard%MPI_VAL, replica%MPI_VAL, ierror)
  end subroutine
end module
