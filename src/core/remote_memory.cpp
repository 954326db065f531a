// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/remote_memory.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/error.hpp"

namespace tide {
namespace {

using Move = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                         unsigned long);

// One call may move less than asked (its limit, a page that is not there): go on from there; the
// next call then says why.
void move_all(const RemoteMemory& peer, Move move, const char* verb, void* local, uint64_t remote,
              size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const size_t piece = std::min(peer.limit_bytes, bytes - done);
    const iovec here{static_cast<unsigned char*>(local) + done, piece};
    const iovec there{reinterpret_cast<void*>(static_cast<uintptr_t>(remote + done)), piece};
    const ssize_t moved = move(peer.pid, &here, 1, &there, 1, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0)
      throw Error(Kind::peer, "{} {} bytes at {:#x} of process {}: stopped after {}: {}", verb,
                  bytes, remote, peer.pid, done, strerror(moved < 0 ? errno : EFAULT));
    done += static_cast<size_t>(moved);
  }
}

}  // namespace

void RemoteMemory::read(void* local, uint64_t remote, size_t bytes) const {
  move_all(*this, process_vm_readv, "reading", local, remote, bytes);
}

void RemoteMemory::write(uint64_t remote, const void* local, size_t bytes) const {
  // The kernel only reads from it; iovec has no const.
  move_all(*this, process_vm_writev, "writing", const_cast<void*>(local), remote, bytes);
}

void read_remote(pid_t pid, void* local, uint64_t remote, size_t bytes) {
  RemoteMemory{pid}.read(local, remote, bytes);
}

void write_remote(pid_t pid, uint64_t remote, const void* local, size_t bytes) {
  RemoteMemory{pid}.write(remote, local, bytes);
}

bool remote_memory_works(pid_t pid, uint64_t address, uint64_t expected) {
  uint64_t word = ~expected;
  try {
    read_remote(pid, &word, address, sizeof word);
  } catch (const Error&) {
    return false;
  }
  return word == expected;
}

}  // namespace tide
