// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Programs of pieces for the kernels.
#include <algorithm>
#include <cstring>

#include "backend/cuda/cuda_stream.hpp"

namespace tide::gpu {
namespace {

// Arrays one after another, each from a multiple of 16 on.
class Image {
 public:
  template <class T>
  size_t add(const std::vector<T>& values) {
    const size_t offset = (bytes_.size() + 15) / 16 * 16;
    bytes_.resize(offset + std::max<size_t>(1, values.size()) * sizeof(T));
    if (!values.empty())
      std::memcpy(bytes_.data() + offset, values.data(), values.size() * sizeof(T));
    return offset;
  }
  const std::vector<char>& bytes() const { return bytes_; }

 private:
  std::vector<char> bytes_;
};

void add_tiles(std::vector<Tile>& tiles, size_t piece, size_t elems, size_t step) {
  for (size_t k = 0; k * step < elems; k++)
    tiles.push_back({static_cast<uint32_t>(piece), static_cast<uint32_t>(k)});
}

// The widest access, in bytes, at which all addresses are misaligned alike.
uint8_t common_width(const void* a, const std::vector<void*>& others) {
  uintptr_t differ = 0;
  for (const void* b : others)
    differ |= reinterpret_cast<uintptr_t>(a) ^ reinterpret_cast<uintptr_t>(b);
  for (uint8_t width = 16; width > 1; width /= 2)
    if (differ % width == 0) return width;
  return 1;
}

uint8_t width_of(const Landing& l) {
  if (l.from == l.to) return common_width(l.src, l.dst);
  const uintptr_t at = reinterpret_cast<uintptr_t>(l.src);
  const size_t from = bytes_of(l.from), to = bytes_of(l.to);
  const size_t head = (16 - at % 16) % 16 / from, vector = 16 / from * to;
  bool together = at % from == 0;
  for (const void* d : l.dst)
    together &= (reinterpret_cast<uintptr_t>(d) + head * to) % vector == 0;
  return together ? 16 : 1;
}

SumPiece sum_piece(const Summing& s, size_t first_row) {
  SumPiece piece{first_row, s.base, s.dst, s.elems, 0, true, true, s.final};
  uintptr_t at = 0;
  bool any = false;
  for (const void* row : s.rows) {
    if (!row) continue;
    const uintptr_t here = reinterpret_cast<uintptr_t>(row) % 16;
    piece.vectors &= (!any || here == at) && here % bytes_of(s.in) == 0;
    at = here;
    any = true;
  }
  piece.head = static_cast<uint32_t>((16 - at) % 16 / bytes_of(s.in));
  const size_t out = bytes_of(s.final ? s.out : s.acc);
  const size_t step = std::min<size_t>(16, static_cast<size_t>(vector_elems(s.in)) * out);
  piece.wide = (reinterpret_cast<uintptr_t>(s.dst) + piece.head * out) % step == 0;
  return piece;
}

}  // namespace

std::shared_ptr<Program> Stream::landing(const std::vector<Landing>& pieces) {
  const DuringCapture during;
  std::vector<LandingPiece> all;
  std::vector<void*> dst;
  std::vector<Tile> tiles;
  for (const Landing& l : pieces) {
    const bool same = l.from == l.to;
    const size_t size = bytes_of(l.to), elems = same ? l.elems * size : l.elems;
    add_tiles(tiles, all.size(), elems, same ? landing_tile_bytes : landing_tile_bytes / size);
    all.push_back({l.src, elems, dst.size(), l.dst.size(), l.from, l.to, width_of(l)});
    dst.insert(dst.end(), l.dst.begin(), l.dst.end());
  }
  Image image;
  const size_t tiles_at = image.add(tiles), pieces_at = image.add(all), dst_at = image.add(dst);
  auto program = std::make_shared<Program>(state_->device, state_->stream);
  program->upload(image.bytes());
  program->tiles = tiles.size();
  program->landing = {program->at<Tile>(tiles_at), program->at<LandingPiece>(pieces_at),
                      program->at<void*>(dst_at)};
  return program;
}

std::shared_ptr<Program> Stream::summing(const std::vector<Summing>& pieces,
                                         const std::vector<int>& groups) {
  const DuringCapture during;
  std::vector<SumPiece> all;
  std::vector<const void*> rows;
  std::vector<Tile> tiles;
  for (const Summing& s : pieces) {
    add_tiles(tiles, all.size(), s.elems, sum_tile_elems);
    all.push_back(sum_piece(s, rows.size()));
    rows.insert(rows.end(), s.rows.begin(), s.rows.end());
  }
  Image image;
  const size_t tiles_at = image.add(tiles), pieces_at = image.add(all), rows_at = image.add(rows),
               groups_at = image.add(groups);
  auto program = std::make_shared<Program>(state_->device, state_->stream);
  program->upload(image.bytes());
  program->kernel = Program::Kernel::sum;
  program->tiles = tiles.size();
  const Summing& s = pieces.front();
  program->sum = {program->at<Tile>(tiles_at),
                  program->at<SumPiece>(pieces_at),
                  program->at<const void*>(rows_at),
                  program->at<int>(groups_at),
                  static_cast<int>(groups.size()),
                  static_cast<int>(s.rows.size()),
                  s.in,
                  s.acc,
                  s.out};
  return program;
}

bool Stream::has_rings() const { return state_->rings; }

std::shared_ptr<Program> Stream::ring_summing(const std::vector<Summing>& pieces) {
  const DuringCapture during;
  const RingRecords records = ring_records(pieces);
  Image image;
  image.add(records.words);
  auto program = std::make_shared<Program>(state_->device, state_->stream);
  program->upload(image.bytes());
  program->kernel = Program::Kernel::ring;
  program->tiles = records.words.size() / records.stride;
  const Summing& s = pieces.front();
  program->ring = {program->at<uint64_t>(0), records.stride, s.in, s.acc, s.out};
  return program;
}

#if TIDE_HAVE_MULTICAST
std::shared_ptr<Program> Stream::switch_summing(const std::vector<Summing>& pieces) {
  auto program = summing(pieces, {1});
  program->kernel = Program::Kernel::switched;
  return program;
}
#endif

}  // namespace tide::gpu
