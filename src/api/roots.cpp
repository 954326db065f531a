// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "api/guard.hpp"
#include "api/next_call.hpp"
#include "core/root.hpp"

using namespace tide;

extern "C" {

int PMPIX_Tide_scatter(int root, const void* const* params, void* const shards[],
                       MPIX_Tide_group group) {
  return guard(group, [&](Group& g) {
    move_root(g, {false, root, const_cast<void* const*>(params), shards,
                  take_wrong()});  // params is only read
  });
}

int PMPIX_Tide_gather(int root, const void* const* shards, void* const params[],
                      MPIX_Tide_group group) {
  return guard(group, [&](Group& g) {
    move_root(g, {true, root, params, const_cast<void* const*>(shards),
                  take_wrong()});  // shards is only read
  });
}
}

TIDE_ALIAS(scatter)
TIDE_ALIAS(gather)
