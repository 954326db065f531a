// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A library with NCCL's names for emulated devices, as strict as NCCL where that is known: counters
// as signals, sources in a window, one order for all that a communicator is given, whatever stream
// it is on, puts that are there only after a wait, and an abort that does not return
// while something is pending.  Environment:
//   FAKE_NCCL_VERSION=n        FAKE_NCCL_NULL_WINDOWS=1         FAKE_NCCL_LOST_PEER=1
//   FAKE_NCCL_FAIL_INIT=rank   FAKE_NCCL_FAIL_REGISTER=rank:window number (of the communicator)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/cuda/emulated.hpp"

constexpr int most_ranks = 16, most_windows = 64, most_puts = 1 << 15;
enum { success = 0, system_error = 2, invalid_argument = 4, invalid_usage = 5, remote_error = 6 };

struct Board {  // shared by the ranks of a communicator
  std::atomic<int> arrived, registered[most_windows];
  pid_t pid[most_ranks];
  uintptr_t base[most_windows][most_ranks];
  size_t bytes[most_windows][most_ranks];
  std::atomic<uint64_t> signals[most_ranks][most_ranks];  // [to][from]
  struct {
    int window;
    size_t offset, count;
  } puts[most_ranks][most_ranks][most_puts];  // by number of the signal
};

static int number(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::atoi(text) : otherwise;
}
static void meet(std::atomic<int>& counter, int ranks) {
  for (counter++; counter < ranks;) usleep(100);
}

struct ncclWindow_vidmem {
  int index;
  char *base, *shadow;  // puts go to the shadow, a wait brings them to the window
};
struct ncclComm {
  int rank, ranks;
  Board* board;
  std::deque<ncclWindow_vidmem> windows = {};
  uint64_t consumed[most_ranks] = {};
  uint64_t issued = 0, done = 0;  // operations, in order
  bool in_window(const void* at, size_t bytes) const {
    const auto from = reinterpret_cast<uintptr_t>(at);
    for (const auto& w : windows) {
      const auto base = reinterpret_cast<uintptr_t>(w.base);
      if (w.shadow && from >= base && from + bytes <= base + board->bytes[w.index][rank])
        return true;
    }
    return false;
  }
};
struct Id {
  char bytes[128];
};
struct Desc {
  int count, peer, signal, context;
};

extern "C" {

static std::string last;
static int fail(int code, const char* why) {
  last = why;
  return code;
}

// Work of the communicator: behind all that it was given before, and late.
static thread_local int depth = 0;
static thread_local std::vector<std::function<void()>> grouped;
static void issue(ncclComm* comm, void* stream, std::function<bool()> act) {
  auto submit = [=] {
    const uint64_t place = comm->issued++;
    auto late = std::make_shared<int>(static_cast<int>(place * 2654435761U >> 9 & 3));
    static_cast<tide::gpu::EmulatedQueue*>(stream)->submit([=] {
      if (comm->done != place || (*late)-- > 0 || !act()) return false;
      comm->done++;
      return true;
    });
  };
  if (depth)
    grouped.emplace_back(submit);
  else
    submit();
}

#define FAKE __attribute__((visibility("default")))

FAKE int ncclGetVersion(int* version) {
  *version = number("FAKE_NCCL_VERSION", 23203);
  return success;
}
// The board is a nameless file of the process that makes the id.
FAKE int ncclGetUniqueId(Id* id) {
  const int fd = memfd_create("fake-nccl", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, sizeof(Board)) != 0) return fail(system_error, "memfd_create");
  std::snprintf(id->bytes, sizeof id->bytes, "/proc/%d/fd/%d", static_cast<int>(getpid()), fd);
  return success;
}
FAKE const char* ncclGetErrorString(int code) {
  return code == remote_error    ? "remote process exited or there was a network error"
         : code == invalid_usage ? "invalid usage"
                                 : "unhandled system error";
}
FAKE const char* ncclGetLastError(ncclComm*) { return last.c_str(); }

FAKE int ncclCommInitRank(ncclComm** made, int ranks, Id id, int rank) {
  if (ranks > most_ranks || rank < 0 || rank >= ranks) return fail(invalid_argument, "ranks");
  if (number("FAKE_NCCL_FAIL_INIT", -1) == rank)
    return fail(system_error, "as FAKE_NCCL_FAIL_INIT asks");
  const int fd = open(id.bytes, O_RDWR | O_CLOEXEC);
  if (fd < 0) return fail(system_error, "open");
  void* at = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (at == MAP_FAILED) return fail(system_error, "mmap");
  auto* comm = new ncclComm{rank, ranks, static_cast<Board*>(at)};
  comm->board->pid[rank] = getpid();
  meet(comm->board->arrived, ranks);
  int owner = 0, kept = -1;
  if (std::sscanf(id.bytes, "/proc/%d/fd/%d", &owner, &kept) == 2 && owner == getpid()) close(kept);
  *made = comm;
  return success;
}
FAKE int ncclCommAbort(ncclComm* comm) {
  while (comm->done != comm->issued) usleep(1000);
  for (const auto& w : comm->windows) std::free(w.shadow);
  Board* board = comm->board;
  delete comm;
  munmap(board, sizeof(Board));
  return success;
}
FAKE int ncclCommGetAsyncError(ncclComm*, int* code) {
  *code = number("FAKE_NCCL_LOST_PEER", 0) ? remote_error : success;
  return success;
}
FAKE int ncclCommWindowRegister(ncclComm* comm, void* at, size_t bytes, ncclWindow_vidmem** made,
                                int flags) {
  const int index = static_cast<int>(comm->windows.size());
  const auto base = reinterpret_cast<uintptr_t>(at);
  if (flags != 1 || base % 4096 || bytes % 4096 || index == most_windows)
    return fail(invalid_argument, "window");
  if (number("FAKE_NCCL_FAIL_REGISTER", -1) == comm->rank &&
      std::atoi(std::strchr(std::getenv("FAKE_NCCL_FAIL_REGISTER"), ':') + 1) == index)
    return fail(system_error, "as FAKE_NCCL_FAIL_REGISTER asks");
  auto* shadow = static_cast<char*>(std::calloc(1, bytes));
  comm->board->base[index][comm->rank] = reinterpret_cast<uintptr_t>(shadow);
  comm->board->bytes[index][comm->rank] = bytes;
  meet(comm->board->registered[index], comm->ranks);
  for (int r = 0; r < comm->ranks; r++)
    if (comm->board->bytes[index][r] != bytes) return fail(invalid_usage, "sizes differ");
  comm->windows.push_back({index, static_cast<char*>(at), shadow});
  *made = number("FAKE_NCCL_NULL_WINDOWS", 0) ? nullptr : &comm->windows.back();
  return success;
}
FAKE int ncclCommWindowDeregister(ncclComm* comm, ncclWindow_vidmem* window) {
  comm->board->base[window->index][comm->rank] = 0;
  std::free(std::exchange(window->shadow, nullptr));
  return success;
}
FAKE int ncclGroupStart() {
  depth++;
  return success;
}
FAKE int ncclGroupEnd() {
  if (--depth) return success;
  for (const auto& submit : std::exchange(grouped, {})) submit();
  return success;
}
#ifndef FAKE_NCCL_WITHOUT_PUTS
FAKE int ncclPutSignal(const void* source, size_t count, int type, int peer,
                       ncclWindow_vidmem* window, size_t offset, int signal, int context,
                       unsigned flags, ncclComm* comm, void* stream) {
  if (type != 0 || signal != 0 || context != 0 || flags != 0 || peer < 0 || peer >= comm->ranks)
    return fail(invalid_argument, "put");
  if (!comm->in_window(source, count)) return fail(invalid_usage, "source outside of windows");
  Board& board = *comm->board;
  if (!window || offset + count > board.bytes[window->index][peer])
    return fail(invalid_argument, "target outside of the window");
  const int me = comm->rank, index = window->index;
  issue(comm, stream, [=, &board] {
    iovec here{const_cast<void*>(source), count},
        there{reinterpret_cast<void*>(board.base[index][peer] + offset), count};
    if (!board.base[index][peer] ||
        process_vm_writev(board.pid[peer], &here, 1, &there, 1, 0) != static_cast<ssize_t>(count))
      std::perror("fake NCCL: put");
    board.puts[peer][me][board.signals[peer][me] % most_puts] = {index, offset, count};
    board.signals[peer][me]++;
    return true;
  });
  return success;
}
#endif
FAKE int ncclWaitSignal(int count, Desc* waits, ncclComm* comm, void* stream) {
  for (int k = 0; k < count; k++)
    if (waits[k].peer < 0 || waits[k].peer >= comm->ranks || waits[k].signal || waits[k].context)
      return fail(invalid_argument, "wait");
  issue(comm, stream, [comm, all = std::vector<Desc>(waits, waits + count)] {
    for (const Desc& w : all)
      if (comm->board->signals[comm->rank][w.peer] <
          comm->consumed[w.peer] + static_cast<uint64_t>(w.count))
        return false;
    for (const Desc& w : all)
      for (int k = 0; k < w.count; k++) {
        const auto& put =
            comm->board->puts[comm->rank][w.peer][comm->consumed[w.peer]++ % most_puts];
        const auto& window = comm->windows[static_cast<size_t>(put.window)];
        std::memcpy(window.base + put.offset, window.shadow + put.offset, put.count);
      }
    return true;
  });
  return success;
}
// Nobody is to ask for these.
FAKE int ncclGetLsaMultimemDevicePointer() { std::abort(); }
FAKE int ncclGetMultimemDevicePointer() { std::abort(); }
}
