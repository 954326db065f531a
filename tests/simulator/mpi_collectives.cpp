// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Collectives: each rank brings its contribution and completes when what it needs is there, after
// a delay of its own.  A broadcast's root or a gather's leaf does not wait for others, as in MPI.
#include "collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace simulator {

static const char* name_of(Collective::Kind kind) {
  static const char* names[] = {"barrier", "broadcast",  "gather",    "all-gather", "all-to-all",
                                "reduce",  "all-reduce", "duplicate", "split"};
  return names[static_cast<int>(kind)];
}

bool Collective::enough_for(int rank) const {
  switch (kind) {
    case Kind::broadcast:
      return arrived[static_cast<size_t>(root)];
    case Kind::gather:
    case Kind::reduce:
      return rank != root || count == arrived.size();
    default:
      return count == arrived.size();
  }
}

static std::string missing(const Collective& c) {
  std::string text;
  for (size_t r = 0; r < c.arrived.size(); r++)
    if (!c.arrived[r]) text += fmt::format(" {}", r);
  return text;
}

MPI_Request begin(MPI_Comm comm, const Part& part, std::function<void(const Collective&)> finish) {
  if (!comm) misuse("a collective on no communicator");
  const uint64_t place = comm->collectives++;
  const size_t rank = static_cast<size_t>(comm->rank);
  std::shared_ptr<Collective> c;
  {
    const std::lock_guard lock(comm->channel->mutex);
    auto& found = comm->channel->collectives[place];
    if (!found) {
      found = std::make_shared<Collective>();
      found->kind = part.kind;
      found->root = part.root;
      found->op = part.op;
      found->arrived.resize(static_cast<size_t>(comm->size()));
      found->data.resize(static_cast<size_t>(comm->size()));
    }
    c = found;
    if (c->kind != part.kind || c->root != part.root || c->op != part.op)
      misuse(fmt::format("ranks make different collectives: {} and {} on communicator {}",
                         name_of(c->kind), name_of(part.kind), comm->channel->number));
    const auto* bytes = static_cast<const unsigned char*>(part.from);
    if (part.bytes) c->data[rank].assign(bytes, bytes + part.bytes);
    c->arrived[rank] = true;
    c->count++;
  }
  schedule()->event(name_of(part.kind), comm->channel->number, place, part.bytes);
  auto* request = new simulated_request;
  request->what = [c, place, number = comm->channel->number] {
    return fmt::format("{} {} on communicator {}, where there is no rank{}", name_of(c->kind),
                       place, number, missing(*c));
  };
  request->owner = my_rank();
  me().requests++;
  Schedule* clock = schedule();
  auto ready_us = std::make_shared<uint64_t>(0);
  const uint64_t delay_us = clock->delay_us();
  request->test = [=, channel = comm->channel, finish = std::move(finish)](MPI_Status&) {
    {
      const std::lock_guard lock(channel->mutex);
      if (!c->enough_for(static_cast<int>(rank))) return false;
      if (*ready_us == 0) {
        *ready_us = clock->now_us() + delay_us + 1;
        clock->wake_at(*ready_us);
      }
      if (clock->now_us() < *ready_us) return false;
      if (finish) finish(*c);
      if (++c->left == c->arrived.size()) channel->collectives.erase(place);
    }
    return true;
  };
  clock->maybe_turn();
  return request;
}

template <class T>
static void combine(T* into, const T* with, size_t count, MPI_Op op) {
  for (size_t i = 0; i < count; i++) {
    T& a = into[i];
    const T b = with[i];
    if (op == MPI_SUM) a = static_cast<T>(a + b);
    if (op == MPI_MIN) a = std::min(a, b);
    if (op == MPI_MAX) a = std::max(a, b);
    if (op == MPI_LAND) a = static_cast<T>(a && b);
    if (op == MPI_LOR) a = static_cast<T>(a || b);
    if constexpr (std::is_integral_v<T>) {
      if (op == MPI_BAND) a = static_cast<T>(a & b);
      if (op == MPI_BOR) a = static_cast<T>(a | b);
    }
  }
}

template <class T>
static void combine_all(const Collective& c, void* to, size_t count, MPI_Op op) {
  std::vector<T> sum(count), next(count);
  for (size_t r = 0; r < c.data.size(); r++) {
    if (c.data[r].size() != count * sizeof(T)) misuse("a reduction's counts differ between ranks");
    if (count) std::memcpy((r ? next : sum).data(), c.data[r].data(), count * sizeof(T));
    if (r) combine(sum.data(), next.data(), count, op);
  }
  if (count) std::memcpy(to, sum.data(), count * sizeof(T));
}

void reduce(const Collective& c, void* to, int count, MPI_Datatype type, MPI_Op op) {
  const auto n = static_cast<size_t>(count);
  switch (type) {
    case MPI_INT:
    case MPI_INT32_T:
      return combine_all<int32_t>(c, to, n, op);
    case MPI_UNSIGNED:
    case MPI_UINT32_T:
      return combine_all<uint32_t>(c, to, n, op);
    case MPI_LONG:
    case MPI_LONG_LONG:
    case MPI_INT64_T:
      return combine_all<int64_t>(c, to, n, op);
    case MPI_UINT64_T:
      return combine_all<uint64_t>(c, to, n, op);
    case MPI_FLOAT:
      return combine_all<float>(c, to, n, op);
    case MPI_DOUBLE:
      return combine_all<double>(c, to, n, op);
    default:
      return combine_all<uint8_t>(c, to, n, op);
  }
}

}  // namespace simulator

using namespace simulator;
using Kind = Collective::Kind;

namespace {

const void* or_in_place(const void* from, const void* own) {
  return from == MPI_IN_PLACE ? own : from;
}
size_t bytes_of(int count, MPI_Datatype type) {
  if (count < 0) misuse("a negative count");
  return static_cast<size_t>(count) * type_bytes(type);
}
void put(void* to, size_t at, const std::vector<unsigned char>& data, size_t room) {
  if (data.size() > room) misuse("a collective brings more than its receive buffer holds");
  if (!data.empty()) std::memcpy(static_cast<char*>(to) + at, data.data(), data.size());
}
int finish(MPI_Request request) { return MPI_Wait(&request, MPI_STATUS_IGNORE); }

MPI_Request gather(MPI_Comm comm, Kind kind, int root, const void* from, size_t bytes, void* to,
                   size_t room) {
  const bool receives = root < 0 || comm->rank == root;
  from = or_in_place(from, static_cast<char*>(to) + static_cast<size_t>(comm->rank) * room);
  if (from == static_cast<char*>(to) + static_cast<size_t>(comm->rank) * room) bytes = room;
  return begin(comm, {kind, root < 0 ? 0 : root, 0, from, bytes}, [=](const Collective& c) {
    for (size_t r = 0; receives && r < c.data.size(); r++) put(to, r * room, c.data[r], room);
  });
}

MPI_Request all_reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
  return begin(comm, {Kind::all_reduce, 0, op, or_in_place(from, to), bytes_of(count, type)},
               [=](const Collective& c) { reduce(c, to, count, type, op); });
}

MPI_Request broadcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const size_t bytes = bytes_of(count, type);
  const bool tells = comm->rank == root;
  return begin(comm, {Kind::broadcast, root, 0, data, tells ? bytes : 0}, [=](const Collective& c) {
    const auto& told = c.data[static_cast<size_t>(root)];
    if (told.size() != bytes) misuse("a broadcast's counts differ between ranks");
    if (!tells) put(data, 0, told, bytes);
  });
}

MPI_Request all_gather_v(const void* from, int count, MPI_Datatype type, void* to,
                         const int counts[], const int offsets[], MPI_Datatype to_type,
                         MPI_Comm comm) {
  const size_t unit = type_bytes(to_type), me = static_cast<size_t>(comm->rank);
  size_t bytes = bytes_of(count, type);
  if (from == MPI_IN_PLACE) {
    from = static_cast<char*>(to) + static_cast<size_t>(offsets[me]) * unit;
    bytes = static_cast<size_t>(counts[me]) * unit;
  }
  const std::vector<int> n(counts, counts + comm->size()), at(offsets, offsets + comm->size());
  return begin(comm, {Kind::all_gather, 0, 0, from, bytes}, [=](const Collective& c) {
    for (size_t r = 0; r < c.data.size(); r++)
      put(to, static_cast<size_t>(at[r]) * unit, c.data[r], static_cast<size_t>(n[r]) * unit);
  });
}

}  // namespace

extern "C" {

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  *request = begin(comm, {Kind::barrier, 0, 0, nullptr, 0}, nullptr);
  return MPI_SUCCESS;
}
int MPI_Barrier(MPI_Comm comm) {
  return finish(begin(comm, {Kind::barrier, 0, 0, nullptr, 0}, nullptr));
}
int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
  *request = broadcast(data, count, type, root, comm);
  return MPI_SUCCESS;
}
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return finish(broadcast(data, count, type, root, comm));
}
int MPI_Gather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
               MPI_Datatype to_type, int root, MPI_Comm comm) {
  const size_t room = comm->rank == root ? bytes_of(to_count, to_type) : 0;
  return finish(gather(comm, Kind::gather, root, from, bytes_of(count, type), to, room));
}
int MPI_Iallgather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                   MPI_Datatype to_type, MPI_Comm comm, MPI_Request* request) {
  *request = gather(comm, Kind::all_gather, -1, from, bytes_of(count, type), to,
                    bytes_of(to_count, to_type));
  return MPI_SUCCESS;
}
int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                  MPI_Datatype to_type, MPI_Comm comm) {
  return finish(gather(comm, Kind::all_gather, -1, from, bytes_of(count, type), to,
                       bytes_of(to_count, to_type)));
}
int MPI_Iallgatherv(const void* from, int count, MPI_Datatype type, void* to, const int counts[],
                    const int offsets[], MPI_Datatype to_type, MPI_Comm comm,
                    MPI_Request* request) {
  *request = all_gather_v(from, count, type, to, counts, offsets, to_type, comm);
  return MPI_SUCCESS;
}
int MPI_Allgatherv(const void* from, int count, MPI_Datatype type, void* to, const int counts[],
                   const int offsets[], MPI_Datatype to_type, MPI_Comm comm) {
  return finish(all_gather_v(from, count, type, to, counts, offsets, to_type, comm));
}
int MPI_Alltoall(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                 MPI_Datatype to_type, MPI_Comm comm) {
  const size_t n = static_cast<size_t>(comm->size()), bytes = bytes_of(count, type);
  const size_t room = bytes_of(to_count, to_type), mine = static_cast<size_t>(comm->rank) * bytes;
  from = or_in_place(from, to);
  return finish(begin(comm, {Kind::all_to_all, 0, 0, from, n * bytes}, [=](const Collective& c) {
    for (size_t r = 0; r < n; r++)
      std::memcpy(static_cast<char*>(to) + r * room, c.data[r].data() + mine, bytes);
  }));
}
int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  const bool receives = comm->rank == root;
  const Part part{Kind::reduce, root, op, or_in_place(from, to), bytes_of(count, type)};
  return finish(begin(comm, part, [=](const Collective& c) {
    if (receives) reduce(c, to, count, type, op);
  }));
}
int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request* request) {
  *request = all_reduce(from, to, count, type, op, comm);
  return MPI_SUCCESS;
}
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  return finish(all_reduce(from, to, count, type, op, comm));
}
}
