! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Training with sharded parameters: y = w x + b, masters in fp32, gathered parameters and gradients in bf16.
!> The lists keep addresses, so the arrays stay where they are: TARGET, and no assignment that could allocate.
program step_f08
  use, intrinsic :: iso_fortran_env, only: int16, int64, real32, real64
  use mpi_f08
  use mpix_tide
  implicit none
  integer, parameter :: nin = 4, nout = 8, nsamples = 4
  real(real32), parameter :: rate = 0.5
  type(MPIX_Tide_group) :: group
  type(MPIX_Tide_list) :: masters, params, grads, sums
  integer(int16), target :: w(nin, nout), b(nout), w_grad(nin, nout), b_grad(nout)
  real(real32), allocatable, target :: w_master(:, :), b_master(:), w_sum(:, :), b_sum(:)
  integer :: c, rank, ranks, step
  integer(int64) :: lower, r, upper
  real(real64) :: loss, total

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  ! The last dimension, outputs, is sharded: w has nout rows of nin elements.
  associate (types => MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_BF16))
    call MPIX_Tide_group_create(MPI_COMM_WORLD, 2, &
      [MPIX_Tide_param(rows=nout, row_elems=nin, dtype=MPIX_TIDE_BF16, types=types), &
       MPIX_Tide_param(rows=nout, row_elems=1, dtype=MPIX_TIDE_BF16, types=types)], MPI_INFO_NULL, group)
  end associate

  ! Shards keep the indices of the whole: rows lower..upper.  Both parameters are split alike.
  call MPIX_Tide_bounds(group, 1, rank, lower, upper)
  allocate (w_master(nin, lower:upper), b_master(lower:upper), w_sum(nin, lower:upper), b_sum(lower:upper))
  do r = lower, upper
    w_master(:, r) = [(real(mod((r - 1) * nin + c, 7_int64) - 3, real32) / 8, c = 0, nin - 1)]
    b_master(r) = real(mod(r - 1, 3_int64) - 1, real32) / 4
  end do

  call MPIX_Tide_list_add(masters, w_master)
  call MPIX_Tide_list_add(masters, b_master)
  call MPIX_Tide_list_add(params, w)
  call MPIX_Tide_list_add(params, b)
  call MPIX_Tide_list_add(grads, w_grad)
  call MPIX_Tide_list_add(grads, b_grad)
  call MPIX_Tide_list_add(sums, w_sum)
  call MPIX_Tide_list_add(sums, b_sum)

  do step = 0, 4
    call MPIX_Tide_allgather(masters, params, group)
    call backward(loss)
    call MPIX_Tide_reduce_scatter(grads, sums, 0, MPIX_TIDE_AVG, 1.0_real64, group)
    w_master(:, :) = w_master - rate * w_sum
    b_master(:) = b_master - rate * b_sum
    call MPI_Reduce(loss, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
    if (rank == 0) print '(a, i0, a, f8.6)', 'step ', step, ' loss ', total / ranks
  end do

  call MPIX_Tide_group_free(group)
  call MPI_Finalize()

contains

  !> Mean squared error of this rank's samples, and its gradients.
  subroutine backward(loss)
    real(real64), intent(out) :: loss
    real(real64) :: error, gw(nin, nout), gb(nout), x(nin), y
    integer :: i, row, sample
    loss = 0
    gw = 0
    gb = 0
    do sample = 0, nsamples - 1
      x = [(real(mod(rank * nsamples + sample + i, 5) - 2, real64) / 4, i = 0, nin - 1)]
      do row = 1, nout
        y = MPIX_Tide_from_bf16(b(row))
        do i = 1, nin
          y = y + MPIX_Tide_from_bf16(w(i, row)) * x(i)
        end do
        error = y - real(mod(rank + sample + row - 1, 3) - 1, real64) / 2
        loss = loss + error**2 / (nsamples * nout)
        gw(:, row) = gw(:, row) + 2 * error * x / (nsamples * nout)
        gb(row) = gb(row) + 2 * error / (nsamples * nout)
      end do
    end do
    w_grad = MPIX_Tide_to_bf16(gw)
    b_grad = MPIX_Tide_to_bf16(gb)
  end subroutine
end program
