! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> The perceptron of network.cpp, with SiLU: weights exist one layer at a time, a column is a sample.
module train_network
  use, intrinsic :: iso_fortran_env, only: real32
  use train_weights
  implicit none
  private
  public :: network_t, create_network, forward, backward

  type :: hidden_t
    real(real32), allocatable :: before(:, :), tanh(:, :), after(:, :)
  end type
  type :: network_t
    type(hidden_t), allocatable :: hidden(:)
    real(real32), allocatable :: outputs(:, :), grad(:, :), next_grad(:, :)
  end type

  interface
    subroutine sgemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: real32
      character, intent(in) :: transa, transb
      integer, intent(in) :: m, n, k, lda, ldb, ldc
      real(real32), intent(in) :: alpha, beta, a(lda, *), b(ldb, *)
      real(real32), intent(inout) :: c(ldc, *)
    end subroutine
  end interface

contains

  subroutine create_network(net, outs, most)
    type(network_t), intent(inout) :: net
    integer, intent(in) :: outs(:), most
    integer :: l
    allocate (net%hidden(size(outs) - 1), net%outputs(outs(size(outs)), most))
    do l = 1, size(net%hidden)
      allocate (net%hidden(l)%before(outs(l), most), net%hidden(l)%tanh(outs(l), most), net%hidden(l)%after(outs(l), most))
    end do
  end subroutine

  !> Collective.  Begins a step; the results are net%outputs(:, :rows).
  subroutine forward(net, w, x, rows)
    type(network_t), intent(inout) :: net
    type(weights_t), intent(inout) :: w
    real(real32), intent(in) :: x(:, :)
    integer, intent(in) :: rows
    integer :: l, n
    n = size(w%outs)
    call begin_step(w)
    do l = 1, n
      call forward_visit(w, l)
      if (rows == 0) cycle ! this rank has no part in the batch, yet others gather
      if (l == n .and. n == 1) then
        call layer(x, net%outputs)
      else if (l == 1) then
        call layer(x, net%hidden(1)%before)
      else if (l == n) then
        call layer(net%hidden(l - 1)%after, net%outputs)
      else
        call layer(net%hidden(l - 1)%after, net%hidden(l)%before)
      end if
      if (l == n) exit
      associate (h => net%hidden(l))
        h%tanh(:, :rows) = quick_tanh(0.5_real32 * h%before(:, :rows))
        h%after(:, :rows) = h%before(:, :rows) * 0.5_real32 * (1 + h%tanh(:, :rows))
      end associate
    end do

  contains

    subroutine layer(input, z)
      real(real32), intent(in) :: input(:, :)
      real(real32), intent(inout) :: z(:, :)
      integer :: r
      call sgemm('T', 'N', w%outs(l), rows, w%ins(l), 1., w%weight, w%ins(l), input, w%ins(l), 0., z, w%outs(l))
      do r = 1, rows
        z(:, r) = z(:, r) + w%bias
      end do
    end subroutine
  end subroutine

  !> Collective, after forward: finishes the step with the averaged gradients.  net%grad is the derivative of the loss.
  subroutine backward(net, w, x, rows)
    type(network_t), intent(inout) :: net
    type(weights_t), intent(inout) :: w
    real(real32), intent(in) :: x(:, :)
    integer, intent(in) :: rows
    real(real32), allocatable :: weight_grad(:, :), bias_grad(:)
    integer :: l, r
    do l = size(w%outs), 1, -1
      call backward_visit(w, l)
      allocate (weight_grad(w%ins(l), w%outs(l)), bias_grad(w%outs(l)), source=0._real32)
      if (rows > 0 .and. l > 1) then
        call products(net%hidden(l - 1)%after)
      else if (rows > 0) then
        call products(x)
      end if
      do r = 1, rows
        bias_grad = bias_grad + net%grad(:, r)
      end do
      call reduce_visit(w, l, weight_grad, bias_grad)
      deallocate (weight_grad, bias_grad)
      if (l == 1) exit
      net%grad = net%next_grad
      associate (h => net%hidden(l - 1), s => 0.5_real32 * (1 + net%hidden(l - 1)%tanh(:, :rows)))
        net%grad = net%grad * (s + h%before(:, :rows) * s * (1 - s))
      end associate
    end do
    call finish_step(w, .true.)

  contains

    subroutine products(input)
      real(real32), intent(in) :: input(:, :)
      call sgemm('N', 'T', w%ins(l), w%outs(l), rows, 1., input, w%ins(l), net%grad, w%outs(l), 0., weight_grad, w%ins(l))
      net%next_grad = reshape([real(real32) ::], [w%ins(l), rows], pad=[0._real32])
      if (l > 1) call sgemm('N', 'N', w%ins(l), rows, w%outs(l), 1., w%weight, w%ins(l), net%grad, w%outs(l), 0., &
        net%next_grad, w%ins(l))
    end subroutine
  end subroutine

  !> The approximation of activation.hpp, in the same order of operations.
  elemental real(real32) function quick_tanh(value) result(y)
    real(real32), intent(in) :: value
    real(real32) :: x, s, p, q
    x = min(max(value, -7.9), 7.9)
    s = x * x
    p = -2.76076847742355e-16
    p = p * s + 2.00018790482477e-13
    p = p * s - 8.60467152213735e-11
    p = p * s + 5.12229709037114e-08
    p = p * s + 1.48572235717979e-05
    p = p * s + 6.37261928875436e-04
    p = p * s + 4.89352455891786e-03
    q = 1.19825839466702e-06
    q = q * s + 1.18534705686654e-04
    q = q * s + 2.26843463243900e-03
    q = q * s + 4.89352518554385e-03
    y = x * p / q
  end function
end module
