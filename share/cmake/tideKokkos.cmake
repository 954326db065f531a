# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# Kokkos::kokkos, where Kokkos is found.  Debian's package (Kokkos 3.4 of Trilinos) names a folder of headers that does
# not exist, and CMake would stop at it.
find_package(Kokkos QUIET)
if(TARGET Kokkos::kokkos)
  get_target_property(tide_kokkos_dirs Kokkos::kokkos INTERFACE_INCLUDE_DIRECTORIES)
  foreach(dir IN LISTS tide_kokkos_dirs)
    if(IS_ABSOLUTE "${dir}" AND NOT EXISTS "${dir}")
      find_path(TIDE_KOKKOS_HEADERS Kokkos_Core.hpp PATH_SUFFIXES trilinos)
      mark_as_advanced(TIDE_KOKKOS_HEADERS)
      if(TIDE_KOKKOS_HEADERS)
        set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${TIDE_KOKKOS_HEADERS}")
      endif()
      break()
    endif()
  endforeach()
endif()
