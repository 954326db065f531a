// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The memory that the checker works on: per buffer, byte ranges that were written by one operation.
// Its size depends on the number of operations, not on the number of bytes.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tide::proof {

struct Value {              // of the first byte of a range; the next byte stands one place further
  uint64_t expression = 0;  // 0: never written, or garbage
  int rank = -1;            // whose packed shard
  size_t place = 0;         // packed byte
};
struct Run {
  size_t bytes;
  Value value;
};
struct Epoch {  // `time` of clock component `part`
  uint32_t part = 0, time = 0;
};
struct Range {
  size_t begin = 0;
  Value value = {};
  Epoch written = {};  // time 0: by nobody
  int writes = 0;
  std::vector<Epoch> reads = {};
};

class Memory {
 public:
  explicit Memory(size_t bytes = 0) : bytes_(bytes) {}
  size_t bytes() const { return bytes_; }
  void reset(Value value) {
    ranges_.clear();
    ranges_.push_back({0, value});
  }
  // f(Range&) for each range of [begin, end), cut so that it lies inside.  The caller has checked
  // the bounds.
  template <class F>
  void each(size_t begin, size_t end, F&& f) {
    if (begin >= end) return;
    size_t i = cut(begin);
    const size_t last = end < bytes_ ? cut(end) : ranges_.size();
    for (; i < last; i++)
      f(ranges_[i], (i + 1 < ranges_.size() ? ranges_[i + 1].begin : bytes_) - ranges_[i].begin);
  }
  void load(size_t begin, size_t end, std::vector<Run>& runs) {  // leaves the ranges as they are
    if (begin >= end) return;
    for (size_t i = find(begin), at = begin; at < end; i++) {
      const size_t stop = std::min(end, i + 1 < ranges_.size() ? ranges_[i + 1].begin : bytes_);
      append(runs, {stop - at, shifted(ranges_[i].value, at - ranges_[i].begin)});
      at = stop;
    }
  }
  // Replaces [begin, end) by one range.
  Range& store(size_t begin, size_t end) {
    const size_t i = cut(begin), last = end < bytes_ ? cut(end) : ranges_.size();
    ranges_.erase(ranges_.begin() + i + 1, ranges_.begin() + last);
    return ranges_[i];
  }
  static Value shifted(Value v, size_t by) {
    if (v.rank >= 0) v.place += by;
    return v;
  }
  static void append(std::vector<Run>& runs, Run next) {
    if (!runs.empty()) {
      Run& last = runs.back();
      const Value v = shifted(last.value, last.bytes);
      if (v.expression == next.value.expression && v.rank == next.value.rank &&
          v.place == next.value.place) {
        last.bytes += next.bytes;
        return;
      }
    }
    runs.push_back(next);
  }

 private:
  size_t find(size_t at) {
    if (ranges_.empty()) ranges_.push_back({});
    size_t low = 0, high = ranges_.size();
    while (high - low > 1) (ranges_[(low + high) / 2].begin <= at ? low : high) = (low + high) / 2;
    return low;
  }
  size_t cut(size_t at) {
    const size_t i = find(at);
    if (ranges_[i].begin == at) return i;
    Range right = ranges_[i];
    right.value = shifted(right.value, at - right.begin);
    right.begin = at;
    ranges_.insert(ranges_.begin() + i + 1, std::move(right));
    return i + 1;
  }
  size_t bytes_;
  std::vector<Range> ranges_;
};

}  // namespace tide::proof
