// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/nccl_api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <type_traits>

namespace perf::gpu {

std::string nccl_version_words(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string NcclApi::load(const std::string& file) {
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fmt::format("{}; set TIDE_NCCL_LIBRARY to its path", dlerror());
  std::string missing;
  const auto find_any = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  const auto find = [&](const char* name, auto& function) {
    if (!find_any(name, function)) missing = fmt::format("{} has no {}", file, name);
  };
  find("ncclGetVersion", get_version);
  find("ncclGetUniqueId", get_unique_id);
  find("ncclCommInitRank", comm_init_rank);
  find("ncclCommDestroy", comm_destroy);
  find("ncclGetErrorString", get_error_string);
  find("ncclAllGather", all_gather);
  find("ncclReduceScatter", reduce_scatter);
  find_any("ncclCommInitRankConfig", comm_init_rank_config);
  find_any("ncclMemAlloc", mem_alloc);
  find_any("ncclMemFree", mem_free);
  find_any("ncclCommWindowRegister", window_register);
  find_any("ncclCommWindowDeregister", window_deregister);
  if (!missing.empty()) return missing;
  return get_version(&version) == 0 ? "" : "ncclGetVersion failed";
}

}  // namespace perf::gpu
