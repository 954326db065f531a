// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The slots of a schedule in memory that the ranks of a node address directly.
#pragma once
#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "core/group.hpp"
#include "pipeline/schedule.hpp"

namespace tide {

// Where a layer's pieces stand in its slot.
struct Pieces {
  std::vector<int64_t> offset;  // bytes; -1: an empty piece
  int64_t bytes = 0;            // a multiple of 64
};
Pieces param_pieces(const Group& group);
Pieces grad_pieces(const Group& group);

// Values of info keys that outlive the info.
using InfoValues = std::vector<std::pair<std::string, std::string>>;

class PipelineStorage {
 public:
  PipelineStorage() = default;
  ~PipelineStorage() { free(); }
  PipelineStorage(const PipelineStorage&) = delete;
  PipelineStorage& operator=(const PipelineStorage&) = delete;

  // Collective, inside a Setup; what there was is freed before.  Slots that only hold parameters
  // are allocated with all of `info`, the others without tide_share.
  void allocate(Context& context, const std::vector<Slot>& slots, const InfoValues& info);
  void free();
  bool on_device() const { return on_device_; }
  char* slot(int which) const { return at_[static_cast<size_t>(which)]; }
  void pointers(const Pieces& pieces, int slot, void* list[]) const;

 private:
  std::vector<void*> bases_;
  std::vector<char*> at_;
  bool on_device_ = false;
};

}  // namespace tide
