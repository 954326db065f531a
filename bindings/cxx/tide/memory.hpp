// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Memory that the ranks of a node address directly.
#pragma once
#include <tide/cxx20.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tide/error.hpp>
#include <tide/lists.hpp>

namespace tide {
inline namespace cxx0 {

/// One allocation, zeroed and page-aligned.  Freed by its owner alone; not while an operation uses
/// it.
class Memory {
 public:
  Memory() = default;
  /// Collective over comm.  bytes may differ by rank; 0 gives none.
  Memory(MPI_Comm comm, std::size_t bytes, MPI_Info info = MPI_INFO_NULL) : bytes_(bytes) {
    check(MPIX_Tide_alloc(comm, static_cast<MPI_Aint>(bytes), info, &base_));
  }
  /// Takes what MPIX_Tide_alloc or MPIX_Tide_group_alloc gave.
  static Memory adopt(void* base, std::size_t bytes) noexcept {
    Memory memory;
    memory.base_ = base;
    memory.bytes_ = bytes;
    return memory;
  }
  ~Memory() {
    if (base_ && !detail::finalized()) MPIX_Tide_free(MPI_COMM_NULL, base_);
  }
  Memory(Memory&& other) noexcept { swap(other); }
  Memory& operator=(Memory&& other) noexcept {
    Memory taken(std::move(other));
    swap(taken);
    return *this;
  }
  void swap(Memory& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
  }

  void* data() const noexcept { return base_; }
  /// Gives the memory up, for MPIX_Tide_free.
  [[nodiscard]] void* release() noexcept {
    bytes_ = 0;
    return std::exchange(base_, nullptr);
  }
  std::size_t size_bytes() const noexcept { return bytes_; }
  template <Element T>
  std::span<T> as() const noexcept {
    return {static_cast<T*>(base_), bytes_ / sizeof(T)};
  }

 private:
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
};

/// One allocation with a piece for each parameter of a group: Group::alloc.  It is an input or an
/// output as it stands, and may outlive its group.
class GroupMemory {
 public:
  GroupMemory() = default;
  GroupMemory(Memory memory, const Outputs& pieces, std::vector<std::size_t> row_elems)
      : memory_(std::move(memory)), outputs_(pieces), row_elems_(std::move(row_elems)) {
    for (std::size_t p = 0; p < pieces.size(); p++) inputs_.add({pieces[p], pieces.extents()[p]});
  }

  GroupMemory(GroupMemory&& other) noexcept { swap(other); }
  GroupMemory& operator=(GroupMemory&& other) noexcept {
    GroupMemory taken(std::move(other));
    swap(taken);
    return *this;
  }
  void swap(GroupMemory& other) noexcept {
    memory_.swap(other.memory_);
    std::swap(inputs_, other.inputs_);
    std::swap(outputs_, other.outputs_);
    row_elems_.swap(other.row_elems_);
  }

  /// The elements of one parameter.  Throws where T is not their type.
  template <Element T>
  std::span<T> piece(std::size_t param) const {
    return {static_cast<T*>(at(param, dtype_of<T>)), extent(param).elems};
  }
  Extent extent(std::size_t param) const { return outputs_.extents()[in_range(param)]; }
  std::size_t row_elems(std::size_t param) const { return row_elems_[in_range(param)]; }
  std::size_t size() const noexcept { return outputs_.size(); }
  const Memory& memory() const noexcept { return memory_; }
  operator const Inputs&() const noexcept { return inputs_; }
  operator const Outputs&() const noexcept { return outputs_; }

 private:
  std::size_t in_range(std::size_t param) const {
    if (param < size()) return param;
    throw Error(MPI_ERR_ARG, "GroupMemory: parameter " + std::to_string(param) + " of " +
                                 std::to_string(size()) + " is asked for; they count from 0");
  }
  void* at(std::size_t param, Dtype dtype) const {
    const Dtype own = extent(param).dtype;
    if (own == dtype || own == Dtype::own) return outputs_[param];  // own: a frozen one, empty
    throw Error(MPI_ERR_ARG, "GroupMemory: parameter " + std::to_string(param) + " is " +
                                 name(own) + ", not " + name(dtype) + "; ask for its own type");
  }

  Memory memory_;
  Inputs inputs_;
  Outputs outputs_;
  std::vector<std::size_t> row_elems_;
};

}  // namespace cxx0
}  // namespace tide
