# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# Device memory and the baselines of --memory cuda: by CUDA, emulated, or none.
target_include_directories(tide-perf PRIVATE ${CMAKE_CURRENT_LIST_DIR}/..)
if(TIDE_WITH_CUDA STREQUAL "emulate")
  target_sources(tide-perf PRIVATE gpu/emulated_device.cpp gpu/no_baselines.cpp)
  include(${CMAKE_CURRENT_LIST_DIR}/in_process.cmake)
elseif(TIDE_HAVE_CUDA)
  target_sources(tide-perf PRIVATE gpu/cuda_device.cpp gpu/baselines.cpp gpu/nccl.cpp gpu/nccl_api.cpp
    gpu/gather.cpp gpu/reduce.cpp gpu/plain.cpp gpu/batch.cpp gpu/batch_kernel.cu gpu/beside.cpp gpu/gemm.cpp gpu/cublas.cpp gpu/victim.cpp
    gpu/in_turn.cpp gpu/blocks.cpp gpu/blocks_kernel.cu gpu/displaced.cpp displaced_blocks.cpp gpu/trace.cpp
    trace_figures.cpp gpu/in_process_baselines.cpp gpu/resident_kernel.cu)
  include(${CMAKE_CURRENT_LIST_DIR}/in_process.cmake)
  target_include_directories(tide-perf SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  target_compile_options(tide-perf PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${TIDE_WARNINGS_AS_ERRORS}>>:-Werror=all-warnings;-Xcompiler=-Werror>)
  # CMake 3.25 knows no C++20 of this nvcc; the kernels need none.
  set_target_properties(tide-perf PROPERTIES CUDA_RUNTIME_LIBRARY Static CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON)
  target_link_libraries(tide-perf PRIVATE tide_cupti CUDA::cudart_static ${CMAKE_DL_LIBS})
else()
  target_sources(tide-perf PRIVATE gpu/no_device.cpp gpu/no_baselines.cpp)
endif()
