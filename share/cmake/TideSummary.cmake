# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
message(STATUS "Tide ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}, MPI ${MPI_C_VERSION} (${MPIEXEC_EXECUTABLE})")
