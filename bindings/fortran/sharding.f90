! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Replicas, norms and whole parameters.  A list of another length than the group's is an error (BUFFER) on all ranks.
module tide_fortran_sharding
  use, intrinsic :: iso_c_binding, only: c_double, c_ptr
  use mpi_f08, only: MPI_Comm
  use tide_fortran_c_sharding
  use tide_fortran_codes, only: return_code
  use tide_fortran_lists, only: in_c, MPIX_Tide_list
  use tide_fortran_types
  implicit none
  private
  public :: MPIX_Tide_replica_allreduce, MPIX_Tide_ireplica_allreduce, MPIX_Tide_replica_allreduce_enqueue, &
    MPIX_Tide_norm2, MPIX_Tide_scatter, MPIX_Tide_gather

  interface MPIX_Tide_replica_allreduce
    procedure replica_allreduce, replica_allreduce_f08
  end interface
  interface MPIX_Tide_ireplica_allreduce
    procedure ireplica_allreduce, ireplica_allreduce_f08
  end interface
  interface MPIX_Tide_replica_allreduce_enqueue
    procedure enqueue, enqueue_f08
  end interface
  !> The Euclidean norm of all shards; a list for each group.
  interface MPIX_Tide_norm2
    procedure norm2_of, norm2_of_f08
  end interface

contains

  subroutine replica_allreduce(shards, dtype, op, scale, group, replica, ierror)
    type(MPIX_Tide_list), intent(in) :: shards
    integer, intent(in) :: dtype, op
    real(c_double), intent(in) :: scale
    type(MPIX_Tide_group), intent(in) :: group
    integer, intent(in) :: replica
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_replica_allreduce(in_c(shards), dtype, op, scale, group%handle, replica)
    call return_code(code, ierror)
  end subroutine

  subroutine replica_allreduce_f08(shards, dtype, op, scale, group, replica, ierror)
    type(MPIX_Tide_list), intent(in) :: shards
    integer, intent(in) :: dtype, op
    real(c_double), intent(in) :: scale
    type(MPIX_Tide_group), intent(in) :: group
    type(MPI_Comm), intent(in) :: replica
    integer, optional, intent(out) :: ierror
    call replica_allreduce(shards, dtype, op, scale, group, replica%MPI_VAL, ierror)
  end subroutine

  subroutine ireplica_allreduce(shards, dtype, op, scale, group, replica, request, ierror)
    type(MPIX_Tide_list), intent(in) :: shards
    integer, intent(in) :: dtype, op
    real(c_double), intent(in) :: scale
    type(MPIX_Tide_group), intent(in) :: group
    integer, intent(in) :: replica
    type(MPIX_Tide_request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_ireplica_allreduce(in_c(shards), dtype, op, scale, group%handle, replica, &
      request)
    call return_code(code, ierror)
  end subroutine

  subroutine ireplica_allreduce_f08(shards, dtype, op, scale, group, replica, request, ierror)
    type(MPIX_Tide_list), intent(in) :: shards
    integer, intent(in) :: dtype, op
    real(c_double), intent(in) :: scale
    type(MPIX_Tide_group), intent(in) :: group
    type(MPI_Comm), intent(in) :: replica
    type(MPIX_Tide_request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    call ireplica_allreduce(shards, dtype, op, scale, group, replica%MPI_VAL, request, ierror)
  end subroutine

  subroutine enqueue(shards, dtype, op, scale, group, replica, stream, ierror)
    type(MPIX_Tide_list), intent(in) :: shards
    integer, intent(in) :: dtype, op
    real(c_double), intent(in) :: scale
    type(MPIX_Tide_group), intent(in) :: group
    integer, intent(in) :: replica
    type(c_ptr), intent(in) :: stream !< a cudaStream_t
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_replica_allreduce_enqueue(in_c(shards), dtype, op, scale, group%handle, &
      replica, stream)
    call return_code(code, ierror)
  end subroutine

  subroutine enqueue_f08(shards, dtype, op, scale, group, replica, stream, ierror)
    type(MPIX_Tide_list), intent(in) :: shards
    integer, intent(in) :: dtype, op
    real(c_double), intent(in) :: scale
    type(MPIX_Tide_group), intent(in) :: group
    type(MPI_Comm), intent(in) :: replica
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror
    call enqueue(shards, dtype, op, scale, group, replica%MPI_VAL, stream, ierror)
  end subroutine

  subroutine norm2_of(shard, ngroups, groups, shards, dtype, norm2, ierror)
    integer, intent(in) :: shard, ngroups
    type(MPIX_Tide_group), intent(in) :: groups(:)
    type(MPIX_Tide_list), intent(in) :: shards(:)
    integer, intent(in) :: dtype
    real(c_double), intent(inout) :: norm2
    integer, optional, intent(out) :: ierror
    type(c_list) :: lists(size(shards))
    integer :: code, i
    do i = 1, size(shards)
      lists(i) = in_c(shards(i))
    end do
    code = c_norm2(shard, ngroups, min(size(groups), size(shards)), groups, lists, dtype, norm2)
    call return_code(code, ierror)
  end subroutine

  subroutine norm2_of_f08(shard, ngroups, groups, shards, dtype, norm2, ierror)
    type(MPI_Comm), intent(in) :: shard
    integer, intent(in) :: ngroups
    type(MPIX_Tide_group), intent(in) :: groups(:)
    type(MPIX_Tide_list), intent(in) :: shards(:)
    integer, intent(in) :: dtype
    real(c_double), intent(inout) :: norm2
    integer, optional, intent(out) :: ierror
    call norm2_of(shard%MPI_VAL, ngroups, groups, shards, dtype, norm2, ierror)
  end subroutine

  !> params may be absent but on root: MPIX_Tide_scatter(0, shards=list, group=group).
  subroutine MPIX_Tide_scatter(root, params, shards, group, ierror)
    integer, intent(in) :: root
    type(MPIX_Tide_list), optional, intent(in) :: params
    type(MPIX_Tide_list), intent(in) :: shards
    type(MPIX_Tide_group), intent(in) :: group
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_scatter(root, in_c(params), in_c(shards), group%handle)
    call return_code(code, ierror)
  end subroutine

  !> params may be absent but on root.
  subroutine MPIX_Tide_gather(root, shards, params, group, ierror)
    integer, intent(in) :: root
    type(MPIX_Tide_list), intent(in) :: shards
    type(MPIX_Tide_list), optional, intent(in) :: params
    type(MPIX_Tide_group), intent(in) :: group
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_gather(root, in_c(shards), in_c(params), group%handle)
    call return_code(code, ierror)
  end subroutine
end module
