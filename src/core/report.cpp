// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/report.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "backend/cuda/gpu.hpp"
#include "core/call.hpp"
#include "core/error.hpp"
#include "core/forced.hpp"
#include "core/group.hpp"
#include "core/machine_read.hpp"
#include "core/settings.hpp"
#include "mpix_tide.h"

namespace tide {
namespace {

using Json = nlohmann::ordered_json;

// Names and variables may hold any bytes; JSON is UTF-8.
std::string text(const Json& j) { return j.dump(2, ' ', false, Json::error_handler_t::replace); }

// Of tide_multicast, in plain words where it is not off.
Json multicast(const Group& group) {
  Json j{{"asked", group.settings().text("tide_multicast")}};
  const MulticastMode mode = group.multicast();
  j["state"] = mode == MulticastMode::nvlink     ? "on"
               : mode == MulticastMode::emulated ? "emulated"
                                                 : "off";
  if (j["asked"] != "off")
    j["note"] =
        "multicast and switch sums of this version have not run on hardware; emulate carries out "
        "their addressing and order without a switch";
  return j;
}

Json collective(Group& group, const Collective& c, bool reduce) {
  const Context& context = group.context();
  const Topology& t = context.topology();
  const Call& call = group.call();
  const std::string path = call.path(reduce);
  const bool staged = path == "host-staged" || path == "cuda-staged";
  const bool device = path.rfind("cuda", 0) == 0;
  const Plan& plan = staged ? c.plans->staged : c.plans->direct;
  Json j;
  j["path"] = call.calls(reduce) ? path : "host-direct";
  const Rail* own = context.device_workspaces() ? group.device_rail() : nullptr;
  const Rail* rail = device && own ? own : group.rail();
  j["rail"] = rail ? rail->name() : "none";
  if (rail && !rail->detail().empty()) j["rail_devices"] = rail->detail();
  if (own) j["rail_of_device_memory"] = own->name();
  j["why_not_better"] = Json::array();
  if (!group.why_not_better_rail().empty())
    j["why_not_better"].push_back(group.why_not_better_rail());
  if (!group.why_no_device_rail().empty())
    j["why_not_better"].push_back(group.why_no_device_rail());
  else if (group.device_rail() && !own)
    j["why_not_better"].push_back("rail of device memory: nccl was given up: " +
                                  context.why_no_nccl());
  if (!group.why_no_multicast().empty()) j["why_not_better"].push_back(group.why_no_multicast());
  if (path == "host-cma" || staged)
    j["why_not_better"].push_back(
        "memory that MPIX_Tide_alloc did not give is reached by cross-memory copies or staging");
  if (path == "host-staged")
    j["why_not_better"].push_back(
        context.remote_memory() ? "tide_foreign = staged"
                                : "process_vm_readv is not permitted between the ranks of a node");
  j["calls"] = call.calls(reduce);
  j["rounds"] = plan.rounds;
  j["chunks"] = plan.chunks;
  j["puts"] = plan.puts;
  j["rail_bytes"] = plan.put_bytes;
  j["copied_bytes"] = plan.copied_bytes;
  j["raw"] = plan.raw;
  j["workspace_bytes"] = reduce ? group.reduce_workspace_bytes() : group.gather_workspace_bytes();
  // At the most at once: sums, and landings between ranks that share a device, are kernels.
  const char* blocks = reduce ? "tide_sum_ctas" : "tide_landing_ctas";
  j["sm_blocks"] = device ? group.settings().bytes(blocks) : 0;
  if (const size_t cap = group.settings().bytes("tide_landing_bytes_per_s"); cap && !reduce) {
    if (device)
      j["landing_bytes_per_s"] = cap;
    else
      j["why_not_better"].push_back("tide_landing_bytes_per_s is for device memory");
  }
  j["reproducible"] = !reduce || !group.switch_adds();
  j["inputs_free_after"] = t.nodes() == 1                                    ? "call"
                           : plan.inputs == std::array<size_t, lane_count>{} ? "call"
                                                                             : "read phase";
  if (reduce) {
    j["workspace_min_bytes"] = group.reduce_workspace_min_bytes();
    j["order"] = group.settings().text("tide_order");
  }
  return j;
}

}  // namespace

std::string report_text(Group& group) {
  const Context& context = group.context();
  const Topology& t = context.topology();
  Json j;
  j["version"] = MPIX_TIDE_VERSION;
  j["group"] = group.number();
  j["parameters"] = group.params().size();
  j["full_bytes"] = group.full_bytes();
  j["shard_bytes"] = group.shard_bytes();
  j["topology"] = {{"ranks", t.ranks()},
                   {"nodes", t.nodes()},
                   {"local_size", t.size(context.node())},
                   {"node", context.node()},
                   {"local_rank", t.local(context.rank())},
                   {"uniform", t.uniform()},
                   {"rails", t.rails()}};
  j["remote_memory"] = context.remote_memory();
  j["isa"] = name(isa());
  j["multicast"] = multicast(group);
  j["allgather"] = collective(group, group.gather(), false);
  const Collective* reduce = nullptr;
  for (int out : {0, static_cast<int>(MPIX_TIDE_FP32), static_cast<int>(MPIX_TIDE_FP64)})
    if (!reduce && group.can_reduce(out)) reduce = &group.reduce(out);
  if (reduce)
    j["reduce_scatter"] = collective(group, *reduce, true);
  else
    j["reduce_scatter"] = {
        {"path", "none"},
        {"why_not_better", Json::array({"no output type fits every gradient of the list"})}};
  return text(j);
}

std::string config_text() {
  Json j;
  j["version"] = MPIX_TIDE_VERSION;
  j["backends"] = Json::array({"host"});
  if (const std::string gpu = gpu::built(); gpu != "none") j["backends"].push_back(gpu);
  j["rails"] = Json::array({"mpi"});
#if TIDE_HAVE_UCX
  j["rails"].push_back("ucx");
#endif
#if TIDE_HAVE_NCCL
  j["rails"].push_back("nccl");
#endif
  j["isa"] = name(isa());
#if TIDE_HAVE_MULTICAST
  j["multicast"] = "built, and not run on hardware";
#else
  j["multicast"] = "not built";
#endif
  j["hwloc"] = has_hwloc();
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(library, &length);
  std::string mpi = library;
  j["mpi"] = mpi.substr(0, mpi.find('\n'));
  j["mpi_built_with"] = TIDE_MPI_NAME;
  std::map<std::string, std::string> force;
  try {
    force = forced();
  } catch (const Error&) {  // told as the problem of TIDE_FORCE
  }
  j["environment"] = Json::array();
  for (const Setting& s : all_settings()) {
    const std::string name = variable(s.name);
    Json entry{{"name", name},
               {"default", s.fallback},
               {"values", s.values},
               {"meaning", s.meaning},
               {"value", environment_value(name.c_str())}};
    if (s.scope != Setting::environment) entry["info_key"] = s.name;
    if (const auto f = force.find(s.name); f != force.end()) entry["forced"] = f->second;
    if (const auto missing = missing_values(s); !missing.empty())
      entry["not_in_this_version"] = missing;
    if (const std::string problem = environment_problem(s); !problem.empty())
      entry["problem"] = problem;
    j["environment"].push_back(entry);
  }
  return text(j);
}

}  // namespace tide
