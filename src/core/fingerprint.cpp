// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/fingerprint.hpp"

#include <algorithm>

#include "core/dtype_name.hpp"
#include "core/group.hpp"

namespace tide {

constexpr size_t words_per_param = 5;

uint64_t hash_words(const uint64_t* words, size_t count, uint64_t seed) {
  uint64_t h = seed ^ 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i < count; i++) {  // a 64-bit mix (splitmix's finaliser) per word
    h ^= words[i];
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    h ^= h >> 31;
  }
  return h;
}

// Order: number of parameters, layout kind, settings, parameters, boundaries of a ragged layout.
Fingerprint::Fingerprint(const std::vector<Param>& params, bool ragged, const int64_t* first_row,
                         int ranks, const Settings& settings)
    : params_(params.size()), ranks_(ranks) {
  words_ = {params.size(), ragged};
  for (const Setting& s : all_settings()) {
    if (!s.same_on_all || s.scope == Setting::alloc) continue;
    const std::string& value = settings.text(s.name);
    setting_names_.push_back(s.name);
    setting_values_.push_back(value);
    uint64_t h = value.size();
    for (unsigned char c : value) {
      const uint64_t word = c;
      h = hash_words(&word, 1, h);
    }
    words_.push_back(h);
  }
  params_at_ = words_.size();
  for (const Param& p : params)
    words_.insert(words_.end(),
                  {static_cast<uint64_t>(p.shape.rows), static_cast<uint64_t>(p.shape.row_elems),
                   static_cast<uint64_t>(std::max<int64_t>(1, p.shape.block_rows)),
                   static_cast<uint64_t>(p.dtype), static_cast<uint64_t>(p.types)});
  if (ragged)
    for (size_t i = 0; i < params.size() * (static_cast<size_t>(ranks) + 1); i++)
      words_.push_back(static_cast<uint64_t>(first_row[i]));
}

std::string Fingerprint::field(size_t word) const {
  static const char* names[] = {"rows", "row_elems", "block_rows", "dtype", "types"};
  if (word == 0) return "nparams";
  if (word == 1) return "layout (0: chunk, 1: explicit)";
  if (word < params_at_) return setting_names_[word - 2];
  const size_t inside = word - params_at_;
  if (inside < params_ * words_per_param)
    return fmt::format("parameter {}: {}", inside / words_per_param,
                       names[inside % words_per_param]);
  const size_t at = inside - params_ * words_per_param, stride = static_cast<size_t>(ranks_) + 1;
  return fmt::format("parameter {}: first_row of rank {}", at / stride, at % stride);
}

// A value as the user wrote it: element types by name.
std::string Fingerprint::text(size_t word, uint64_t value) const {
  const size_t inside = word - params_at_;
  if (word >= params_at_ && inside < params_ * words_per_param) {
    if (inside % words_per_param == 3) return dtype_name(static_cast<int>(value));
    if (inside % words_per_param == 4) return types_name(static_cast<int>(value));
  }
  return fmt::format("{}", static_cast<int64_t>(value));
}

void Fingerprint::compare(Context& context) const {
  const uint64_t hash = hash_words(words_.data(), words_.size());
  int64_t least[2] = {static_cast<int64_t>(hash), ~static_cast<int64_t>(hash)};
  context.least(least, 2);
  if (least[0] == ~least[1]) return;

  // They differ: rank 0 tells its words, each rank looks for the first that is not its own.
  const int me = context.comm_rank();
  uint64_t count = words_.size();
  context.broadcast(&count, sizeof count, 0);
  std::vector<uint64_t> theirs;
  context.together([&] { theirs.assign(words_.begin(), words_.end()), theirs.resize(count); });
  context.broadcast(theirs.data(), count * sizeof theirs[0], 0);
  std::string values;  // of the settings: what is hashed has no other text
  for (const auto& v : setting_values_) values += v + '\n';
  uint64_t length = values.size();
  context.broadcast(&length, sizeof length, 0);
  context.together([&] { values.resize(length); });
  context.broadcast(values.data(), length, 0);

  std::optional<Error> difference;
  size_t word = 0;
  while (word < std::min(words_.size(), theirs.size()) && words_[word] == theirs[word]) word++;
  if (word < std::max(words_.size(), theirs.size())) {
    std::string own = word < words_.size() ? text(word, words_[word]) : "nothing",
                zero = word < theirs.size() ? text(word, theirs[word]) : "nothing";
    if (word >= 2 && word < params_at_) {
      own = setting_values_[word - 2];
      size_t at = 0;
      for (size_t k = 2; k < word; k++) at = values.find('\n', at) + 1;
      zero = values.substr(at, values.find('\n', at) - at);
    }
    difference = Error(
        Kind::mismatch,
        "rank {}: {} is {} but rank 0 has {}; pass the same list, layout and info on all ranks", me,
        field(word), own, zero);
  }
  context.agree(difference);
  throw Error(Kind::intern, "fingerprints differ but no field does; report this");
}

}  // namespace tide
