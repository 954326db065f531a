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

# Declared, but not in this version: silence would look like success.
foreach(feature CUDA NCCL)
  set(TIDE_HAVE_${feature} 0)
  if(TIDE_WITH_${feature})
    message(FATAL_ERROR "TIDE_WITH_${feature}=ON: not in this version of Tide (${PROJECT_VERSION}).  "
                        "Configure with -DTIDE_WITH_${feature}=OFF.")
  endif()
endforeach()
set(TIDE_HAVE_KOKKOS 0)
if(TIDE_WITH_KOKKOS OR TIDE_BUILD_TESTING)
  include(tideKokkos)
endif()
if(TIDE_WITH_KOKKOS AND NOT TARGET Kokkos::kokkos)
  message(FATAL_ERROR "TIDE_WITH_KOKKOS=ON: Kokkos was not found.  Debian: apt-get install libtrilinos-kokkos-dev; elsewhere "
                      "add its prefix to CMAKE_PREFIX_PATH.")
elseif(TIDE_WITH_KOKKOS)
  set(TIDE_HAVE_KOKKOS 1)
endif()
set(TIDE_HAVE_UCX 0)
set(TIDE_UCX_LIBRARIES "")
set(TIDE_UCX_LINK "")
if(TIDE_WITH_UCX)
  find_package(ucx 1.13 CONFIG QUIET)
  if(ucx_FOUND)
    set(TIDE_HAVE_UCX 1)
    get_target_property(TIDE_UCX_INCLUDE_DIR ucx::ucp INTERFACE_INCLUDE_DIRECTORIES)
    foreach(part ucp ucs)  # as files: who uses libtide needs no UCX package
      get_target_property(file ucx::${part} IMPORTED_LOCATION)
      list(APPEND TIDE_UCX_LIBRARIES ${file})
    endforeach()
    list(JOIN TIDE_UCX_LIBRARIES " " TIDE_UCX_LINK)
  else()
    message(STATUS "UCX >= 1.13 was not found (Debian: libucx-dev): rails are MPI's alone")
  endif()
endif()

set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI COMPONENTS C)
if(NOT MPI_C_FOUND)
  message(FATAL_ERROR "Tide needs MPI 3.1 with its C headers and mpicc.  Debian: apt-get install libopenmpi-dev "
                      "openmpi-bin (or libmpich-dev mpich); select one with -DMPI_EXECUTABLE_SUFFIX=.openmpi or .mpich.")
endif()
if(MPI_C_VERSION VERSION_LESS 3.1)
  message(FATAL_ERROR "Tide needs MPI 3.1; ${MPI_C_COMPILER} provides MPI ${MPI_C_VERSION}.")
endif()
# Of tests that start ranks, for Open MPI: as root, more ranks than cores.
set(TIDE_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_mpi_yield_when_idle=1)
find_package(Threads REQUIRED)
foreach(package fmt=libfmt-dev nlohmann_json=nlohmann-json3-dev)
  string(REPLACE "=" ";" package ${package})
  list(POP_FRONT package name debian)
  find_package(${name} QUIET)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "Tide needs ${name} (headers only).  Debian: apt-get install ${debian}; elsewhere add its "
                        "prefix to CMAKE_PREFIX_PATH.")
  endif()
endforeach()

set(TIDE_HAVE_HWLOC 0)
set(TIDE_HWLOC_LIBRARY "")
set(TIDE_HWLOC_INCLUDE_DIR "")
if(TIDE_WITH_HWLOC)
  find_path(HWLOC_HEADER_DIR hwloc.h)
  find_library(HWLOC_LIBRARY_FILE hwloc)
  mark_as_advanced(HWLOC_HEADER_DIR HWLOC_LIBRARY_FILE)
  set(hwloc_version 0)
  if(HWLOC_HEADER_DIR AND HWLOC_LIBRARY_FILE)
    file(STRINGS ${HWLOC_HEADER_DIR}/hwloc.h hwloc_version REGEX "^#define HWLOC_API_VERSION 0x")
    string(REGEX REPLACE ".*(0x[0-9a-fA-F]+).*" "\\1" hwloc_version "${hwloc_version}")
  endif()
  math(EXPR hwloc_version "${hwloc_version} + 0")
  if(hwloc_version GREATER_EQUAL 132352 AND hwloc_version LESS 196608)  # 0x020500, 0x030000
    set(TIDE_HAVE_HWLOC 1)
    set(TIDE_HWLOC_LIBRARY ${HWLOC_LIBRARY_FILE})
    set(TIDE_HWLOC_INCLUDE_DIR ${HWLOC_HEADER_DIR})
  else()
    message(STATUS "hwloc left out: none found from 2.5 on and before 3, so that transports choose their NICs "
                   "themselves.  Debian: apt-get install libhwloc-dev")
  endif()
endif()

# Ours only: warnings, exact floating point, sanitizers.
add_library(tide_options INTERFACE)
target_compile_options(tide_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers -ffp-contract=off
  $<$<BOOL:${TIDE_WARNINGS_AS_ERRORS}>:-Werror>)
target_compile_definitions(tide_options INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
# Everything, the C programs too: a sanitizer's library must be a program's first.  Without vptr: its check takes
# descriptors, and lies where a test has used them up.
if(TIDE_SANITIZE)
  add_compile_options(-fsanitize=${TIDE_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer -O1 -g1)
  add_link_options(-fsanitize=${TIDE_SANITIZE})
endif()
set(TIDE_HAVE_FUZZERS 0)
if(TIDE_BUILD_FUZZERS AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(STATUS "Fuzz targets left out: they need clang (cmake --preset fuzz); their corpus runs as tests all the same")
elseif(TIDE_BUILD_FUZZERS)  # everything is watched; a finding ends the process.  Line tables only: clang is slow here
  set(TIDE_HAVE_FUZZERS 1)
  set(fuzz_sanitizers address,signed-integer-overflow,bounds,shift,float-cast-overflow,integer-divide-by-zero,enum,bool)
  target_compile_options(tide_options INTERFACE -O1 -gline-tables-only -fno-omit-frame-pointer
    -fsanitize=${fuzz_sanitizers},fuzzer-no-link -fno-sanitize-recover=all)
  target_link_options(tide_options INTERFACE -fsanitize=${fuzz_sanitizers})
endif()
