// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Slices of global memory, a peer's included, brought into shared memory by the multiprocessor's
// copy unit (PTX's cp.async.bulk, compute capability 9.0): no thread and no register waits for
// them.  A ring of slots holds what is under way.  Addresses and sizes are multiples of 16 bytes.
#pragma once
#include <cstdint>

namespace tide::gpu {

constexpr int slice_bytes = 16 << 10, ring_slots = 8, ring_bytes = ring_slots * slice_bytes;
// Who says that a slot was read: each thread, or one for its warp.  One is enough: __syncwarp
// orders the others' reads before its arrival, which releases them; racecheck reports them all the
// same.  All would be one instruction more in none, but 512 arrivals at one word instead of 16 for
// each slot, whose 16 KiB take 128 cycles to read; neither time nor racecheck was measured so.
constexpr bool all_threads_arrive = false;

#if defined(__CUDACC__)
struct Barrier {
  uint64_t word;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__device__ inline uint32_t shared_address(const void* at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}
__device__ inline void init(Barrier& barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
               "r"(arrivals)
               : "memory");
}
// Barriers that were initialised are so for the copy unit, too.
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void arrive(Barrier& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier))
               : "memory");
}
// Until the phase of that parity is complete.
__device__ inline void wait(Barrier& barrier, uint32_t parity) {
  uint32_t complete = 0;
  while (!complete)
    asm volatile(
        "{\n"
        " .reg .pred p;\n"
        " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        " selp.u32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(complete)
        : "r"(shared_address(&barrier)), "r"(parity)
        : "memory");
}
// Arrives at the barrier, whose phase is complete once the bytes are there.
__device__ inline void load(void* shared, const void* global, uint32_t bytes, Barrier& barrier) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
      "r"(bytes)
      : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(shared)),
      "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(shared_address(&barrier))
      : "memory");
}
#else  // never called there: see bulk_loads() in kernels.hpp
__device__ inline void init(Barrier&, uint32_t) { __trap(); }
__device__ inline void publish_barriers() {}
__device__ inline void arrive(Barrier&) {}
__device__ inline void wait(Barrier&, uint32_t) {}
__device__ inline void load(void*, const void*, uint32_t, Barrier&) {}
#endif

// The ring of a thread block.  Slices are loaded in a given order, of which next(address, bytes)
// tells one after the other until it returns false; all threads take them in that order.
template <class Next>
class Ring {
 public:
  __device__ Ring(unsigned char* memory, Barrier* full, Barrier* empty, Next& next)
      : memory_(memory), full_(full), empty_(empty), next_(next) {
    if (threadIdx.x == 0) {
      for (int s = 0; s < ring_slots; s++) {
        init(full_[s], 1);
        init(empty_[s], all_threads_arrive ? blockDim.x : blockDim.x / 32);
      }
      publish_barriers();
      for (int s = 0; s < ring_slots; s++) refill();
    }
    __syncthreads();
  }
  // The next slice, there for this thread.
  __device__ const unsigned char* take() {
    // Not the slot that was left last: the other warps may still read that.
    if (threadIdx.x == 0 && taken_ > 1) refill();
    const uint32_t slot = taken_ % ring_slots;
    wait(full_[slot], taken_ / ring_slots % 2);
    return memory_ + slot * slice_bytes;
  }
  // Each thread has read what it took.
  __device__ void leave() {
    if (!all_threads_arrive) __syncwarp();
    if (all_threads_arrive || threadIdx.x % 32 == 0) arrive(empty_[taken_ % ring_slots]);
    taken_++;
  }

 private:
  __device__ void refill() {
    const void* from = nullptr;
    uint32_t bytes = 0;
    if (!next_(from, bytes)) return;
    const uint32_t slot = loaded_ % ring_slots;
    if (loaded_ >= ring_slots) wait(empty_[slot], (loaded_ / ring_slots + 1) % 2);
    load(memory_ + slot * slice_bytes, from, bytes, full_[slot]);
    loaded_++;
  }

  unsigned char* memory_;
  Barrier *full_, *empty_;
  Next& next_;
  uint32_t loaded_ = 0, taken_ = 0;
};
#endif

}  // namespace tide::gpu
