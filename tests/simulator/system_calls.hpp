// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// System calls that the library makes, caught by the linker (--wrap): so that waiting gives the
// turn away, that calls can be made to fail, and that what stays mapped is seen.
#pragma once
#include <cstddef>
#include <cstdint>

namespace simulator {

enum class Call { none, memfd_create, mmap, posix_fallocate };
struct Refusal {  // the nth call (from 1 on) of this rank fails, for lack of memory
  Call call = Call::none;
  int rank = 0;
  int nth = 0;
};
void set_refusal(const Refusal& refusal);
bool refused();  // it has happened

size_t mapped();         // shared mappings that live
void begin_addresses();  // a new run: what others left mapped goes

}  // namespace simulator
