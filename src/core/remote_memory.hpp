// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Memory of another process of this node that is no segment of ours: copied by the kernel, where
// it permits that (same user, ptrace access; Yama or a container may forbid it).
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace tide {

struct RemoteMemory {
  pid_t pid = 0;                                  // as this process sees it
  size_t limit_bytes = (size_t{1} << 31) - 4096;  // what one system call moves at most
  // Whole or Error{peer} that names the pid, the address and the kernel's reason.
  void read(void* local, uint64_t remote, size_t bytes) const;
  void write(uint64_t remote, const void* local, size_t bytes) const;
};

void read_remote(pid_t pid, void* local, uint64_t remote, size_t bytes);
void write_remote(pid_t pid, uint64_t remote, const void* local, size_t bytes);

// Is `pid` the peer (not its namesake in another pid namespace) and may we read it?  `address`: an
// aligned 8-byte word there that holds `expected`, a random number.
bool remote_memory_works(pid_t pid, uint64_t address, uint64_t expected);

}  // namespace tide
