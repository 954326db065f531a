// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Arguments of a collective as C passes them.
#pragma once
#include "core/call.hpp"
#include "mpix_tide.h"

namespace tide {

inline Arguments gather_arguments(const void* const* shards, void* const* params) {
  Arguments a;
  a.in_place = shards == MPIX_TIDE_IN_PLACE;
  a.inputs = a.in_place ? nullptr : shards;
  a.outputs = params;
  return a;
}

inline Arguments reduce_arguments(const void* const* grads, void* const* shards, int out_dtype,
                                  int op, double scale) {
  Arguments a = gather_arguments(grads, shards);
  a.reduce = true;
  a.out_dtype = out_dtype;
  a.op = op;
  a.scale = scale;
  return a;
}

}  // namespace tide
