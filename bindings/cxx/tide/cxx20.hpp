// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Included first by every header of tide::cxx.
#pragma once
#if __cplusplus < 202002L
#error "tide/*.hpp need C++20: compile with -std=c++20 (CMake: link tide::cxx), or use mpix_tide.h"
#endif
