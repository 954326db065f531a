// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/rail/nccl_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <optional>

#include "backend/cuda/gpu.hpp"
#include "core/error.hpp"

namespace tide {

std::string nccl_version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

namespace {

// With NVLink SHARP NCCL makes multicast objects when a window is registered.  It reads the
// variable once, when a communicator is first made.
void keep_off_multicast(bool loaded, const char* file) {
  const char* set = std::getenv("NCCL_NVLS_ENABLE");
  if (!loaded) {
    setenv("NCCL_NVLS_ENABLE", "0", 0);
  } else if (!set || std::string(set) != "0") {
    throw Error(Kind::unsupported,
                "{} was loaded before Tide could set NCCL_NVLS_ENABLE=0, without which its windows "
                "use NVLink multicast; set that variable for the job",
                file);
  }
}

void* open_library(const std::string& given) {
  const char* file = given.empty() ? "libnccl.so.2" : given.c_str();
  void* handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  keep_off_multicast(handle != nullptr, file);
  // An emulated device is nothing for the real library: only one that a test names.
  const bool emulated = std::string(gpu::built()) == "emulated";
  if (!handle && emulated && given.empty())
    throw Error(Kind::unsupported, "an emulated device has no NCCL (TIDE_NCCL_LIBRARY)");
  if (!handle) handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    throw Error(Kind::unsupported, "NCCL is not found ({}); TIDE_NCCL_LIBRARY names its file",
                why ? why : file);
  }
  return handle;
}

template <class Function>
void find(const NcclLibrary& library, void* handle, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (!function)
    throw Error(Kind::unsupported, "{} (NCCL {}) has no {}; Tide needs NCCL {} or later",
                library.file, nccl_version_text(library.version), name,
                nccl_version_text(oldest_nccl));
}

NcclLibrary load() {
  const char* given = std::getenv("TIDE_NCCL_LIBRARY");
  NcclLibrary l{};
  void* handle = open_library(given ? given : "");
  l.file = given && *given ? given : "libnccl.so.2";
  find(l, handle, l.get_version, "ncclGetVersion");
  if (l.get_version(&l.version) != 0 || l.version < oldest_nccl)
    throw Error(Kind::unsupported, "{} is NCCL {}; Tide needs {} or later (puts with signals)",
                l.file, nccl_version_text(l.version), nccl_version_text(oldest_nccl));
  find(l, handle, l.get_unique_id, "ncclGetUniqueId");
  find(l, handle, l.init_rank, "ncclCommInitRank");
  find(l, handle, l.abort, "ncclCommAbort");
  find(l, handle, l.async_error, "ncclCommGetAsyncError");
  find(l, handle, l.error_text, "ncclGetErrorString");
  find(l, handle, l.last_error, "ncclGetLastError");
  find(l, handle, l.window_register, "ncclCommWindowRegister");
  find(l, handle, l.window_deregister, "ncclCommWindowDeregister");
  find(l, handle, l.group_start, "ncclGroupStart");
  find(l, handle, l.group_end, "ncclGroupEnd");
  find(l, handle, l.put_signal, "ncclPutSignal");
  find(l, handle, l.wait_signal, "ncclWaitSignal");
  return l;
}

}  // namespace

const NcclLibrary& NcclLibrary::get() {
  static std::mutex mutex;
  static std::optional<NcclLibrary> loaded;
  static std::string why;  // not; asked once, as NCCL cannot be unloaded
  const std::lock_guard lock(mutex);
  if (!loaded && why.empty()) {
    try {
      loaded = load();
    } catch (const Error& e) {
      why = e.what();
    }
  }
  if (!loaded) throw Error(Kind::unsupported, why);
  return *loaded;
}

void NcclLibrary::check(int code, const char* what) const {
  if (code == 0) return;
  const char* last = last_error(nullptr);
  throw Error(Kind::peer, "{}: {}{}{}", what, error_text(code), last && *last ? ": " : "",
              last ? last : "");
}

}  // namespace tide
