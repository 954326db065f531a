// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "activity.hpp"

namespace tools {

/// CUPTI's activity records of this process: kernels (which stay concurrent), copies and memsets,
/// those inside of graphs one by one.  The library is loaded at run time.  One at a time in a
/// process, and no other profiler beside it.
class Cupti {
 public:
  /// Records from here on; best before the process has a context on the device.  `library`: its
  /// file, or empty: libcupti.so.  Throws std::runtime_error with the reason and the remedy.
  explicit Cupti(const std::string& library);
  ~Cupti();
  Cupti(const Cupti&) = delete;
  Cupti& operator=(const Cupti&) = delete;

  std::string version() const;  // "130001 of libcupti.so.13"

  /// What has been recorded since the last take().  The devices must have been synchronised: what
  /// is under way is not in it.  Throws std::runtime_error where CUPTI lost records or their times.
  std::vector<Activity> take();
  /// Forgets it, complete or not.
  void discard();

 private:
  struct Api;
  std::vector<Activity> flush();
  std::unique_ptr<const Api> api_;
  std::string file_;
  void* subscriber_ = nullptr;
};

}  // namespace tools
