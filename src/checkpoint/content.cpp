// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/content.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "core/fingerprint.hpp"
#include "mpix_tide.h"

namespace tide {
namespace {

const char* spelled(Dtype dtype) {
  switch (dtype) {
    case Dtype::bf16:
      return "BF16";
    case Dtype::fp16:
      return "F16";
    case Dtype::fp32:
      return "F32";
    case Dtype::fp64:
      return "F64";
    default:
      return "U8";
  }
}

uint64_t hash_text(const std::string& text, uint64_t seed = 0) {
  for (unsigned char c : text) {
    const uint64_t word = c;
    seed = hash_words(&word, 1, seed);
  }
  return hash_words(&seed, 1, text.size());
}

bool left_out(const Item& item, const Param& param) { return !item.kind.empty() && param.frozen; }

int64_t elems_here(const Group& group, size_t p) {
  return group.rows_of(static_cast<int>(p), group.context().comm_rank()) *
         group.params()[p].shape.row_elems;
}

std::string words(size_t i, const Item& item) {
  return fmt::format("item {} (kind \"{}\")", i, item.kind);
}

// Everything of an item that ranks must have in common: kind, types, names, rows of all ranks.
uint64_t hash_item(const Item& item) {
  uint64_t h = hash_text(item.kind);
  const Group& g = *item.group;
  std::vector<uint64_t> words{g.params().size(), static_cast<uint64_t>(item.dtype)};
  const int ranks = g.context().topology().ranks();
  for (size_t p = 0; p < g.params().size(); p++) {
    const Param& param = g.params()[p];
    words.insert(words.end(), {hash_text(g.param_name(static_cast<int64_t>(p))),
                               static_cast<uint64_t>(param.shape.row_elems),
                               static_cast<uint64_t>(param.shard), param.frozen});
    for (int r = 0; r <= ranks; r++)
      words.push_back(static_cast<uint64_t>(g.rows().first(static_cast<int>(p), r)));
  }
  return hash_words(words.data(), words.size(), h);
}

}  // namespace

Content::Content(Context& context, const CheckpointArguments& a) : arguments_(a) {
  context.together([&] {
    if (a.wrong) throw *a.wrong;
    describe();
  });
  check_alike(context);
  find_holders(context);
}

// The tensors, as this rank's arguments have them.
void Content::describe() {
  std::vector<TensorEntry> found;
  std::vector<Place> places;
  std::unordered_set<std::string> names;
  for (size_t i = 0; i < arguments_.items.size(); i++) {
    const Item& item = arguments_.items[i];
    const Group& group = *item.group;
    for (size_t p = 0; p < group.params().size(); p++) {
      const Param& param = group.params()[p];
      if (left_out(item, param)) continue;
      const std::string name = group.param_name(static_cast<int64_t>(p));
      if (name.empty())
        throw Error(Kind::arg,
                    "{}: parameter {} has no name; call MPIX_Tide_group_set_names before this",
                    words(i, item), p);
      if (!item.shards || (!item.shards[p] && elems_here(group, p) > 0))
        throw Error(Kind::buffer, "{}: parameter {} ({}): shard is NULL although it is not empty",
                    words(i, item), p, name);
      TensorEntry t;
      t.name = item.kind.empty() ? name : item.kind + "." + name;
      if (t.name == "__metadata__" || !names.insert(t.name).second)
        throw Error(Kind::arg,
                    "{}: parameter {}: the name {} is taken; give each tensor a name of its own",
                    words(i, item), p, t.name);
      t.dtype = spelled(param.shard_or(item.dtype));
      t.shape = {static_cast<uint64_t>(param.shape.rows)};
      if (param.shape.row_elems != 1)
        t.shape.push_back(static_cast<uint64_t>(param.shape.row_elems));
      t.end = static_cast<uint64_t>(param.elems()) * bytes_of_dtype(t.dtype);
      found.push_back(std::move(t));
      places.push_back({i, p});
    }
  }
  std::vector<size_t> order(found.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return bytes_of_dtype(found[a].dtype) > bytes_of_dtype(found[b].dtype);
  });
  uint64_t at = 0;
  for (size_t k : order) {
    found[k].begin = at;
    found[k].end = at += found[k].end;
    tensors_.push_back(std::move(found[k]));
    places_.push_back(places[k]);
  }
}

void Content::check_alike(Context& context) {
  const auto& items = arguments_.items;
  struct Told {
    uint64_t path, metadata, items;
    int64_t nitems, load;
  };
  std::vector<uint64_t> hashes;
  Told mine{};
  context.together([&] {
    for (const Item& item : items) hashes.push_back(hash_item(item));
    mine = {hash_text(arguments_.path), hash_text(arguments_.metadata),
            hash_words(hashes.data(), hashes.size()), static_cast<int64_t>(items.size()),
            arguments_.load};
  });
  const auto all = context.gather_all(mine);
  bool items_differ = false;
  for (size_t r = 0; r < all.size(); r++) {
    const auto check = [&](bool same, const char* what) {
      if (!same)
        throw Error(Kind::mismatch, "rank {}: {} differs from rank 0's; pass the same on all ranks",
                    r, what);
    };
    check(all[r].load == all[0].load, "the call (MPIX_Tide_save or MPIX_Tide_load)");
    check(all[r].path == all[0].path, "path");
    check(all[r].nitems == all[0].nitems, "nitems");
    check(all[r].metadata == all[0].metadata, "metadata");
    items_differ |= all[r].items != all[0].items;
  }
  if (!items_differ) return;
  std::vector<uint64_t> zero = hashes;
  context.broadcast(zero.data(), zero.size() * sizeof zero[0], 0);
  context.together([&] {
    for (size_t i = 0; i < items.size(); i++)
      if (hashes[i] != zero[i])
        throw Error(
            Kind::mismatch,
            "rank {}: {} differs from rank 0's in kind, dtype, names, parameters or layout; "
            "pass the same items on all ranks",
            context.comm_rank(), words(i, items[i]));
  });
}

// Of the ranks that hold the same rows of an item the lowest writes them.
void Content::find_holders(Context& context) {
  for (size_t i = 0; i < arguments_.items.size(); i++) {
    const Context& own = arguments_.items[i].group->context();
    const auto holds = context.gather_all(static_cast<int64_t>(own.comm_rank()));
    const int ranks = own.topology().ranks();
    std::vector<int> first(static_cast<size_t>(ranks), -1);
    for (size_t r = holds.size(); r-- > 0;)
      first[static_cast<size_t>(holds[r])] = static_cast<int>(r);
    const auto missing = std::find(first.begin(), first.end(), -1);
    if (missing != first.end())
      throw Error(Kind::arg,
                  "comm: it lacks rank {} of the {} ranks of the group of {}; pass a communicator "
                  "that holds all of them",
                  missing - first.begin(), ranks, words(i, arguments_.items[i]));
    first_holder_.push_back(first[static_cast<size_t>(own.comm_rank())] == context.comm_rank());
  }
}

std::vector<Range> Content::ranges(const std::vector<uint64_t>& begin) const {
  std::vector<Range> result;
  for (size_t t = 0; t < tensors_.size(); t++) {
    const Item& item = arguments_.items[places_[t].item];
    const Group& group = *item.group;
    const size_t p = places_[t].param;
    const uint64_t row_bytes = static_cast<uint64_t>(group.params()[p].shape.row_elems) *
                               bytes_of_dtype(tensors_[t].dtype);
    const int me = group.context().comm_rank();
    Range range;
    range.tensor = t;
    range.bytes = static_cast<uint64_t>(elems_here(group, p)) * bytes_of_dtype(tensors_[t].dtype);
    if (range.bytes == 0) continue;
    const uint64_t before =
        static_cast<uint64_t>(group.rows().first(static_cast<int>(p), me)) * row_bytes;
    range.at = begin[t] + before;
    range.behind = tensors_[t].end - tensors_[t].begin - before - range.bytes;
    range.memory = static_cast<char*>(item.shards[p]);
    range.first_holder = first_holder_[places_[t].item];
    result.push_back(range);
  }
  std::sort(result.begin(), result.end(),
            [](const Range& a, const Range& b) { return a.at < b.at; });
  return result;
}

}  // namespace tide
