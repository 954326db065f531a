// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A build without hwloc knows of no devices.
#include "core/error.hpp"
#include "core/machine_read.hpp"

namespace tide {

bool has_hwloc() { return false; }

Machine read_machine(const std::string& xml, const std::string& named_by) {
  if (!xml.empty())
    throw Error(Kind::unsupported,
                "{}: this build has no hwloc and cannot read '{}'; configure Tide with "
                "-DTIDE_WITH_HWLOC=ON, or leave {} out",
                named_by, xml, named_by);
  Machine machine;
  machine.live = true;
  machine.nothing_known = "this build has no hwloc (TIDE_WITH_HWLOC)";
  return machine;
}

}  // namespace tide
