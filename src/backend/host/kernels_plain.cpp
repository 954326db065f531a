// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/host/kernel_loops.hpp"

namespace tide {

const KernelTable plain_kernels = TIDE_KERNEL_TABLE(Isa::plain);

}  // namespace tide
