// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a communicator that share this rank's host.  Collective.
#pragma once
#include <mpi.h>

namespace perf {

struct Host {
  int place = 0;  // of this rank among them
  int ranks = 0;
};

inline Host host_of(MPI_Comm comm) {
  MPI_Comm host = MPI_COMM_NULL;
  Host result;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &result.place);
  MPI_Comm_size(host, &result.ranks);
  MPI_Comm_free(&host);
  return result;
}

}  // namespace perf
