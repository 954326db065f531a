// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <mpix_tide.h>

#include <CLI/CLI.hpp>

namespace info {
namespace {

const char* const description =
    "tide-info: how the library sees this job, which paths its calls take here and why, how it\n"
    "was built, and the variables that change it.  Under mpirun it describes the ranks of the job.";

const char* const footer =
    "Without a section all but --env are shown.\n"
    "\n"
    "Examples:\n"
    "  tide-info --env                               every TIDE_ variable with its value\n"
    "  mpirun -n 8 tide-info                         nodes, rails, paths, configuration\n"
    "  mpirun -n 8 tide-info --paths                 only the paths, and why no better one\n"
    "  TIDE_FAKE_NODES=0,0,1,1 mpirun -n 4 tide-info --topology\n"
    "  mpirun -n 8 tide-info --rails                 which NIC each local rank uses, and why\n"
    "  tide-info --machine node.xml --ranks 8        the same without a job, after lstopo "
    "node.xml\n"
    "  mpirun -n 8 tide-info --json > job.json";

}  // namespace

tools::Parsed parse_options(int argc, char** argv, Options& o) {
  CLI::App app{description, "tide-info"};
  app.footer(footer);
  app.set_version_flag("--version", "tide-info " MPIX_TIDE_VERSION);
  app.add_flag("-t,--topology", o.topology, "the nodes, their ranks and the rails between them");
  app.add_flag("-p,--paths", o.paths, "the paths that calls on a small list take, and why");
  app.add_flag("-r,--rails", o.rails, "the NIC of each rail, and why; TIDE_RAIL_DEVICES wins");
  app.add_option("--machine", o.rail.machine,
                 "rails on the machine of this file, which lstopo wrote; no job is looked at")
      ->type_name("FILE");
  app.add_option("--ranks", o.rail.ranks,
                 "rails of so many ranks on one node (default: one for each GPU or NUMA node)")
      ->check(CLI::Range(1, 4096));
  app.add_option(
         "--near", o.rail.near,
         "rails of ranks that use GPU 0, 1, ..., or are spread over the NUMA nodes, or are\n"
         "not bound: gpu, numa or nothing (default: gpu where there are some, else numa)")
      ->check(CLI::IsMember({"gpu", "numa", "nothing"}));
  app.add_option("--devices", o.rail.devices, "NICs for each rail (default 1)")
      ->check(CLI::Range(1, 4));
  app.add_flag("--engines", o.engines,
               "which engine carries out each form of copy on this GPU: a probe of a second, and\n"
               "what CUPTI records of them (TIDE_CUPTI_LIBRARY, else libcupti.so)");
  app.add_flag("-c,--config", o.config, "how the library was built");
  app.add_flag("-e,--env", o.environment,
               "every TIDE_ variable: its meaning, its default and its current value");
  app.add_flag("--json", o.json, "print one JSON object instead");
  return tools::parse(app, argc, argv, [&o] {
    const bool other = o.topology || o.paths || o.config || o.environment;
    if (o.engines && (other || o.rails || o.rail.supposed()))
      return std::string("--engines is a probe of its own: ask for it alone");
    if (o.engines) return std::string();
    if (o.rail.supposed() && other)
      return std::string("--machine, --ranks and --near suppose ranks: ask for --rails alone");
    if (o.rail.supposed() || (o.rail.devices != 1 && !other)) o.rails = true;
    if (!other && !o.rails) {
      o.topology = o.paths = o.rails = o.config = true;
      o.environment = o.json;
    }
    return std::string();
  });
}

}  // namespace info
