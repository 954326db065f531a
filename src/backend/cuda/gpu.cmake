# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# tide_gpu: gpu.hpp by CUDA, by an emulation (tests without a GPU), or by nothing.
set(dir ${CMAKE_CURRENT_LIST_DIR})
set(TIDE_CUDA_LIBRARIES "")
if(TIDE_WITH_CUDA STREQUAL "emulate")
  add_library(tide_gpu OBJECT ${dir}/emulated.cpp ${dir}/sum_parts.cpp)
  if(TIDE_HAVE_MULTICAST)
    target_sources(tide_gpu PRIVATE ${dir}/emulated_multicast.cpp)
  endif()
elseif(TIDE_HAVE_CUDA)
  add_library(tide_gpu OBJECT ${dir}/cuda_driver.cpp ${dir}/cuda_memory.cpp ${dir}/cuda_stream.cpp ${dir}/cuda_program.cpp ${dir}/kernels.cu ${dir}/sum_kernel.cu ${dir}/ring_kernel.cu
    ${dir}/sum_parts.cpp)
  set(multicast ${dir}/multicast.cpp ${dir}/switch_sum.cu)
  set(targets tide_gpu)
  if(TIDE_HAVE_MULTICAST)
    target_sources(tide_gpu PRIVATE ${multicast})
  elseif(TIDE_BUILD_TESTING)  # compiled, and part of nothing
    add_library(tide_multicast_compiles OBJECT ${multicast} ${dir}/cuda_stream.cpp ${dir}/cuda_program.cpp)
    target_compile_definitions(tide_multicast_compiles PRIVATE TIDE_HAVE_MULTICAST=1)
    target_include_directories(tide_multicast_compiles PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(tide_multicast_compiles PRIVATE $<BUILD_INTERFACE:fmt::fmt-header-only> $<BUILD_INTERFACE:tide_options>)
    list(APPEND targets tide_multicast_compiles)
    if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.8)
      set_target_properties(tide_multicast_compiles PROPERTIES CUDA_ARCHITECTURES "90;100")
    endif()
  endif()
  foreach(target IN LISTS targets)
    target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    # The sums' bits: no contraction, subnormals kept, divisions rounded.
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false;-ftz=false;-prec-div=true;-Xcompiler=-Wall,-Wextra>
      $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${TIDE_WARNINGS_AS_ERRORS}>>:-Werror=all-warnings;-Xcompiler=-Werror>)
    # CMake 3.25 knows no C++20 of this nvcc; the kernels need none.
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF CUDA_RUNTIME_LIBRARY Static CUDA_STANDARD 17
      CUDA_STANDARD_REQUIRED ON)
  endforeach()
  # Static, so that libtide also loads where there is no CUDA; it looks for the driver at run time.
  set(TIDE_CUDA_LIBRARIES CUDA::cudart_static)
else()
  add_library(tide_gpu OBJECT ${dir}/none.cpp ${dir}/sum_parts.cpp)
endif()
target_include_directories(tide_gpu PUBLIC ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(tide_gpu PRIVATE $<BUILD_INTERFACE:fmt::fmt-header-only> $<BUILD_INTERFACE:tide_options>)
