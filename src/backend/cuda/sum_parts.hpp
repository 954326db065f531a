// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A sum's pieces, cut into what each kernel takes.  Addresses alone: nothing of a device is asked.
#pragma once
#include <vector>

#include "backend/cuda/gpu.hpp"

namespace tide::gpu {

struct SumParts {
  std::vector<Summing> pieces, by_rings, by_switch;
};

// Elements [begin, end).
Summing part(const Summing& whole, size_t begin, size_t end);

// What the copy unit brings of a piece whose rows are in one group and in device memory, and the
// rest: rows that are there, whole vectors of 16 bytes, stores to places as aligned.
void cut_by_rings(const Summing& whole, SumParts& into);

}  // namespace tide::gpu
