# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# Node memory: links no MPI.  Included by src/core, and by tests/unit where that has not.
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
add_library(tide_memory OBJECT
  ${CMAKE_CURRENT_LIST_DIR}/clock.cpp
  ${CMAKE_CURRENT_LIST_DIR}/mailbox.cpp
  ${CMAKE_CURRENT_LIST_DIR}/memory_file.cpp
  ${CMAKE_CURRENT_LIST_DIR}/memory_letter.cpp
  ${CMAKE_CURRENT_LIST_DIR}/registry.cpp
  ${CMAKE_CURRENT_LIST_DIR}/remote_memory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/segment.cpp)
target_include_directories(tide_memory PUBLIC ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(tide_memory PUBLIC fmt::fmt-header-only Threads::Threads
  PRIVATE $<BUILD_INTERFACE:tide_options>)
