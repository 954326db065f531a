// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace tide_test {

// Collective.  What is wrong where the ranks of MPI_COMM_WORLD, host by host, do not live on hosts
// of so many ranks ("2,2,1") by name and in Tide's own topology; "" where they do.
std::string wrong_hosts(const char* counts);

}  // namespace tide_test
