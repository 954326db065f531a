// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <new>

#include "agreement.hpp"
#include "dtypes.hpp"
#include "gpu/device.hpp"

namespace perf {

Bytes make_bytes(std::int64_t bytes, int fill) {
  constexpr std::size_t page = 4096;
  const std::size_t size = (static_cast<std::size_t>(bytes) + page) / page * page;
  void* base = std::aligned_alloc(page, size);
  if (base == nullptr) throw std::bad_alloc();
  std::memset(base, fill, size);
  return {static_cast<char*>(base), [](char* p) { std::free(p); }};
}

Storage make_private(const Layout& layout, What what, int rank, int dtype, bool on_device) {
  return make_in(layout, what, rank, dtype, on_device, [on_device](std::int64_t bytes) {
    return on_device ? gpu::allocate(static_cast<std::size_t>(bytes)) : make_bytes(bytes);
  });
}

Storage make_in(const Layout& layout, What what, int rank, int dtype, bool on_device,
                const std::function<Bytes(std::int64_t)>& allocate) {
  constexpr std::int64_t align = 64;
  Storage storage{{}, nullptr, on_device};
  std::vector<std::int64_t> offsets;
  std::int64_t total = 0;
  for (int p = 0; p < layout.nparams(); ++p) {
    const Param& param = layout.param(p);
    const auto elem = static_cast<std::int64_t>(elem_bytes(dtype != 0 ? dtype : param.dtype));
    const std::int64_t elems = what == What::full ? param.elems() : layout.elems(p, rank);
    offsets.push_back(total);
    total += (elems * elem + align - 1) / align * align;
  }
  const Bytes base = allocate(total);
  for (const std::int64_t offset : offsets) storage.ptrs.push_back(base.get() + offset);
  storage.owner = base;
  return storage;
}

Storage make_tide(MPI_Comm comm, MPIX_Tide_group group, int what, int dtype, const Keys& keys) {
  int nparams = 0;
  MPIX_Tide_group_get(group, nullptr, &nparams, nullptr);
  Storage storage;
  storage.ptrs.resize(static_cast<std::size_t>(nparams));
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [key, value] : keys) {
    MPI_Info_set(info, key.c_str(), value.c_str());
    storage.on_device |= key == "mpi_memory_alloc_kinds" && value == "cuda:device";
  }
  void* base = nullptr;
  const int code = MPIX_Tide_group_alloc(group, what, dtype, info, storage.ptrs.data(), &base);
  MPI_Info_free(&info);
  tools::agree(comm, tools::tide_problem(code, "MPIX_Tide_group_alloc"));
  storage.owner = std::shared_ptr<void>(base, [](void* p) {
    if (p != nullptr) MPIX_Tide_free(MPI_COMM_NULL, p);
  });
  return storage;
}

std::shared_ptr<const char[]> on_host(const Storage& s, int p, std::int64_t bytes) {
  const auto* at = static_cast<const char*>(s[p]);
  if (!s.on_device || bytes == 0) return {at, [](const char*) {}};
  const Bytes copy = make_bytes(bytes, 0);
  gpu::download(copy.get(), at, static_cast<std::size_t>(bytes));
  return copy;
}

void write(const Storage& s, int p, std::int64_t bytes, const std::function<void(void*)>& write) {
  if (!s.on_device || bytes == 0) return write(s[p]);
  const Bytes copy = make_bytes(bytes, 0);
  write(copy.get());
  gpu::upload(s[p], copy.get(), static_cast<std::size_t>(bytes));
}

std::int64_t available_bytes() {
  std::ifstream in("/proc/meminfo");
  for (std::string key, rest; in >> key && std::getline(in, rest);)
    if (key == "MemAvailable:") return std::stoll(rest) * 1024;
  return -1;
}

}  // namespace perf
