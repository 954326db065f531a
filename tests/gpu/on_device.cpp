// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Loaded in front of a host program (LD_PRELOAD), it makes the program's Tide memory device memory:
// the program sees a copy in host memory, which goes to the device before a call and comes back
// after it.  So every test of host memory is one of device memory too.  Memory that the program got
// elsewhere becomes device memory that the node does not map.
#include <mpix_tide.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#ifdef TIDE_TEST_EMULATED_DEVICE
static void move(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
// One device a rank, where there are some.
static const bool chosen = [] {
  const char* count = std::getenv("TIDE_EMULATED_DEVICES");
  const char* rank = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK");
  if (!rank) rank = std::getenv("MPI_LOCALRANKID");
  if (!count || !rank) return false;
  return setenv("TIDE_DEVICE", std::to_string(std::atoi(rank) % std::atoi(count)).c_str(), 0) == 0;
}();
#else
#include <cuda_runtime_api.h>
// A copy from pageable memory may return before it has arrived.
static void move(void* to, const void* from, size_t bytes) {
  if (cudaMemcpy(to, from, bytes, cudaMemcpyDefault) == cudaSuccess &&
      cudaStreamSynchronize(nullptr) == cudaSuccess)
    return;
  std::fputs("on_device: cudaMemcpy failed\n", stderr);
  std::abort();
}
#endif

#ifndef TIDE_TEST_EMULATED_DEVICE
// A program that uses CUDA has loaded it before it makes groups.
static const cudaError_t loaded = [] {
  const char* device = std::getenv("TIDE_DEVICE");  // of this rank
  if (device && *device) cudaSetDevice(std::atoi(device));
  return cudaFree(nullptr);
}();
#endif

namespace {

struct Arena {  // Tide memory of the program: host copy, and where it is
  char* device = nullptr;
  size_t bytes = 0;
  void up(char* host) const { move(device, host, bytes); }
  void down(char* host) const { move(host, device, bytes); }
};
std::map<char*, Arena>& arenas() {
  static auto* all = new std::map<char*, Arena>;
  return *all;
}

MPI_Info with_kind(MPI_Info info) {
  MPI_Info result = MPI_INFO_NULL;
  if (info == MPI_INFO_NULL)
    MPI_Info_create(&result);
  else
    MPI_Info_dup(info, &result);
  MPI_Info_set(result, "mpi_memory_alloc_kinds", "cuda:device");
  return result;
}

int allocate(MPI_Comm comm, MPI_Aint bytes, MPI_Info info, void** host) {
  MPI_Info kind = with_kind(info);
  void* device = nullptr;
  const int code = PMPIX_Tide_alloc(comm, bytes, kind, &device);
  MPI_Info_free(&kind);
  if (code != MPI_SUCCESS) return code;
  *host = nullptr;
  if (!device) return code;
  const size_t size = static_cast<size_t>(bytes);
  *host = std::aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  std::memset(*host, 0, size);
  arenas()[static_cast<char*>(*host)] = {static_cast<char*>(device), size};
  return code;
}

struct Foreign {  // memory of the program's own
  char *host, *base, *device;
  size_t bytes;
  bool written;
};

// The program's lists as device lists, and what has to be moved for them.
class Lists {
 public:
  Lists(MPIX_Tide_group group, const void* const* inputs, void* const* outputs, bool reduce,
        int out_dtype) {
    MPI_Comm comm;
    int count = 0, me = 0, size = 0;
    if (PMPIX_Tide_group_get(group, &comm, &count, nullptr) != MPI_SUCCESS) count = 0;
    std::vector<MPIX_Tide_param> params(static_cast<size_t>(count));
    if (count) PMPIX_Tide_group_get(group, nullptr, nullptr, params.data());
    if (count && comm != MPI_COMM_NULL) MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
    sentinel_ = inputs == MPIX_TIDE_IN_PLACE;
    null_in_ = !inputs;
    null_out_ = !outputs;
    for (int p = 0; p < count; p++) {
      const MPIX_Tide_param& param = params[static_cast<size_t>(p)];
      const int shard = param.types ? param.types & 0xff : param.dtype;
      const int grad = param.types ? param.types >> 8 : param.dtype;
      MPI_Count first = 0, rows = 0;
      PMPIX_Tide_group_shard(group, p, me, &first, &rows);
      const bool frozen = reduce && grad == MPIX_TIDE_NOGRAD;
      const size_t full = static_cast<size_t>(param.rows * param.row_elems),
                   own = static_cast<size_t>(rows * param.row_elems);
      const size_t in = frozen ? 0 : reduce ? full * of(grad) : own * of(shard);
      const size_t out = frozen   ? 0
                         : reduce ? own * of(out_dtype ? out_dtype : shard)
                                  : full * of(param.dtype);
      if (!sentinel_ && inputs)
        inputs_.push_back(translate(const_cast<void*>(inputs[p]), in, false));
      if (outputs) outputs_.push_back(translate(outputs[p], out, true));
    }
  }
  ~Lists() {
    for (Foreign& f : foreign_) PMPIX_Tide_free(MPI_COMM_NULL, f.base);
  }
  const void* const* inputs() const {
    return sentinel_ ? MPIX_TIDE_IN_PLACE : null_in_ ? nullptr : MPIX_TIDE_INPUTS(inputs_.data());
  }
  void* const* outputs() const { return null_out_ ? nullptr : outputs_.data(); }
  void up() const {
    for (char* host : used_)
      if (const auto a = arenas().find(host); a != arenas().end()) a->second.up(host);
    for (const Foreign& f : foreign_) move(f.device, f.host, f.bytes);
  }
  void down(bool all) const {
    for (char* host : all ? used_ : written_)
      if (const auto a = arenas().find(host); a != arenas().end()) a->second.down(host);
    for (const Foreign& f : foreign_)
      if (f.written) move(f.host, f.device, f.bytes);
  }

 private:
  static size_t of(int dtype) {
    return dtype == MPIX_TIDE_FP64    ? 8
           : dtype == MPIX_TIDE_FP32  ? 4
           : dtype == MPIX_TIDE_UINT8 ? 1
                                      : 2;
  }
  void* translate(void* pointer, size_t bytes, bool written) {
    auto* at = static_cast<char*>(pointer);
    auto next = arenas().upper_bound(at);
    if (at && next != arenas().begin()) {
      const auto& [host, arena] = *--next;
      if (at + bytes <= host + arena.bytes) {
        used_.insert(host);
        if (written) written_.insert(host);
        return arena.device + (at - host);
      }
    }
    if (!at || !bytes) return pointer;
    for (const Foreign& f : foreign_)  // a shard that is its rows of a parameter
      if (at >= f.host && at + bytes <= f.host + f.bytes) return f.device + (at - f.host);
    constexpr size_t align = 4096;
    const size_t shift = reinterpret_cast<uintptr_t>(at) % align;
    MPI_Info kind = with_kind(MPI_INFO_NULL);
    void* base = nullptr;
    PMPIX_Tide_alloc(MPI_COMM_SELF, static_cast<MPI_Aint>(bytes + align), kind, &base);
    MPI_Info_free(&kind);
    foreign_.push_back(
        {at, static_cast<char*>(base), static_cast<char*>(base) + shift, bytes, written});
    return foreign_.back().device;
  }
  bool sentinel_ = false, null_in_ = false, null_out_ = false;
  std::vector<void*> inputs_, outputs_;
  std::set<char*> used_, written_;
  std::vector<Foreign> foreign_;
};

struct Pending {
  std::shared_ptr<Lists> lists;
  bool persistent = false, active = true;
};
std::map<MPIX_Tide_request, Pending>& pending() {
  static auto* all = new std::map<MPIX_Tide_request, Pending>;
  return *all;
}

void completed(MPIX_Tide_request handle) {
  const auto found = pending().find(handle);
  if (found == pending().end() || !found->second.active) return;
  found->second.lists->down(false);
  found->second.active = false;
  if (!found->second.persistent) pending().erase(found);
}

template <class Call>
int blocking(std::unique_ptr<Lists> lists, Call&& call) {
  lists->up();
  const int code = call(*lists);
  lists->down(true);
  return code;
}

template <class Call>
int make(std::shared_ptr<Lists> lists, bool persistent, MPIX_Tide_request* request, Call&& call) {
  if (!persistent) lists->up();
  const int code = call(*lists);
  if (code == MPI_SUCCESS && request) pending()[*request] = {lists, persistent, !persistent};
  return code;
}

}  // namespace

extern "C" {

int MPIX_Tide_alloc(MPI_Comm comm, MPI_Aint bytes, MPI_Info info, void* baseptr) {
  if (!baseptr) return PMPIX_Tide_alloc(comm, bytes, info, baseptr);
  return allocate(comm, bytes, info, static_cast<void**>(baseptr));
}
int MPIX_Tide_free(MPI_Comm comm, void* base) {
  const auto found = arenas().find(static_cast<char*>(base));
  if (found == arenas().end()) return PMPIX_Tide_free(comm, base);
  void* device = found->second.device;
  arenas().erase(found);
  std::free(base);
  return PMPIX_Tide_free(comm, device);
}
int MPIX_Tide_allgather(const void* const* shards, void* const params[], MPIX_Tide_group group) {
  return blocking(std::make_unique<Lists>(group, shards, params, false, 0),
                  [&](Lists& l) { return PMPIX_Tide_allgather(l.inputs(), l.outputs(), group); });
}
int MPIX_Tide_reduce_scatter(const void* const* grads, void* const shards[], int out_dtype, int op,
                             double scale, MPIX_Tide_group group) {
  return blocking(std::make_unique<Lists>(group, grads, shards, true, out_dtype), [&](Lists& l) {
    return PMPIX_Tide_reduce_scatter(l.inputs(), l.outputs(), out_dtype, op, scale, group);
  });
}
int MPIX_Tide_iallgather(const void* const* shards, void* const params[], MPIX_Tide_group group,
                         MPIX_Tide_request* request) {
  return make(
      std::make_shared<Lists>(group, shards, params, false, 0), false, request,
      [&](Lists& l) { return PMPIX_Tide_iallgather(l.inputs(), l.outputs(), group, request); });
}
int MPIX_Tide_ireduce_scatter(const void* const* grads, void* const shards[], int out_dtype, int op,
                              double scale, MPIX_Tide_group group, MPIX_Tide_request* request) {
  return make(std::make_shared<Lists>(group, grads, shards, true, out_dtype), false, request,
              [&](Lists& l) {
                return PMPIX_Tide_ireduce_scatter(l.inputs(), l.outputs(), out_dtype, op, scale,
                                                  group, request);
              });
}
int MPIX_Tide_allgather_init(const void* const* shards, void* const params[], MPIX_Tide_group group,
                             MPI_Info info, MPIX_Tide_request* request) {
  return make(std::make_shared<Lists>(group, shards, params, false, 0), true, request,
              [&](Lists& l) {
                return PMPIX_Tide_allgather_init(l.inputs(), l.outputs(), group, info, request);
              });
}
int MPIX_Tide_reduce_scatter_init(const void* const* grads, void* const shards[], int out_dtype,
                                  int op, double scale, MPIX_Tide_group group, MPI_Info info,
                                  MPIX_Tide_request* request) {
  return make(std::make_shared<Lists>(group, grads, shards, true, out_dtype), true, request,
              [&](Lists& l) {
                return PMPIX_Tide_reduce_scatter_init(l.inputs(), l.outputs(), out_dtype, op, scale,
                                                      group, info, request);
              });
}
int MPIX_Tide_start(MPIX_Tide_request* request) {
  const auto found = request ? pending().find(*request) : pending().end();
  if (found != pending().end() && !found->second.active) found->second.lists->up();
  const int code = PMPIX_Tide_start(request);
  if (code == MPI_SUCCESS && found != pending().end()) found->second.active = true;
  return code;
}
int MPIX_Tide_startall(int count, MPIX_Tide_request requests[]) {
  for (int i = 0; i < count; i++)
    if (const int code = MPIX_Tide_start(&requests[i]); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}
int MPIX_Tide_wait(MPIX_Tide_request* request) {
  const MPIX_Tide_request handle = request ? *request : MPIX_TIDE_REQUEST_NULL;
  const int code = PMPIX_Tide_wait(request);
  completed(handle);
  return code;
}
int MPIX_Tide_test(MPIX_Tide_request* request, int* flag) {
  const MPIX_Tide_request handle = request ? *request : MPIX_TIDE_REQUEST_NULL;
  const int code = PMPIX_Tide_test(request, flag);
  if (code != MPI_SUCCESS || (flag && *flag)) completed(handle);
  return code;
}
int MPIX_Tide_waitall(int count, MPIX_Tide_request requests[]) {
  const std::vector<MPIX_Tide_request> handles(requests,
                                               requests + (requests && count > 0 ? count : 0));
  const int code = PMPIX_Tide_waitall(count, requests);
  for (MPIX_Tide_request handle : handles) completed(handle);
  return code;
}
int MPIX_Tide_testall(int count, MPIX_Tide_request requests[], int* flag) {
  const std::vector<MPIX_Tide_request> handles(requests,
                                               requests + (requests && count > 0 ? count : 0));
  const int code = PMPIX_Tide_testall(count, requests, flag);
  if (code != MPI_SUCCESS || (flag && *flag))
    for (MPIX_Tide_request handle : handles) completed(handle);
  return code;
}
}
