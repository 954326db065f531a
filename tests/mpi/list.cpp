// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "list.hpp"

#include <algorithm>
#include <cstring>

namespace tide_test {

namespace {

const unsigned char unwritten = 0xFF;  // NaN in every floating-point type

bool info_says_rank(MPI_Info info) {
  char value[64] = "";
  int found = 0;
  if (info != MPI_INFO_NULL) MPI_Info_get(info, "tide_order", 63, value, &found);
  return found && std::string(value) == "rank";
}

InPlace in_place_of(InPlace wanted, int rank) {
  return wanted == InPlace::mixed ? static_cast<InPlace>(rank % 3) : wanted;
}

// The value of element i of p that rank r contributes, after rounding to the gradient's type.
double contribution(const List& list, const ReduceOptions& o, int r, size_t p, size_t i) {
  if (o.absent && o.absent(r, static_cast<int>(p))) return -0.0;
  unsigned char bits[8];
  const int dtype = grad_dtype(list.params()[p]);
  store(dtype, bits, o.pattern(r, static_cast<int>(p), i));
  return load(dtype, bits);
}

double old_value(size_t p, size_t i) { return static_cast<double>((5 * i + 3 * p) % 64) - 31.5; }

}  // namespace

MPIX_Tide_param param(MPI_Count rows, MPI_Count row_elems, int dtype, int types,
                      MPI_Count block_rows) {
  MPIX_Tide_param p;
  std::memset(&p, 0, sizeof p);
  p.rows = rows;
  p.row_elems = row_elems;
  p.block_rows = block_rows;
  p.dtype = dtype;
  p.types = types;
  return p;
}

int shard_dtype(const MPIX_Tide_param& p) { return p.types ? p.types & 0xFF : p.dtype; }
int grad_dtype(const MPIX_Tide_param& p) { return p.types ? p.types >> 8 & 0xFF : p.dtype; }

List::List(const Team& team, std::vector<MPIX_Tide_param> params, MPI_Info info,
           std::vector<MPI_Count> first_row)
    : team_(team),
      params_(std::move(params)),
      first_row_(std::move(first_row)),
      by_rank_(info_says_rank(info)) {
  const int n = static_cast<int>(params_.size());
  if (first_row_.empty()) {
    TIDE_OK(MPIX_Tide_group_create(team.comm, n, params_.data(), info, &group_));
  } else {
    TIDE_OK(MPIX_Tide_group_create_explicit(team.comm, n, params_.data(), first_row_.data(), info,
                                            &group_));
  }
  EXPECT_NE(MPIX_TIDE_GROUP_NULL, group_);
  for (size_t p = 0; p < std::min<size_t>(params_.size(), 64); ++p) {
    for (int r = 0; r < team_.size; ++r) {
      MPI_Count f = -1, c = -1;
      TIDE_OK(MPIX_Tide_group_shard(group_, static_cast<int>(p), r, &f, &c));
      EXPECT_EQ(rows(p, r), c) << "parameter " << p << " rank " << r;
      EXPECT_EQ(first(p, r), f) << "parameter " << p << " rank " << r;
    }
  }
}

List::~List() {
  if (group_ == MPIX_TIDE_GROUP_NULL) return;
  TIDE_OK(MPIX_Tide_group_free(&group_));
  EXPECT_EQ(MPIX_TIDE_GROUP_NULL, group_);
}

MPI_Count List::first(size_t p, int r) const {
  const MPI_Count n = team_.size, all = params_[p].rows,
                  block = std::max<MPI_Count>(1, params_[p].block_rows);
  if (!first_row_.empty())
    return first_row_[p * static_cast<size_t>(n + 1) + static_cast<size_t>(r)];
  const MPI_Count fair = (all + n - 1) / n, chunk = (fair + block - 1) / block * block;
  return std::min(chunk * r, all);
}

std::vector<size_t> List::full_bytes() const {
  std::vector<size_t> bytes;
  for (size_t p = 0; p < count(); ++p) bytes.push_back(full_elems(p) * size_of(params_[p].dtype));
  return bytes;
}

std::vector<size_t> List::shard_bytes() const {
  std::vector<size_t> bytes;
  for (size_t p = 0; p < count(); ++p)
    bytes.push_back(shard_elems(p) * size_of(shard_dtype(params_[p])));
  return bytes;
}

std::vector<size_t> List::grad_bytes() const {
  std::vector<size_t> bytes;
  for (size_t p = 0; p < count(); ++p)
    bytes.push_back(frozen(p) ? 0 : full_elems(p) * size_of(grad_dtype(params_[p])));
  return bytes;
}

std::vector<size_t> List::out_bytes(int asked) const {
  std::vector<size_t> bytes;
  for (size_t p = 0; p < count(); ++p)
    bytes.push_back(frozen(p) ? 0 : shard_elems(p) * size_of(out_dtype(p, asked)));
  return bytes;
}

void write_shards(const List& list, void* const shards[], uint64_t salt) {
  for (size_t p = 0; p < list.count(); ++p) {
    const int shard = shard_dtype(list.params()[p]), full = list.params()[p].dtype;
    const size_t first = list.first_elem(p, list.team().rank);
    for (size_t i = 0; i < list.shard_elems(p); ++i) {
      auto* at = static_cast<unsigned char*>(shards[p]) + i * size_of(shard);
      if (shard == full)
        gather_bits(full, static_cast<int>(p), first + i, salt, at);
      else
        store(shard, at, gather_value(static_cast<int>(p), first + i, salt));
    }
  }
}

void expect_gathered(const List& list, const void* const params[], uint64_t salt,
                     const char* what) {
  for (size_t p = 0; p < list.count(); ++p) {
    const int shard = shard_dtype(list.params()[p]), full = list.params()[p].dtype;
    for (size_t i = 0; i < list.full_elems(p); ++i) {
      unsigned char wanted[8], master[8];
      const auto* at = static_cast<const unsigned char*>(params[p]) + i * size_of(full);
      if (shard == full) {
        gather_bits(full, static_cast<int>(p), i, salt, wanted);
        if (std::memcmp(wanted, at, size_of(full)) == 0) continue;
      } else {
        store(shard, master, gather_value(static_cast<int>(p), i, salt));
        store(full, wanted, load(shard, master));
        if (same_value(full, wanted, at)) continue;
      }
      ADD_FAILURE() << what << ": parameter " << p << " [" << list.params()[p].rows << "x"
                    << list.params()[p].row_elems << " " << name_of_dtype(shard) << "->"
                    << name_of_dtype(full) << "] element " << i << " is " << show(full, at)
                    << ", expected " << show(full, wanted);
      break;
    }
  }
}

namespace {

// Where this rank's rows of each parameter stand inside the gathered parameters.
std::vector<void*> rows_in_place(const List& list, const Pieces& params) {
  std::vector<void*> rows(list.count(), nullptr);
  for (size_t p = 0; p < list.count(); ++p) {
    const size_t at = list.first_elem(p, list.team().rank) * size_of(list.params()[p].dtype);
    if (list.shard_elems(p)) rows[p] = static_cast<unsigned char*>(params[p]) + at;
  }
  return rows;
}

}  // namespace

void check_allgather(const List& list, const GatherOptions& o) {
  const Team& team = list.team();
  const InPlace in_place = in_place_of(o.in_place, team.rank);
  Pieces shards(team, o.shards, list.shard_bytes(), o.shift_bytes, o.salt);
  Pieces params(team, o.params, list.full_bytes(), o.shift_bytes, o.salt + 1);
  params.fill(unwritten);
  const std::vector<void*> own_rows = rows_in_place(list, params);
  write_shards(list, in_place == InPlace::no ? shards.list() : own_rows.data(), o.salt);
  std::vector<std::vector<unsigned char>> before;
  for (size_t p = 0; p < list.count(); ++p) before.push_back(shards.copy(p));
  const void* const* inputs = in_place == InPlace::sentinel   ? MPIX_TIDE_IN_PLACE
                              : in_place == InPlace::own_rows ? MPIX_TIDE_INPUTS(own_rows.data())
                                                              : MPIX_TIDE_INPUTS(shards.list());
  const std::string what = std::string("all-gather, shards ") + name_of(o.shards) +
                           ", parameters " + name_of(o.params) + ", in place " +
                           std::to_string(static_cast<int>(in_place));
  TIDE_OK(MPIX_Tide_allgather(inputs, params.list(), list.group()));
  expect_gathered(list, params.list(), o.salt, what.c_str());
  for (size_t p = 0; p < list.count(); ++p)
    EXPECT_EQ(before[p], shards.copy(p)) << what << ": input " << p << " was changed";
  shards.expect_margins(what.c_str());
  params.expect_margins(what.c_str());
}

void write_grads(const List& list, void* const grads[], const ReduceOptions& o) {
  for (size_t p = 0; p < list.count(); ++p) {
    if (list.frozen(p)) continue;
    const int dtype = grad_dtype(list.params()[p]);
    for (size_t i = 0; i < list.full_elems(p); ++i) {
      store(dtype, static_cast<unsigned char*>(grads[p]) + i * size_of(dtype),
            o.pattern(list.team().rank, static_cast<int>(p), i));
    }
  }
}

void expect_reduced(const List& list, const void* const shards[], const ReduceOptions& o,
                    const char* what) {
  const Team& team = list.team();
  const Arithmetic arithmetic{o.op, o.scale, o.accumulate, list.by_rank()};
  std::vector<double> x(static_cast<size_t>(team.size));
  for (size_t p = 0; p < list.count(); ++p) {
    if (list.frozen(p)) continue;
    const int grad = grad_dtype(list.params()[p]), out = list.out_dtype(p, o.out_dtype);
    for (size_t j = 0; j < list.shard_elems(p); ++j) {
      const size_t i = list.first_elem(p, team.rank) + j;
      for (int r = 0; r < team.size; ++r)
        x[static_cast<size_t>(r)] = contribution(list, o, r, p, i);
      unsigned char wanted[8], old[8];
      store(out, old, old_value(p, i));
      store(out, wanted, reduce(team, x, arithmetic, load(out, old), sums_in_double(grad, out)));
      const auto* at = static_cast<const unsigned char*>(shards[p]) + j * size_of(out);
      if (same_value(out, wanted, at)) continue;
      ADD_FAILURE() << what << ": parameter " << p << " [" << list.params()[p].rows << "x"
                    << list.params()[p].row_elems << " " << name_of_dtype(grad) << "->"
                    << name_of_dtype(out) << "] element " << i << " is " << show(out, at)
                    << ", expected " << show(out, wanted);
      break;
    }
  }
}

namespace {

std::vector<void*> with_absent(const List& list, const Pieces& pieces, const ReduceOptions& o) {
  std::vector<void*> at(pieces.list(), pieces.list() + pieces.count());
  for (size_t p = 0; p < at.size(); ++p) {
    if (list.frozen(p))
      at[p] = reinterpret_cast<void*>(8);  // ignored by contract: reading it would crash
    else if (o.absent && o.absent(list.team().rank, static_cast<int>(p)))
      at[p] = nullptr;
  }
  return at;
}

void write_old(const List& list, const Pieces& shards, const ReduceOptions& o) {
  for (size_t p = 0; p < list.count() && o.accumulate; ++p) {
    if (list.frozen(p)) continue;
    const int out = list.out_dtype(p, o.out_dtype);
    for (size_t j = 0; j < list.shard_elems(p); ++j) {
      store(out, static_cast<unsigned char*>(shards[p]) + j * size_of(out),
            old_value(p, list.first_elem(p, list.team().rank) + j));
    }
  }
}

}  // namespace

Shards check_reduce_scatter(const List& list, const ReduceOptions& o) {
  const Team& team = list.team();
  Pieces grads(team, o.grads, list.grad_bytes(), o.shift_bytes, o.seed);
  // As odd an address as the output's type allows.
  const size_t out_shift =
      o.shift_bytes && o.out_dtype ? std::max(o.shift_bytes, size_of(o.out_dtype)) : o.shift_bytes;
  Pieces shards(team, o.shards, list.out_bytes(o.out_dtype), out_shift, o.seed + 1);
  write_grads(list, grads.list(), o);
  shards.fill(unwritten);
  write_old(list, shards, o);
  std::vector<std::vector<unsigned char>> before;
  for (size_t p = 0; p < list.count(); ++p) before.push_back(grads.copy(p));
  const std::vector<void*> inputs = with_absent(list, grads, o);
  std::vector<void*> outputs(shards.list(), shards.list() + shards.count());
  for (size_t p = 0; p < list.count(); ++p)
    if (list.frozen(p)) outputs[p] = reinterpret_cast<void*>(8);
  const int op =
      o.op | (o.accumulate ? MPIX_TIDE_ACCUMULATE : 0) | (o.absent ? MPIX_TIDE_NULL_IS_ZERO : 0);
  const std::string what = std::string("reduce-scatter, gradients ") + name_of(o.grads) +
                           ", shards " + name_of(o.shards) + ", op " + std::to_string(op) +
                           ", scale " + std::to_string(o.scale);
  TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(inputs.data()), outputs.data(), o.out_dtype, op,
                                   o.scale, list.group()));
  expect_reduced(list, shards.list(), o, what.c_str());
  for (size_t p = 0; p < list.count(); ++p)
    EXPECT_EQ(before[p], grads.copy(p)) << what << ": gradient " << p << " was changed";
  grads.expect_margins(what.c_str());
  shards.expect_margins(what.c_str());
  Shards result(list.count());
  for (size_t p = 0; p < list.count(); ++p) {
    const int out = list.out_dtype(p, o.out_dtype);
    for (size_t j = 0; j < (list.frozen(p) ? 0 : list.shard_elems(p)); ++j) {
      result[p].push_back(load(out, static_cast<unsigned char*>(shards[p]) + j * size_of(out)));
    }
  }
  return result;
}

void expect_rows(const List& list, int p, const std::vector<MPI_Count>& rows) {
  ASSERT_EQ(static_cast<size_t>(list.team().size), rows.size());
  MPI_Count at = 0;
  for (int r = 0; r < list.team().size; ++r) {
    MPI_Count f = -1, c = -1;
    TIDE_OK(MPIX_Tide_group_shard(list.group(), p, r, &f, &c));
    EXPECT_EQ(rows[static_cast<size_t>(r)], c) << "parameter " << p << " rank " << r;
    EXPECT_EQ(at, f) << "parameter " << p << " rank " << r;
    at += rows[static_cast<size_t>(r)];
  }
}

void expect_ends(const List& list, const Shards& shards, int p, double first, double last) {
  const auto q = static_cast<size_t>(p);
  const int me = list.team().rank;
  if (list.shard_elems(q) == 0) return;
  if (list.first(q, me) == 0) {
    EXPECT_EQ(first, shards[q].front()) << "first element of parameter " << p;
  }
  if (list.first(q, me + 1) == list.params()[q].rows) {
    EXPECT_EQ(last, shards[q].back()) << "last element of parameter " << p;
  }
}

void expect_usable(const Team& team) {
  List list(team, {param(5, 3), param(3, 2)});
  check_allgather(list, {.salt = 77});
  ReduceOptions sums;
  sums.out_dtype = MPIX_TIDE_FP32;
  check_reduce_scatter(list, sums);
}

std::vector<MPIX_Tide_param> usual_list(int dtype, int types) {
  std::vector<MPIX_Tide_param> list;
  const MPI_Count shapes[][3] = {{7, 1, 0},  {5, 3, 0},    {0, 8, 0},  {2, 6, 0},
                                 {4, 0, 0},  {1, 1, 0},    {23, 5, 3}, {64, 33, 0},
                                 {13, 4, 4}, {513, 65, 0}, {12, 16, 5}};
  for (const auto& s : shapes) list.push_back(param(s[0], s[1], dtype, types, s[2]));
  return list;
}

}  // namespace tide_test
