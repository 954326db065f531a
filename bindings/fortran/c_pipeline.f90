! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> The training pipeline as C sees it.
module tide_fortran_c_pipeline
  use, intrinsic :: iso_c_binding
  use tide_fortran_lists, only: c_list
  implicit none
  public
  interface
    integer(c_int) function c_pipeline_create(nlayers, groups, nflags, flags, nforward, forward, nbackward, backward, mode, &
      prefetch, reshard, info, pipeline) bind(C, name='tide_fortran_pipeline_create')
      import
      integer(c_int), value :: nlayers
      type(c_ptr), value :: groups
      integer(c_int), value :: nflags
      type(c_ptr), value :: flags
      integer(c_int), value :: nforward
      type(c_ptr), value :: forward
      integer(c_int), value :: nbackward
      type(c_ptr), value :: backward
      integer(c_int), value :: mode, prefetch, reshard, info
      type(c_ptr), intent(inout) :: pipeline
    end function
    integer(c_int) function c_pipeline_sizes(pipeline, param_bytes, grad_bytes, workspace_bytes) &
      bind(C, name='MPIX_Tide_pipeline_sizes')
      import
      type(c_ptr), value :: pipeline
      integer(c_int64_t), intent(inout) :: param_bytes, grad_bytes, workspace_bytes
    end function
    integer(c_int) function c_pipeline_bind(pipeline, layer, shards, grad_shards, nparams) &
      bind(C, name='tide_fortran_pipeline_bind')
      import
      type(c_ptr), value :: pipeline
      integer(c_int), value :: layer
      type(c_list), value :: shards, grad_shards
      integer(c_int), value :: nparams
    end function
    integer(c_int) function c_pipeline_begin(pipeline, flags, stream) bind(C, name='MPIX_Tide_pipeline_begin')
      import
      type(c_ptr), value :: pipeline
      integer(c_int), value :: flags
      type(c_ptr), value :: stream
    end function
    integer(c_int) function c_pipeline_gather(pipeline, layer, params, stream) bind(C, name='MPIX_Tide_pipeline_gather')
      import
      type(c_ptr), value :: pipeline
      integer(c_int), value :: layer
      type(c_ptr), intent(inout) :: params(*)
      type(c_ptr), value :: stream
    end function
    integer(c_int) function c_pipeline_release(pipeline, layer, stream) bind(C, name='MPIX_Tide_pipeline_release')
      import
      type(c_ptr), value :: pipeline
      integer(c_int), value :: layer
      type(c_ptr), value :: stream
    end function
    integer(c_int) function c_pipeline_grads(pipeline, layer, grads, stream) bind(C, name='MPIX_Tide_pipeline_grads')
      import
      type(c_ptr), value :: pipeline
      integer(c_int), value :: layer
      type(c_ptr), intent(inout) :: grads(*)
      type(c_ptr), value :: stream
    end function
    integer(c_int) function c_pipeline_reduce(pipeline, layer, out_dtype, op, scale, stream) &
      bind(C, name='MPIX_Tide_pipeline_reduce')
      import
      type(c_ptr), value :: pipeline
      integer(c_int), value :: layer, out_dtype, op
      real(c_double), value :: scale
      type(c_ptr), value :: stream
    end function
    integer(c_int) function c_pipeline_finish(pipeline, stream) bind(C, name='MPIX_Tide_pipeline_finish')
      import
      type(c_ptr), value :: pipeline, stream
    end function
    integer(c_int) function c_pipeline_free(pipeline) bind(C, name='MPIX_Tide_pipeline_free')
      import
      type(c_ptr), intent(inout) :: pipeline
    end function
  end interface
end module
