# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
include("${CMAKE_CURRENT_LIST_DIR}/tideConfig-cxx.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/tideKokkos.cmake")
if(TARGET Kokkos::kokkos)
  include("${CMAKE_CURRENT_LIST_DIR}/tideKokkosTargets.cmake")
else()
  set(tide_kokkos_NOT_FOUND_MESSAGE "tide::kokkos needs Kokkos, which was not found: add its prefix to CMAKE_PREFIX_PATH")
endif()
