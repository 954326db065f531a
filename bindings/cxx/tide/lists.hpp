// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Lists of buffers, one per parameter.
#pragma once
#include <tide/cxx20.hpp>

#include <cstddef>
#include <initializer_list>
#include <ranges>
#include <type_traits>
#include <vector>

#include <tide/dtype.hpp>

namespace tide {
inline namespace cxx0 {

/// How many elements, of which type; Dtype::own where there are none and nothing is checked.
struct Extent {
  std::size_t elems = 0;
  Dtype dtype = Dtype::own;
  bool operator==(const Extent&) const = default;
};

/// One parameter's buffer: from a span, a vector or an array; or nullptr, where the piece is empty.
template <class Void>
struct Piece {
  Void* data = nullptr;
  Extent extent;

  Piece(std::nullptr_t) {}
  Piece(Void* at, Extent of) : data(at), extent(of) {}
  template <class Range>
  requires std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
      std::ranges::borrowed_range<Range> && Element<std::ranges::range_value_t<Range>> &&
      std::is_convertible_v<decltype(std::ranges::data(std::declval<Range&>())), Void*>
      Piece(Range&& range)
      : data(std::ranges::data(range)),
        extent{std::ranges::size(range), dtype_of<std::ranges::range_value_t<Range>>} {}
};

/// The buffers of a call, in the order of the parameters.  The list refers to them and does not own
/// them: make it once, outside the loop.
template <class Void>
class List {
 public:
  List() = default;
  List(std::initializer_list<Piece<Void>> pieces) {
    for (const Piece<Void>& piece : pieces) add(piece);
  }
  void add(const Piece<Void>& piece) {
    pointers_.push_back(piece.data);
    extents_.push_back(piece.extent);
  }

  std::size_t size() const noexcept { return pointers_.size(); }
  Void* operator[](std::size_t param) const { return pointers_[param]; }
  /// For the C interface.
  Void* const* pointers() const noexcept { return pointers_.data(); }
  const std::vector<Extent>& extents() const noexcept { return extents_; }

 private:
  std::vector<Void*> pointers_;
  std::vector<Extent> extents_;
};
using Inputs = List<const void>;
using Outputs = List<void>;

/// In place of the shards of an all-gather: this rank's rows stand at their place in params
/// already.
struct InPlace {
  explicit InPlace() = default;
};
inline constexpr InPlace in_place{};

}  // namespace cxx0
}  // namespace tide
