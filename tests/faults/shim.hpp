// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A library that stands before the C library: the k-th call of a function, counted from the moment
// that a test arms it, fails.  Only calls that come from libtide count, so that MPI is not the one
// that is tested.
#pragma once

namespace tide_test {

enum class Site {
  memfd_create,
  mmap,  // of a descriptor
  ftruncate,
  posix_fallocate,
  madvise,
  fcntl,  // F_ADD_SEALS
  socket,
  sendmsg,
  process_vm_readv,
  process_vm_writev,
  count
};

// From now on call number k (1: the next one) and the `times` - 1 after it fail with errno `code`;
// k = 0 only counts.  One site at a time, process-wide.
void arm(Site site, int k, int code, int times = 1);
// Back to normal.  How many calls of the site there were since arm().
int disarm();

}  // namespace tide_test
