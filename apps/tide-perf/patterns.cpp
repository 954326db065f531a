// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "dtypes.hpp"
#include "gpu/device.hpp"

namespace perf {
namespace {

constexpr std::int64_t tile_elems = 4096;
constexpr int period = 31;

// One period of encoded values, indexed by (7 i + 13 p) mod 31.
using Table = std::array<std::array<char, 8>, period>;

Table table_of(int dtype, int first_rank, int last_rank) {
  Table table{};
  for (int phase = 0; phase < period; ++phase) {
    double sum = 0;
    for (int r = first_rank; r <= last_rank; ++r) sum += (phase + 3 * r) % period - 15;
    encode(table[static_cast<std::size_t>(phase)].data(), dtype, sum);
  }
  return table;
}

void fill_periodic(char* dst, const Table& table, std::size_t bytes, int p, std::int64_t first,
                   std::int64_t elems) {
  auto phase = static_cast<int>((7 * (first % period) + 13 * p) % period);
  for (std::int64_t i = 0; i < elems; ++i, dst += bytes, phase = (phase + 7) % period)
    std::memcpy(dst, table[static_cast<std::size_t>(phase)].data(), bytes);
}

std::string hex(const char* elem, std::size_t bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, elem, bytes);
  return fmt::format("0x{:0{}x}", bits, 2 * bytes);
}

// Compares with expected values that `fill(tile, first, elems)` makes a tile at a time.
template <class Fill>
std::string compare(const void* dst, std::size_t bytes, const Param& param, std::int64_t first,
                    std::int64_t elems, Fill fill) {
  alignas(64) std::array<char, tile_elems * 8> tile;
  const char* at = static_cast<const char*>(dst);
  for (std::int64_t done = 0; done < elems; done += tile_elems) {
    const std::int64_t n = std::min(tile_elems, elems - done);
    fill(tile.data(), first + done, n);
    const std::size_t tile_bytes = static_cast<std::size_t>(n) * bytes;
    if (std::memcmp(at, tile.data(), tile_bytes) != 0) {
      const auto differs = std::mismatch(at, at + tile_bytes, tile.data()).first - at;
      const auto in_tile = static_cast<std::size_t>(differs) / bytes;
      const std::int64_t elem = first + done + static_cast<std::int64_t>(in_tile);
      return fmt::format(
          "parameter {}, row {}, element {} of the row has the bits {} instead of {}", param.name,
          elem / param.row_elems, elem % param.row_elems, hex(at + in_tile * bytes, bytes),
          hex(tile.data() + in_tile * bytes, bytes));
    }
    at += tile_bytes;
  }
  return "";
}

}  // namespace

void fill_bits(void* dst, int dtype, int p, std::int64_t first, std::int64_t elems) {
  const std::size_t bytes = elem_bytes(dtype);
  char* at = static_cast<char*>(dst);
  for (std::int64_t i = first; i < first + elems; ++i, at += bytes) {
    const std::uint64_t bits =
        40503u * static_cast<std::uint64_t>(i) + 13u * static_cast<unsigned>(p) + 1;
    std::memcpy(at, &bits, bytes);  // the low bytes: Tide runs on little-endian hosts only
  }
}

void fill_grads(void* dst, int dtype, int p, std::int64_t first, std::int64_t elems, int rank) {
  const Table table = table_of(dtype, rank, rank);
  fill_periodic(static_cast<char*>(dst), table, elem_bytes(dtype), p, first, elems);
}

std::string check_bits(const void* dst, const Param& param, int p, std::int64_t first,
                       std::int64_t elems) {
  return compare(
      dst, elem_bytes(param.dtype), param, first, elems,
      [&](char* tile, std::int64_t at, std::int64_t n) { fill_bits(tile, param.dtype, p, at, n); });
}

std::string check_sums(const void* dst, int out_dtype, const Param& param, int p,
                       std::int64_t first, std::int64_t elems, int ranks) {
  const Table table = table_of(out_dtype, 0, ranks - 1);
  const std::size_t bytes = elem_bytes(out_dtype);
  return compare(dst, bytes, param, first, elems, [&](char* tile, std::int64_t at, std::int64_t n) {
    fill_periodic(tile, table, bytes, p, at, n);
  });
}

std::string check_packed(const Layout& layout, const char* at, std::int64_t shard_bytes) {
  const std::vector<std::int64_t> offsets = layout.packed_offsets(0);
  for (int r = 0; r < layout.ranks(); ++r)
    for (int p = 0; p < layout.nparams(); ++p) {
      const std::string wrong =
          check_bits(at + r * shard_bytes + offsets[static_cast<std::size_t>(p)], layout.param(p),
                     p, layout.first_elem(p, r), layout.elems(p, r));
      if (!wrong.empty()) return wrong;
    }
  return "";
}

void fill_packed_shard(const Layout& layout, char* at, int rank) {
  const std::vector<std::int64_t> offsets = layout.packed_offsets(0);
  for (int p = 0; p < layout.nparams(); ++p)
    fill_bits(at + offsets[static_cast<std::size_t>(p)], layout.param(p).dtype, p,
              layout.first_elem(p, rank), layout.elems(p, rank));
}

void fill_packed_grads(const Layout& layout, char* at, int dtype, int rank) {
  const std::vector<std::int64_t> offsets = layout.packed_offsets(dtype);
  for (int p = 0; p < layout.nparams(); ++p)
    for (int r = 0; r < layout.ranks(); ++r)
      fill_grads(at + r * offsets.back() + offsets[static_cast<std::size_t>(p)], dtype, p,
                 layout.first_elem(p, r), layout.elems(p, r), rank);
}

std::string check_params(const Layout& layout, const Storage& params) {
  for (int p = 0; p < layout.nparams(); ++p) {
    const Param& param = layout.param(p);
    const auto bytes = param.elems() * static_cast<std::int64_t>(elem_bytes(param.dtype));
    const std::string wrong =
        check_bits(on_host(params, p, bytes).get(), param, p, 0, param.elems());
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string check_shards(const Layout& layout, const Storage& shards, int out_dtype, int rank) {
  for (int p = 0; p < layout.nparams(); ++p) {
    const Param& param = layout.param(p);
    const int out = out_dtype != 0 ? out_dtype : param.dtype;
    const std::int64_t elems = layout.elems(p, rank);
    const auto data = on_host(shards, p, elems * static_cast<std::int64_t>(elem_bytes(out)));
    const std::string wrong =
        check_sums(data.get(), out, param, p, layout.first_elem(p, rank), elems, layout.ranks());
    if (!wrong.empty()) return wrong;
  }
  return "";
}

static void fill_host(void* at, int byte, std::size_t bytes) { std::memset(at, byte, bytes); }

void poison(const Layout& layout, const Storage& storage, What what, int rank, int dtype) {
  for (int p = 0; p < layout.nparams(); ++p) {
    const Param& param = layout.param(p);
    const std::int64_t elems = what == What::full ? param.elems() : layout.elems(p, rank);
    const std::size_t bytes =
        static_cast<std::size_t>(elems) * elem_bytes(dtype != 0 ? dtype : param.dtype);
    if (bytes > 0) (storage.on_device ? gpu::fill : fill_host)(storage[p], 0xcd, bytes);
  }
}

}  // namespace perf
