// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A list's buffers in Tide's memory, filled late and looked at in the order of a stream.
#pragma once
#include <list>
#include <memory>

#include "list.hpp"
#include "test_stream.hpp"

namespace tide_test {

inline constexpr int late_ms = 20;

// Pieces one after another, each from a multiple of 64 on.
struct Pieces64 {
  Pieces64(void* base, const std::vector<size_t>& sizes) {
    for (size_t n : sizes) {
      at.push_back(static_cast<char*>(base) + bytes);
      bytes += (n + 63) / 64 * 64;
    }
  }
  static size_t total(const std::vector<size_t>& sizes) { return Pieces64(nullptr, sizes).bytes; }
  std::vector<void*> at;
  size_t bytes = 0;
};

// A list's four sets of buffers in Tide's memory of one kind, and copies of them on the host, which
// live as long as this.
class Buffers {
 public:
  Buffers(const List& list, const char* kind) : list_(list) {
    base_ = allocate(list.team(), kind, bytes(list));
    place(static_cast<char*>(base_));
  }
  // In a part of somebody's allocation.
  Buffers(const List& list, char* at) : list_(list) { place(at); }
  ~Buffers() {
    if (base_) TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, base_));
  }
  static size_t bytes(const List& list) {
    return Pieces64::total(list.shard_bytes()) + Pieces64::total(list.full_bytes()) +
           Pieces64::total(list.grad_bytes()) + Pieces64::total(list.out_bytes(0)) + 64;
  }
  static void* allocate(const Team& team, const char* kind, size_t bytes) {
    Info info{{"mpi_memory_alloc_kinds", kind}};
    void* base = nullptr;
    TIDE_OK(MPIX_Tide_alloc(team.comm, static_cast<MPI_Aint>(bytes), info, &base));
    return base;
  }
  void place(char* at) {
    const List& list = list_;
    for (auto* set : {&shards, &params, &grads, &sums}) {
      const auto sizes = set == &shards   ? list.shard_bytes()
                         : set == &params ? list.full_bytes()
                         : set == &grads  ? list.grad_bytes()
                                          : list.out_bytes(0);
      *set = std::make_unique<Pieces64>(at, sizes);
      at += (*set)->bytes;
    }
  }

  // In the stream's order, after a pause: shards or gradients of this salt.
  void produce_shards(TestStream& stream, uint64_t salt) {
    auto* host = keep(list_.shard_bytes());
    write_shards(list_, host->at.data(), salt);
    pause(stream, late_ms);
    copy(stream, *shards, *host, list_.shard_bytes());
  }
  void produce_grads(TestStream& stream, const ReduceOptions& options) {
    auto* host = keep(list_.grad_bytes());
    write_grads(list_, host->at.data(), options);
    pause(stream, late_ms);
    copy(stream, *grads, *host, list_.grad_bytes());
  }
  void spoil(TestStream& stream, const Pieces64& set, const std::vector<size_t>& sizes) {
    auto* host = keep(sizes);
    copy(stream, set, *host, sizes);
  }
  // What the stream then sees; to be compared once it is synchronized.
  const Pieces64* see_params(TestStream& stream) {
    return see(stream, *params, list_.full_bytes());
  }
  const Pieces64* see_sums(TestStream& stream) { return see(stream, *sums, list_.out_bytes(0)); }

  // A host copy for data of the test's own.
  Pieces64* keep(const std::vector<size_t>& sizes) {
    kept_.emplace_back(Pieces64::total(sizes) + 64, char{0x5a});
    made_.push_back(std::make_unique<Pieces64>(kept_.back().data(), sizes));
    return made_.back().get();
  }
  const void* const* shards_in() const { return MPIX_TIDE_INPUTS(shards->at.data()); }
  const void* const* grads_in() const { return MPIX_TIDE_INPUTS(grads->at.data()); }
  std::unique_ptr<Pieces64> shards, params, grads, sums;
  static void copy(TestStream& stream, const Pieces64& to, const Pieces64& from,
                   const std::vector<size_t>& sizes) {
    for (size_t p = 0; p < sizes.size(); p++)
      if (sizes[p]) stream.copy(to.at[p], from.at[p], sizes[p]);
  }
  const Pieces64* see(TestStream& stream, const Pieces64& set, const std::vector<size_t>& sizes) {
    auto* host = keep(sizes);
    copy(stream, *host, set, sizes);
    return host;
  }

 private:
  const List& list_;
  void* base_ = nullptr;
  std::list<std::vector<char>> kept_;
  std::list<std::unique_ptr<Pieces64>> made_;
};

// A group with buffers in the parameter's kind of memory, and a stream.
class OnAStream : public testing::TestWithParam<const char*> {
 protected:
  List list_{world(), {param(64, 33), param(5, 3), param(0, 7), param(3, 1, MPIX_TIDE_FP32)}};
  Buffers buffers_{list_, GetParam()};
  TestStream stream_;
  int async() {
    int code = -1;
    TIDE_OK(MPIX_Tide_group_async_error(list_.group(), &code));
    return code;
  }
  int gather() {
    return MPIX_Tide_allgather_enqueue(buffers_.shards_in(), buffers_.params->at.data(),
                                       list_.group(), stream_.handle());
  }
};

}  // namespace tide_test
