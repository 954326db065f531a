// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "random_case.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <random>

namespace simulator {

using namespace tide_test;

namespace {

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed * 7919 + 17) {}
  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  int between(int a, int b) { return a + below(b - a + 1); }
  bool one_in(int n) { return below(n) == 0; }
  uint64_t word() { return random_(); }
  template <class T>
  T of(std::initializer_list<T> values) {
    return *(values.begin() + below(static_cast<int>(values.size())));
  }

 private:
  std::mt19937_64 random_;
};

struct Kinds {
  int dtype, types;
};

Kinds kinds(Draw& draw) {
  using K = Kinds;
  if (draw.one_in(2)) return {MPIX_TIDE_BF16, 0};
  return draw.of({K{MPIX_TIDE_FP16, 0}, K{MPIX_TIDE_FP32, 0}, K{MPIX_TIDE_FP64, 0},
                  K{MPIX_TIDE_UINT8, MPIX_TIDE_TYPES(MPIX_TIDE_UINT8, MPIX_TIDE_NOGRAD)},
                  K{MPIX_TIDE_BF16, MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_BF16)},
                  K{MPIX_TIDE_BF16, MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_FP32)},
                  K{MPIX_TIDE_FP16, MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_FP16)},
                  K{MPIX_TIDE_FP32, MPIX_TIDE_TYPES(MPIX_TIDE_FP64, MPIX_TIDE_FP32)},
                  K{MPIX_TIDE_BF16, MPIX_TIDE_TYPES(MPIX_TIDE_BF16, MPIX_TIDE_NOGRAD)}});
}

std::vector<MPIX_Tide_param> random_list(Draw& draw) {
  std::vector<MPIX_Tide_param> list;
  const bool mixed = draw.one_in(2), many = draw.one_in(12);
  const Kinds all = kinds(draw);
  const int count = many ? draw.between(20, 60) : draw.below(8);
  for (int p = 0; p < count; p++) {
    const Kinds k = mixed ? kinds(draw) : all;
    const int rows = draw.one_in(8)            ? 0
                     : draw.one_in(5) && !many ? draw.between(100, 400)
                                               : draw.between(1, 24);
    const int elems = draw.one_in(12) ? 0 : draw.one_in(3) ? 1 : draw.between(1, many ? 4 : 33);
    list.push_back(param(rows, elems, k.dtype, k.types, draw.one_in(3) ? draw.between(2, 5) : 0));
  }
  return list;
}

GroupCase random_group(Draw& draw) {
  GroupCase g;
  g.over = draw.of({Over::world, Over::world, Over::duplicate, Over::reversed, Over::halves});
  g.params = random_list(draw);
  if (draw.one_in(3) && !g.params.empty()) g.ragged = 1 + draw.word() % 1000000;
  if (draw.one_in(3)) g.info.emplace_back("tide_order", "rank");
  if (draw.one_in(2))
    g.info.emplace_back("tide_chunk_bytes", draw.of({"64", "256", "1000", "4096"}));
  if (draw.one_in(2)) g.info.emplace_back("tide_eager_bytes", draw.of({"0", "0", "500"}));
  if (draw.one_in(4))
    g.info.emplace_back("tide_rail_inflight_bytes", draw.of({"1", "300", "5000"}));
  if (draw.one_in(3)) g.info.emplace_back("tide_foreign", draw.of({"cma", "staged"}));
  g.least_workspace = draw.one_in(5);
  return g;
}

bool one_type(const GroupCase& g) {
  return std::all_of(g.params.begin(), g.params.end(),
                     [](const auto& p) { return shard_dtype(p) == p.dtype; });
}

bool sums_to(const GroupCase& g, std::initializer_list<int> grads) {
  return std::all_of(g.params.begin(), g.params.end(), [&](const auto& p) {
    return std::count(grads.begin(), grads.end(), grad_dtype(p)) ||
           grad_dtype(p) == MPIX_TIDE_NOGRAD;
  });
}

constexpr Memory memories[] = {Memory::tide,    Memory::tide,     Memory::foreign,
                               Memory::by_rank, Memory::by_param, Memory::scattered};

Step random_step(Draw& draw, const Case& c) {
  Step s;
  s.group = static_cast<size_t>(draw.below(static_cast<int>(c.groups.size())));
  s.reduce = draw.one_in(2);
  const GroupCase& g = c.groups[s.group];
  const Memory first = memories[draw.below(6)], second = memories[draw.below(6)];
  if (!s.reduce) {
    s.gather.shards = first;
    s.gather.params = second;
    s.gather.salt = draw.word() % 1000;
    if (one_type(g) && draw.one_in(3)) s.gather.in_place = InPlace::mixed;
    if (draw.one_in(4)) s.gather.shift_bytes = 8;
    return s;
  }
  s.sums.grads = first;
  s.sums.shards = second;
  s.sums.seed = draw.word() % 1000 + 1;
  if (draw.one_in(2)) s.sums.pattern = rough;
  s.sums.op = draw.one_in(2) ? MPIX_TIDE_SUM : MPIX_TIDE_AVG;
  s.sums.scale = draw.of({1.0, 1.0, 0.5, 3.0});
  s.sums.accumulate = draw.one_in(3);
  if (draw.one_in(4)) s.sums.shift_bytes = 8;
  if (draw.one_in(4)) {
    const uint64_t salt = draw.word();
    s.sums.absent = [salt](int r, int p) {
      return mix(salt, static_cast<uint64_t>(r), static_cast<uint64_t>(p)) % 3 == 0;
    };
  }
  if (draw.one_in(3) && sums_to(g, {MPIX_TIDE_BF16, MPIX_TIDE_FP16, MPIX_TIDE_FP32}))
    s.sums.out_dtype = MPIX_TIDE_FP32;
  else if (draw.one_in(3) && sums_to(g, {MPIX_TIDE_FP32, MPIX_TIDE_FP64}))
    s.sums.out_dtype = MPIX_TIDE_FP64;
  return s;
}

}  // namespace

std::vector<int> random_nodes(uint64_t seed, int ranks) {
  Draw draw(seed ^ 0x5EED);
  const int nodes = draw.between(1, ranks), kind = draw.below(5);
  std::vector<int> map;
  for (int r = 0; r < ranks; r++) {
    int node = 0;
    if (kind == 1) node = r;                      // one rank a node
    if (kind == 2) node = r * nodes / ranks;      // blocks
    if (kind == 3) node = nodes - 1 - r % nodes;  // cyclic, descending
    if (kind == 4) node = draw.below(nodes);      // any
    map.push_back(node);
  }
  return map;
}

std::vector<MPI_Count> ragged_rows(const std::vector<MPIX_Tide_param>& params, int ranks,
                                   uint64_t seed) {
  Draw draw(seed);
  std::vector<MPI_Count> rows;
  for (const auto& p : params) {
    const MPI_Count block = std::max<MPI_Count>(1, p.block_rows), blocks = p.rows / block;
    std::vector<MPI_Count> cuts{0, p.rows};
    for (int r = 1; r < ranks; r++)
      cuts.push_back(draw.one_in(4) ? p.rows : block * draw.below(static_cast<int>(blocks) + 1));
    std::sort(cuts.begin(), cuts.end());
    rows.insert(rows.end(), cuts.begin(), cuts.end());
  }
  return rows;
}

Case random_case(uint64_t seed) {
  Draw draw(seed);
  Case c;
  const int ranks = draw.one_in(25) ? draw.between(13, 33) : draw.between(1, 12);
  c.nodes = random_nodes(draw.word(), ranks);
  for (int g = draw.between(1, ranks > 12 ? 1 : 3); g > 0; g--)
    c.groups.push_back(random_group(draw));
  for (int s = draw.between(1, ranks > 12 ? 3 : 6); s > 0; s--)
    c.steps.push_back(random_step(draw, c));
  return c;
}

Case plain_case(std::vector<int> nodes, uint64_t seed) {
  Case c;
  c.nodes = std::move(nodes);
  GroupCase g;
  g.params = {param(23, 3), param(5, 1), param(64, 7), param(1, 2)};
  g.info = {{"tide_chunk_bytes", seed % 2 ? "64" : "1048576"}};
  if (seed % 4 < 3) g.info.emplace_back("tide_eager_bytes", "0");
  c.groups = {g};
  Step gather, sums;
  sums.reduce = true;
  sums.sums.pattern = rough;
  sums.sums.out_dtype = MPIX_TIDE_FP32;
  c.steps = {gather, sums};
  return c;
}

std::string Case::fake_nodes() const { return fmt::format("{}", fmt::join(nodes, ",")); }

std::string Case::text() const {
  static const char* over[] = {"world", "duplicate", "reversed", "halves"};
  std::string text = fmt::format("{} ranks, nodes {}\n", ranks(), fake_nodes());
  for (size_t g = 0; g < groups.size(); g++) {
    const GroupCase& group = groups[g];
    text += fmt::format("  group {} over {}{}{}", g, over[static_cast<int>(group.over)],
                        group.ragged ? ", ragged" : "",
                        group.least_workspace ? ", least workspace" : "");
    for (const auto& [key, value] : group.info) text += fmt::format(", {}={}", key, value);
    for (const auto& p : group.params)
      text += fmt::format(" [{}x{}/{} {}:{}]", p.rows, p.row_elems, p.block_rows,
                          name_of_dtype(p.dtype), p.types);
    text += "\n";
  }
  return text;
}

std::vector<std::vector<int>> ranks_by_node(const std::vector<int>& nodes) {
  std::vector<std::vector<int>> ranks;
  std::vector<int> seen;
  for (size_t r = 0; r < nodes.size(); r++) {
    const auto at =
        static_cast<size_t>(std::find(seen.begin(), seen.end(), nodes[r]) - seen.begin());
    if (at == seen.size()) seen.push_back(nodes[r]), ranks.emplace_back();
    ranks[at].push_back(static_cast<int>(r));
  }
  return ranks;
}

}  // namespace simulator
