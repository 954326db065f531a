// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "api/guard.hpp"

using namespace tide;

extern "C" {

int PMPIX_Tide_allgather(const void* const* shards, void* const params[], MPIX_Tide_group group) {
  return guard(group, [&](Group& g) {
    Arguments a;
    a.in_place = shards == MPIX_TIDE_IN_PLACE;
    a.inputs = a.in_place ? nullptr : shards;
    a.outputs = params;
    g.call().run(a);
  });
}

int PMPIX_Tide_reduce_scatter(const void* const* grads, void* const shards[], int out_dtype, int op,
                              double scale, MPIX_Tide_group group) {
  return guard(group, [&](Group& g) {
    Arguments a;
    a.reduce = true;
    a.in_place = grads == MPIX_TIDE_IN_PLACE;
    a.inputs = a.in_place ? nullptr : grads;
    a.outputs = shards;
    a.out_dtype = out_dtype;
    a.op = op;
    a.scale = scale;
    g.call().run(a);
  });
}
}

TIDE_ALIAS(allgather)
TIDE_ALIAS(reduce_scatter)
