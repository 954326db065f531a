# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# tide_kernels: the host backend's inner loops, one source compiled for each instruction set.
set(dir ${CMAKE_CURRENT_LIST_DIR})
add_library(tide_kernels OBJECT ${dir}/kernels.cpp ${dir}/kernels_plain.cpp)
target_compile_features(tide_kernels PUBLIC cxx_std_20)
target_include_directories(tide_kernels PUBLIC ${dir}/../..)
set_target_properties(tide_kernels PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
if(TARGET tide_options)
  target_link_libraries(tide_kernels PRIVATE $<BUILD_INTERFACE:tide_options>)
endif()

# -O3 in every build type: these loops are the library's speed.  -Wno-psabi: vectors never cross a file.
set(loop_options -O3 -ffp-contract=off -fno-fast-math -Wno-psabi)
if(TIDE_SANITIZE)  # a file takes minutes otherwise
  list(TRANSFORM loop_options REPLACE "^-O3$" -O1)
  if(TIDE_SANITIZE MATCHES "address")
    list(APPEND loop_options --param=asan-stack=0 -fno-sanitize-address-use-after-scope)
  endif()
endif()
if(TIDE_HAVE_FUZZERS)  # clang 14 optimises these for minutes
  list(APPEND loop_options -O0 -fno-sanitize=all)
endif()
set_source_files_properties(${dir}/kernels_plain.cpp PROPERTIES COMPILE_OPTIONS "${loop_options}")
# Sanitizers watch the plain loops: intrinsics take minutes to instrument.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND NOT TIDE_SANITIZE)
  target_sources(tide_kernels PRIVATE ${dir}/kernels_avx2.cpp ${dir}/kernels_avx512.cpp)
  target_compile_definitions(tide_kernels PRIVATE TIDE_WIDE_KERNELS)
  set_source_files_properties(${dir}/kernels_avx2.cpp PROPERTIES COMPILE_OPTIONS "${loop_options};-mavx2;-mf16c;-mno-fma")
  # gcc 12's own intrinsics warn (gcc bug 105593).
  set_source_files_properties(${dir}/kernels_avx512.cpp PROPERTIES COMPILE_OPTIONS
    "${loop_options};-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mf16c;$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>;$<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized>")
endif()
