# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# What a node has, and which NIC a rank uses: links no MPI.  Included by src, and by tests/unit where that has not.
find_package(fmt REQUIRED)
if(TIDE_HAVE_HWLOC)
  set(reader ${CMAKE_CURRENT_LIST_DIR}/machine_hwloc.cpp ${CMAKE_CURRENT_LIST_DIR}/machine_devices.cpp)
else()
  set(reader ${CMAKE_CURRENT_LIST_DIR}/machine_none.cpp)
endif()
add_library(tide_machine OBJECT
  ${CMAKE_CURRENT_LIST_DIR}/forced.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine_read.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rail_devices.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rail_nics.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rail_table.cpp
  ${reader})
target_include_directories(tide_machine PUBLIC ${PROJECT_SOURCE_DIR}/src PRIVATE ${TIDE_HWLOC_INCLUDE_DIR})
target_link_libraries(tide_machine PUBLIC fmt::fmt-header-only ${TIDE_HWLOC_LIBRARY}
  PRIVATE $<BUILD_INTERFACE:tide_options>)
