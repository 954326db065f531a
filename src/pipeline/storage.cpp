// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pipeline/storage.hpp"

#include "core/allocate.hpp"
#include "core/owned_info.hpp"

namespace tide {
namespace {

constexpr int64_t piece_align = 64;
int64_t aligned(int64_t bytes) { return (bytes + piece_align - 1) / piece_align * piece_align; }

Pieces lay_out(const Group& group, bool grads) {
  Pieces pieces;
  for (const Param& p : group.params()) {
    const bool absent = p.elems() == 0 || (grads && p.frozen);
    pieces.offset.push_back(absent ? -1 : pieces.bytes);
    if (absent) continue;
    const size_t elem = tide::bytes_of(grads ? p.grad : p.full);
    pieces.bytes = aligned(pieces.bytes + p.elems() * static_cast<int64_t>(elem));
  }
  return pieces;
}

// Collective.
char* pool(Context& context, int64_t bytes, const InfoValues& values, bool shares) {
  OwnedInfo info;
  for (const auto& [key, value] : values)
    if (shares || key != "tide_share") info.set(key.c_str(), value);
  if (!shares) info.set("tide_share", "none");
  return static_cast<char*>(tide::allocate(context, bytes, info));
}

}  // namespace

Pieces param_pieces(const Group& group) { return lay_out(group, false); }
Pieces grad_pieces(const Group& group) { return lay_out(group, true); }

void PipelineStorage::allocate(Context& context, const std::vector<Slot>& slots,
                               const InfoValues& info) {
  free();
  at_.assign(slots.size(), nullptr);
  for (const bool only_params : {true, false}) {
    int64_t bytes = 0;
    for (const Slot& slot : slots)
      if ((slot.params && !slot.grads) == only_params) bytes += slot.bytes;
    char* base = pool(context, bytes, info, only_params);
    if (base) bases_.push_back(base);
    for (size_t i = 0; i < slots.size(); i++)
      if ((slots[i].params && !slots[i].grads) == only_params) {
        at_[i] = base;
        if (base) base += slots[i].bytes;
      }
  }
  on_device_ = bases_.empty() || gpu::device_of(bases_[0]) >= 0;
}

// An operation that is active keeps what it uses mapped.
void PipelineStorage::free() {
  for (void* base : bases_)
    if (Process::usable()) release(base);
  bases_.clear();
  at_.clear();
}

void PipelineStorage::pointers(const Pieces& pieces, int slot, void* list[]) const {
  for (size_t p = 0; p < pieces.offset.size(); p++)
    list[p] = pieces.offset[p] < 0 ? nullptr : this->slot(slot) + pieces.offset[p];
}

}  // namespace tide
