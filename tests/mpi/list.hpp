// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A parameter list with its group, and the two checks that nearly every test is made of: call the
// collective once and compare every byte with the definition.
#pragma once
#include <functional>
#include <vector>

#include "numbers.hpp"
#include "pieces.hpp"
#include "team.hpp"

namespace tide_test {

MPIX_Tide_param param(MPI_Count rows, MPI_Count row_elems, int dtype = MPIX_TIDE_BF16,
                      int types = 0, MPI_Count block_rows = 0);
inline int types_of(int shard, int grad) { return MPIX_TIDE_TYPES(shard, grad); }
int shard_dtype(const MPIX_Tide_param& p);
int grad_dtype(const MPIX_Tide_param& p);  // may be MPIX_TIDE_NOGRAD

class List {
 public:
  // Collective.  first_row: the table of an explicit layout, empty for the default one.
  List(const Team& team, std::vector<MPIX_Tide_param> params, MPI_Info info = MPI_INFO_NULL,
       std::vector<MPI_Count> first_row = {});
  ~List();
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  const Team& team() const { return team_; }
  MPIX_Tide_group group() const { return group_; }
  const std::vector<MPIX_Tide_param>& params() const { return params_; }
  size_t count() const { return params_.size(); }
  bool by_rank() const { return by_rank_; }
  MPI_Count first(size_t p, int r) const;  // by the definition, not by the library
  MPI_Count rows(size_t p, int r) const { return first(p, r + 1) - first(p, r); }
  size_t first_elem(size_t p, int r) const {
    return static_cast<size_t>(first(p, r) * params_[p].row_elems);
  }
  size_t full_elems(size_t p) const {
    return static_cast<size_t>(params_[p].rows * params_[p].row_elems);
  }
  size_t shard_elems(size_t p) const {
    return static_cast<size_t>(rows(p, team_.rank) * params_[p].row_elems);
  }
  std::vector<size_t> full_bytes() const;
  std::vector<size_t> shard_bytes() const;
  std::vector<size_t> grad_bytes() const;  // 0 for a frozen parameter
  std::vector<size_t> out_bytes(int out_dtype) const;
  int out_dtype(size_t p, int asked) const { return asked ? asked : shard_dtype(params_[p]); }
  bool frozen(size_t p) const { return grad_dtype(params_[p]) == MPIX_TIDE_NOGRAD; }
  void forget_group() { group_ = MPIX_TIDE_GROUP_NULL; }  // the test frees it

 private:
  Team team_;
  std::vector<MPIX_Tide_param> params_;
  std::vector<MPI_Count> first_row_;
  MPIX_Tide_group group_ = MPIX_TIDE_GROUP_NULL;
  bool by_rank_ = false;
};

enum class InPlace { no, sentinel, own_rows, mixed };  // mixed: by rank, one of the three

struct GatherOptions {
  Memory shards = Memory::tide, params = Memory::tide;
  InPlace in_place = InPlace::no;
  size_t shift_bytes = 0;
  uint64_t salt = 0;  // other data; also scatters the memory anew
};
void check_allgather(const List& list, const GatherOptions& options = {});
// The parts, for tests that hold their own buffers.
void write_shards(const List& list, void* const shards[], uint64_t salt);
void expect_gathered(const List& list, const void* const params[], uint64_t salt, const char* what);

struct ReduceOptions {
  Memory grads = Memory::tide, shards = Memory::tide;
  int out_dtype = 0;
  int op = MPIX_TIDE_SUM;
  double scale = 1.0;
  bool accumulate = false;
  std::function<bool(int r, int p)>
      absent;  // these gradients are NULL, under MPIX_TIDE_NULL_IS_ZERO
  std::function<double(int r, int p, size_t i)> pattern = small_integers;
  size_t shift_bytes = 0;
  uint64_t seed = 1;
};
using Shards = std::vector<std::vector<double>>;  // this rank's results, by parameter
Shards check_reduce_scatter(const List& list, const ReduceOptions& options = {});
void write_grads(const List& list, void* const grads[], const ReduceOptions& options);
void expect_reduced(const List& list, const void* const shards[], const ReduceOptions& options,
                    const char* what);

// rows[r] of parameter p, as group_shard tells and as the case's own numbers say.
void expect_rows(const List& list, int p, const std::vector<MPI_Count>& rows);
// The first and last element of parameter p, at whichever ranks hold them.
void expect_ends(const List& list, const Shards& shards, int p, double first, double last);
// A small all-gather and reduce-scatter work on this communicator: what must hold after every
// error.
void expect_usable(const Team& team);

std::vector<MPIX_Tide_param> usual_list(
    int dtype, int types = 0);  // empty, tiny, uneven and larger parameters

}  // namespace tide_test
