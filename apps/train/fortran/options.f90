! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> The command line: options of tide-train, by the same names and with the same defaults.
module train_options
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  use mpi_f08
  implicit none
  private
  public :: options_t, parse_options

  type :: options_t
    character(len=:), allocatable :: data, vars, out, mode
    integer :: harmonics = 8, width = 256, depth = 4, batch = 1024, epochs = 20, prefetch = 1, replicas = 1
    integer(int64) :: seed = 1
    real(real64) :: holdout = 0.1_real64, lr = 3e-3_real64, weight_decay = 1e-2_real64, clip = 0
  end type

contains

  !> Every rank parses the same arguments; a wrong one ends all of them with 2.
  type(options_t) function parse_options() result(o)
    character(len=1024) :: name, value
    integer :: i, code
    o%data = '/usr/share/ferret-vis/data/coads_climatology.cdf'
    o%vars = 'SST,AIRT,SPEH,WSPD,UWND,VWND,SLP'
    o%out = 'tide-train-fortran'
    o%mode = 'in-place'
    do i = 1, command_argument_count(), 2
      call get_command_argument(i, name)
      if (i == command_argument_count()) call refuse(trim(name)//' needs a value')
      call get_command_argument(i + 1, value)
      code = 0
      select case (name)
      case ('--data'); o%data = trim(value)
      case ('--vars'); o%vars = trim(value)
      case ('--out'); o%out = trim(value)
      case ('--mode'); o%mode = trim(value)
      case ('--harmonics'); read (value, *, iostat=code) o%harmonics
      case ('--width'); read (value, *, iostat=code) o%width
      case ('--depth'); read (value, *, iostat=code) o%depth
      case ('--batch'); read (value, *, iostat=code) o%batch
      case ('--epochs'); read (value, *, iostat=code) o%epochs
      case ('--prefetch'); read (value, *, iostat=code) o%prefetch
      case ('--replicas'); read (value, *, iostat=code) o%replicas
      case ('--seed'); read (value, *, iostat=code) o%seed
      case ('--holdout'); read (value, *, iostat=code) o%holdout
      case ('--lr'); read (value, *, iostat=code) o%lr
      case ('--weight-decay'); read (value, *, iostat=code) o%weight_decay
      case ('--clip'); read (value, *, iostat=code) o%clip
      case default
        call refuse('unknown option '//trim(name)//'; it knows --data --vars --harmonics --holdout --width --depth '// &
          '--batch --epochs --lr --weight-decay --clip --seed --mode --prefetch --replicas --out')
      end select
      if (code /= 0) call refuse(trim(name)//' '//trim(value)//' is no number')
    end do
    if (min(o%harmonics, o%width, o%depth, o%batch, o%epochs, o%replicas) < 1 .or. o%prefetch < 0) &
      call refuse('sizes and counts are at least 1, --prefetch 0')
    if (o%mode /= 'in-place' .and. o%mode /= 'slot-reuse') call refuse('--mode is in-place or slot-reuse')
  end function

  subroutine refuse(why)
    character(len=*), intent(in) :: why
    integer :: rank
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    if (rank == 0) write (error_unit, '(2a)') 'tide-train-fortran: ', why
    call MPI_Finalize()
    stop 2, quiet=.true.
  end subroutine
end module
