// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/nccl.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <mpix_tide.h>

#include <cstdlib>
#include <stdexcept>

#include "agreement.hpp"

namespace perf::gpu {
namespace {

// NCCL's numbers of types and operations, from its interface (nccl.h), which is stable since 2.0.
constexpr int nccl_uint8 = 1, nccl_float32 = 7, nccl_float64 = 8, nccl_sum = 0;
// From here on several ranks may share a device, if NCCL_MULTI_RANK_GPU_ENABLE is 1.
constexpr int takes_shared_devices = 23003;

struct UniqueId {
  char internal[128];
};

std::string dotted(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string shared_problem(int version, int sharing) {
  const char* enabled = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  if (sharing == 1) return "";
  if (version >= takes_shared_devices && enabled != nullptr && *enabled == '1') return "";
  return fmt::format(
      "{} ranks share a device, which NCCL {} refuses ({} or later takes them with "
      "NCCL_MULTI_RANK_GPU_ENABLE=1); start one rank per device",
      sharing, dotted(version), dotted(takes_shared_devices));
}

}  // namespace

struct Nccl::Api {
  int (*get_version)(int*);
  int (*get_unique_id)(UniqueId*);
  int (*comm_init_rank)(void**, int, UniqueId, int);
  int (*comm_destroy)(void*);
  const char* (*get_error_string)(int);
  int (*all_gather)(const void*, void*, std::size_t, int, void*, cudaStream_t);
  int (*reduce_scatter)(const void*, void*, std::size_t, int, int, void*, cudaStream_t);
};

std::string Nccl::load(const std::string& file) {
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fmt::format("{}; set TIDE_NCCL_LIBRARY to its path", dlerror());
  auto api = std::make_shared<Api>();
  std::string missing;
  const auto find = [&](const char* name, auto& function) {
    void* at = dlsym(library, name);
    if (at == nullptr) missing = fmt::format("{} has no {}", file, name);
    function = reinterpret_cast<std::decay_t<decltype(function)>>(at);
  };
  find("ncclGetVersion", api->get_version);
  find("ncclGetUniqueId", api->get_unique_id);
  find("ncclCommInitRank", api->comm_init_rank);
  find("ncclCommDestroy", api->comm_destroy);
  find("ncclGetErrorString", api->get_error_string);
  find("ncclAllGather", api->all_gather);
  find("ncclReduceScatter", api->reduce_scatter);
  if (!missing.empty()) return missing;
  api_ = std::move(api);
  return api_->get_version(&version_) == 0 ? "" : "ncclGetVersion failed";
}

std::shared_ptr<Nccl> Nccl::open(MPI_Comm comm, const Session& session) {
  const std::shared_ptr<Nccl> nccl(new Nccl);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  tools::agree(comm, nccl->load(session.nccl_library));
  tools::agree(comm, shared_problem(nccl->version_, session.sharing));
  const Api& api = *nccl->api_;
  const auto problem = [&](int code, const char* call) {
    return code == 0 ? ""
                     : fmt::format("{} on rank {}: {}", call, rank, api.get_error_string(code));
  };
  UniqueId id{};
  tools::agree(comm, rank == 0 ? problem(api.get_unique_id(&id), "ncclGetUniqueId") : "");
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, comm);
  MPI_Barrier(comm);  // nobody is inside MPI_Bcast any more when NCCL begins to wait
  const int code = api.comm_init_rank(&nccl->comm_, ranks, id, rank);
  if (code != 0) nccl->comm_ = nullptr;
  tools::agree(comm, problem(code, "ncclCommInitRank"));
  return nccl;
}

Nccl::~Nccl() {
  if (comm_ != nullptr) api_->comm_destroy(comm_);
}

std::string Nccl::version() const { return dotted(version_); }

void Nccl::check(int code, const char* call) const {
  if (code != 0)
    throw std::runtime_error(fmt::format("{}: {}", call, api_->get_error_string(code)));
}

void Nccl::allgather(const void* send, void* recv, std::size_t bytes, cudaStream_t stream) const {
  check(api_->all_gather(send, recv, bytes, nccl_uint8, comm_, stream), "ncclAllGather");
}

void Nccl::reduce_scatter(const void* send, void* recv, std::size_t count, int dtype,
                          cudaStream_t stream) const {
  const int type = dtype == MPIX_TIDE_FP64 ? nccl_float64 : nccl_float32;
  check(api_->reduce_scatter(send, recv, count, type, nccl_sum, comm_, stream),
        "ncclReduceScatter");
}

}  // namespace perf::gpu
