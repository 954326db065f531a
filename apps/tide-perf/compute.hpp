// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

// What a program computes while its communication is in progress, in slices of equal work.
namespace perf {

class Compute {
 public:
  enum class Kind {
    cache,  // multiply-adds on 16 KiB: leaves the memory to the operation
    stream  // a triad over 48 MiB: competes with the operation for the memory
  };
  Compute(Kind kind, double slice_us);
  const std::string& name() const { return name_; }

  void slice();

  /// The number of slices that takes about `seconds` while all ranks compute.  Collective, and the
  /// same on all ranks.
  int slices_for(MPI_Comm comm, double seconds);

 private:
  void unit();
  Kind kind_;
  std::string name_;
  std::shared_ptr<float[]> data_;
  std::size_t at_ = 0;
  int units_per_slice_ = 1;
};

}  // namespace perf
