// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// NCCL, as far as Tide uses it: found at run time, with declarations of its own, so that no build
// needs NCCL and one build takes whatever version a job brings.  Nothing here asks for multicast:
// neither pointers nor memory.
#pragma once
#include <cstddef>
#include <string>

namespace tide {

using NcclComm = struct NcclCommState*;
using NcclWindow = struct NcclWindowState*;
struct NcclId {
  char bytes[128];
};
struct NcclWait {  // so many signals of a peer
  int count, peer, signal, context;
};
using NcclStream = void*;

struct NcclLibrary {
  int version = 0;  // 10000 major + 100 minor + patch
  std::string file;
  int (*get_version)(int*);
  int (*get_unique_id)(NcclId*);
  int (*init_rank)(NcclComm*, int ranks, NcclId, int rank);
  int (*abort)(NcclComm);
  int (*async_error)(NcclComm, int*);
  const char* (*error_text)(int);
  const char* (*last_error)(NcclComm);
  int (*window_register)(NcclComm, void*, size_t, NcclWindow*, int flags);
  int (*window_deregister)(NcclComm, NcclWindow);
  int (*group_start)();
  int (*group_end)();
  int (*put_signal)(const void*, size_t count, int type, int peer, NcclWindow, size_t offset,
                    int signal, int context, unsigned flags, NcclComm, NcclStream);
  int (*wait_signal)(int count, NcclWait*, NcclComm, NcclStream);

  // Of this process, loaded at first use.  Error{unsupported} says why it cannot be used.
  static const NcclLibrary& get();
  // Error{peer} with NCCL's words, unless the code is success.
  void check(int code, const char* what) const;
};

constexpr int oldest_nccl = 23102, nccl_bytes = 0 /* ncclInt8 */, nccl_symmetric = 1;
constexpr size_t nccl_alignment = 4096;  // of what is registered

std::string nccl_version_text(int version);

}  // namespace tide
