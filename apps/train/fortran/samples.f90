! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> The samples of tide-train, read by its own C++ (samples_c.cpp).
module train_samples
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_float, c_int, c_int64_t, c_null_char
  use mpi_f08, only: MPI_Comm
  use train_options, only: options_t
  implicit none
  private
  public :: samples_t, open_samples, assemble

  type :: samples_t
    integer :: inputs, outputs
    integer(c_int64_t), allocatable :: training(:), validation(:) !< cells
  end type

  interface
    subroutine c_open(comm, path, vars, holdout, harmonics, sizes) bind(C, name='train_open_samples')
      import :: c_char, c_double, c_int, c_int64_t
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: path(*), vars(*)
      real(c_double), value :: holdout
      integer(c_int), value :: harmonics
      integer(c_int64_t), intent(out) :: sizes(4)
    end subroutine
    subroutine c_cells(training, validation) bind(C, name='train_cells')
      import :: c_int64_t
      integer(c_int64_t), intent(out) :: training(*), validation(*)
    end subroutine
    !> x(inputs, count), y(outputs, count); NaN: missing.
    subroutine c_assemble(cells, count, x, y) bind(C, name='train_assemble')
      import :: c_float, c_int64_t
      integer(c_int64_t), intent(in) :: cells(*)
      integer(c_int64_t), value :: count
      real(c_float), intent(inout) :: x(*), y(*)
    end subroutine
  end interface

contains

  !> Collective.
  type(samples_t) function open_samples(comm, options) result(samples)
    type(MPI_Comm), intent(in) :: comm
    type(options_t), intent(in) :: options
    integer(c_int64_t) :: sizes(4)
    call c_open(comm%MPI_VAL, options%data//c_null_char, options%vars//c_null_char, options%holdout, &
      options%harmonics, sizes)
    samples%inputs = int(sizes(1))
    samples%outputs = int(sizes(2))
    allocate (samples%training(sizes(3)), samples%validation(sizes(4)))
    call c_cells(samples%training, samples%validation)
  end function

  subroutine assemble(cells, x, y)
    integer(c_int64_t), intent(in) :: cells(:)
    real(c_float), intent(inout) :: x(:, :), y(:, :)
    call c_assemble(cells, size(cells, kind=c_int64_t), x, y)
  end subroutine
end module
