! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> tide-train --sharded in Fortran: the same samples, network, seed and steps, so the same curve.
program tide_train_fortran
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
  use, intrinsic :: iso_fortran_env, only: int64, output_unit, real32, real64
  use mpi_f08
  use train_network
  use train_options
  use train_random
  use train_samples
  use train_weights
  implicit none
  type(options_t) :: options
  type(samples_t) :: samples
  type(weights_t), target :: w
  type(network_t) :: net
  type(MPI_Comm) :: comm
  real(real32), allocatable :: x(:, :), y(:, :)
  integer, allocatable :: ins(:), outs(:)
  integer(int64), allocatable :: cells(:)
  integer(int64) :: batches, batch, step, total_steps, random
  real(real64) :: loss(2), validation, training, start, exposed, step_seconds, step_exposed
  integer :: epoch, l, most, rank, ranks, unit

  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  options = parse_options()
  samples = open_samples(comm, options)
  ins = [samples%inputs, (options%width, l=1, options%depth)]
  outs = [(options%width, l=1, options%depth), samples%outputs]
  call create_weights(w, comm, ins, outs, options)
  most = max(options%batch, 1024)
  call create_network(net, outs, most)
  allocate (x(samples%inputs, most), y(samples%outputs, most))
  batches = (size(samples%training, kind=int64) + options%batch - 1) / options%batch
  total_steps = batches * options%epochs
  random = mix(options%seed + 6364136223846793005_int64)
  step = 0
  step_seconds = 0
  step_exposed = 0

  if (rank == 0) then
    print '(a, i0, 3a, i0, a, i0, a)', 'tide-train-fortran: ', ranks, ' ranks; ', options%data, ': ', &
      size(samples%training), ' training and ', size(samples%validation), ' validation samples'
    print '(3a, i0, a, i0)', 'pipeline: ', options%mode, ', prefetch ', options%prefetch, ', replicas ', options%replicas
    print '(a)', 'epoch    step |    sharded: training validation seconds comm'
    open (newunit=unit, file=options%out//'.csv', action='write', status='replace')
    write (unit, '(a)') 'epoch,step,sharded_training_loss,sharded_validation_loss'
  end if
  do epoch = 1, options%epochs
    start = MPI_Wtime()
    exposed = w%exposed
    cells = samples%training
    call shuffle(cells, random)
    loss = 0
    do batch = 0, batches - 1
      call train_step(cells(batch * options%batch + 1:min((batch + 1) * options%batch, size(cells, kind=int64))))
    end do
    step_seconds = step_seconds + MPI_Wtime() - start
    step_exposed = step_exposed + w%exposed - exposed
    call score()
    if (rank == 0) then
      associate (seconds => MPI_Wtime() - start)
        print '(i5, 1x, i7, a, f20.5, 1x, f10.5, 1x, f7.2, 1x, i3, a)', epoch, step, ' | ', training, validation, seconds, &
          nint(100 * (w%exposed - exposed) / seconds), '%'
      end associate
      write (unit, '(i0, a, i0, 2(a, es16.9))') epoch, ',', step, ',', training, ',', validation
    end if
  end do
  call breakdown()
  if (rank == 0) close (unit)
  call free_weights(w)
  call MPI_Comm_free(comm)
  call MPI_Finalize()

contains

  subroutine shuffle(list, state)
    integer(int64), intent(inout) :: list(:), state
    integer(int64) :: n, at
    do n = size(list, kind=int64), 2, -1
      at = next_below(state, n) + 1
      list([n, at]) = list([at, n])
    end do
  end subroutine

  !> The first of this rank's share of n things, counted from 0; rank r's ends before rank r + 1's.
  integer(int64) function part(n, r)
    integer(int64), intent(in) :: n
    integer, intent(in) :: r
    part = n * r / ranks
  end function

  subroutine train_step(items)
    integer(int64), intent(in) :: items(:)
    real(real32) :: scale, error
    integer(int64) :: first, last
    integer :: f, r, rows
    first = part(size(items, kind=int64), rank)
    last = part(size(items, kind=int64), rank + 1)
    rows = int(last - first)
    call assemble(items(first + 1:last), x, y)
    call forward(net, w, x, rows)
    scale = real(2._real64 * ranks / real(size(items) * samples%outputs, real64), real32)
    net%grad = reshape([real(real32) ::], [samples%outputs, rows], pad=[0._real32])
    do r = 1, rows
      do f = 1, samples%outputs
        if (ieee_is_nan(y(f, r))) cycle
        error = net%outputs(f, r) - y(f, r)
        net%grad(f, r) = scale * error
        loss = loss + [real(error, real64) * error, 1._real64]
      end do
    end do
    call backward(net, w, x, rows)
    call update(w, learning_rate(), options%weight_decay, options%clip, step + 1)
    step = step + 1
  end subroutine

  real(real64) function learning_rate() result(lr)
    real(real64), parameter :: pi = acos(-1._real64)
    real(real64) :: warm_up, done
    warm_up = min(max(total_steps / 10._real64, 1._real64), 100._real64)
    if (step < warm_up) then
      lr = options%lr * (step + 1) / warm_up
    else
      done = (step - warm_up) / max(1._real64, total_steps - warm_up)
      lr = options%lr * (0.01_real64 + 0.99_real64 * 0.5_real64 * (1 + cos(pi * done)))
    end if
  end function

  !> The mean loss of this epoch's training, and of the validation.
  subroutine score()
    real(real64) :: sums(2, samples%outputs + 1), all(2)
    integer(int64) :: first, last, done, longest
    integer :: f, r, rows
    first = part(size(samples%validation, kind=int64), rank)
    last = part(size(samples%validation, kind=int64), rank + 1)
    longest = (size(samples%validation) + ranks - 1) / ranks
    sums = 0
    do done = 0, longest - 1, most
      rows = int(min(max(last - first - done, 0_int64), int(most, int64)))
      call assemble(samples%validation(first + done + 1:first + done + rows), x, y)
      call forward(net, w, x, rows)
      call finish_step(w, .false.)
      do r = 1, rows
        do f = 1, samples%outputs
          if (.not. ieee_is_nan(y(f, r))) &
            sums(:, f) = sums(:, f) + [(real(net%outputs(f, r), real64) - y(f, r))**2, 1._real64]
        end do
      end do
    end do
    sums(:, samples%outputs + 1) = loss
    call MPI_Allreduce(MPI_IN_PLACE, sums, size(sums), MPI_DOUBLE_PRECISION, MPI_SUM, comm)
    training = sums(1, samples%outputs + 1) / sums(2, samples%outputs + 1)
    all = 0
    do f = 1, samples%outputs
      all = all + sums(:, f)
    end do
    validation = all(1) / all(2)
  end subroutine

  !> Rank 0's step and memory, with bars.
  subroutine breakdown()
    real(real64) :: mib(4), milliseconds(2)
    character(len=21), parameter :: kinds(4) = [character(len=21) :: 'shards (fp32)', 'gathered parameters', 'gradients', &
      'workspace']
    integer :: k
    mib = planned_mib(w)
    milliseconds = 1000 * [step_seconds - step_exposed, step_exposed] / step
    if (rank /= 0) return
    print '(a)', '  a step of rank 0:'
    call bar('computation', milliseconds(1), sum(milliseconds), 'ms')
    call bar('exposed communication', milliseconds(2), sum(milliseconds), 'ms')
    print '(a)', '  planned memory:'
    do k = 1, 4
      call bar(kinds(k), mib(k), sum(mib), 'MiB')
    end do
    flush (output_unit)
  end subroutine

  subroutine bar(name, value, all, units)
    character(len=*), intent(in) :: name, units
    real(real64), intent(in) :: value, all
    character(len=40) :: drawn
    drawn = repeat('#', max(0, min(40, nint(40 * value / all))))
    print '(4x, a24, 1x, a40, 1x, f9.3, 1x, a)', [character(len=24) :: name], drawn, value, units
  end subroutine
end program
