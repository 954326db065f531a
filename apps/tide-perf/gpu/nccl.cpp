// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/nccl.hpp"

#include <fmt/format.h>
#include <mpix_tide.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "agreement.hpp"
#include "gpu/device.hpp"
#include "host.hpp"

namespace perf::gpu {
namespace {

// NCCL's numbers of types and operations, from its interface (nccl.h), which is stable since 2.0.
constexpr int nccl_uint8 = 1, nccl_float32 = 7, nccl_float64 = 8, nccl_sum = 0;
// NCCL_CTA_POLICY_ZERO and NCCL_WIN_COLL_SYMMETRIC.
constexpr int cta_policy_zero = 2, window_symmetric = 1;
// From here on several ranks may share a device, if NCCL_MULTI_RANK_GPU_ENABLE is 1.
constexpr int takes_shared_devices = 23003;
// From here on copy engines carry an all-gather, with a driver of CUDA 12.5 or later.
constexpr int has_copy_engines = 22800, driver_of_copy_engines = 12050;

std::string shared_problem(int version, int sharing) {
  const char* enabled = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  if (sharing == 1) return "";
  if (version >= takes_shared_devices && enabled != nullptr && *enabled == '1') return "";
  return fmt::format(
      "{} ranks share a device, which NCCL {} refuses ({} or later takes them with "
      "NCCL_MULTI_RANK_GPU_ENABLE=1); start one rank per device",
      sharing, nccl_version_words(version), nccl_version_words(takes_shared_devices));
}

// Where one of these holds NCCL takes its kernels instead, without a word.  Collective.
std::string copy_engine_problem(MPI_Comm comm, const NcclApi& api) {
  int ranks = 0, driver = 0;
  MPI_Comm_size(comm, &ranks);
  const bool one_host = host_of(comm).ranks == ranks;
  if (!one_host) return "its copy engines reach one host only";
  if (api.version < has_copy_engines)
    return fmt::format("NCCL {} has no copy-engine all-gather; {} or later has",
                       nccl_version_words(api.version), nccl_version_words(has_copy_engines));
  if (api.comm_init_rank_config == nullptr || api.mem_alloc == nullptr || api.mem_free == nullptr ||
      api.window_register == nullptr || api.window_deregister == nullptr)
    return fmt::format("NCCL {} has no functions of windows", nccl_version_words(api.version));
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  if (driver < driver_of_copy_engines)
    return "NCCL wants a driver of CUDA 12.5 or later for its copy engines";
  if (std::getenv("NCCL_CTA_POLICY") != nullptr)
    return "NCCL_CTA_POLICY is set, which overrides the policy of this row; unset it";
  return "";
}

// A window of symmetric memory is an object in the device's memory; elsewhere NCCL gives none, or
// (2.28) one of the host's, and does without copy engines.
bool is_symmetric(void* window) {
  cudaPointerAttributes found{};
  return window != nullptr && cudaPointerGetAttributes(&found, window) == cudaSuccess &&
         found.type == cudaMemoryTypeDevice;
}

}  // namespace

std::shared_ptr<Nccl> Nccl::open(MPI_Comm comm, const Session& session, Carrier carrier) {
  const std::shared_ptr<Nccl> nccl(new Nccl(comm, carrier));
  NcclApi& api = nccl->api_;
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  tools::agree(comm, api.load(session.nccl_library));
  tools::agree(comm, shared_problem(api.version, session.sharing));
  if (carrier == Carrier::copy_engines) tools::agree(comm, copy_engine_problem(comm, api));
  NcclId id{};
  tools::agree(comm, rank == 0 ? nccl->problem(api.get_unique_id(&id), "ncclGetUniqueId") : "");
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, comm);
  MPI_Barrier(comm);  // nobody is inside MPI_Bcast any more when NCCL begins to wait
  const int code = nccl->init(rank, ranks, id);
  if (code != 0) nccl->comm_ = nullptr;
  tools::agree(comm, nccl->problem(code, "ncclCommInitRank"));
  return nccl;
}

int Nccl::init(int rank, int ranks, const NcclId& id) {
  if (carrier_ == Carrier::kernels) return api_.comm_init_rank(&comm_, ranks, id, rank);
  NcclConfig config;
  config.cta_policy = cta_policy_zero;
  return api_.comm_init_rank_config(&comm_, ranks, id, rank, &config);
}

Nccl::~Nccl() {
  if (comm_ != nullptr) api_.comm_destroy(comm_);
}

std::string Nccl::version() const { return nccl_version_words(api_.version); }

std::string Nccl::problem(int code, const char* call) const {
  int rank = 0;
  MPI_Comm_rank(ranks_, &rank);
  return code == 0 ? "" : fmt::format("{} on rank {}: {}", call, rank, api_.get_error_string(code));
}

void Nccl::check(int code, const char* call) const {
  if (code != 0) throw std::runtime_error(fmt::format("{}: {}", call, api_.get_error_string(code)));
}

std::shared_ptr<char[]> Nccl::allocate(std::size_t bytes) const {
  if (carrier_ == Carrier::kernels) return gpu::allocate(bytes);
  bytes = std::max(bytes, std::size_t{1});
  void *base = nullptr, *window = nullptr;
  const int code = api_.mem_alloc(&base, bytes);
  if (code != 0) base = nullptr;
  const std::shared_ptr<char[]> memory(static_cast<char*>(base),
                                       [self = shared_from_this()](char* p) {
                                         if (p != nullptr) self->api_.mem_free(p);
                                       });
  tools::agree(ranks_, problem(code, "ncclMemAlloc"));
  tools::agree(ranks_, problem(api_.window_register(comm_, base, bytes, &window, window_symmetric),
                               "ncclCommWindowRegister"));
  const std::shared_ptr<void> registered(window, [memory, self = shared_from_this()](void* w) {
    if (w != nullptr) self->api_.window_deregister(self->comm_, w);
  });
  tools::agree(ranks_, is_symmetric(window)
                           ? ""
                           : "NCCL registers no symmetric memory here (NCCL_DEBUG=INFO says more), "
                             "and so uses no copy engines");
  return {registered, memory.get()};
}

void Nccl::allgather(const void* send, void* recv, std::size_t bytes, cudaStream_t stream) const {
  check(api_.all_gather(send, recv, bytes, nccl_uint8, comm_, stream), "ncclAllGather");
}

void Nccl::reduce_scatter(const void* send, void* recv, std::size_t count, int dtype,
                          cudaStream_t stream) const {
  const int type = dtype == MPIX_TIDE_FP64 ? nccl_float64 : nccl_float32;
  check(api_.reduce_scatter(send, recv, count, type, nccl_sum, comm_, stream), "ncclReduceScatter");
}

}  // namespace perf::gpu
