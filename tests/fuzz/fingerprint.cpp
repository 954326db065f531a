// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The description of a group as rank 0 tells it: words and texts of any content.  The other rank
// names the first word that differs.
#include <mpi.h>

#include <vector>

#include "core/context.hpp"
#include "core/fingerprint.hpp"
#include "core/group.hpp"
#include "mpix_tide.h"
#include "simulated.hpp"

using namespace fuzz;
using namespace tide;

namespace {

struct Description {
  std::vector<Param> params;
  std::vector<int64_t> first_row;
  bool ragged = false;
};

Description description_from(Input& in) {
  Description d;
  d.ragged = in.take<uint8_t>() & 1;
  for (size_t p = in.below(3); p > 0; p--) {
    Param param;
    param.shape = {static_cast<int64_t>(in.below(9)), 3, 1};
    param.dtype = MPIX_TIDE_BF16;
    d.params.push_back(param);
    for (const int64_t row : {int64_t{0}, param.shape.rows, param.shape.rows})
      d.first_row.push_back(row);
  }
  return d;
}

// In the order of Fingerprint's constructor.
std::vector<uint64_t> words_of(const Description& d, std::string& values) {
  std::vector<uint64_t> words{d.params.size(), d.ragged};
  for (const Setting& s : all_settings()) {
    if (!s.same_on_all || s.scope == Setting::alloc) continue;
    const std::string value = s.fallback;
    values += value + '\n';
    uint64_t hash = value.size();
    for (const unsigned char c : value) {
      const uint64_t word = c;
      hash = hash_words(&word, 1, hash);
    }
    words.push_back(hash);
  }
  for (const Param& p : d.params)
    for (const int64_t word :
         {p.shape.rows, p.shape.row_elems, int64_t{1}, int64_t{p.dtype}, int64_t{p.types}})
      words.push_back(static_cast<uint64_t>(word));
  if (d.ragged) words.insert(words.end(), d.first_row.begin(), d.first_row.end());
  return words;
}

// True if it told other words than the description's.
bool tell(Context& context, Input& in, const Description& d) {
  std::string values;
  std::vector<uint64_t> words = words_of(d, values);
  for (size_t k = in.below(4); k > 0; k--)
    words[in.take<uint8_t>() % words.size()] = static_cast<uint64_t>(in.count());
  const auto how = in.take<uint8_t>();
  if (how & 1) words.resize(in.take<uint8_t>());
  if (how & 2) values = in.rest();
  std::string own_values;
  const bool other = words != words_of(d, own_values);
  int64_t least[2] = {1, 1};  // no hash: the others see a difference
  context.least(least, 2);
  uint64_t count = words.size();
  uint64_t length = values.size();
  try {
    context.broadcast(&count, sizeof count, 0);
    context.agree({});
    context.broadcast(words.data(), count * sizeof words[0], 0);
    context.broadcast(&length, sizeof length, 0);
    context.agree({});
    context.broadcast(values.data(), length, 0);
    context.agree({});
  } catch (const Error&) {  // the other's
  }
  return other;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  Input in(data, bytes);
  const Description d = description_from(in);
  bool other = false;
  Kind told = Kind::none;
  run_ranks(2, [&](int r) {
    const auto context = Context::of(MPI_COMM_WORLD, 0);
    const Context::Setup setup(*context, 0, SetupCall::group_create);
    if (r == 0) {
      other = tell(*context, in, d);
      return;
    }
    const Fingerprint mine(d.params, d.ragged, d.first_row.data(), 2,
                           Settings::read(MPI_INFO_NULL, Setting::group));
    try {
      mine.compare(*context);
      require(false, "a difference is told");
    } catch (const Error& error) {
      told = error.kind();
      require(*error.what(), "in words");
    }
  });
  // Rank 0 gives no hash of its words: where they are equal after all, that is told, too.
  require(told == (other ? Kind::mismatch : Kind::intern), "a word that differs, and only that");
  return 0;
}
