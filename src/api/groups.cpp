// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "api/guard.hpp"
#include "api/next_call.hpp"
#include "core/dtype_name.hpp"
#include "core/report.hpp"

using namespace tide;

namespace {

bool is_dtype(int d) { return d >= MPIX_TIDE_BF16 && d <= MPIX_TIDE_UINT8; }

Param read_param(const MPIX_Tide_param& in, int p) {
  const auto negative = [&](const char* field, MPI_Count value) {
    if (value < 0)
      throw Error(Kind::count, "parameter {}: {} is {}; pass a count of at least 0", p, field,
                  static_cast<long long>(value));
  };
  negative("rows", in.rows);
  negative("row_elems", in.row_elems);
  negative("block_rows", in.block_rows);
  Param param;
  param.shape = {in.rows, in.row_elems, in.block_rows};
  param.dtype = in.dtype;
  param.types = in.types;
  if (!is_dtype(in.dtype))
    throw Error(
        Kind::arg,
        "parameter {}: dtype {} is not a type; use MPIX_TIDE_BF16, FP16, FP32, FP64 or UINT8", p,
        dtype_name(in.dtype));
  param.full = param.shard = param.grad = static_cast<Dtype>(in.dtype);
  if (in.types) {
    const int shard = in.types & 0xff, grad = in.types >> 8;
    if (!is_dtype(shard) || (!is_dtype(grad) && grad != MPIX_TIDE_NOGRAD))
      throw Error(Kind::arg,
                  "parameter {}: types {} is not MPIX_TIDE_TYPES(shard dtype, gradient dtype); "
                  "use 0 or that macro",
                  p, types_name(in.types));
    param.shard = static_cast<Dtype>(shard);
    param.frozen = grad == MPIX_TIDE_NOGRAD;
    if (!param.frozen) param.grad = static_cast<Dtype>(grad);
  }
  // The product of two counts times 8 fits into 128 bits only where one of them is smaller.
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  if (in.rows > most / 4 || in.block_rows > most / 4 ||
      static_cast<__int128>(in.rows) * in.row_elems * 8 > most)
    throw Error(Kind::count,
                "parameter {}: rows {} x row_elems {} (block_rows {}) is too large for 64-bit byte "
                "counts; split it",
                p, static_cast<long long>(in.rows), static_cast<long long>(in.row_elems),
                static_cast<long long>(in.block_rows));
  return param;
}

std::vector<Param> read_params(int nparams, const MPIX_Tide_param params[],
                               const NextLengths& lengths) {
  if (nparams < 0) throw Error(Kind::count, "nparams is {}; pass at least 0", nparams);
  if (lengths.array >= 0 && lengths.array < nparams)
    throw Error(Kind::arg,
                "params has {} elements but nparams is {}; pass an array with an element for each "
                "parameter",
                static_cast<long long>(lengths.array), nparams);
  if (nparams && !params)
    throw Error(Kind::arg, "params is NULL although nparams is {}; pass an array", nparams);
  std::vector<Param> list;
  __int128 total = 0;
  for (int p = 0; p < nparams; p++) {
    list.push_back(read_param(params[p], p));
    total += static_cast<__int128>(params[p].rows) * params[p].row_elems * 8;
    if (total > std::numeric_limits<int64_t>::max())
      throw Error(Kind::count, "parameter {}: the list's bytes exceed 64 bits here; split the list",
                  p);
  }
  return list;
}

void check_boundaries(const std::vector<Param>& params, const MPI_Count first_row[], int ranks,
                      const NextLengths& lengths) {
  const auto needed = static_cast<long long>(params.size()) * (ranks + 1);
  if (lengths.first_row >= 0 && lengths.first_row != needed)
    throw Error(Kind::arg,
                "first_row has {} elements but nparams * (ranks + 1) is {}; pass that many row "
                "numbers",
                static_cast<long long>(lengths.first_row), needed);
  if (!params.empty() && !first_row)
    throw Error(Kind::arg, "first_row is NULL; pass nparams * (ranks + 1) row numbers");
  for (size_t p = 0; p < params.size(); p++) {
    const MPI_Count* row = first_row + p * (static_cast<size_t>(ranks) + 1);
    for (int r = 0; r <= ranks; r++) {
      const MPI_Count before = r ? row[r - 1] : 0;
      const int64_t block = std::max<int64_t>(1, params[p].shape.block_rows);
      const bool ends = r == 0 ? row[0] == 0 : r < ranks || row[ranks] == params[p].shape.rows;
      if (row[r] < before || row[r] > params[p].shape.rows || !ends)
        throw Error(Kind::arg,
                    "parameter {}: first_row of rank {} is {}; rows must start at 0, not decrease "
                    "and end at rows = {}",
                    p, r, static_cast<long long>(row[r]), params[p].shape.rows);
      if (row[r] % block && row[r] != params[p].shape.rows)
        throw Error(Kind::arg,
                    "parameter {}: first_row of rank {} is {}, not a multiple of block_rows = {}; "
                    "move the boundary",
                    p, r, static_cast<long long>(row[r]), block);
    }
  }
}

int create(MPI_Comm comm, int nparams, const MPIX_Tide_param params[], const MPI_Count* first_row,
           bool ragged, MPI_Info info, MPIX_Tide_group* group) {
  const NextLengths lengths = take_lengths();
  return guard(comm, [&] {
    std::vector<Param> list;
    std::optional<Error> fault;  // of this rank: every rank gets to hear of it
    int inter = 0, size = 1;
    try {
      if (!group) throw Error(Kind::arg, "group is NULL; pass the address of a handle");
      list = read_params(nparams, params, lengths);
      if (comm != MPI_COMM_NULL && MPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter)
        MPI_Comm_size(comm, &size);
      if (ragged) check_boundaries(list, first_row, size, lengths);
    } catch (const Error& e) {
      fault = e;
    } catch (const std::exception& e) {
      fault = Error(Kind::no_mem, "the list does not fit into memory ({}); use fewer parameters",
                    e.what());
    }
    if (fault) list.clear();
    std::vector<int64_t> rows;
    if (ragged && !fault)
      rows.assign(first_row, first_row + list.size() * (static_cast<size_t>(size) + 1));
    if (ragged && rows.empty()) rows.resize(1);
    auto made = Group::create(comm, std::move(list), ragged ? rows.data() : nullptr, info, fault);
    *group = groups().add(std::move(made));
  });
}

int check_param(const Group& g, int param) {
  if (param < 0 || static_cast<size_t>(param) >= g.params().size())
    throw Error(Kind::arg,
                "param is {} but the group has {} parameters; pass an index from 0 and below that "
                "(Fortran: one more, they count from 1)",
                param, g.params().size());
  return param;
}

}  // namespace

extern "C" {

int PMPIX_Tide_group_create(MPI_Comm comm, int nparams, const MPIX_Tide_param params[],
                            MPI_Info info, MPIX_Tide_group* group) {
  return create(comm, nparams, params, nullptr, false, info, group);
}

int PMPIX_Tide_group_create_explicit(MPI_Comm comm, int nparams, const MPIX_Tide_param params[],
                                     const MPI_Count first_row[], MPI_Info info,
                                     MPIX_Tide_group* group) {
  return create(comm, nparams, params, first_row, true, info, group);
}

int PMPIX_Tide_group_free(MPIX_Tide_group* group) {
  if (!group || !groups().remove(*group))
    return guard_local([&] {
      throw Error(Kind::arg, "group: not a live group (null, or freed); pass the address of one");
    });
  *group = MPIX_TIDE_GROUP_NULL;
  return MPI_SUCCESS;
}

int PMPIX_Tide_group_get(MPIX_Tide_group group, MPI_Comm* comm, int* nparams,
                         MPIX_Tide_param params[]) {
  return guard(group, [&](Group& g) {
    if (comm) *comm = g.context().user();
    if (nparams) *nparams = static_cast<int>(g.params().size());
    for (size_t p = 0; params && p < g.params().size(); p++) {
      const Param& in = g.params()[p];
      params[p] = {in.shape.rows, in.shape.row_elems, in.shape.block_rows, in.dtype, in.types};
    }
  });
}

int PMPIX_Tide_group_set_names(MPIX_Tide_group group, const char* prefix,
                               const char* const names[]) {
  const NextLengths lengths = take_lengths();
  return guard(group, [&](Group& g) {
    std::vector<std::string> list;
    if (lengths.array >= 0 && static_cast<size_t>(lengths.array) != g.params().size())
      throw Error(Kind::arg,
                  "there are {} names but the group has {} parameters; pass one name for each",
                  static_cast<long long>(lengths.array), g.params().size());
    if (!names && !g.params().empty())
      throw Error(Kind::arg, "names is NULL; pass one name per parameter");
    for (size_t p = 0; p < g.params().size(); p++) {
      if (!names[p]) throw Error(Kind::arg, "parameter {}: names entry is NULL; pass a string", p);
      list.emplace_back(names[p]);
    }
    const std::lock_guard lock(g.context().mutex);  // a thread may be telling of an error
    g.set_names(prefix ? prefix : "", list);
  });
}

int PMPIX_Tide_group_shard(MPIX_Tide_group group, int param, int rank, MPI_Count* first_row,
                           MPI_Count* rows) {
  return guard(group, [&](Group& g) {
    check_param(g, param);
    const int ranks = g.context().topology().ranks();
    if (rank < 0 || rank >= ranks)
      throw Error(Kind::arg, "rank is {} but the communicator has {} ranks; pass a rank below that",
                  rank, ranks);
    if (first_row) *first_row = g.rows().first(param, rank);
    if (rows) *rows = g.rows().count(param, rank);
  });
}

int PMPIX_Tide_group_sizes(MPIX_Tide_group group, MPIX_Tide_sizes* sizes) {
  return guard(group, [&](Group& g) {
    if (!sizes) throw Error(Kind::arg, "sizes is NULL; pass the address of an MPIX_Tide_sizes");
    *sizes = {};
    sizes->full_bytes = static_cast<MPI_Count>(g.full_bytes());
    sizes->shard_bytes = static_cast<MPI_Count>(g.shard_bytes());
    sizes->allgather_workspace_bytes = static_cast<MPI_Count>(g.gather_workspace_bytes());
    sizes->reduce_scatter_workspace_bytes = static_cast<MPI_Count>(g.reduce_workspace_bytes());
    sizes->reduce_scatter_workspace_min_bytes =
        static_cast<MPI_Count>(g.reduce_workspace_min_bytes());
  });
}

int PMPIX_Tide_group_report(MPIX_Tide_group group, char* json, size_t size, size_t* needed) {
  return guard(group, [&](Group& g) {
    const std::lock_guard lock(g.context().mutex);
    give_text(report_text(g), json, size, needed);
  });
}
}

TIDE_ALIAS(group_create)
TIDE_ALIAS(group_create_explicit)
TIDE_ALIAS(group_free)
TIDE_ALIAS(group_get)
TIDE_ALIAS(group_set_names)
TIDE_ALIAS(group_shard)
TIDE_ALIAS(group_sizes)
TIDE_ALIAS(group_report)
