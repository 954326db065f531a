// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What must be equal on all ranks when a group is made, as numbers in a fixed order, so that the
// first difference has a name.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/context.hpp"
#include "core/settings.hpp"

namespace tide {

struct Param;

uint64_t hash_words(const uint64_t* words, size_t count, uint64_t seed = 0);

class Fingerprint {
 public:
  Fingerprint(const std::vector<Param>& params, bool ragged, const int64_t* first_row, int ranks,
              const Settings& settings);
  // Collective.  Error{mismatch} on every rank, naming the first rank that differs from rank 0,
  // parameter, field and values.
  void compare(Context& context) const;

 private:
  std::string field(size_t word) const;
  std::string text(size_t word, uint64_t value) const;  // of a value in that field
  size_t params_at_ = 0, params_ = 0;
  int ranks_ = 0;
  std::vector<uint64_t> words_;
  std::vector<std::string> setting_names_, setting_values_;
};

}  // namespace tide
