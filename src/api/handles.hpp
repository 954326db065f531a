// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The handles that live: a copy of a freed one must not be followed, so a handle is a name that is
// looked up.
#pragma once
#include <memory>
#include <mutex>
#include <unordered_map>

namespace tide {

template <class Handle, class T>  // Handle: pointer to an empty struct
class Handles {
 public:
  Handle add(std::shared_ptr<T> object) {
    Handle handle = new std::remove_pointer_t<Handle>;
    const std::lock_guard lock(mutex_);
    live_[handle] = std::move(object);
    return handle;
  }
  std::shared_ptr<T> find(Handle handle) const {  // null: not a live one
    const std::lock_guard lock(mutex_);
    const auto at = live_.find(handle);
    return at == live_.end() ? nullptr : at->second;
  }
  template <class Look>
  void each(const Look& look) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [handle, object] : live_) look(object);
  }
  bool remove(Handle handle) {
    std::shared_ptr<T> last;  // let go outside of the lock
    const std::lock_guard lock(mutex_);
    const auto at = live_.find(handle);
    if (at == live_.end()) return false;
    last = std::move(at->second);
    live_.erase(at);
    delete handle;
    return true;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Handle, std::shared_ptr<T>> live_;
};

}  // namespace tide
