// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Slices of global memory, a peer's included, brought into shared memory by the multiprocessor's
// copy unit (PTX's cp.async.bulk, compute capability 9.0): no thread and no register waits for
// them.  A ring of slots holds what is under way: one thread fills it, the threads of a group read
// it.  Addresses and sizes are multiples of 16 bytes.
#pragma once
#include <cstdint>

namespace tide::gpu {

// Two groups of a thread block, each with a ring: while one stores its sums, the other adds.
constexpr int rings = 2, slice_bytes = 16 << 10, ring_slots = 6;
constexpr int ring_bytes = rings * ring_slots * slice_bytes;
constexpr int ring_step_bytes = rings * slice_bytes;  // from one run of slices to the next

#if defined(__CUDACC__)
struct Barrier {
  uint64_t word;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__device__ inline uint32_t kept_address(const void* at) {
  auto address = static_cast<uint32_t>(__cvta_generic_to_shared(at));
  asm volatile("" : "+r"(address));
  return address;
}
__device__ inline void init_barrier(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Barriers that were initialised are so for the copy unit, too.
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Until the phase of that parity is complete.
__device__ inline void wait(uint32_t barrier, uint32_t parity) {
  uint32_t complete = 0;
  while (!complete)
    asm volatile(
        "{\n"
        " .reg .pred p;\n"
        " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        " selp.u32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(complete)
        : "r"(barrier), "r"(parity)
        : "memory");
}
// Arrives at the barrier, whose phase is complete once the bytes are there.
__device__ inline void load_bulk(uint32_t shared, const void* global, uint32_t bytes,
                                 uint32_t barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared),
      "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(barrier)
      : "memory");
}
// 8 or 16 bytes of shared memory, as many beyond the address.
template <class T>
__device__ inline T load_shared(uint32_t at, uint32_t beyond) {
  static_assert(sizeof(T) == 8 || sizeof(T) == 16);
  union {
    uint32_t word[4];
    T value;
  } u;
  if constexpr (sizeof(T) == 8)
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                 : "=r"(u.word[0]), "=r"(u.word[1])
                 : "r"(at + beyond));
  else
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(u.word[0]), "=r"(u.word[1]), "=r"(u.word[2]), "=r"(u.word[3])
                 : "r"(at + beyond));
  return u.value;
}
#else  // never called there: see load_ring_kernels() in kernels.hpp
__device__ inline uint32_t kept_address(const void*) { return 0; }
__device__ inline void init_barrier(uint32_t, uint32_t) { __trap(); }
__device__ inline void publish_barriers() {}
__device__ inline void arrive(uint32_t) {}
__device__ inline void wait(uint32_t, uint32_t) {}
__device__ inline void load_bulk(uint32_t, const void*, uint32_t, uint32_t) {}
template <class T>
__device__ inline T load_shared(uint32_t, uint32_t) {
  return {};
}
#endif

// Shared memory by its 32-bit addresses: computed once, where the compiler would compute them
// again for each slice.
class Ring {
 public:
  // memory: ring_slots slices; full, empty: a barrier for each.
  __device__ Ring(const unsigned char* memory, const Barrier* full, const Barrier* empty)
      : memory_(kept_address(memory)), full_(kept_address(full)), empty_(kept_address(empty)) {}
  // By one thread; published before others use it.
  __device__ void start(uint32_t readers) const {
    for (int s = 0; s < ring_slots; s++) {
      init_barrier(full_ + s * sizeof(Barrier), 1);
      init_barrier(empty_ + s * sizeof(Barrier), readers);
    }
  }

 protected:
  __device__ uint32_t slice() const { return memory_ + slot_ * slice_bytes; }
  __device__ uint32_t full() const { return full_ + slot_ * sizeof(Barrier); }
  __device__ uint32_t empty() const { return empty_ + slot_ * sizeof(Barrier); }
  __device__ void advance() {
    if (++slot_ < ring_slots) return;
    slot_ = 0;
    lap_++;
  }
  uint32_t lap_ = 0;

 private:
  uint32_t memory_, full_, empty_, slot_ = 0;
};

// The one thread that fills a ring.
class RingFiller : Ring {
 public:
  explicit __device__ RingFiller(const Ring& ring) : Ring(ring) {}
  __device__ void load(const void* from, uint32_t bytes) {
    if (lap_ > 0) wait(empty(), (lap_ + 1) % 2);
    load_bulk(slice(), from, bytes, full());
    advance();
  }
};

// A thread that reads all slices in their order.
class RingReader : Ring {
 public:
  explicit __device__ RingReader(const Ring& ring) : Ring(ring) {}
  // The next slice, once it is there: its shared address.
  __device__ uint32_t take() const {
    wait(full(), lap_ % 2);
    return slice();
  }
  // Each thread has read what it took.  One arrival for a warp would be no quicker, and racecheck
  // would not see that it speaks for the others.
  __device__ void leave() {
    arrive(empty());
    advance();
  }
};
#endif

}  // namespace tide::gpu
