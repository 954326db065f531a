// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a checkpoint holds, and which bytes of it this rank has.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/header.hpp"
#include "core/group.hpp"

namespace tide {

struct Item {  // MPIX_Tide_item
  std::string kind;
  std::shared_ptr<Group> group;
  int dtype = 0;
  void* const* shards = nullptr;
};

struct CheckpointArguments {
  bool load = false;
  std::string path;
  std::vector<Item> items;
  std::string metadata;  // of save: as it was given, "" for none
  MPI_Info info = MPI_INFO_NULL;
  std::optional<Error> wrong;  // found already
};

struct Range {                 // contiguous in the file and in memory
  size_t tensor = 0;           // of Content::tensors
  uint64_t at = 0, bytes = 0;  // in the file, counted from the end of the header
  uint64_t behind = 0;         // bytes of the tensor that follow it
  char* memory = nullptr;
  bool first_holder = true;  // no lower rank of the communicator has the same rows
};

class Content {
 public:
  // Collective over the communicator.  Errors as MPIX_Tide_save states them, on all ranks.
  Content(Context& context, const CheckpointArguments& arguments);

  // In the order of save: wider elements first, so that each is aligned.
  const std::vector<TensorEntry>& tensors() const { return tensors_; }
  uint64_t bytes() const { return tensors_.empty() ? 0 : tensors_.back().end; }
  // Of this rank, in the order of the file; begin[t]: where tensor t begins there.
  std::vector<Range> ranges(const std::vector<uint64_t>& begin) const;

 private:
  struct Place {
    size_t item = 0, param = 0;
  };
  void describe();
  void check_alike(Context& context);
  void find_holders(Context& context);
  const CheckpointArguments& arguments_;
  std::vector<TensorEntry> tensors_;
  std::vector<Place> places_;       // of tensors_
  std::vector<bool> first_holder_;  // by item
};

}  // namespace tide
