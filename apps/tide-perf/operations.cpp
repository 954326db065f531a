// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "agreement.hpp"
#include "contest.hpp"
#include "group.hpp"

// The library's nonblocking calls.
namespace perf {
namespace {

int start_call(const Workload& w, bool allgather, MPIX_Tide_group group,
               MPIX_Tide_request* request) {
  if (allgather)
    return MPIX_Tide_iallgather(MPIX_TIDE_INPUTS(w.shards.ptrs.data()), w.params.ptrs.data(), group,
                                request);
  return MPIX_Tide_ireduce_scatter(MPIX_TIDE_INPUTS(w.grads.ptrs.data()), w.reduced.ptrs.data(),
                                   w.out_dtype, MPIX_TIDE_SUM, 1.0, group, request);
}

}  // namespace

Operation tide_operation(Workload& w, bool allgather, const std::string& name, const Keys& keys) {
  Operation o;
  o.name = name;
  o.what = allgather ? "MPIX_Tide_iallgather" : "MPIX_Tide_ireduce_scatter";
  for (const auto& [key, value] : keys) o.what += ", " + key + "=" + value;
  const Group group = make_group(w.tide_comm, *w.list, keys, &o.refused);
  if (!group) return o;
  prepare_tide(w, allgather, group.get(), o);
  const auto request = std::make_shared<MPIX_Tide_request>(MPIX_TIDE_REQUEST_NULL);
  o.start = [&w, allgather, group, request,
             call = allgather ? "MPIX_Tide_iallgather" : "MPIX_Tide_ireduce_scatter"] {
    tools::check_tide(start_call(w, allgather, group.get(), request.get()), call);
  };
  o.test = [request] {
    int done = 0;
    tools::check_tide(MPIX_Tide_test(request.get(), &done), "MPIX_Tide_test");
  };
  o.wait = [request] { tools::check_tide(MPIX_Tide_wait(request.get()), "MPIX_Tide_wait"); };
  o.wait_inputs = [request] {
    tools::check_tide(MPIX_Tide_wait_inputs(request.get()), "MPIX_Tide_wait_inputs");
  };
  return o;
}

}  // namespace perf
