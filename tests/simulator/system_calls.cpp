// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "system_calls.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "addresses.hpp"
#include "schedule.hpp"

namespace simulator {
namespace {

Refusal refusal;
std::atomic<int> calls = 0;
std::atomic<bool> has_refused = false;

bool refuse(Call call, int error) {
  if (call != refusal.call || my_rank() != refusal.rank) return false;
  if (++calls != refusal.nth) return false;
  has_refused = true;
  errno = error;
  return true;
}

bool deterministic() { return schedule() && schedule()->deterministic(); }

struct Mapping {
  std::pair<dev_t, ino_t> file;
  size_t bytes;
  int holders;
  bool placed;  // by us
};
Addresses shared_addresses(0x200000000000), foreign_addresses(0x300000000000);
std::map<void*, size_t> foreign;  // bytes of each piece
std::mutex mappings_mutex;
std::map<void*, Mapping> mappings;

}  // namespace

void set_refusal(const Refusal& r) {
  refusal = r;
  calls = 0;
  has_refused = false;
}
bool refused() { return has_refused; }

size_t mapped() {
  const std::lock_guard lock(mappings_mutex);
  return mappings.size();
}

}  // namespace simulator

using namespace simulator;

extern "C" int __real_munmap(void* at, size_t bytes);

// A run with a rank that stopped leaves mappings behind.  Its threads have ended: nobody looks at
// them any more, and the next run is to find every place as free as the first one did.
void simulator::begin_addresses() {
  const std::lock_guard lock(mappings_mutex);
  for (const auto& [at, mapping] : mappings) __real_munmap(at, mapping.bytes);
  for (const auto& [at, bytes] : foreign) __real_munmap(at, bytes);
  mappings.clear();
  foreign.clear();
  shared_addresses.begin_again();
  foreign_addresses.begin_again();
}

void simulated_pause() {
  if (schedule()) schedule()->turn(Turn::idle);
}

extern "C" {

// tide::now_s.  Free threads stand still for seconds on a busy machine, all at once; the library
// would ask who keeps it waiting, and its last questions would find nobody: its clock runs slower.
// So free threads do not come to such questions; the seeds of `stalls` do, in simulated time.
double __wrap__ZN4tide5now_sEv() {
  const double s_a_us = deterministic() ? 1e-6 : 1e-6 / 50;
  return schedule() ? static_cast<double>(schedule()->now_us()) * s_a_us : 0;
}

int __real_poll(pollfd* fds, nfds_t count, int timeout_ms);
int __wrap_poll(pollfd* fds, nfds_t count, int timeout_ms) {
  if (!deterministic()) return __real_poll(fds, count, timeout_ms);
  const int ready = __real_poll(fds, count, 0);
  if (ready == 0 && timeout_ms != 0) schedule()->turn(Turn::idle);
  return ready;
}

// The library's random numbers are the seed's: hash tables keyed by them are walked alike.
ssize_t __real_getrandom(void* to, size_t bytes, unsigned flags);
ssize_t __wrap_getrandom(void* to, size_t bytes, unsigned flags) {
  if (!deterministic() || bytes != sizeof(uint64_t)) return __real_getrandom(to, bytes, flags);
  const uint64_t number = schedule()->name();
  std::memcpy(to, &number, sizeof number);
  return static_cast<ssize_t>(bytes);
}

int __real_sched_yield();
int __wrap_sched_yield() {
  if (!deterministic()) return __real_sched_yield();
  schedule()->turn(Turn::idle);
  return 0;
}

int __real_memfd_create(const char* name, unsigned flags);
int __wrap_memfd_create(const char* name, unsigned flags) {
  return refuse(Call::memfd_create, EMFILE) ? -1 : __real_memfd_create(name, flags);
}

int __real_posix_fallocate(int fd, off_t at, off_t bytes);
int __wrap_posix_fallocate(int fd, off_t at, off_t bytes) {
  return refuse(Call::posix_fallocate, ENOSPC) ? ENOSPC : __real_posix_fallocate(fd, at, bytes);
}

// Deterministic: a mapping for each rank, so that one used after its end crashes.  Free: all ranks
// map a file at one address, or a thread sanitizer would not know that it is the same memory.
void* __real_mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset);
void* __wrap_mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (fd < 0 || !schedule()) return __real_mmap(at, bytes, protection, flags, fd, offset);
  if (refuse(Call::mmap, ENOMEM)) return MAP_FAILED;
  struct stat info {};
  fstat(fd, &info);
  const std::pair file{info.st_dev, info.st_ino};
  const std::lock_guard lock(mappings_mutex);
  if (!deterministic())
    for (auto& [address, mapping] : mappings)
      if (mapping.file == file && mapping.bytes == bytes) return mapping.holders++, address;
  const bool place = deterministic();
  if (place) at = shared_addresses.take(bytes), flags |= MAP_FIXED_NOREPLACE;
  void* made = __real_mmap(at, bytes, protection, flags, fd, offset);
  if (made != MAP_FAILED) mappings[made] = {file, bytes, 1, place};
  return made;
}

int __wrap_munmap(void* at, size_t bytes) {
  const std::lock_guard lock(mappings_mutex);
  const auto known = mappings.find(at);
  if (known == mappings.end()) return __real_munmap(at, bytes);
  if (--known->second.holders > 0) return 0;
  if (known->second.placed) shared_addresses.give(at, bytes);
  mappings.erase(known);
  return __real_munmap(at, bytes);
}

// The tests' foreign memory.  An address sanitizer had better see the true call: it never uses an
// address again soon.
#ifdef __SANITIZE_ADDRESS__
constexpr bool place_foreign = false;
#else
constexpr bool place_foreign = true;
#endif
void* __real_aligned_alloc(size_t alignment, size_t bytes);
void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
  if (!place_foreign || !deterministic()) return __real_aligned_alloc(alignment, bytes);
  void* at = __real_mmap(foreign_addresses.take(bytes), bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == MAP_FAILED) schedule()->fail("no memory at the place that was chosen for it");
  foreign[at] = bytes;
  return at;
}
void __real_free(void* at);
void __wrap_free(void* at) {
  if (!deterministic()) return __real_free(at);
  const std::lock_guard lock(mappings_mutex);
  const auto known = foreign.find(at);
  if (known == foreign.end()) return __real_free(at);
  __real_munmap(at, known->second);
  foreign_addresses.give(at, known->second);
  foreign.erase(known);
}

// Between ranks that are one process: plain copies, which a thread sanitizer sees; now and then
// only a part, as the kernel may.
static ssize_t copy(const iovec* to, const iovec* from) {
  size_t bytes = std::min(to->iov_len, from->iov_len);
  if (deterministic() && bytes > 1 && schedule()->chance(4) == 0)
    bytes = 1 + schedule()->chance(bytes);
  std::memcpy(to->iov_base, from->iov_base, bytes);
  if (schedule()) schedule()->maybe_turn();
  return static_cast<ssize_t>(bytes);
}
ssize_t __wrap_process_vm_readv(pid_t, const iovec* here, unsigned long, const iovec* there,
                                unsigned long, unsigned long) {
  return copy(here, there);
}
ssize_t __wrap_process_vm_writev(pid_t, const iovec* here, unsigned long, const iovec* there,
                                 unsigned long, unsigned long) {
  return copy(there, here);
}

// Nobody may be parted from the turn inside the initializer of a static: the next to come would
// wait for it without giving the turn back.
int __real___cxa_guard_acquire(void* guard);
void __real___cxa_guard_release(void* guard);
void __real___cxa_guard_abort(void* guard);
static void hold(int change) {
  if (schedule()) schedule()->hold(change);
}
int __wrap___cxa_guard_acquire(void* guard) {
  const int mine = __real___cxa_guard_acquire(guard);
  if (mine) hold(1);
  return mine;
}
void __wrap___cxa_guard_release(void* guard) {
  __real___cxa_guard_release(guard);
  hold(-1);
}
void __wrap___cxa_guard_abort(void* guard) {
  __real___cxa_guard_abort(guard);
  hold(-1);
}

// At each basic block of the files that are compiled with -fsanitize-coverage=trace-pc.  A fuzzer
// brings its own.
__attribute__((weak)) void __sanitizer_cov_trace_pc() {
  if (schedule()) schedule()->preempt();
}
}
