// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "world.hpp"

namespace simulator {

struct Collective {
  enum class Kind {
    barrier,
    broadcast,
    gather,
    all_gather,
    all_to_all,
    reduce,
    all_reduce,
    duplicate,
    split
  };
  Kind kind{};
  int root = 0, op = 0;
  std::vector<bool> arrived;
  std::vector<std::vector<unsigned char>> data;  // of each rank
  size_t count = 0, left = 0;                    // ranks that came, and that completed
  std::vector<std::shared_ptr<Channel>> made;    // communicators, one for each color
  bool enough_for(int rank) const;
};

struct Part {  // what a rank brings
  Collective::Kind kind;
  int root, op;
  const void* from;
  size_t bytes;
};

// Takes part; finish runs when the rank's part is complete, with everything that it needs there.
MPI_Request begin(MPI_Comm comm, const Part& part, std::function<void(const Collective&)> finish);

}  // namespace simulator
