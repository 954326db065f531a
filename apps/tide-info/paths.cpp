// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <mpix_tide.h>

#include <array>
#include <vector>

#include "agreement.hpp"
#include "query.hpp"
#include "sections.hpp"

// The library decides most of its paths from the topology, some from the memory that a call is
// given: so one call of each collective is made on either kind of memory.
namespace info {
namespace {

using nlohmann::json;

// Uneven on purpose, and a row vector.
constexpr int nparams = 3;
constexpr std::array<MPIX_Tide_param, nparams> params{{{1024, 128, 0, MPIX_TIDE_BF16, 0},
                                                       {250, 1, 0, MPIX_TIDE_BF16, 0},
                                                       {7, 33, 0, MPIX_TIDE_BF16, 0}}};
constexpr std::array<const char*, nparams> names{"matrix", "vector", "uneven"};

using Pointers = std::array<void*, nparams>;

// Every piece has room for a whole parameter in fp32: simple, and the list is small.
struct Private {
  std::vector<std::vector<char>> pieces;
  Pointers pointers{};

  Private() {
    for (std::size_t p = 0; p < nparams; ++p) {
      pieces.emplace_back(static_cast<std::size_t>(params[p].rows * params[p].row_elems) * 4);
      pointers[p] = pieces.back().data();
    }
  }
};

std::string run_calls(MPIX_Tide_group group, const Pointers& shards, Pointers full,
                      const Pointers& grads, Pointers sums) {
  const std::string problem =
      tools::tide_problem(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards.data()), full.data(), group),
                          "MPIX_Tide_allgather");
  if (!problem.empty()) return problem;
  return tools::tide_problem(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads.data()), sums.data(),
                                                      MPIX_TIDE_FP32, MPIX_TIDE_SUM, 1.0, group),
                             "MPIX_Tide_reduce_scatter");
}

MPIX_Tide_group make_group(MPI_Comm comm) {
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  const int code = MPIX_Tide_group_create(comm, nparams, params.data(), MPI_INFO_NULL, &group);
  tools::agree(comm, tools::tide_problem(code, "MPIX_Tide_group_create"));
  tools::check_tide(MPIX_Tide_group_set_names(group, nullptr, names.data()),
                    "MPIX_Tide_group_set_names");
  return group;
}

json report_with_tide_memory(MPI_Comm comm) {
  MPIX_Tide_group group = make_group(comm);
  struct Part {
    int what, dtype;
    Pointers pointers{};
    void* base = nullptr;
  };
  std::array<Part, 4> parts{{{MPIX_TIDE_SHARD, 0},
                             {MPIX_TIDE_FULL, 0},
                             {MPIX_TIDE_GRAD, 0},
                             {MPIX_TIDE_SHARD, MPIX_TIDE_FP32}}};
  for (Part& part : parts) {
    const int code = MPIX_Tide_group_alloc(group, part.what, part.dtype, MPI_INFO_NULL,
                                           part.pointers.data(), &part.base);
    tools::agree(comm, tools::tide_problem(code, "MPIX_Tide_group_alloc"));
  }
  tools::agree(comm, run_calls(group, parts[0].pointers, parts[1].pointers, parts[2].pointers,
                               parts[3].pointers));
  json report = tools::read_group_report(group);
  for (const Part& part : parts)
    if (part.base != nullptr) MPIX_Tide_free(MPI_COMM_NULL, part.base);
  MPIX_Tide_group_free(&group);
  return report;
}

json report_with_malloc_memory(MPI_Comm comm) {
  MPIX_Tide_group group = make_group(comm);
  const Private shards, full, grads, sums;
  tools::agree(comm,
               run_calls(group, shards.pointers, full.pointers, grads.pointers, sums.pointers));
  json report = tools::read_group_report(group);
  MPIX_Tide_group_free(&group);
  return report;
}

}  // namespace

json paths_section(MPI_Comm comm) {
  json tide = report_with_tide_memory(comm);
  return {{"tide memory", std::move(tide)}, {"malloc memory", report_with_malloc_memory(comm)}};
}

std::string paths_text(const json& paths) {
  // What other sections tell, and what differs between any two groups, only gets in the way.
  const auto essence = [](json report) {
    for (const char* key : {"topology", "version", "group", "parameters"})
      if (report.is_object()) report.erase(key);
    return report;
  };
  const json tide = essence(paths["tide memory"]), other = essence(paths["malloc memory"]);
  if (tide == other) return "Paths, any memory\n" + outline(tide, 2);
  return "Paths, memory of MPIX_Tide_alloc\n" + outline(tide, 2) + "\nPaths, other memory\n" +
         outline(other, 2);
}

}  // namespace info
