// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/batch.hpp"

#include <mpix_tide.h>

#include <algorithm>

#include "dtypes.hpp"
#include "gpu/cuda.hpp"
#include "gpu/device.hpp"

namespace perf::gpu {
namespace {

Element element_of(int dtype) {
  switch (dtype) {
    case MPIX_TIDE_BF16:
      return bf16;
    case MPIX_TIDE_FP16:
      return fp16;
    case MPIX_TIDE_FP64:
      return fp64;
    default:
      return fp32;
  }
}

std::uint64_t bytes_of(Element e) {
  constexpr std::uint64_t bytes[] = {1, 2, 4, 8, 16, 2, 2, 4, 8};
  return bytes[e];
}

template <class T>
std::shared_ptr<char[]> on_device(const std::vector<T>& items) {
  std::shared_ptr<char[]> place = allocate(items.size() * sizeof(T));
  if (!items.empty()) upload(place.get(), items.data(), items.size() * sizeof(T));
  return place;
}

}  // namespace

Piece copy_piece(void* dst, const void* src, std::int64_t bytes) {
  const auto all = reinterpret_cast<std::uintptr_t>(dst) | reinterpret_cast<std::uintptr_t>(src) |
                   static_cast<std::uintptr_t>(bytes);
  int shift = 0;
  while (shift < 4 && (all >> shift & 1) == 0) ++shift;
  const auto units = static_cast<std::uint64_t>(bytes) >> shift;
  const auto unit = static_cast<Element>(element_1 + shift);
  return {src, dst, units, units, unit, unit};
}

Piece cast_piece(void* dst, int to, const void* src, int from, std::int64_t elems,
                 std::int64_t padded) {
  return {src,
          dst,
          static_cast<std::uint64_t>(elems),
          static_cast<std::uint64_t>(padded),
          element_of(from),
          element_of(to)};
}

Batch::Batch(const std::vector<Piece>& pieces) {
  std::vector<Tile> tiles;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const std::uint64_t elems =
        tile_bytes / std::max(bytes_of(pieces[p].from), bytes_of(pieces[p].to));
    for (std::uint64_t first = 0; first < pieces[p].padded; first += elems)
      tiles.push_back({first, p});
  }
  pieces_ = on_device(pieces);
  tiles_ = on_device(tiles);
  ntiles_ = static_cast<unsigned>(tiles.size());
}

void Batch::run(cudaStream_t stream) const {
  check(launch_batch(reinterpret_cast<const Piece*>(pieces_.get()),
                     reinterpret_cast<const Tile*>(tiles_.get()), ntiles_, stream),
        "launch of a batch");
}

}  // namespace perf::gpu
