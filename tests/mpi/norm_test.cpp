// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The norm over shards: value, order of additions, NaN and Inf, wrong arguments.
#include <cmath>
#include <cstring>
#include <limits>

#include "list.hpp"

namespace tide_test {
namespace {

const int frozen = types_of(MPIX_TIDE_FP32, MPIX_TIDE_NOGRAD);

// Eight interleaved sums of each piece, added pairwise; pieces in order; ranks in order.
double expected(const std::vector<const List*>& lists, Pattern pattern, int dtype) {
  double all = 0;
  for (int r = 0; r < world().size; r++) {
    double mine = 0;
    for (const List* list : lists)
      for (size_t p = 0; p < list->count(); p++) {
        if (list->frozen(p)) continue;
        double s[8] = {};
        const size_t elems = static_cast<size_t>(list->rows(p, r) * list->params()[p].row_elems);
        for (size_t i = 0; i < elems; i++) {
          double at[1];
          const int type = list->out_dtype(p, dtype);
          store(type, at, pattern(r, static_cast<int>(p), i));
          s[i % 8] += load(type, at) * load(type, at);
        }
        mine += ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
      }
    all += mine;
  }
  return std::sqrt(all);
}

void write(const List& list, const Pieces& shards, Pattern pattern, int dtype) {
  for (size_t p = 0; p < list.count(); p++) {
    if (list.frozen(p)) continue;  // no shard there at all
    const int type = list.out_dtype(p, dtype);
    for (size_t i = 0; i < list.shard_elems(p); i++)
      store(type, static_cast<char*>(shards[p]) + i * size_of(type),
            pattern(world().rank, static_cast<int>(p), i));
  }
}

TEST(Norm, AgainstTheDefinition) {
  List a(world(), {param(33, 7, MPIX_TIDE_FP32), param(0, 3, MPIX_TIDE_FP32),
                   param(9, 2, MPIX_TIDE_FP32, frozen), param(1, 1, MPIX_TIDE_FP32)});
  List b(world(), {param(2000, 5, MPIX_TIDE_BF16)}), none(world(), {});
  for (int dtype :
       {0, int{MPIX_TIDE_BF16}, int{MPIX_TIDE_FP16}, int{MPIX_TIDE_FP32}, int{MPIX_TIDE_FP64}})
    for (Pattern pattern : {Pattern{small_integers}, Pattern{rough}}) {
      Pieces x(world(), Memory::foreign, a.out_bytes(dtype)),
          y(world(), Memory::foreign, b.out_bytes(dtype));
      write(a, x, pattern, dtype);
      write(b, y, pattern, dtype);
      const MPIX_Tide_group groups[] = {a.group(), none.group(), b.group()};
      void* const* lists[] = {x.list(), nullptr, y.list()};
      double norm = -1;
      TIDE_OK(MPIX_Tide_norm2(MPI_COMM_WORLD, 3, groups, lists, dtype, &norm));
      const double want = expected({&a, &b}, pattern, dtype);
      EXPECT_TRUE((std::isnan(want) && std::isnan(norm)) || want == norm)
          << norm << " instead of " << want << " for dtype " << dtype;
    }
  double norm = -1;
  TIDE_OK(MPIX_Tide_norm2(MPI_COMM_WORLD, 0, nullptr, nullptr, 0, &norm));
  EXPECT_EQ(0, norm);
}

TEST(Norm, NanAndInfPassThroughAndSubnormalsCount) {
  List list(world(), {param(20, 3, MPIX_TIDE_FP64)});
  Pieces x(world(), Memory::tide, list.shard_bytes());
  const MPIX_Tide_group group = list.group();
  void* const* lists[] = {x.list()};
  const bool last = list.shard_elems(0) && list.first(0, world().rank + 1) == 20;
  const auto norm_with = [&](double value) {
    x.fill(0);
    if (last) static_cast<double*>(x[0])[list.shard_elems(0) - 1] = value;
    double norm = -1;
    TIDE_OK(MPIX_Tide_norm2(MPI_COMM_WORLD, 1, &group, MPIX_TIDE_LISTS(lists), 0, &norm));
    return norm;
  };
  EXPECT_TRUE(std::isnan(norm_with(std::nan(""))));
  EXPECT_EQ(std::numeric_limits<double>::infinity(),
            norm_with(-std::numeric_limits<double>::infinity()));
  EXPECT_EQ(3e-155, norm_with(3e-155) > 2.9e-155 ? 3e-155 : 0.0) << "its square is subnormal";
  EXPECT_EQ(0, norm_with(0));
}

TEST(Norm, WrongArguments) {
  List list(world(), {param(8 * world().size, 3, MPIX_TIDE_FP32)});
  List bytes(world(), {param(8, 3, MPIX_TIDE_UINT8)});
  List other(world(), {param(8, 3, MPIX_TIDE_FP32)});
  Pieces x(world(), Memory::tide, list.out_bytes(MPIX_TIDE_FP64));
  x.fill(0);
  const bool last = world().rank == world().size - 1;
  const MPIX_Tide_group good = list.group();
  void* const* lists[] = {x.list()};
  const auto refused = [&](auto call, std::initializer_list<Failure> allowed) {
    expect_failure_on_all(world(), call(true), allowed);
    expect_failure_on_all(world(), call(last), allowed);
    double norm = -1;
    TIDE_OK(MPIX_Tide_norm2(MPI_COMM_WORLD, 1, &good, lists, 0, &norm));
    EXPECT_EQ(0, norm);
  };
  double out = 5;
  const auto call = [&](int n, const MPIX_Tide_group* groups, void* const* const* s, int dtype,
                        double* to) {
    return MPIX_Tide_norm2(MPI_COMM_WORLD, n, groups, s, dtype, to);
  };
  refused([&](bool w) { return call(w ? -1 : 1, &good, lists, 0, &out); }, {count});
  refused([&](bool w) { return call(1, w ? nullptr : &good, lists, 0, &out); }, {arg});
  refused([&](bool w) { return call(1, &good, w ? nullptr : lists, 0, &out); }, {buffer});
  refused([&](bool w) { return call(1, &good, lists, w ? 5 : 0, &out); }, {arg});
  refused([&](bool w) { return call(1, &good, lists, 0, w ? nullptr : &out); }, {arg});
  refused(
      [&](bool w) {
        const MPIX_Tide_group group = w ? MPIX_TIDE_GROUP_NULL : good;
        return call(1, &group, lists, 0, &out);
      },
      {arg});
  refused(
      [&](bool w) {
        void* const null = nullptr;
        void* const* l[] = {w ? &null : x.list()};
        return call(1, &good, l, 0, &out);
      },
      {buffer});
  const MPIX_Tide_group group = bytes.group();
  expect_failure_on_all(world(), call(1, &group, lists, 0, &out), {unsupported});
  expect_failure(MPIX_Tide_norm2(MPI_COMM_NULL, 1, &good, lists, 0, &out), {comm_class});
  if (world().size > 1) {
    expect_failure_on_all(world(), call(last ? 0 : 1, &good, lists, 0, &out), {mismatch},
                          {"ngroups"});
    expect_failure_on_all(world(), call(1, &good, lists, last ? int{MPIX_TIDE_FP64} : 0, &out),
                          {mismatch}, {"dtype"});
    const MPIX_Tide_group mine = last ? other.group() : good;
    expect_failure_on_all(world(), call(1, &mine, lists, 0, &out), {mismatch});
  }
  EXPECT_EQ(5, out) << "written on success only";
}

}  // namespace
}  // namespace tide_test
