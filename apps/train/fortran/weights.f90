! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> The perceptron's parameters, sharded: the whole use of Tide.  A layer is weight(in, out) and bias(out): fp32 master
!> shards, gathered as bf16, gradients in bf16.
module train_weights
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int16, int64, real32, real64
  use mpi_f08
  use mpix_tide
  use train_options, only: options_t
  use train_random, only: golden, mix, unit_interval
  implicit none
  private
  public :: piece_t, weights_t, create_weights, free_weights, begin_step, forward_visit, backward_visit, reduce_visit, &
    finish_step, update, planned_mib

  !> What a rank keeps of one tensor: elements from `first`, counted from 0.
  type :: piece_t
    integer(int64) :: first = 0
    real(real32), pointer, contiguous :: master(:), grad(:), moment1(:), moment2(:)
  end type

  type :: weights_t
    integer, allocatable :: outs(:), ins(:)
    type(MPI_Comm) :: comm = MPI_COMM_NULL, shard = MPI_COMM_NULL, replica = MPI_COMM_NULL
    type(MPIX_Tide_group), allocatable :: groups(:)
    type(MPIX_Tide_list), allocatable :: masters(:), grads(:), moments1(:), moments2(:)
    type(piece_t), allocatable :: pieces(:, :) !< (tensor, layer)
    type(MPIX_Tide_pipeline) :: pipeline
    type(c_ptr), allocatable :: bases(:)
    real(real32), allocatable :: weight(:, :), bias(:) !< of the layer at work
    real(real64) :: exposed = 0                        !< seconds in communication
  end type

contains

  subroutine create_weights(w, comm, ins, outs, options)
    type(weights_t), intent(inout), target :: w
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: ins(:), outs(:)
    type(options_t), intent(in) :: options
    type(MPIX_Tide_schedule) :: schedule
    integer :: l, n, ranks
    n = size(ins)
    w%ins = ins
    w%outs = outs
    w%comm = comm
    call MPI_Comm_size(comm, ranks)
    if (options%replicas == 1) then
      call MPI_Comm_dup(comm, w%shard)
    else
      call MPIX_Tide_comm_grid(comm, ranks / options%replicas, w%shard, w%replica)
    end if
    allocate (w%groups(n), w%masters(n), w%grads(n), w%moments1(n), w%moments2(n), w%pieces(2, n), w%bases(4 * n))
    do l = 1, n
      call create_layer(w, l)
    end do
    schedule%groups = w%groups
    schedule%mode = merge(MPIX_TIDE_SLOT_REUSE_MODE, MPIX_TIDE_IN_PLACE_MODE, options%mode == 'slot-reuse')
    schedule%prefetch = options%prefetch
    schedule%reshard_after_forward = 1
    call MPIX_Tide_pipeline_create(schedule, MPI_INFO_NULL, w%pipeline)
    do l = 1, n
      call MPIX_Tide_pipeline_bind(w%pipeline, l, w%masters(l), w%grads(l))
    end do
    call initialise(w, options%seed)
  end subroutine

  subroutine create_layer(w, l)
    type(weights_t), intent(inout) :: w
    integer, intent(in) :: l
    integer :: rank, t, types
    integer(int64) :: lower, upper, elems
    integer(int64) :: row_elems(2)
    types = MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_BF16)
    row_elems = [int(w%ins(l), int64), 1_int64]
    call MPIX_Tide_group_create(w%shard, 2, &
      [(MPIX_Tide_param(rows=w%outs(l), row_elems=row_elems(t), dtype=MPIX_TIDE_BF16, types=types), t=1, 2)], &
      MPI_INFO_NULL, w%groups(l))
    associate (base => w%bases(4 * l - 3:4 * l), info => MPI_INFO_NULL)
      call MPIX_Tide_group_alloc(w%groups(l), MPIX_TIDE_SHARD, MPIX_TIDE_FP32, info, w%masters(l), base(1))
      call MPIX_Tide_group_alloc(w%groups(l), MPIX_TIDE_SHARD, MPIX_TIDE_FP32, info, w%grads(l), base(2))
      call MPIX_Tide_group_alloc(w%groups(l), MPIX_TIDE_SHARD, MPIX_TIDE_FP32, info, w%moments1(l), base(3))
      call MPIX_Tide_group_alloc(w%groups(l), MPIX_TIDE_SHARD, MPIX_TIDE_FP32, info, w%moments2(l), base(4))
    end associate
    call MPI_Comm_rank(w%shard, rank)
    do t = 1, 2
      call MPIX_Tide_bounds(w%groups(l), t, rank, lower, upper)
      elems = (upper - lower + 1) * row_elems(t)
      associate (piece => w%pieces(t, l))
        piece%first = (lower - 1) * row_elems(t)
        call c_f_pointer(w%masters(l)%ptr(t), piece%master, [elems])
        call c_f_pointer(w%grads(l)%ptr(t), piece%grad, [elems])
        call c_f_pointer(w%moments1(l)%ptr(t), piece%moment1, [elems])
        call c_f_pointer(w%moments2(l)%ptr(t), piece%moment2, [elems])
      end associate
    end do
  end subroutine

  !> The same values on any number of ranks, and in C++.  Moments are zero already.
  subroutine initialise(w, seed)
    type(weights_t), intent(inout) :: w
    integer(int64), intent(in) :: seed
    integer(int64) :: e, stream
    real(real64) :: bound
    integer :: l
    do l = 1, size(w%groups)
      stream = mix(seed * 2685821657736338717_int64 + 2 * (l - 1) + 1)
      bound = sqrt(3 / real(w%ins(l), real64))
      associate (piece => w%pieces(1, l))
        do e = 1, size(piece%master, kind=int64)
          piece%master(e) = real(bound * (2 * unit_interval(mix(stream + (piece%first + e - 1) * golden)) - 1), real32)
        end do
      end associate
    end do
  end subroutine

  subroutine begin_step(w)
    type(weights_t), intent(inout) :: w
    real(real64) :: start
    start = MPI_Wtime()
    call MPIX_Tide_pipeline_begin(w%pipeline, 0, c_null_ptr)
    w%exposed = w%exposed + MPI_Wtime() - start
  end subroutine

  !> The layer's parameters as fp32, in w%weight and w%bias.
  subroutine forward_visit(w, l)
    type(weights_t), intent(inout) :: w
    integer, intent(in) :: l
    call gather(w, l)
    call MPIX_Tide_pipeline_release(w%pipeline, l, c_null_ptr)
  end subroutine

  subroutine backward_visit(w, l)
    type(weights_t), intent(inout) :: w
    integer, intent(in) :: l
    call gather(w, l)
  end subroutine

  subroutine gather(w, l)
    type(weights_t), intent(inout) :: w
    integer, intent(in) :: l
    type(MPIX_Tide_list) :: full
    integer(int16), pointer, contiguous :: weight(:, :), bias(:)
    real(real64) :: start
    start = MPI_Wtime()
    call MPIX_Tide_pipeline_gather(w%pipeline, l, full, c_null_ptr)
    w%exposed = w%exposed + MPI_Wtime() - start
    call c_f_pointer(full%ptr(1), weight, [w%ins(l), w%outs(l)])
    call c_f_pointer(full%ptr(2), bias, [w%outs(l)])
    w%weight = MPIX_Tide_from_bf16(weight)
    w%bias = MPIX_Tide_from_bf16(bias)
  end subroutine

  !> Ends a backward visit: the gradients' average over all ranks arrives in the shards at finish_step.
  subroutine reduce_visit(w, l, weight_grad, bias_grad)
    type(weights_t), intent(inout) :: w
    integer, intent(in) :: l
    real(real32), intent(in) :: weight_grad(:, :), bias_grad(:)
    type(MPIX_Tide_list) :: full
    integer(int16), pointer, contiguous :: weight(:, :), bias(:)
    real(real64) :: start
    start = MPI_Wtime()
    call MPIX_Tide_pipeline_grads(w%pipeline, l, full, c_null_ptr)
    w%exposed = w%exposed + MPI_Wtime() - start
    call c_f_pointer(full%ptr(1), weight, [w%ins(l), w%outs(l)])
    call c_f_pointer(full%ptr(2), bias, [w%outs(l)])
    weight = MPIX_Tide_to_bf16(weight_grad) ! the only visit: they were zero
    bias = MPIX_Tide_to_bf16(bias_grad)
    start = MPI_Wtime()
    call MPIX_Tide_pipeline_release(w%pipeline, l, c_null_ptr)
    call MPIX_Tide_pipeline_reduce(w%pipeline, l, MPIX_TIDE_FP32, MPIX_TIDE_AVG, 1._real64, c_null_ptr)
    w%exposed = w%exposed + MPI_Wtime() - start
  end subroutine

  subroutine finish_step(w, gradients)
    type(weights_t), intent(inout) :: w
    logical, intent(in) :: gradients
    real(real64) :: start
    integer :: l
    start = MPI_Wtime()
    call MPIX_Tide_pipeline_finish(w%pipeline, c_null_ptr)
    if (gradients .and. w%replica /= MPI_COMM_NULL) then
      do l = 1, size(w%groups)
        call MPIX_Tide_replica_allreduce(w%grads(l), MPIX_TIDE_FP32, MPIX_TIDE_AVG, 1._real64, w%groups(l), w%replica)
      end do
    end if
    w%exposed = w%exposed + MPI_Wtime() - start
  end subroutine

  !> AdamW, on this rank's rows; weights decay, biases do not.
  subroutine update(w, lr, weight_decay, clip, step)
    type(weights_t), intent(inout) :: w
    real(real64), intent(in) :: lr, weight_decay, clip
    integer(int64), intent(in) :: step
    real(real64), parameter :: b1 = 0.9_real64, b2 = 0.999_real64
    real(real32), parameter :: beta1 = real(b1, real32), beta2 = real(b2, real32), gain1 = real(1 - b1, real32), &
      gain2 = real(1 - b2, real32), epsilon = real(1e-8_real64, real32)
    real(real64) :: norm, start
    real(real32) :: rate, correction, keep, factor, g, root
    integer(int64) :: e
    integer :: l, t
    factor = 1
    if (clip > 0) then
      start = MPI_Wtime()
      call MPIX_Tide_norm2(w%shard, size(w%groups), w%groups, w%grads, MPIX_TIDE_FP32, norm)
      w%exposed = w%exposed + MPI_Wtime() - start
      if (norm > clip) factor = real(clip / norm, real32)
    end if
    rate = real(lr / (1 - b1**real(step, real64)), real32)
    correction = real(1 / (1 - b2**real(step, real64)), real32)
    do l = 1, size(w%groups)
      do t = 1, 2
        keep = 1
        if (t == 1) keep = real(1 - lr * weight_decay, real32)
        associate (p => w%pieces(t, l))
          do e = 1, size(p%master, kind=int64)
            g = factor * p%grad(e)
            p%moment1(e) = beta1 * p%moment1(e) + gain1 * g
            p%moment2(e) = beta2 * p%moment2(e) + gain2 * g * g
            root = sqrt(p%moment2(e) * correction) + epsilon
            p%master(e) = keep * p%master(e) - rate * p%moment1(e) / root
          end do
        end associate
      end do
    end do
  end subroutine

  !> Of this rank: shards, gathered parameters, gradients, workspace.
  function planned_mib(w) result(mib)
    type(weights_t), intent(in) :: w
    real(real64) :: mib(4)
    integer(int64) :: parameters, gradients, workspace
    integer :: l, t
    call MPIX_Tide_pipeline_sizes(w%pipeline, parameters, gradients, workspace)
    mib = [0._real64, real(parameters, real64), real(gradients, real64), real(workspace, real64)]
    do l = 1, size(w%groups)
      do t = 1, 2
        mib(1) = mib(1) + 16 * size(w%pieces(t, l)%master, kind=int64)
      end do
    end do
    mib = mib / 2**20
  end function

  subroutine free_weights(w)
    type(weights_t), intent(inout) :: w
    integer :: l
    call MPIX_Tide_pipeline_free(w%pipeline)
    do l = 1, size(w%groups)
      call MPIX_Tide_group_free(w%groups(l))
    end do
    do l = 1, size(w%bases)
      call MPIX_Tide_free(w%shard, w%bases(l))
    end do
    call MPI_Comm_free(w%shard)
    if (w%replica /= MPI_COMM_NULL) call MPI_Comm_free(w%replica)
  end subroutine
end module
