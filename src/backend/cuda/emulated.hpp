// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a test hands to an emulated device as the user's stream.
#pragma once
#include <functional>

namespace tide::gpu {

struct EmulatedStream {  // runs what it is given, one after the other, on a thread of the test's
  std::function<void(std::function<void()>)> submit;
};

// What Stream::native() gives: work that a library issues is asked whether it is done, and asked
// again.
struct EmulatedQueue {
  std::function<void(std::function<bool()>)> submit;
};

}  // namespace tide::gpu
