// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Devices that are host memory, for tests without a GPU.  What a stream is given runs late: at some
// later question whether it is done, so that whoever forgets to ask sees nothing moved.  An address
// that a device could not reach ends the work with an error, as on a GPU.
#include "backend/cuda/emulated.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

#include "backend/cuda/gpu.hpp"
#include "backend/cuda/sum_parts.hpp"
#include "core/error.hpp"

namespace tide::gpu {
namespace {

constexpr int pinned = -2, unknown = -1;

struct Range {
  uintptr_t end;
  int device;  // or pinned
};
struct Ranges {
  std::mutex mutex;
  std::multimap<uintptr_t, Range> all;
};
Ranges& ranges() {
  static Ranges* known = new Ranges;  // outlives what static destructors free
  return *known;
}

void add(const void* at, size_t bytes, int device) {
  const std::lock_guard lock(ranges().mutex);
  const auto begin = reinterpret_cast<uintptr_t>(at);
  ranges().all.insert({begin, {begin + bytes, device}});
}

void drop(const void* at, size_t bytes, int device) {
  const std::lock_guard lock(ranges().mutex);
  const auto begin = reinterpret_cast<uintptr_t>(at);
  const auto [first, last] = ranges().all.equal_range(begin);
  for (auto i = first; i != last; ++i)
    if (i->second.end == begin + bytes && i->second.device == device)
      return void(ranges().all.erase(i));
}

int kind_of(const void* at, size_t bytes) {
  const std::lock_guard lock(ranges().mutex);
  const auto begin = reinterpret_cast<uintptr_t>(at);
  auto i = ranges().all.upper_bound(begin);
  while (i != ranges().all.begin()) {
    --i;
    if (begin + bytes <= i->second.end) return i->second.device;
  }
  return unknown;
}

void reach(const void* at, size_t bytes) {
  if (bytes && kind_of(at, bytes) == unknown)
    throw Error(Kind::device, "an illegal address was met: {} ({} bytes)", at, bytes);
}

thread_local int current_device = 0;

}  // namespace

const char* built() { return "emulated"; }

int devices(std::string* why) {
  const char* asked = std::getenv("TIDE_EMULATED_DEVICES");
  const int count = asked && *asked ? std::atoi(asked) : 1;
  if (count <= 0 && why) *why = "TIDE_EMULATED_DEVICES is 0";
  return count > 0 ? count : 0;
}
bool in_use() { return devices(nullptr) > 0; }
bool loads_lazily() { return false; }
int current() { return current_device; }
std::string name(int device) { return "emulated device " + std::to_string(device); }
Uuid uuid(int device) {
  Uuid result{};
  result[0] = static_cast<unsigned char>(1 + device);
  return result;
}
int device_of(const void* address) {
  const int kind = kind_of(address, 1);
  return kind == pinned ? unknown : kind;
}
Use::Use(int device) : before_(current_device) { current_device = device; }
Use::~Use() { current_device = before_; }

static void* map(int fd, size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED)
    throw Error(Kind::no_mem, "device memory of {} bytes: mmap: {}", bytes, strerror(errno));
  return at;
}

std::unique_ptr<Memory> Memory::create(int device, size_t bytes) {
  constexpr size_t granularity = size_t{64} << 10;
  std::unique_ptr<Memory> memory(new Memory);
  memory->device_ = device;
  memory->mapped_bytes_ = (bytes + granularity - 1) / granularity * granularity;
  memory->fd_ = memfd_create(("tide-device-" + std::to_string(device)).c_str(), MFD_CLOEXEC);
  if (memory->fd_ < 0 || ftruncate(memory->fd_, static_cast<off_t>(memory->mapped_bytes_)) != 0)
    throw Error(Kind::no_mem, "device memory of {} bytes: {}", bytes, strerror(errno));
  memory->address_ = map(memory->fd_, memory->mapped_bytes_);
  add(memory->address_, memory->mapped_bytes_, device);
  return memory;
}

// Of the memory, by its name: "/memfd:tide-device-1 (deleted)".
static int device_behind(int fd) {
  std::array<char, 64> name{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const std::string text(name.data(), static_cast<size_t>(std::max<ssize_t>(
                                          0, readlink(link.c_str(), name.data(), name.size()))));
  const size_t at = text.rfind("device-");
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + 7);
}

std::unique_ptr<Memory> Memory::attach(int, size_t mapped_bytes, int fd) {
  if (std::getenv("TIDE_EMULATED_APART")) {
    close(fd);
    throw Error(Kind::device, "TIDE_EMULATED_APART: a device that reaches no other");
  }
  std::unique_ptr<Memory> memory(new Memory);
  memory->fd_ = fd;
  memory->device_ = device_behind(fd);
  memory->mapped_bytes_ = mapped_bytes;
  memory->address_ = map(fd, mapped_bytes);
  add(memory->address_, mapped_bytes, memory->device_);
  memory->close_descriptor();
  return memory;
}

Memory::~Memory() {
  close_descriptor();
  if (!address_) return;
  drop(address_, mapped_bytes_, device_);
  munmap(address_, mapped_bytes_);
}

void Memory::close_descriptor() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

std::shared_ptr<const void> pin(void* address, size_t bytes) {
  add(address, bytes, pinned);
  return {address, [bytes](const void* at) { drop(at, bytes, pinned); }};
}

struct Stream::State {
  struct Item {
    uint64_t mark;
    std::function<bool()> work;  // false: not done yet
  };
  std::deque<Item> queue;
  EmulatedQueue native;
  uint64_t marks = 0, questions = 0;
  int holds = 0;  // questions that are answered by no, before any work is done
  bool finish(uint64_t mark) {
    while (!queue.empty() && queue.front().mark <= mark) {
      Item item = std::move(queue.front());
      queue.pop_front();
      if (item.work()) continue;
      queue.push_front(std::move(item));
      return false;
    }
    return true;
  }
};

class Program {
 public:
  std::vector<CopyCall> copies;
  std::vector<Landing> landings;
  std::vector<Summing> sums;
  std::vector<int> groups;
};

Stream::Stream(int) : state_(std::make_unique<State>()) {
  state_->native.submit = [s = state_.get()](std::function<bool()> work) {
    s->queue.push_back({s->marks + 1, std::move(work)});
  };
}
Stream::~Stream() = default;

std::shared_ptr<Program> Stream::copies(const std::vector<CopyCall>& calls) {
  auto program = std::make_shared<Program>();
  program->copies = calls;
  return program;
}

std::shared_ptr<Program> Stream::landing(const std::vector<Landing>& pieces) {
  auto program = std::make_shared<Program>();
  program->landings = pieces;
  return program;
}

std::shared_ptr<Program> Stream::summing(const std::vector<Summing>& pieces,
                                         const std::vector<int>& groups) {
  auto program = std::make_shared<Program>();
  program->sums = pieces;
  program->groups = groups;
  return program;
}

bool Stream::has_rings() const { return true; }

// What the kernel takes for granted.
static void check_ring_piece(const Summing& s) {
  const auto aligned = [](const void* at, size_t bytes) {
    return reinterpret_cast<uintptr_t>(at) % bytes == 0;
  };
  const size_t vector = 16 / bytes_of(s.in), stored = bytes_of(s.final ? s.out : s.acc);
  bool good = !s.rows.empty() && s.rows.size() <= most_ring_rows && s.elems % vector == 0 &&
              aligned(s.base, 16) && aligned(s.dst, std::min<size_t>(16, vector * stored));
  for (const void* row : s.rows) good = good && row && aligned(row, 16);
  if (!good) throw Error(Kind::intern, "a piece of {} elements is none for a ring", s.elems);
}

std::shared_ptr<Program> Stream::ring_summing(const std::vector<Summing>& pieces) {
  for (const Summing& s : pieces) check_ring_piece(s);
  return summing(pieces, {});
}

#if TIDE_HAVE_MULTICAST
std::shared_ptr<Program> Stream::switch_summing(const std::vector<Summing>& pieces) {
  return summing(pieces, {1});
}
#endif

static void carry_out(const CopyCall& c) {
  reach(c.src, c.bytes);
#if TIDE_HAVE_MULTICAST
  if (const auto all = behind_switch(c.dst, c.bytes); !all.empty()) {
    for (char* dst : all) std::memmove(dst, c.src, c.bytes);
    return;
  }
#endif
  reach(c.dst, c.bytes);
  std::memmove(c.dst, c.src, c.bytes);
}

static void carry_out(const Landing& l) {
  reach(l.src, l.elems * bytes_of(l.from));
  for (void* dst : l.dst) {
    reach(dst, l.elems * bytes_of(l.to));
    convert(dst, l.to, l.src, l.from, l.elems);
  }
}

// groups: none where all rows of a piece are one.
static void carry_out(const Summing& s, std::vector<int> groups, const Arithmetic& arithmetic) {
  if (groups.empty()) groups = {static_cast<int>(s.rows.size())};
#if TIDE_HAVE_MULTICAST
  if (s.rows.size() == 1 && s.rows[0])
    if (const auto all = behind_switch(s.rows[0], s.elems * bytes_of(s.in)); !all.empty()) {
      Summing apart = s;
      apart.rows.assign(all.begin(), all.end());
      return carry_out(apart, {static_cast<int>(all.size())}, arithmetic);
    }
#endif
  std::vector<char> zeros;  // rows of -0
  std::vector<const void*> rows = s.rows;
  for (const void*& row : rows) {
    if (row) {
      reach(row, s.elems * bytes_of(s.in));
      continue;
    }
    if (zeros.empty()) {
      zeros.resize(s.elems * bytes_of(s.in));
      for (size_t i = bytes_of(s.in) - 1; i < zeros.size(); i += bytes_of(s.in))
        zeros[i] = static_cast<char>(0x80);
    }
    row = zeros.data();
  }
  const Dtype out = s.final ? s.out : s.acc;
  reach(s.base, s.base ? s.elems * bytes_of(s.acc) : 0);
  reach(s.dst, s.elems * bytes_of(out));
  sum({rows.data(), groups.data(), static_cast<int>(groups.size()), s.in, s.acc, s.base, s.dst, out,
       s.final ? &arithmetic : nullptr, s.elems, false});
}

void Stream::run(const Program& program, const Arithmetic& arithmetic, int) {
  const Program* p = &program;
  state_->queue.push_back({state_->marks + 1, [=] {
                             for (const CopyCall& c : p->copies) carry_out(c);
                             for (const Landing& l : p->landings) carry_out(l);
                             for (const Summing& s : p->sums) carry_out(s, p->groups, arithmetic);
                             return true;
                           }});
}

uint64_t Stream::mark() { return ++state_->marks; }

// Work of this stream that comes too early draws the other's with it.
void Stream::follow(Stream& other) {
  State* before = other.state_.get();
  const uint64_t mark = before->marks + 1;
  state_->queue.push_back({state_->marks + 1, [=] { return before->finish(mark); }});
}

bool Stream::reached(uint64_t mark) {
  State& s = *state_;
  if (s.queue.empty() || s.queue.front().mark > mark) return true;
  if (s.holds-- > 0) return false;
  s.holds = static_cast<int>(s.questions++ * 2654435761U >> 7 & 3);
  return s.finish(mark);
}

void Stream::drain() {
  while (!state_->finish(state_->marks + 1)) sched_yield();
}

void* Stream::native() const { return &state_->native; }

void put_off_graphs() {}
void make_up() {}

// The default stream is the caller's own thread.
static void submit(UserStream stream, std::function<void()> work) {
  if (stream)
    static_cast<EmulatedStream*>(stream)->submit(std::move(work));
  else
    work();
}

void write_after(UserStream stream, uint32_t* word, uint32_t value) {
  submit(stream, [=] { __atomic_store_n(word, value, __ATOMIC_RELEASE); });
}

void hold_until(UserStream stream, const uint32_t* word, uint32_t value) {
  submit(stream, [=] {
    while (static_cast<int32_t>(__atomic_load_n(word, __ATOMIC_ACQUIRE) - value) < 0) sched_yield();
  });
}

static EmulatedGraph* graph_of(UserStream stream) {
  return stream ? static_cast<EmulatedStream*>(stream)->capture : nullptr;
}
uint64_t capturing(UserStream stream) { return reinterpret_cast<uint64_t>(graph_of(stream)); }
void keep_with_graph(UserStream stream, std::shared_ptr<void> kept) {
  graph_of(stream)->kept.push_back(std::move(kept));
}
DuringCapture::DuringCapture() = default;
DuringCapture::~DuringCapture() = default;

void zero(UserStream stream, void* at, size_t bytes) {
  submit(stream, [=] {
    reach(at, bytes);
    std::memset(at, 0, bytes);
  });
}

}  // namespace tide::gpu
