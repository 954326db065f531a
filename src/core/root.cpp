// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// One rank after the other, in parts: each rank's rows of all parameters as one stream of bytes.
#include "core/root.hpp"

#include <algorithm>
#include <cstring>

#include "core/call.hpp"

namespace tide {
namespace {

constexpr size_t message_bytes = size_t{8} << 20;

class Mover {
 public:
  Mover(const Group& group, const RootArguments& a) : group_(group), a_(a) {}

  size_t row_bytes(size_t p) const {
    const Param& param = group_.params()[p];
    return static_cast<size_t>(param.shape.row_elems) * bytes_of(param.shard);
  }
  size_t bytes(size_t p, int rank) const {
    return static_cast<size_t>(group_.rows_of(static_cast<int>(p), rank)) * row_bytes(p);
  }
  char* in_params(size_t p, int rank) const {
    return static_cast<char*>(a_.params[p]) +
           static_cast<size_t>(group_.rows().first(static_cast<int>(p), rank)) * row_bytes(p);
  }

  void own(int me) const {
    for (size_t p = 0; p < group_.params().size(); p++) {
      const size_t n = bytes(p, me);
      if (!n) continue;
      char *whole = in_params(p, me), *shard = static_cast<char*>(a_.shards[p]);
      a_.gather ? std::memmove(whole, shard, n) : std::memmove(shard, whole, n);
    }
  }

  // Calls act(bytes of memory, how many) for the rows of `rank`, in parts.
  template <class Act>
  void each_part(int rank, bool at_root, Act act) const {
    for (size_t p = 0; p < group_.params().size(); p++) {
      const size_t n = bytes(p, rank);
      if (!n) continue;
      char* at = at_root ? in_params(p, rank) : static_cast<char*>(a_.shards[p]);
      for (size_t done = 0; done < n; done += message_bytes)
        act(at + done, std::min(message_bytes, n - done));
    }
  }

 private:
  const Group& group_;
  const RootArguments& a_;
};

// Many small parameters travel in few messages: what comes in parts is joined.
template <class Send>
class Joined {
 public:
  explicit Joined(Send send) : send_(send) {}
  void add(const char* at, size_t bytes) {
    if (buffer_.size() + bytes > message_bytes) flush();
    buffer_.insert(buffer_.end(), at, at + bytes);
  }
  void flush() {
    if (!buffer_.empty()) send_(buffer_);
    buffer_.clear();
  }

 private:
  Send send_;
  std::vector<char> buffer_;
};

void send_rows(const Mover& mover, Context& context, int rank, bool at_root, int to) {
  Joined joined([&](const std::vector<char>& data) { context.send(data.data(), data.size(), to); });
  mover.each_part(rank, at_root, [&](char* at, size_t bytes) { joined.add(at, bytes); });
  joined.flush();
}

void receive_rows(const Mover& mover, Context& context, int rank, bool at_root, int from) {
  std::vector<std::pair<char*, size_t>> places;
  std::vector<char> data;
  const auto take = [&] {
    if (data.empty()) return;
    context.receive(data.data(), data.size(), from);
    size_t done = 0;
    for (const auto& [at, bytes] : places)
      std::memcpy(at, data.data() + done, bytes), done += bytes;
    places.clear();
    data.clear();
  };
  mover.each_part(rank, at_root, [&](char* at, size_t bytes) {
    if (data.size() + bytes > message_bytes) take();
    places.emplace_back(at, bytes);
    data.resize(data.size() + bytes);
  });
  take();
}

void agree_on_call(Context& context, const Group& group, const RootArguments& a) {
  struct Told {
    uint64_t group;
    int32_t root;
  };
  const auto all = context.gather_all(Told{group.number(), a.root});
  for (size_t r = 0; r < all.size(); r++) {
    if (all[r].group != all[0].group)
      throw Error(
          Kind::mismatch,
          "rank {} uses group number {} but rank 0 {} (numbered in order of creation); pass "
          "the same group on all ranks",
          r, all[r].group, all[0].group);
    if (all[r].root != all[0].root)
      throw Error(Kind::mismatch, "rank {}: root is {} but rank 0 has {}; pass the same root", r,
                  all[r].root, all[0].root);
  }
  if (a.root < 0 || a.root >= context.topology().ranks())
    throw Error(Kind::arg, "root is {} but the communicator has {} ranks; pass a rank below that",
                a.root, context.topology().ranks());
}

void check_lists(const Group& group, const RootArguments& a, int me) {
  if (a.wrong) throw *a.wrong;
  const auto& params = group.params();
  if (params.empty()) return;
  if (!a.shards || (me == a.root && !a.params))
    throw Error(Kind::buffer, "{} is NULL; pass an array with one entry per parameter",
                a.shards ? "params" : "shards");
  for (size_t p = 0; p < params.size(); p++) {
    const bool whole = me == a.root && params[p].elems() != 0 && !a.params[p];
    const auto own = group.rows_of(static_cast<int>(p), me) * params[p].shape.row_elems;
    if (whole || (own != 0 && !a.shards[p]))
      throw Error(Kind::buffer, "parameter {} {}: {} is NULL although its piece is not empty", p,
                  group.param_name(static_cast<int64_t>(p)), whole ? "params" : "shards");
  }
}

}  // namespace

void move_root(Group& group, const RootArguments& a) {
  Context& context = group.context();
  const int me = context.comm_rank(), ranks = context.topology().ranks();
  const Context::Setup setup(context, group.limit_s(),
                             a.gather ? SetupCall::gather : SetupCall::scatter);
  agree_on_call(context, group, a);
  context.together([&] { check_lists(group, a, me); });
  struct Taken {  // no other operation of the group meanwhile
    explicit Taken(Call& c) : call(c) { call.take(); }
    ~Taken() { call.release(); }
    Call& call;
  };
  std::optional<Taken> taken;
  context.together([&] { taken.emplace(group.call()); });
  const Mover mover(group, a);
  if (me == a.root) {
    mover.own(me);
    for (int r = 0; r < ranks; r++) {
      if (r == me) continue;
      a.gather ? receive_rows(mover, context, r, true, r) : send_rows(mover, context, r, true, r);
    }
  } else {
    a.gather ? send_rows(mover, context, me, false, a.root)
             : receive_rows(mover, context, me, false, a.root);
  }
  context.barrier();
}

}  // namespace tide
