// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Parameter lists and boundaries as a user may pass them, on one rank.  What is accepted must be
// as the header says.
#include <limits>
#include <vector>

#include "mpix_tide.h"
#include "simulated.hpp"

using namespace fuzz;

namespace {

MPIX_Tide_param param_from(Input& in) {
  MPIX_Tide_param p{in.count(), in.count(), in.count(), MPIX_TIDE_BF16, 0};
  const auto how = in.take<uint8_t>();
  p.dtype = how & 0x40 ? in.take<int32_t>() : how & 7;
  if (how & 0x80)
    p.types = in.take<int32_t>();
  else if (how & 0x20)
    p.types = MPIX_TIDE_TYPES(how >> 1 & 7, how & 0x10 ? MPIX_TIDE_NOGRAD : how & 7);
  return p;
}

void check_group(MPIX_Tide_group group, const std::vector<MPIX_Tide_param>& params) {
  MPIX_Tide_sizes sizes{};
  require(MPIX_Tide_group_sizes(group, &sizes) == MPI_SUCCESS, "sizes");
  require(sizes.full_bytes >= 0 && sizes.shard_bytes >= 0, "byte counts are not negative");
  std::vector<MPIX_Tide_param> back(params.size());
  int nparams = -1;
  MPIX_Tide_group_get(group, nullptr, &nparams, back.data());
  require(nparams == static_cast<int>(params.size()), "number of parameters");
  for (size_t p = 0; p < params.size(); p++) {
    require(params[p].rows >= 0 && params[p].row_elems >= 0, "no negative count is accepted");
    require(back[p].rows == params[p].rows && back[p].types == params[p].types, "what was passed");
    MPI_Count first = -1, rows = -1;
    const int code = MPIX_Tide_group_shard(group, static_cast<int>(p), 0, &first, &rows);
    require(code == MPI_SUCCESS && first == 0 && rows == params[p].rows, "one rank owns all rows");
  }
  size_t needed = 0;
  require(MPIX_Tide_group_report(group, nullptr, 0, &needed) == MPI_SUCCESS, "report");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  Input in(data, bytes);
  const bool ragged = in.take<uint8_t>() & 1;
  const int extra = static_cast<int8_t>(in.take<uint8_t>());  // to nparams: negative counts too
  std::vector<MPIX_Tide_param> params;
  std::vector<MPI_Count> rows;
  while (in.left() && params.size() < 64) {
    params.push_back(param_from(in));
    if (!ragged) continue;
    const auto how = in.take<uint8_t>();
    rows.push_back(how & 1 ? in.count() : 0);
    rows.push_back(how & 2 ? in.count() : params.back().rows);
  }
  const int nparams = extra < 0 ? extra : static_cast<int>(params.size());
  run_ranks(1, [&](int) {
    MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
    const int code =
        ragged
            ? MPIX_Tide_group_create_explicit(MPI_COMM_WORLD, nparams, params.data(), rows.data(),
                                              MPI_INFO_NULL, &group)
            : MPIX_Tide_group_create(MPI_COMM_WORLD, nparams, params.data(), MPI_INFO_NULL, &group);
    require((code == MPI_SUCCESS) == (group != MPIX_TIDE_GROUP_NULL), "a group, or an error");
    if (code != MPI_SUCCESS) return;
    for (size_t p = 0; ragged && p < params.size(); p++)
      require(rows[2 * p] == 0 && rows[2 * p + 1] == params[p].rows, "boundaries of one rank");
    check_group(group, params);
    MPIX_Tide_group_free(&group);
  });
  return 0;
}
