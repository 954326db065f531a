// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A harness takes its values from the bytes of an input; where these end, all is zero.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes);

namespace fuzz {

class Input {
 public:
  Input(const uint8_t* data, size_t bytes) : left_(data, bytes) {}
  size_t left() const { return left_.size(); }
  template <class T>
  T take() {
    T value{};
    copy(&value, sizeof value);
    return value;
  }
  // 0 ... most
  size_t below(size_t most) { return take<uint8_t>() % (most + 1); }
  void copy(void* to, size_t bytes) {
    const size_t part = std::min(bytes, left_.size());
    if (part) std::memcpy(to, left_.data(), part);
    left_ = left_.subspan(part);
  }
  // The bytes up to `end`, which is dropped, or all that is left.
  std::string text(char end) {
    const auto at = std::find(left_.begin(), left_.end(), static_cast<uint8_t>(end));
    std::string result(left_.begin(), at);
    left_ = left_.subspan(std::min(result.size() + 1, left_.size()));
    return result;
  }
  std::string rest() {
    std::string result(left_.begin(), left_.end());
    left_ = {};
    return result;
  }
  // A count that is often near a border: one byte says how, up to eight follow.
  int64_t count() {
    const uint8_t how = take<uint8_t>();
    if (how < 0xC0) return how & 0x3F;
    const auto value = take<int64_t>();
    const int64_t border = int64_t{1} << (value & 63);
    if (how < 0xE0) return value;
    return static_cast<int64_t>(static_cast<uint64_t>(border) + (how & 3) - 2);
  }

 private:
  std::span<const uint8_t> left_;
};

// What must hold of the library, whatever it was given.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace fuzz
