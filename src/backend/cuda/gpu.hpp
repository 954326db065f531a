// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What Tide needs of a GPU: memory that other processes can map, streams, copies, and kernels.
// One of three files stands behind it, chosen when Tide is built (TIDE_WITH_CUDA):
//   cuda*.cpp, *kernel*.cu  CUDA
//   emulated.cpp            host memory, and streams that run late: everything above this line in
//                           tests without a GPU
//   none.cpp                no device at all
// With TIDE_WITH_MULTICAST: multicast.cpp and switch_sum.cu, or emulated_multicast.cpp.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/host/kernels.hpp"
#include "backend/multicast.hpp"

namespace tide::gpu {

const char* built();  // "cuda", "emulated", "none"
// Devices of this process; 0 where there are none, `why` then says so.  Never throws.
int devices(std::string* why = nullptr);
bool in_use();  // this process has loaded CUDA.  Loads nothing
// Kernels are loaded at their first launch, which waits for all streams and holds up all threads.
bool loads_lazily();
int current();  // of this thread
std::string name(int device);
using Uuid = std::array<unsigned char, 16>;
Uuid uuid(int device);
// The device whose memory this is; -1: not device memory, as far as CUDA knows.  Costs a driver
// call where CUDA is in use in this process, else nothing.
int device_of(const void* address);

class Use {  // the thread's current device, for a scope
 public:
  explicit Use(int device);
  ~Use();
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  [[maybe_unused]] int before_;  // not in every one of the three files
};

// Physical memory of a device, mapped here, that a descriptor carries to other processes.
// Error{no_mem}, Error{unsupported}.
class Memory {
 public:
  static std::unique_ptr<Memory> create(int device, size_t bytes);  // zeroed
  // Of a peer; for the use of `device`.  Takes the descriptor over.
  static std::unique_ptr<Memory> attach(int device, size_t mapped_bytes, int fd);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* address() const { return address_; }
  size_t mapped_bytes() const { return mapped_bytes_; }  // rounded up to the device's granularity
  int descriptor() const { return fd_; }
  void close_descriptor();
  uint64_t handle() const { return handle_; }  // of the driver

 private:
  Memory() = default;
  void* address_ = nullptr;
  size_t mapped_bytes_ = 0;
  [[maybe_unused]] uint64_t handle_ = 0;
  [[maybe_unused]] int fd_ = -1, device_ = 0;
};

#if TIDE_HAVE_MULTICAST
bool multicast_supported(int device);  // its attribute
// What an object for so many devices has to be as long as, so that its memory fits.
size_t multicast_bytes(int device, size_t bytes, size_t devices);

// An object of NVLink multicast that a descriptor carries to the other ranks of a node.  In this
// order, each step by all of them before any takes the next: add_device, bind, map.
class MulticastObject {
 public:
  static std::unique_ptr<MulticastObject> create(int device, size_t bytes, size_t devices);
  // Takes the descriptor over.
  static std::unique_ptr<MulticastObject> attach(int device, size_t bytes, int fd);
  ~MulticastObject();
  MulticastObject(const MulticastObject&) = delete;
  MulticastObject& operator=(const MulticastObject&) = delete;
  void add_device(int device);
  void bind(const Memory& memory, size_t bytes);  // from the start of both
  // members: where the ranks' memory is mapped here; for emulated devices, which are their own
  // switch
  void map(const std::vector<char*>& members);
  void* address() const { return address_; }
  int descriptor() const { return fd_; }
  void close_descriptor();

 private:
  MulticastObject() = default;
  void* address_ = nullptr;
  uint64_t handle_ = 0;
  size_t bytes_ = 0, bound_bytes_ = 0;
  int fd_ = -1, device_ = 0;
};
#endif

// Host memory that every device reads and writes at its host address, as long as this lives.
// Error{unsupported} where it cannot.
std::shared_ptr<const void> pin(void* address, size_t bytes);

// Bytes from one place to another, left to a copy engine where the two are of different devices.
struct CopyCall {
  void* dst;
  const void* src;
  size_t bytes;
  const Multicast* through = nullptr;  // of lower.cpp: dst is one of its addresses
};
// Elements of one piece of a parameter to several places, rounded where the types differ.
struct Landing {
  const void* src;
  size_t elems;
  Dtype from, to;
  std::vector<void*> dst;
  size_t near = 0;                     // of lower.cpp: so many of dst are the kernel's
  const Multicast* through = nullptr;  // of lower.cpp: of the last of dst
};
// One piece of a sum: rows (null: -0), added in groups as SumRows says.
struct Summing {
  std::vector<const void*> rows;
  const void* base;  // or null
  void* dst;
  size_t elems;
  Dtype in, acc, out;
  bool final;
};

// Pieces in device memory, ready to run.  Made and released on the stream that runs them.
class Program;

// An in-order queue of a device.  Nothing here blocks the host but drain().
class Stream {
 public:
  explicit Stream(int device);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  // One after the other, in one launch.
  std::shared_ptr<Program> copies(const std::vector<CopyCall>& calls);
  // groups: sizes of the groups of rows, equal in all pieces.
  std::shared_ptr<Program> landing(const std::vector<Landing>& pieces);
  std::shared_ptr<Program> summing(const std::vector<Summing>& pieces,
                                   const std::vector<int>& groups);
  // Pieces as lower_sums.cpp cuts them for the copy unit of a multiprocessor, and whether this
  // device has one.
  std::shared_ptr<Program> ring_summing(const std::vector<Summing>& pieces);
  bool has_rings() const;
#if TIDE_HAVE_MULTICAST
  // The one row of a piece is a multicast address of 16 bytes, and so is its length a multiple.
  std::shared_ptr<Program> switch_summing(const std::vector<Summing>& pieces);
#endif
  // In launches of at most `ctas` thread blocks, each of which lives for one tile.
  void run(const Program& program, const Arithmetic& arithmetic, int ctas);
  uint64_t mark();             // everything issued so far
  void follow(Stream& other);  // what is issued from now on begins after all that `other` was given
  bool reached(uint64_t mark);  // is done.  Error{device} where it failed
  void drain();
  void* native() const;  // for libraries that issue work to it: a cudaStream_t, or an EmulatedQueue

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Making and destroying graphs, pinning memory and loading kernels wait while another thread waits
// inside the driver, as a copy of pageable memory does, or a launch into a full queue; that may be
// for a stream that waits for Tide.  A thread that drives such streams puts graphs off: their
// copies are issued one by one until a thread of the user's makes up for it.
void put_off_graphs();  // on this thread, from now on
void make_up();

// A stream of the user's.
using UserStream = void*;
// Everything issued to `stream` so far, then *word = value, as the host sees it; word: pinned.
void write_after(UserStream stream, uint32_t* word, uint32_t value);
// The stream goes on once *word >= value (in the cyclic order of unsigned numbers).
void hold_until(UserStream stream, const uint32_t* word, uint32_t value);
uint64_t capturing(UserStream stream);  // into a graph: the capture's number; 0: it is not
// `kept` lives as long as the graph that `stream` is being captured into, and all that is made of
// it; a thread of the driver's, which may not call it, lets it go.
void keep_with_graph(UserStream stream, std::shared_ptr<void> kept);
// Lets this thread make the calls that a capture forbids to all threads, which are harmless on
// streams of one's own.
class DuringCapture {
 public:
  DuringCapture();
  ~DuringCapture();
  DuringCapture(const DuringCapture&) = delete;
  DuringCapture& operator=(const DuringCapture&) = delete;

 private:
  [[maybe_unused]] int before_ = 0;
};
// Zeroes device memory in the order of the stream; null: at once.
void zero(UserStream stream, void* at, size_t bytes);

}  // namespace tide::gpu
