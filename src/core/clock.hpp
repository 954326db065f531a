// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tide {

double now_s();  // monotone, seconds; the simulator of the tests puts its own in this place

}  // namespace tide
