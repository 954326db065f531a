# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# Compile options, and the packages that Tide stands on.
include(GNUInstallDirs)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()

set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI REQUIRED COMPONENTS C)
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)

# Ours only: warnings, exact floating point, sanitizers.
add_library(tide_options INTERFACE)
target_compile_options(tide_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers -ffp-contract=off
  $<$<BOOL:${TIDE_WARNINGS_AS_ERRORS}>:-Werror>)
target_compile_definitions(tide_options INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
if(TIDE_SANITIZE)
  target_compile_options(tide_options INTERFACE -fsanitize=${TIDE_SANITIZE} -fno-omit-frame-pointer -g)
  target_link_options(tide_options INTERFACE -fsanitize=${TIDE_SANITIZE})
endif()
