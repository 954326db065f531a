// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Included in front of every file of the library: a processor's pause in a spin gives the turn
// away.
#pragma once
#if defined(__x86_64__)
#include <immintrin.h>
void simulated_pause();
#define __builtin_ia32_pause() simulated_pause()
#endif
