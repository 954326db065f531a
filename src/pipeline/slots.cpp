// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "pipeline/residency.hpp"

namespace tide {
namespace {

enum class Turns { rotate, time, size };

struct Shelf {  // a slot in the making
  Slot slot;
  std::vector<int> users;
};

bool conflict(const Residency& a, const Residency& b) {
  if (a.from > b.from) return conflict(b, a);
  return b.from < (b.grads ? a.to_grads : a.to_params);
}

bool fits(const std::vector<Residency>& all, const Shelf& shelf, const Residency& r,
          const SlotRules& rules) {
  if (!rules.one_pool && (r.grads ? shelf.slot.params : shelf.slot.grads)) return false;
  return std::none_of(shelf.users.begin(), shelf.users.end(),
                      [&](int user) { return conflict(all[static_cast<size_t>(user)], r); });
}

// In rotation parameters rather go where gradients are being read, and leave what is free at once
// to gradients.  Else the slot that grows least, then the one that wastes least.
auto cost(const std::vector<Residency>& all, const Shelf& shelf, const Residency& r, Turns order) {
  const bool read = all[static_cast<size_t>(shelf.users.back())].grads;
  const int64_t more = r.bytes - shelf.slot.bytes;
  return std::make_tuple(order == Turns::rotate && read == r.grads, std::max<int64_t>(0, more),
                         std::max<int64_t>(0, -more));
}

std::vector<Shelf> fill(const std::vector<Residency>& all, const SlotRules& rules, Turns order) {
  std::vector<int> turn(all.size());
  std::iota(turn.begin(), turn.end(), 0);
  const auto key = [&](int i) {
    const Residency& r = all[static_cast<size_t>(i)];
    return std::make_tuple(order == Turns::size ? -r.bytes : 0, r.from, r.first, r.grads, i);
  };
  std::sort(turn.begin(), turn.end(), [&](int a, int b) { return key(a) < key(b); });
  std::vector<Shelf> shelves;
  for (const int i : turn) {
    const Residency& r = all[static_cast<size_t>(i)];
    Shelf* best = nullptr;
    for (Shelf& shelf : shelves)
      if (fits(all, shelf, r, rules) &&
          (!best || cost(all, shelf, r, order) < cost(all, *best, r, order)))
        best = &shelf;
    if (!best) best = &shelves.emplace_back();
    best->users.push_back(i);
    best->slot.bytes = std::max(best->slot.bytes, r.bytes);
    (r.grads ? best->slot.grads : best->slot.params) = true;
  }
  return shelves;
}

int64_t bytes_of(const std::vector<Shelf>& shelves) {
  int64_t bytes = 0;
  for (const Shelf& shelf : shelves) bytes += shelf.slot.bytes;
  return bytes;
}

}  // namespace

std::vector<Slot> assign_slots(std::vector<Residency>& all, const SlotRules& rules) {
  std::vector<Shelf> best = fill(all, rules, Turns::rotate);
  for (const Turns order : {Turns::time, Turns::size})
    if (auto other = fill(all, rules, order); bytes_of(other) < bytes_of(best))
      best = std::move(other);
  std::vector<Slot> slots;
  for (const Shelf& shelf : best) {
    for (const int user : shelf.users)
      all[static_cast<size_t>(user)].slot = static_cast<int>(slots.size());
    slots.push_back(shelf.slot);
  }
  return slots;
}

}  // namespace tide
