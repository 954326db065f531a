! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Constants, descriptors and handles.  bind(C) types have the layout of their namesakes in mpix_tide.h.
module tide_fortran_types
  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_int16_t, c_int64_t, c_null_ptr, c_ptr
  implicit none
  private

  !> Element types.  Arrays: BF16 and FP16 integer(int16), FP32 real32, FP64 real64, UINT8 integer(int8).
  integer, parameter, public :: MPIX_TIDE_BF16 = 1, MPIX_TIDE_FP16 = 2, MPIX_TIDE_FP32 = 3, &
    MPIX_TIDE_FP64 = 4, MPIX_TIDE_UINT8 = 5
  integer, parameter, public :: MPIX_TIDE_NOGRAD = 255 !< as a gradient type: the parameter is frozen
  integer, parameter, public :: MPIX_TIDE_BF16_KIND = c_int16_t

  !> Reduction: one of SUM and AVG, flags added.
  integer, parameter, public :: MPIX_TIDE_SUM = 1, MPIX_TIDE_AVG = 2, MPIX_TIDE_ACCUMULATE = 256, &
    MPIX_TIDE_NULL_IS_ZERO = 512

  !> What MPIX_Tide_group_offsets and MPIX_Tide_group_alloc lay out.
  integer, parameter, public :: MPIX_TIDE_FULL = 1, MPIX_TIDE_SHARD = 2, MPIX_TIDE_GRAD = 3

  !> Training pipeline: flags of a layer, modes, a flag of MPIX_Tide_pipeline_begin.
  integer, parameter, public :: MPIX_TIDE_LAYER_KEEP = 1, MPIX_TIDE_LAYER_FROZEN = 2
  integer, parameter, public :: MPIX_TIDE_IN_PLACE_MODE = 1, MPIX_TIDE_SLOT_REUSE_MODE = 2
  integer, parameter, public :: MPIX_TIDE_NO_SYNC = 1

  !> Kinds of error that MPI has no class for.
  integer, parameter, public :: MPIX_TIDE_ERR_MISMATCH = 1, MPIX_TIDE_ERR_TIMEOUT = 2, &
    MPIX_TIDE_ERR_UNSUPPORTED = 3, MPIX_TIDE_ERR_PEER = 4, MPIX_TIDE_ERR_DEVICE = 5

  !> One parameter.  Its array's last dimension is sharded: w(nout, nin) has rows = nin, row_elems = nout.
  type, bind(C), public :: MPIX_Tide_param
    integer(c_int64_t) :: rows
    integer(c_int64_t) :: row_elems
    integer(c_int64_t) :: block_rows = 0 !< a shard boundary falls only on multiples of it
    integer(c_int) :: dtype              !< of the gathered parameter
    integer(c_int) :: types = 0          !< 0: shard and gradient too; else MPIX_TIDE_TYPES(shard, grad)
  end type

  !> Bytes of a group on this rank.
  type, bind(C), public :: MPIX_Tide_sizes
    integer(c_int64_t) :: full_bytes = 0, shard_bytes = 0, allgather_workspace_bytes = 0, &
      reduce_scatter_workspace_bytes = 0, reduce_scatter_workspace_min_bytes = 0, reserved(7) = 0
  end type

  !> Where a communicator lives; nodes and ranks count from 0.
  type, bind(C), public :: MPIX_Tide_topology
    integer(c_int) :: nodes = 0, local_size = 0, node = 0, local_rank = 0, uniform = 0, reserved(11) = 0
  end type

  type, bind(C), public :: MPIX_Tide_group
    type(c_ptr) :: handle = c_null_ptr !< the MPIX_Tide_group of C
  end type
  type, bind(C), public :: MPIX_Tide_request
    type(c_ptr) :: handle = c_null_ptr !< the MPIX_Tide_request of C
  end type
  type, public :: MPIX_Tide_pipeline
    type(c_ptr) :: handle = c_null_ptr             !< the MPIX_Tide_pipeline of C
    integer(c_int), allocatable, private :: nparams(:) !< of each layer
  contains
    procedure :: of_layer, set_nparams
  end type

  !> What a training step does.  Layers count from 1.
  type, public :: MPIX_Tide_schedule
    type(MPIX_Tide_group), allocatable :: groups(:)  !< one for each layer
    integer, allocatable :: layer_flags(:)           !< unallocated: none
    integer, allocatable :: forward(:), backward(:)  !< visits; unallocated: 1, 2, ... and the reverse of forward
    integer :: mode = 0, prefetch = 0, reshard_after_forward = 0
  end type
  type(MPIX_Tide_group), parameter, public :: MPIX_TIDE_GROUP_NULL = MPIX_Tide_group(c_null_ptr)
  type(MPIX_Tide_request), parameter, public :: MPIX_TIDE_REQUEST_NULL = MPIX_Tide_request(c_null_ptr)

  public :: MPIX_TIDE_TYPES, operator(==), operator(/=)
  interface operator(==)
    procedure same_group, same_request
  end interface
  interface operator(/=)
    procedure other_group, other_request
  end interface

contains

  !> For MPIX_Tide_param%types: the element types of shard and gradient.
  elemental integer function MPIX_TIDE_TYPES(shard, grad) result(types)
    integer, intent(in) :: shard, grad
    types = ior(shard, ishft(grad, 8))
  end function

  logical function same_group(a, b)
    type(MPIX_Tide_group), intent(in) :: a, b
    same_group = same(a%handle, b%handle)
  end function
  logical function other_group(a, b)
    type(MPIX_Tide_group), intent(in) :: a, b
    other_group = .not. same(a%handle, b%handle)
  end function
  logical function same_request(a, b)
    type(MPIX_Tide_request), intent(in) :: a, b
    same_request = same(a%handle, b%handle)
  end function
  logical function other_request(a, b)
    type(MPIX_Tide_request), intent(in) :: a, b
    other_request = .not. same(a%handle, b%handle)
  end function

  !> Parameters of a layer, 0 where there is no such layer; sets them for all.
  integer function of_layer(pipeline, layer) result(n)
    class(MPIX_Tide_pipeline), intent(in) :: pipeline
    integer, intent(in) :: layer
    n = 0
    if (.not. allocated(pipeline%nparams)) return
    if (layer >= 1 .and. layer <= size(pipeline%nparams)) n = pipeline%nparams(layer)
  end function
  subroutine set_nparams(pipeline, nparams)
    class(MPIX_Tide_pipeline), intent(inout) :: pipeline
    integer(c_int), intent(in) :: nparams(:)
    pipeline%nparams = nparams
  end subroutine

  logical function same(a, b)
    type(c_ptr), intent(in) :: a, b
    same = c_associated(a, b) .or. .not. (c_associated(a) .or. c_associated(b))
  end function
end module
