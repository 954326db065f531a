! SPDX-FileCopyrightText: 2026 the Tide authors
! SPDX-License-Identifier: BSD-3-Clause
!> Tide for Fortran 2018, beside `use mpi_f08` or `use mpi`.  mpix_tide.h says what each call does.
!>
!> What differs from C: ierror comes last and may be left out; a parameter's last dimension is the sharded one;
!> parameters and layers count from 1, ranks and rows from 0; texts have their own length; lists are of type(MPIX_Tide_list).
module mpix_tide
  use tide_fortran_bf16
  use tide_fortran_checkpoints
  use tide_fortran_collectives
  use tide_fortran_communicators
  use tide_fortran_errors
  use tide_fortran_groups
  use tide_fortran_lists, only: MPIX_Tide_list, MPIX_Tide_list_add, MPIX_Tide_list_add_cptr, MPIX_Tide_list_set, &
    MPIX_Tide_list_set_cptr
  use tide_fortran_memory
  use tide_fortran_pipeline
  use tide_fortran_requests
  use tide_fortran_sharding
  use tide_fortran_types
  implicit none
  public
end module
