// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a test hands to an emulated device as the user's stream, and a graph that it captures.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace tide::gpu {

struct EmulatedGraph {
  std::vector<std::function<void()>> work;
  std::vector<std::shared_ptr<void>> kept;
};

struct EmulatedStream {  // runs what it is given, one after the other, on a thread of the test's
  std::function<void(std::function<void()>)> submit;
  EmulatedGraph* capture = nullptr;  // then `submit` gives it the work
};

// What Stream::native() gives: work that a library issues is asked whether it is done, and asked
// again.
struct EmulatedQueue {
  std::function<void(std::function<bool()>)> submit;
};

#if TIDE_HAVE_MULTICAST
// What a switch reaches behind an address of a multicast object; empty: it is none.  Error{device}
// where these bytes are not what hardware takes.
std::vector<char*> behind_switch(const void* at, size_t bytes);
#endif

}  // namespace tide::gpu
