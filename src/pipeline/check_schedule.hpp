// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Proof of a schedule: goes through the calls of several micro-batches with the slowest peers that
// are possible.  A gather writes its slot from its start until it is waited for; a reduction reads
// from its start until somebody waited for its reads.  Rules between collectives:
//   - no slot is rewritten while a peer may read it, nor given up before its reads are over
//   - no gather into storage that is live: parameters, gradients, another gather
//   - a group has one active operation, and what a gather waits for was started before it
//   - every visit has its parameters, complete; every gradient is cleared once, has every visit's
//     contribution and is reduced once; nothing is active after finish
// Throws std::runtime_error on a defect.
#pragma once
#include "pipeline/schedule.hpp"

namespace tide {

// no_sync: of each micro-batch, whether it only accumulates (needs shape.accumulate).
void check_schedule(const PipelineShape& shape, const Schedule& schedule,
                    const std::vector<bool>& no_sync = {false, false});

}  // namespace tide
