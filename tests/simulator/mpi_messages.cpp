// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Messages.  Matching follows MPI's order; when a message is seen, and whether MPI buffers it or
// reads the sender's memory late, is drawn.  A receive's buffer is overwritten when it is posted:
// who reads it too early finds rubbish.
#include <array>
#include <cstring>

#include "world.hpp"

namespace simulator {

size_t type_bytes(MPI_Datatype type) {
  switch (type) {
    case MPI_BYTE:
    case MPI_CHAR:
    case MPI_UNSIGNED_CHAR:
    case MPI_UINT8_T:
    case MPI_C_BOOL:
    case MPI_CXX_BOOL:
      return 1;
    case MPI_UINT16_T:
      return 2;
    case MPI_INT:
    case MPI_UNSIGNED:
    case MPI_INT32_T:
    case MPI_UINT32_T:
    case MPI_FLOAT:
      return 4;
    case MPI_LONG:
    case MPI_LONG_LONG:
    case MPI_INT64_T:
    case MPI_UINT64_T:
    case MPI_DOUBLE:
      return 8;
    default:
      misuse("an unknown datatype");
  }
}

static bool matches(const Message& m, uint64_t channel, int source, int tag) {
  return m.channel == channel && (source == MPI_ANY_SOURCE || source == m.source) &&
         (tag == MPI_ANY_TAG || tag == m.tag);
}

// The first of each source; among sources the one that is seen first.
static std::list<std::shared_ptr<Message>>::iterator find(Rank& rank, uint64_t channel, int source,
                                                          int tag) {
  auto best = rank.unexpected.end();
  std::vector<int> sources;
  for (auto at = rank.unexpected.begin(); at != rank.unexpected.end(); ++at) {
    const Message& m = **at;
    if (!matches(m, channel, source, tag)) continue;
    if (source != MPI_ANY_SOURCE) return at;
    bool later = false;
    for (const int seen : sources) later |= seen == m.source;
    sources.push_back(m.source);
    if (!later && (best == rank.unexpected.end() || m.ready_us < (*best)->ready_us)) best = at;
  }
  return best;
}

static void fill(Posted& posted, const Message& m) {
  posted.status.MPI_SOURCE = m.source;
  posted.status.MPI_TAG = m.tag;
  posted.status.MPI_ERROR = MPI_SUCCESS;
  posted.status.bytes = m.bytes;
}

void transfer(Rank& rank) {
  const uint64_t now_us = world().schedule->now_us();
  for (auto at = rank.posted.begin(); at != rank.posted.end();) {
    Posted& posted = **at;
    if (!posted.match || posted.match->ready_us > now_us) {
      ++at;
      continue;
    }
    Message& m = *posted.match;
    if (m.bytes > posted.room) misuse("a message is longer than its receive buffer");
    if (m.bytes) std::memcpy(posted.to, m.buffered ? m.copy.data() : m.from, m.bytes);
    fill(posted, m);
    posted.done = true;
    m.taken.store(true, std::memory_order_release);
    at = rank.posted.erase(at);
  }
}

static MPI_Request new_request(std::string what) {
  auto* request = new simulated_request;
  request->what = [what = std::move(what)] { return what; };
  request->owner = my_rank();
  me().requests++;
  return request;
}

static MPI_Request receive(Rank& rank, std::shared_ptr<Posted> posted) {
  MPI_Request request = new_request("receive from " + std::to_string(posted->source) + " tag " +
                                    std::to_string(posted->tag) + " on communicator " +
                                    std::to_string(posted->channel));
  if (posted->room) std::memset(posted->to, 0xA5, posted->room);
  request->test = [posted, &rank](MPI_Status& status) {
    const std::lock_guard lock(rank.mutex);
    transfer(rank);
    status = posted->status;
    return posted->done;
  };
  request->cancel = [posted, &rank] {
    const std::lock_guard lock(rank.mutex);
    if (posted->done || posted->match) return;
    posted->done = true;
    posted->status.cancelled = 1;
    rank.posted.remove(posted);
  };
  return request;
}

static MPI_Request nothing() {  // to or from MPI_PROC_NULL
  MPI_Request request = new_request("nothing");
  request->test = [](MPI_Status& status) {
    status = {MPI_PROC_NULL, MPI_ANY_TAG, MPI_SUCCESS, 0, 0};
    return true;
  };
  return request;
}

}  // namespace simulator

using namespace simulator;

extern "C" {

int MPI_Isend(const void* from, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request* request) {
  if (dest == MPI_PROC_NULL) return *request = nothing(), MPI_SUCCESS;
  if (dest < 0 || dest >= comm->size() || count < 0 || tag < 0) misuse("MPI_Isend: bad arguments");
  Schedule& clock = *schedule();
  Rank& to = comm->peer(dest);
  auto m = std::make_shared<Message>();
  m->channel = comm->channel->number;
  m->source = comm->rank;
  m->tag = tag;
  m->from = from;
  m->bytes = static_cast<size_t>(count) * type_bytes(type);
  m->buffered = clock.chance(2) == 0;
  if (m->buffered)
    m->copy.assign(static_cast<const unsigned char*>(from),
                   static_cast<const unsigned char*>(from) + m->bytes);
  const uint64_t sent_us = clock.now_us() + clock.delay_us(), wait_us = clock.delay_us();
  clock.wake_at(sent_us);
  clock.event("send", static_cast<uint64_t>(to.number), static_cast<uint64_t>(tag), m->bytes);
  {
    const std::lock_guard lock(to.mutex);
    uint64_t& last = to.last_ready_us[{static_cast<int64_t>(m->channel), m->source, tag}];
    m->ready_us = last = std::max(last, clock.now_us() + wait_us);
    clock.wake_at(m->ready_us);
    bool matched = false;
    for (auto& posted : to.posted) {
      if (posted->match || !matches(*m, posted->channel, posted->source, posted->tag)) continue;
      posted->match = m;
      matched = true;
      break;
    }
    if (!matched) to.unexpected.push_back(m);
  }
  *request = new_request("send to " + std::to_string(dest) + " tag " + std::to_string(tag) +
                         " on communicator " + std::to_string(m->channel));
  (*request)->test = [m, sent_us, &clock](MPI_Status&) {
    if (!m->buffered) return m->taken.load(std::memory_order_acquire);
    return clock.now_us() >= sent_us;
  };
  clock.maybe_turn();
  return MPI_SUCCESS;
}

int MPI_Irecv(void* to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request* request) {
  if (source == MPI_PROC_NULL) return *request = nothing(), MPI_SUCCESS;
  if (source >= comm->size() || count < 0) misuse("MPI_Irecv: bad arguments");
  Rank& rank = comm->peer(comm->rank);
  auto posted = std::make_shared<Posted>();
  posted->channel = comm->channel->number;
  posted->source = source;
  posted->tag = tag;
  posted->to = to;
  posted->room = static_cast<size_t>(count) * type_bytes(type);
  *request = receive(rank, posted);
  schedule()->event("receive", static_cast<uint64_t>(source), static_cast<uint64_t>(tag));
  {
    const std::lock_guard lock(rank.mutex);
    const auto found = find(rank, posted->channel, source, tag);
    if (found != rank.unexpected.end()) {
      posted->match = *found;
      rank.unexpected.erase(found);
    }
    rank.posted.push_back(posted);
  }
  schedule()->maybe_turn();
  return MPI_SUCCESS;
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                MPI_Status* status) {
  Rank& rank = comm->peer(comm->rank);
  {
    const std::lock_guard lock(rank.mutex);
    transfer(rank);
    const auto found = find(rank, comm->channel->number, source, tag);
    *flag = found != rank.unexpected.end() && (*found)->ready_us <= schedule()->now_us();
    if (*flag && status)
      *status = {(*found)->source, (*found)->tag, MPI_SUCCESS, 0, (*found)->bytes};
    if (*flag && message) {
      *message = new simulated_message{*found};
      rank.unexpected.erase(found);
    }
  }
  *flag ? schedule()->maybe_turn() : schedule()->turn(Turn::idle);
  return MPI_SUCCESS;
}
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  return MPI_Improbe(source, tag, comm, flag, nullptr, status);
}
int MPI_Imrecv(void* to, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  Rank& rank = me();
  auto posted = std::make_shared<Posted>();
  posted->match = (*message)->message;
  posted->channel = posted->match->channel;
  posted->source = posted->match->source;
  posted->tag = posted->match->tag;
  posted->to = to;
  posted->room = static_cast<size_t>(count) * type_bytes(type);
  *request = receive(rank, posted);
  const std::lock_guard lock(rank.mutex);
  rank.posted.push_back(posted);
  delete *message;
  *message = nullptr;
  return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  *count = static_cast<int>(status->bytes / type_bytes(type));
  return MPI_SUCCESS;
}
int MPI_Send(const void* from, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  MPI_Request request;
  MPI_Isend(from, count, type, dest, tag, comm, &request);
  return MPI_Wait(&request, MPI_STATUS_IGNORE);
}
int MPI_Recv(void* to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status* status) {
  MPI_Request request;
  MPI_Irecv(to, count, type, source, tag, comm, &request);
  return MPI_Wait(&request, status);
}
int MPI_Sendrecv(const void* from, int count, MPI_Datatype type, int dest, int tag, void* to,
                 int room, MPI_Datatype to_type, int source, int to_tag, MPI_Comm comm,
                 MPI_Status* status) {
  MPI_Request sent, received;
  MPI_Irecv(to, room, to_type, source, to_tag, comm, &received);
  MPI_Isend(from, count, type, dest, tag, comm, &sent);
  MPI_Wait(&received, status);
  return MPI_Wait(&sent, MPI_STATUS_IGNORE);
}
}
