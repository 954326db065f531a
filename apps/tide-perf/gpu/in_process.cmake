# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# --in-process: the library's device backend once more, as libtide shows its interface alone.
set(tide_src ${PROJECT_SOURCE_DIR}/src)
add_library(tide_perf_backend OBJECT EXCLUDE_FROM_ALL
  ${tide_src}/backend/cuda/backend.cpp ${tide_src}/backend/cuda/lower.cpp ${tide_src}/backend/cuda/lower_multicast.cpp ${tide_src}/backend/cuda/lower_sums.cpp
  ${tide_src}/backend/host/host.cpp ${tide_src}/backend/host/move.cpp ${tide_src}/backend/multicast.cpp
  ${tide_src}/backend/work.cpp ${tide_src}/core/collective.cpp ${tide_src}/core/log.cpp)
target_include_directories(tide_perf_backend PRIVATE ${tide_src})
target_link_libraries(tide_perf_backend PRIVATE tide_options fmt::fmt-header-only)
target_sources(tide-perf PRIVATE gpu/in_process.cpp $<TARGET_OBJECTS:tide_perf_backend> $<TARGET_OBJECTS:tide_kernels>
  $<TARGET_OBJECTS:tide_memory> $<TARGET_OBJECTS:tide_gpu>)
target_link_libraries(tide-perf PRIVATE Threads::Threads)
