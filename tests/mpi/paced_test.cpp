// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What is put on a rail is paced: the bytes in flight from a rank stay under
// tide_rail_inflight_bytes, and a round of an all-gather starts when the one before has arrived.
// What has come is landed while puts of this rank are still under way.
// Counted in the transport's own calls, over either rail: this program's MPI_Isend, ucp_put_nbx,
// ucp_am_send_nbx and their tests come before MPI's and UCX's.  A node of each rank
// (TIDE_FAKE_NODES).
#include <dlfcn.h>

#include <algorithm>
#include <map>

#include "list.hpp"

namespace tide_test {
namespace {

constexpr size_t least_put = 32 << 10, chunk = 128 << 10, chunks = 8, shard_bytes = chunk * chunks;

uint8_t value(int rank, size_t i) {
  return static_cast<uint8_t>(i % 251 + 3 * i / 4096 + 29 * rank);
}

struct Rail {
  std::map<const void*, size_t> in_flight;  // bytes, by request
  size_t bytes = 0, most = 0, puts = 0, early_rounds = 0, early_puts = 0;
  bool gathers = false;
  const volatile uint8_t* lands = nullptr;  // until it changes, no put of mine is over
  double lands_until_s = 0;

  static bool here(const uint8_t* stage, size_t begin, size_t end) {
    bool right = true;
    for (size_t i = begin; i < end; i++) {
      const size_t block = static_cast<size_t>(world().rank) + i / shard_bytes;
      right = right && stage[i] == value(static_cast<int>(block % nodes()), i % shard_bytes);
    }
    return right;
  }
  // The source of a round's first put is the front of the stage: what came stands behind it.
  void put(const void* source, size_t size, const void* request) {
    if (size < least_put) return;  // records, counters
    if (gathers && puts % chunks == 0) {
      size_t have = 0;  // blocks that must be here, if a round begins with this put
      for (size_t round_begin = 0, h = 1; h < nodes(); h *= 2) {
        if (puts / chunks == round_begin) have = h;
        round_begin += std::min(h, nodes() - h);
      }
      const auto* stage = static_cast<const uint8_t*>(source);
      early_rounds += !here(stage, 0, puts ? have * shard_bytes : size);
    }
    // The own block is put chunk by chunk while the rest of it is still being staged.
    if (gathers && puts < chunks)
      early_puts += !here(static_cast<const uint8_t*>(source) - puts * chunk, puts * chunk,
                          puts * chunk + size);
    ++puts;
    if (!request) return;
    in_flight[request] = size;
    most = std::max(most, bytes += size);
  }
  bool held(const void* request) {
    if (!lands || !in_flight.count(request)) return false;
    if (*lands == 0 && MPI_Wtime() < lands_until_s) return true;
    EXPECT_NE(*lands, 0) << "nothing is landed before the puts of this rank are over";
    lands = nullptr;
    return false;
  }
  void over(const void* request) {
    const auto at = in_flight.find(request);
    if (at == in_flight.end()) return;
    bytes -= at->second;
    in_flight.erase(at);
  }
  static size_t nodes() { return static_cast<size_t>(world().size); }
};
Rail rail;

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

std::vector<MPIX_Tide_param> params(int dtype) {
  MPIX_Tide_param p = param(world().size, static_cast<MPI_Count>(shard_bytes));
  p.dtype = dtype;
  p.row_elems /= dtype == MPIX_TIDE_FP32 ? 4 : 1;
  return {p};
}

std::string text(size_t bytes) { return std::to_string(bytes); }

size_t most_of_all() {
  unsigned long long mine = rail.most, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, world().comm);
  return all;
}

void gather(size_t cap) {
  const Info info{{"tide_chunk_bytes", text(chunk)}, {"tide_rail_inflight_bytes", text(cap)}};
  auto list = params(MPIX_TIDE_UINT8);
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  TIDE_OK(MPIX_Tide_group_create(world().comm, 1, list.data(), info, &group));
  std::vector<uint8_t> shard(shard_bytes), full(shard_bytes * Rail::nodes());
  for (int call = 0; call < 3; call++) {
    for (size_t i = 0; i < shard.size(); i++) shard[i] = value(world().rank, i);
    std::fill(full.begin(), full.end(), uint8_t{0});
    const void* in[] = {shard.data()};
    void* out[] = {full.data()};
    rail = {};
    rail.gathers = true;
    if (cap > shard_bytes) {  // the last byte of the first chunk that comes
      const auto next = (static_cast<size_t>(world().rank) + 1) % Rail::nodes();
      rail.lands = &full[next * shard_bytes + chunk - 1];
      rail.lands_until_s = MPI_Wtime() + 10;
      EXPECT_NE(value(static_cast<int>(next), chunk - 1), 0);
    }
    TIDE_OK(MPIX_Tide_allgather(in, out, group));
    EXPECT_EQ(chunks * (Rail::nodes() - 1), rail.puts);
    EXPECT_EQ(0u, rail.early_rounds);
    EXPECT_EQ(0u, rail.early_puts);
    bool right = true;
    for (size_t i = 0; i < full.size(); i++)
      right = right && full[i] == value(static_cast<int>(i / shard_bytes), i % shard_bytes);
    EXPECT_TRUE(right);
    if (cap < shard_bytes) {
      EXPECT_LE(rail.most, cap);
    } else {
      EXPECT_GT(most_of_all(), 2 * chunk) << "the cap of the other case limits nothing";
    }
  }
  TIDE_OK(MPIX_Tide_group_free(&group));
}

TEST(Paced, GatherStaysUnderTheCapAndRoundsStartOnArrival) { gather(2 * chunk); }
TEST(Paced, GatherWithoutACapPutsMoreAndLandsMeanwhile) { gather(shard_bytes * 16); }

TEST(Paced, ReduceScatterStaysUnderTheCap) {
  const size_t cap = 120 << 10;  // one slice: two are under way otherwise
  const Info info{{"tide_rail_inflight_bytes", text(cap)}};
  auto list = params(MPIX_TIDE_FP32);
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  TIDE_OK(MPIX_Tide_group_create(world().comm, 1, list.data(), info, &group));
  std::vector<float> grad(shard_bytes / 4 * Rail::nodes()), sum(shard_bytes / 4);
  for (size_t i = 0; i < grad.size(); i++) grad[i] = static_cast<float>(i % 97 + world().rank);
  const void* in[] = {grad.data()};
  void* out[] = {sum.data()};
  rail = {};
  TIDE_OK(MPIX_Tide_reduce_scatter(in, out, 0, MPIX_TIDE_SUM, 1.0, group));
  EXPECT_GT(rail.puts, 0u);
  EXPECT_LE(rail.most, cap);
  const int n = world().size;
  const size_t first = sum.size() * static_cast<size_t>(world().rank);
  bool right = true;
  for (size_t i = 0; i < sum.size(); i++)
    right = right &&
            sum[i] == static_cast<float>(n * static_cast<int>((first + i) % 97) + n * (n - 1) / 2);
  EXPECT_TRUE(right);
  TIDE_OK(MPIX_Tide_group_free(&group));
}

}  // namespace
}  // namespace tide_test

using tide_test::next;
using tide_test::rail;

extern "C" __attribute__((visibility("default"))) int MPI_Isend(const void* buffer, int count,
                                                                MPI_Datatype type, int peer,
                                                                int tag, MPI_Comm comm,
                                                                MPI_Request* request) {
  const int code = PMPI_Isend(buffer, count, type, peer, tag, comm, request);
  int size = 0;
  PMPI_Type_size(type, &size);
  rail.put(buffer, static_cast<size_t>(count) * static_cast<size_t>(size), request);
  return code;
}

// By address of the handle, as handles come back: the library tests a send where it keeps it.
extern "C" __attribute__((visibility("default"))) int MPI_Test(MPI_Request* request, int* flag,
                                                               MPI_Status* status) {
  if (rail.held(request)) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  const int code = PMPI_Test(request, flag, status);
  if (*flag) rail.over(request);
  return code;
}

// As of UCX >= 1.13 (ucp.h), without its header: the rail over MPI is tested without UCX, too.
extern "C" __attribute__((visibility("default"))) void* ucp_put_nbx(void* endpoint,
                                                                    const void* buffer,
                                                                    size_t count, uint64_t to,
                                                                    void* key, const void* param) {
  static const auto put = next<decltype(&ucp_put_nbx)>("ucp_put_nbx");
  // Each put gets a request, also one that is over at once: UCP_OP_ATTR_FLAG_NO_IMM_CMPL.
  *static_cast<uint32_t*>(const_cast<void*>(param)) |= uint32_t{1} << 16;
  void* request = put(endpoint, buffer, count, to, key, param);
  const bool under_way = request && reinterpret_cast<intptr_t>(request) > 0;
  rail.put(buffer, count, under_way ? request : nullptr);
  return request;
}

extern "C" __attribute__((visibility("default"))) void* ucp_am_send_nbx(
    void* endpoint, unsigned id, const void* header, size_t header_size, const void* buffer,
    size_t count, const void* param) {
  static const auto send = next<decltype(&ucp_am_send_nbx)>("ucp_am_send_nbx");
  *static_cast<uint32_t*>(const_cast<void*>(param)) |= uint32_t{1} << 16;
  void* request = send(endpoint, id, header, header_size, buffer, count, param);
  const bool under_way = request && reinterpret_cast<intptr_t>(request) > 0;
  rail.put(buffer, count, under_way ? request : nullptr);
  return request;
}

extern "C" __attribute__((visibility("default"))) int ucp_request_check_status(void* request) {
  static const auto check = next<decltype(&ucp_request_check_status)>("ucp_request_check_status");
  constexpr int in_progress = 1;
  if (rail.held(request)) return in_progress;
  const int status = check(request);
  if (status != in_progress) rail.over(request);
  return status;
}
