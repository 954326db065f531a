// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backend/rail.hpp"
#include "core/dtype_name.hpp"

namespace tide {

static std::string op_name(int op) {
  const int base = op & ~(MPIX_TIDE_ACCUMULATE | MPIX_TIDE_NULL_IS_ZERO);
  std::string name = base == MPIX_TIDE_SUM   ? "SUM"
                     : base == MPIX_TIDE_AVG ? "AVG"
                                             : fmt::format("{:#x}", base);
  if (op & MPIX_TIDE_ACCUMULATE) name += " | ACCUMULATE";
  if (op & MPIX_TIDE_NULL_IS_ZERO) name += " | NULL_IS_ZERO";
  return name;
}

static std::string flags_name(int flags) {
  return flags == MPIX_TIDE_NO_SYNC ? "MPIX_TIDE_NO_SYNC" : fmt::format("{}", flags);
}

bool Fields::operator==(const Fields& other) const {
  return std::memcmp(this, &other, sizeof *this) == 0;
}

void EntryRecord::fold(const EntryRecord& o) {
  status.fold(o.status);
  memory |= o.memory;
  const auto differ = [this](int32_t rank_, const Fields& fields_) {
    if (rank_ < differs) differs = rank_, other = fields_;
  };
  differ(o.differs, o.other);
  if (!(o.fields == fields)) o.rank > rank ? differ(o.rank, o.fields) : differ(rank, fields);
  if (o.rank < rank) rank = o.rank, fields = o.fields;
}

std::string difference(const EntryRecord& r) {
  const Fields &a = r.other, &b = r.fields;
  const auto tell = [&](const char* field, const auto& x, const auto& y) {
    return fmt::format("rank {}: {} {}, but rank {} {}", r.differs, field, x, r.rank, y);
  };
  const auto kind = [](const Fields& f) { return f.reduce ? "a reduce-scatter" : "an all-gather"; };
  if (a.reduce != b.reduce) return tell("calls", kind(a), kind(b));
  if (a.group != b.group)
    return tell("uses group number", a.group,
                fmt::format("{} (numbered in order of creation on the communicator)", b.group));
  if (a.op != b.op && !a.reduce)  // of a pipeline
    return tell("began a micro-batch with flags", flags_name(a.op), flags_name(b.op));
  if (a.op != b.op) return tell("op is", op_name(a.op), op_name(b.op));
  if (a.out_dtype != b.out_dtype)
    return tell("out_dtype is", dtype_name(a.out_dtype), dtype_name(b.out_dtype));
  return tell("scale is", a.scale, b.scale);
}

}  // namespace tide
