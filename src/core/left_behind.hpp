// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Memory that is never freed, where MPI or a rank that goes on may still write after a communicator
// was given up.  It hangs on one list, so that a leak detector knows it from what was lost.
#pragma once
#include <memory>
#include <type_traits>
#include <utility>

namespace tide {

void never_free(std::shared_ptr<const void> memory);

// A value, moved to where it stays.
template <class T>
void never_free_value(T&& value) {
  never_free(std::make_shared<std::remove_reference_t<T>>(std::forward<T>(value)));
}

}  // namespace tide
