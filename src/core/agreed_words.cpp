// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/agreed_words.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/fingerprint.hpp"

namespace tide {

void compare(Context& context, const AgreedWords& mine, const char* remedy) {
  struct Digest {
    uint64_t count, hash;
  };
  const size_t count = mine.value.size();
  const Digest digest{count,
                      hash_words(reinterpret_cast<const uint64_t*>(mine.value.data()), count, 0)};
  const std::vector<Digest> all = context.gather_all(digest);
  if (std::all_of(all.begin(), all.end(), [&](const Digest& d) {
        return d.count == all[0].count && d.hash == all[0].hash;
      }))
    return;
  std::vector<int64_t> first(all[0].count);
  if (context.comm_rank() == 0) first = mine.value;
  context.broadcast(first.data(), first.size() * sizeof(int64_t), 0);
  context.together([&] {
    for (size_t i = 0; i < std::min(count, first.size()); i++)
      if (mine.value[i] != first[i])
        throw Error(Kind::mismatch, "rank {}: {} is {} but {} on rank 0; {}", context.comm_rank(),
                    mine.name[i], mine.value[i], first[i], remedy);
  });
}

}  // namespace tide
