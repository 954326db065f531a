// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A plan's copies and sums with their addresses, as a device takes them: copies for the copy
// engines, programs for the kernels.  Made once for a set of addresses, then run as often as the
// addresses stay.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/gpu.hpp"
#include "backend/cuda/sum_parts.hpp"

namespace tide::gpu {

// Elements of another type than they are gathered in: rounded here, once, then copied to others.
struct Rounding {
  std::shared_ptr<Program> landing, spread;  // spread may be null
};

// One operation.  Copies, and beside them what needs a kernel.
struct Lowered {
  std::shared_ptr<Program> copies, landing;
  std::vector<Rounding> roundings;                    // while one is copied the next is rounded
  std::vector<std::shared_ptr<Program>> zeros, sums;  // zeros: plain, without the call's arithmetic
  size_t stored_bytes = 0;                            // by a copy, in all its places
};

struct Binding {
  const Plan* plan = nullptr;
  std::vector<const void*> addresses;  // all that it was made of
  // By operation: its parts, none where it moves nothing.  One, but for copies under a cap.
  std::array<std::vector<std::vector<Lowered>>, lane_count> lanes;
  bool kernels_land = false;  // some landing is a kernel's
};

// All addresses that the call's operations may use.
std::vector<const void*> addresses_of(const Work& work);
// part: of the operation's interval.
Lowered lower(const Work& work, int me, const Copy& op, const Interval& part, int device,
              Stream& stream);

// --- lower_sums.cpp ---
Lowered lower(const Work& work, const Sum& op, Stream& stream);

// --- lower_multicast.cpp ---
// Copies as copy engines take them: to multicast addresses only what may go there, and none of the
// emulated ones.
std::vector<CopyCall> carried(const std::vector<CopyCall>& copies);
// A piece of a sum over the local ranks: what a switch adds of it (rows: one address), and the
// rest.
void cut_by_switch(const Work& work, const Sum& op, const Piece& piece, const Summing& whole,
                   SumParts& into);

}  // namespace tide::gpu
