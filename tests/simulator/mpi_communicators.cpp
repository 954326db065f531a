// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <tuple>

#include "collective.hpp"

using namespace simulator;
using Kind = Collective::Kind;

namespace {

struct Key {
  MPI_Comm_copy_attr_function* copy = nullptr;
  MPI_Comm_delete_attr_function* drop = nullptr;
  void* extra = nullptr;
};
std::mutex keys_mutex;
std::vector<Key> keys;

Key key(int keyval) {
  const std::lock_guard lock(keys_mutex);
  if (keyval < 0 || static_cast<size_t>(keyval) >= keys.size()) misuse("a bad keyval");
  return keys[static_cast<size_t>(keyval)];
}

struct Wish {
  int color, key;
};

MPI_Comm take(const std::shared_ptr<Channel>& channel, const simulated_comm& parent) {
  auto* made = new simulated_comm;
  made->channel = channel;
  made->errhandler = parent.errhandler;
  const auto& ranks = channel->world_ranks;
  const int me = parent.channel->world_ranks[static_cast<size_t>(parent.rank)];
  made->rank = static_cast<int>(std::find(ranks.begin(), ranks.end(), me) - ranks.begin());
  world().ranks[static_cast<size_t>(me)]->comms++;
  return made;
}

MPI_Request split(MPI_Comm comm, Kind kind, Wish wish, MPI_Comm* out) {
  return begin(comm, {kind, 0, 0, &wish, sizeof wish}, [=](const Collective& c) {
    // The first to complete makes the communicators for all.
    auto& made = const_cast<Collective&>(c).made;
    std::vector<std::tuple<int, int, int>> order;  // color, key, rank
    for (size_t r = 0; r < c.data.size(); r++) {
      Wish theirs;
      std::memcpy(&theirs, c.data[r].data(), sizeof theirs);
      order.emplace_back(theirs.color, theirs.key, static_cast<int>(r));
    }
    std::sort(order.begin(), order.end());
    size_t colors = 0, mine = SIZE_MAX;
    const bool first = made.empty();
    for (size_t i = 0; i < order.size(); i++) {
      const auto [color, k, r] = order[i];
      if (color < 0) continue;
      const bool fresh = i == 0 || std::get<0>(order[i - 1]) != color;
      if (fresh) colors++;
      if (fresh && first) {
        made.push_back(std::make_shared<Channel>());
        made.back()->number = ++world().channels;
      }
      if (first)
        made.back()->world_ranks.push_back(comm->channel->world_ranks[static_cast<size_t>(r)]);
      if (r == comm->rank) mine = colors - 1;
    }
    *out = mine == SIZE_MAX ? nullptr : take(made[mine], *comm);
  });
}

int wait_for(MPI_Request request) { return MPI_Wait(&request, MPI_STATUS_IGNORE); }

void copy_attributes(MPI_Comm from, MPI_Comm to) {
  for (const auto& [keyval, value] : from->attributes) {
    const Key k = key(keyval);
    void* copied = nullptr;
    int flag = 0;
    if (k.copy && k.copy(from, keyval, k.extra, value, &copied, &flag) == MPI_SUCCESS && flag)
      to->attributes[keyval] = copied;
  }
}

}  // namespace

void drop_attributes(MPI_Comm comm) {
  while (!comm->attributes.empty()) MPI_Comm_delete_attr(comm, comm->attributes.rbegin()->first);
}

extern "C" {

int simulated_copy_attribute(MPI_Comm, int, void*, void* value, void* out, int* flag) {
  *static_cast<void**>(out) = value;
  *flag = 1;
  return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  if (!comm) return MPI_ERR_COMM;
  *rank = comm->rank;
  return MPI_SUCCESS;
}
int MPI_Comm_size(MPI_Comm comm, int* size) {
  if (!comm) return MPI_ERR_COMM;
  *size = comm->size();
  return MPI_SUCCESS;
}
int MPI_Comm_test_inter(MPI_Comm comm, int* flag) {
  if (!comm) return MPI_ERR_COMM;
  *flag = 0;
  return MPI_SUCCESS;
}
int MPI_Comm_compare(MPI_Comm a, MPI_Comm b, int* result) {
  auto left = a->channel->world_ranks, right = b->channel->world_ranks;
  *result = a->channel == b->channel ? MPI_IDENT : left == right ? MPI_CONGRUENT : MPI_UNEQUAL;
  if (*result != MPI_UNEQUAL) return MPI_SUCCESS;
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  if (left == right) *result = MPI_SIMILAR;
  return MPI_SUCCESS;
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  MPI_Comm fresh = nullptr;
  wait_for(split(comm, Kind::duplicate, {0, comm->rank}, &fresh));
  copy_attributes(comm, fresh);
  *made = fresh;
  return MPI_SUCCESS;
}
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  *request = split(comm, Kind::duplicate, {0, comm->rank}, made);
  return MPI_SUCCESS;
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return wait_for(split(comm, Kind::split, {color == MPI_UNDEFINED ? -1 : color, key}, made));
}
// One machine: all ranks share memory.
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info, MPI_Comm* made) {
  return wait_for(split(comm, Kind::split, {type == MPI_UNDEFINED ? -1 : 0, key}, made));
}
int MPI_Comm_free(MPI_Comm* comm) {
  if (!*comm || *comm == me().world || *comm == me().self)
    misuse("MPI_Comm_free of a communicator that is not to be freed");
  drop_attributes(*comm);
  schedule()->event("free", (*comm)->channel->number);
  me().comms--;
  delete *comm;
  *comm = nullptr;
  return MPI_SUCCESS;
}

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* drop,
                           int* keyval, void* extra) {
  const std::lock_guard lock(keys_mutex);
  *keyval = static_cast<int>(keys.size());
  keys.push_back({copy, drop, extra});
  return MPI_SUCCESS;
}
int MPI_Comm_free_keyval(int* keyval) {
  *keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}
int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value) {
  if (comm->attributes.count(keyval)) MPI_Comm_delete_attr(comm, keyval);
  comm->attributes[keyval] = value;
  return MPI_SUCCESS;
}
int MPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag) {
  const auto at = comm->attributes.find(keyval);
  *flag = at != comm->attributes.end();
  if (*flag) *static_cast<void**>(value) = at->second;
  return MPI_SUCCESS;
}
int MPI_Comm_delete_attr(MPI_Comm comm, int keyval) {
  const auto at = comm->attributes.find(keyval);
  if (at == comm->attributes.end()) return MPI_ERR_KEYVAL;
  void* value = at->second;
  comm->attributes.erase(at);
  const Key k = key(keyval);
  return k.drop ? k.drop(comm, keyval, value, k.extra) : MPI_SUCCESS;
}
}
