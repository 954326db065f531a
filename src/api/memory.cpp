// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>

#include "api/guard.hpp"
#include "core/allocate.hpp"
#include "core/settings.hpp"

using namespace tide;

namespace {

// Byte offset of each parameter's piece in one flat buffer of this rank; padding only between
// parameters.
int64_t carve(const Group& g, int what, int dtype, int64_t align, std::vector<int64_t>& offsets) {
  if (what != MPIX_TIDE_FULL && what != MPIX_TIDE_SHARD && what != MPIX_TIDE_GRAD)
    throw Error(Kind::arg, "what is {}; use MPIX_TIDE_FULL, MPIX_TIDE_SHARD or MPIX_TIDE_GRAD",
                what);
  if (dtype < 0 || dtype > MPIX_TIDE_UINT8)
    throw Error(Kind::arg, "dtype is {}; use 0 or one of MPIX_TIDE_BF16 ... UINT8", dtype);
  if (align < 0 || align > 1 << 30 || (align & (align - 1)))
    throw Error(Kind::arg, "align is {}; use 0 or a power of two up to 2^30", align);
  const int me = g.context().comm_rank();
  int64_t at = 0;
  for (size_t p = 0; p < g.params().size(); p++) {
    const Param& param = g.params()[p];
    const Dtype own = what == MPIX_TIDE_FULL    ? param.full
                      : what == MPIX_TIDE_SHARD ? param.shard
                                                : param.grad;
    const auto elem = static_cast<int64_t>(bytes_of(dtype ? static_cast<Dtype>(dtype) : own));
    int64_t elems = what == MPIX_TIDE_SHARD
                        ? g.rows_of(static_cast<int>(p), me) * param.shape.row_elems
                        : param.elems();
    if (what == MPIX_TIDE_GRAD && param.frozen) elems = 0;
    const int64_t step = std::max(align, elem);  // an element is aligned whatever was asked for
    at = (at + step - 1) / step * step;
    offsets.push_back(at);
    at += elems * elem;
  }
  return at;
}

}  // namespace

extern "C" {

int PMPIX_Tide_group_offsets(MPIX_Tide_group group, int what, int dtype, MPI_Count align,
                             MPI_Count offsets[], MPI_Count* total_bytes) {
  return guard(group, [&](Group& g) {
    std::vector<int64_t> at;
    const int64_t total = carve(g, what, dtype, align, at);
    if (!at.empty() && !offsets && !total_bytes)
      throw Error(Kind::arg, "offsets and total_bytes are both NULL; pass one of them");
    for (size_t p = 0; offsets && p < at.size(); p++) offsets[p] = at[p];
    if (total_bytes) *total_bytes = total;
  });
}

int PMPIX_Tide_alloc(MPI_Comm comm, MPI_Aint bytes, MPI_Info info, void* baseptr) {
  return guard(comm, [&] {
    const auto context = Context::of(comm, default_limit_s());
    const Context::Setup setup(*context, default_limit_s(), SetupCall::alloc);
    context->together([&] {
      if (!baseptr) throw Error(Kind::arg, "baseptr is NULL; pass the address of a pointer");
    });
    void* base = allocate(*context, bytes, info);
    *static_cast<void**>(baseptr) = base;
  });
}

int PMPIX_Tide_free(MPI_Comm comm, void* base) {
  return guard(comm, [&] { release(base); });
}

int PMPIX_Tide_group_alloc(MPIX_Tide_group group, int what, int dtype, MPI_Info info, void* ptrs[],
                           void** base) {
  return guard(group, [&](Group& g) {
    Context& context = g.context();
    const Context::Setup setup(context, g.settings().seconds("tide_timeout"),
                               SetupCall::group_alloc);
    std::vector<int64_t> at;
    int64_t total = 0;
    context.together([&] {
      if (!base || (!ptrs && !g.params().empty()))
        throw Error(
            Kind::arg,
            "ptrs or base is NULL; pass an array of nparams pointers and the address of a pointer");
      total = carve(g, what, dtype, 64, at);
    });
    auto* start = static_cast<char*>(allocate(context, total, info));
    const int me = context.comm_rank();
    for (size_t p = 0; p < at.size(); p++) {
      const int64_t elems = what == MPIX_TIDE_SHARD
                                ? g.rows_of(static_cast<int>(p), me) * g.params()[p].shape.row_elems
                                : g.params()[p].elems();
      const bool absent = elems == 0 || (what == MPIX_TIDE_GRAD && g.params()[p].frozen);
      ptrs[p] = absent ? nullptr : start + at[p];
    }
    *base = start;
  });
}
}

TIDE_ALIAS(group_offsets)
TIDE_ALIAS(alloc)
TIDE_ALIAS(free)
TIDE_ALIAS(group_alloc)
