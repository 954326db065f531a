# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# tide_gpu: gpu.hpp by CUDA, by an emulation (tests without a GPU), or by nothing.
set(dir ${CMAKE_CURRENT_LIST_DIR})
set(TIDE_CUDA_LIBRARIES "")
if(TIDE_WITH_CUDA STREQUAL "emulate")
  add_library(tide_gpu OBJECT ${dir}/emulated.cpp)
elseif(TIDE_HAVE_CUDA)
  add_library(tide_gpu OBJECT ${dir}/cuda_driver.cpp ${dir}/cuda_memory.cpp ${dir}/cuda_stream.cpp ${dir}/kernels.cu)
  target_include_directories(tide_gpu SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  # The sums' bits: no contraction, subnormals kept, divisions rounded.
  target_compile_options(tide_gpu PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false;-ftz=false;-prec-div=true;-Xcompiler=-Wall,-Wextra>
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${TIDE_WARNINGS_AS_ERRORS}>>:-Werror=all-warnings;-Xcompiler=-Werror>)
  # CMake 3.25 knows no C++20 of this nvcc; the kernels need none.
  set_target_properties(tide_gpu PROPERTIES UNITY_BUILD OFF CUDA_RUNTIME_LIBRARY Static CUDA_STANDARD 17
    CUDA_STANDARD_REQUIRED ON)
  # Static, so that libtide also loads where there is no CUDA; it looks for the driver at run time.
  set(TIDE_CUDA_LIBRARIES CUDA::cudart_static)
else()
  add_library(tide_gpu OBJECT ${dir}/none.cpp)
endif()
target_include_directories(tide_gpu PUBLIC ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(tide_gpu PRIVATE $<BUILD_INTERFACE:fmt::fmt-header-only> $<BUILD_INTERFACE:tide_options>)
