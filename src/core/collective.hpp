// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a collective of a parameter list is before anybody carries it out: the element types that it
// sees, and the packing on which its plans are made.  Without MPI.
#pragma once
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "plan/plan.hpp"

namespace tide {

struct Param {
  Shape shape;
  Dtype full = Dtype::fp32, shard = Dtype::fp32, grad = Dtype::fp32;
  bool frozen = false;       // MPIX_TIDE_NOGRAD
  int dtype = 0, types = 0;  // as the user gave them
  int64_t elems() const { return shape.rows * shape.row_elems; }
  Dtype shard_or(int asked) const { return asked ? static_cast<Dtype>(asked) : shard; }
};

struct Plans {  // of one packing
  Layout layout;
  bool raw = false;
  Plan direct = {}, staged = {};  // staged: foreign memory is only reached through the workspace
  bool has_staged = false;
  bool switched = false;  // some SwitchSum is in them
};
struct Collective {  // one collective of a group, for one set of element types
  Types types;
  std::shared_ptr<const Plans> plans;
};

Types gather_types(const std::vector<Param>& params);
Types reduce_types(const std::vector<Param>& params, int out_dtype);
// Without plans.
Plans gather_packing(const Topology&, const std::shared_ptr<const Rows>&,
                     const std::vector<Param>& params);
Plans reduce_packing(const Topology&, const std::shared_ptr<const Rows>&,
                     const std::vector<Param>& params, const Types&, const Options&);

// For a call of `c` by its direct plan, whose rank has its place: everything but the call's number,
// addresses and arguments.
void begin_call(Work& work, const Collective& c);

}  // namespace tide
