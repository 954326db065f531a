! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Constants and types against those of C (constants.c).
program layout
  use, intrinsic :: iso_c_binding, only: c_int, c_sizeof
  use mpix_tide
  implicit none
  interface
    subroutine tide_c_types(constants, sizes, param, bytes, topology) bind(C)
      import
      integer(c_int), intent(out) :: constants(24), sizes(5)
      type(MPIX_Tide_param), intent(out) :: param
      type(MPIX_Tide_sizes), intent(out) :: bytes
      type(MPIX_Tide_topology), intent(out) :: topology
    end subroutine
  end interface
  integer(c_int) :: constants(24), sizes(5)
  type(MPIX_Tide_param) :: param
  type(MPIX_Tide_sizes) :: bytes
  type(MPIX_Tide_topology) :: topology

  call tide_c_types(constants, sizes, param, bytes, topology)
  if (any(constants /= [MPIX_TIDE_BF16, MPIX_TIDE_FP16, MPIX_TIDE_FP32, MPIX_TIDE_FP64, MPIX_TIDE_UINT8, MPIX_TIDE_NOGRAD, &
    MPIX_TIDE_SUM, MPIX_TIDE_AVG, MPIX_TIDE_ACCUMULATE, MPIX_TIDE_NULL_IS_ZERO, MPIX_TIDE_FULL, MPIX_TIDE_SHARD, &
    MPIX_TIDE_GRAD, MPIX_TIDE_ERR_MISMATCH, MPIX_TIDE_ERR_TIMEOUT, MPIX_TIDE_ERR_UNSUPPORTED, MPIX_TIDE_ERR_PEER, &
    MPIX_TIDE_ERR_DEVICE, MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_BF16), MPIX_TIDE_LAYER_KEEP, MPIX_TIDE_LAYER_FROZEN, &
    MPIX_TIDE_IN_PLACE_MODE, MPIX_TIDE_SLOT_REUSE_MODE, MPIX_TIDE_NO_SYNC])) error stop 'constants'
  if (any(sizes /= [c_sizeof(param), c_sizeof(bytes), c_sizeof(topology), c_sizeof(MPIX_TIDE_GROUP_NULL), &
    c_sizeof(MPIX_TIDE_REQUEST_NULL)])) error stop 'sizes'
  if (any([param%rows, param%row_elems, param%block_rows, int([param%dtype, param%types], 8)] /= [1, 2, 3, 4, 5])) &
    error stop 'MPIX_Tide_param'
  if (any([bytes%full_bytes, bytes%shard_bytes, bytes%allgather_workspace_bytes, bytes%reduce_scatter_workspace_bytes, &
    bytes%reduce_scatter_workspace_min_bytes, bytes%reserved(1)] /= [1, 2, 3, 4, 5, 6])) error stop 'MPIX_Tide_sizes'
  if (any([topology%nodes, topology%local_size, topology%node, topology%local_rank, topology%uniform, &
    topology%reserved(1)] /= [1, 2, 3, 4, 5, 6])) error stop 'MPIX_Tide_topology'
  print '(a)', 'passed'
end program
