# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# Installed where module mpix_tide_acc was built; its target comes with component fortran.
include("${CMAKE_CURRENT_LIST_DIR}/tideConfig-fortran.cmake")
if(NOT TARGET tide::fortran_acc)
  set(tide_fortran_acc_NOT_FOUND_MESSAGE "${tide_fortran_NOT_FOUND_MESSAGE}")
endif()
