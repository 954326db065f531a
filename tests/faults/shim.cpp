// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shim.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>

namespace tide_test {
namespace {

std::atomic<int> armed_site{-1}, calls{0};
int first = 0, last = 0, error = 0;
const void* tide_base = nullptr;

const void* object_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) ? info.dli_fbase : nullptr;
}

// Counts; true: this call fails.
bool fails(Site site, const void* caller) {
  if (armed_site.load(std::memory_order_relaxed) != static_cast<int>(site)) return false;
  if (object_of(caller) != tide_base) return false;
  const int call = ++calls;
  if (call < first || call > last) return false;
  errno = error;
  return true;
}

template <class Function>
Function real(Function, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

__attribute__((visibility("default"))) void arm(Site site, int k, int code, int times) {
  tide_base = object_of(dlsym(RTLD_DEFAULT, "MPIX_Tide_get_config"));
  first = k > 0 ? k : 1;
  last = k > 0 ? k + times - 1 : 0;
  error = code;
  calls = 0;
  armed_site = static_cast<int>(site);
}

__attribute__((visibility("default"))) int disarm() {
  armed_site = -1;
  return calls.exchange(0);
}

}  // namespace tide_test

#define REAL(name) static const auto next = tide_test::real(name, #name)
#define FAILS(site) tide_test::fails(tide_test::Site::site, __builtin_return_address(0))
#define STANDS_BEFORE extern "C" __attribute__((visibility("default")))

STANDS_BEFORE int memfd_create(const char* name, unsigned flags) noexcept {
  REAL(memfd_create);
  return FAILS(memfd_create) ? -1 : next(name, flags);
}

STANDS_BEFORE void* mmap(void* at, size_t bytes, int protection, int flags, int fd,
                         off_t offset) noexcept {
  REAL(mmap);
  return fd >= 0 && FAILS(mmap) ? MAP_FAILED : next(at, bytes, protection, flags, fd, offset);
}

STANDS_BEFORE int ftruncate(int fd, off_t bytes) noexcept {
  REAL(ftruncate);
  return FAILS(ftruncate) ? -1 : next(fd, bytes);
}

STANDS_BEFORE int posix_fallocate(int fd, off_t offset, off_t bytes) {
  REAL(posix_fallocate);
  return FAILS(posix_fallocate) ? errno : next(fd, offset, bytes);
}

STANDS_BEFORE int madvise(void* at, size_t bytes, int advice) noexcept {
  REAL(madvise);
  return FAILS(madvise) ? -1 : next(at, bytes, advice);
}

STANDS_BEFORE int fcntl(int fd, int command, ...) {
  REAL(fcntl);
  va_list rest;
  va_start(rest, command);
  const long argument = va_arg(rest, long);  // as the C library itself takes it
  va_end(rest);
  return command == F_ADD_SEALS && FAILS(fcntl) ? -1 : next(fd, command, argument);
}

STANDS_BEFORE int socket(int domain, int type, int protocol) noexcept {
  REAL(socket);
  return FAILS(socket) ? -1 : next(domain, type, protocol);
}

STANDS_BEFORE ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  REAL(sendmsg);
  return FAILS(sendmsg) ? -1 : next(socket, message, flags);
}

STANDS_BEFORE ssize_t process_vm_readv(pid_t pid, const iovec* here, unsigned long here_count,
                                       const iovec* there, unsigned long there_count,
                                       unsigned long flags) noexcept {
  REAL(process_vm_readv);
  return FAILS(process_vm_readv) ? -1 : next(pid, here, here_count, there, there_count, flags);
}

STANDS_BEFORE ssize_t process_vm_writev(pid_t pid, const iovec* here, unsigned long here_count,
                                        const iovec* there, unsigned long there_count,
                                        unsigned long flags) noexcept {
  REAL(process_vm_writev);
  return FAILS(process_vm_writev) ? -1 : next(pid, here, here_count, there, there_count, flags);
}
