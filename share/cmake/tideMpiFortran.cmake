# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# FindMPI hands the options of MPICH's mpif90 to the C sources of a target, too, and a C compiler warns of them.
if(TARGET MPI::MPI_Fortran)
  get_target_property(tide_mpi_options MPI::MPI_Fortran INTERFACE_COMPILE_OPTIONS)
  if(tide_mpi_options AND NOT tide_mpi_options MATCHES "COMPILE_LANGUAGE")
    set_property(TARGET MPI::MPI_Fortran PROPERTY INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:Fortran>:${tide_mpi_options}>")
  endif()
endif()
