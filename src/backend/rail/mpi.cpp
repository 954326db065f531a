// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/rail/mpi.hpp"

#include <algorithm>
#include <cstring>

#include "core/left_behind.hpp"

namespace tide {

// In flight, and received, at once, however small: MPI keeps the memory of as many requests for
// good.
constexpr size_t most_puts = 256;
constexpr int max_rounds = 2 * Rail::first_end_round, record_tag = slot_count * index_count;

MpiRail::MpiRail(MPI_Comm comm, const Topology& topology) : comm_(comm), topology_(topology) {
  for (Slot& slot : slots_) {
    slot.outbox.resize(max_rounds);
    slot.inbox.resize(max_rounds);
    slot.records_sent.assign(max_rounds, MPI_REQUEST_NULL);
    slot.records_posted.assign(max_rounds, MPI_REQUEST_NULL);
  }
}

MpiRail::~MpiRail() = default;

void MpiRail::begin(int s) {
  Slot& slot = slots_[s];
  for (Channel& c : slot.channels) c.arrived = 0;
  slot.complete = slot.in_flight_bytes = 0;
}

void MpiRail::send_record(int s, int peer, int round, const EntryRecord& record, const void* eager,
                          size_t bytes) {
  Slot& slot = slots_[s];
  const size_t k = static_cast<size_t>(round);
  auto& out = slot.outbox[k];
  out.resize(sizeof record + bytes);
  std::memcpy(out.data(), &record, sizeof record);
  if (bytes) std::memcpy(out.data() + sizeof record, eager, bytes);
  check_mpi(MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_BYTE, topology_.comm_rank(peer),
                      record_tag + s * max_rounds + round, comm_, &slot.records_sent[k]),
            "MPI_Isend");
}

bool MpiRail::receive_record(int s, int peer, int round, EntryRecord& record, void* eager,
                             size_t bytes) {
  Slot& slot = slots_[s];
  const size_t k = static_cast<size_t>(round);
  MPI_Request& posted = slot.records_posted[k];
  auto& in = slot.inbox[k];
  if (posted == MPI_REQUEST_NULL) {
    in.resize(sizeof record + (round < first_end_round ? most_eager : 0));
    check_mpi(MPI_Irecv(in.data(), static_cast<int>(in.size()), MPI_BYTE, topology_.comm_rank(peer),
                        record_tag + s * max_rounds + round, comm_, &posted),
              "MPI_Irecv");
  }
  int flag = 0, size = 0;
  MPI_Status status;
  check_mpi(MPI_Test(&posted, &flag, &status), "MPI_Test");
  if (!flag) return false;
  MPI_Get_count(&status, MPI_BYTE, &size);
  std::memcpy(&record, in.data(), sizeof record);
  if (bytes && static_cast<size_t>(size) == sizeof record + bytes)
    std::memcpy(eager, in.data() + sizeof record, bytes);
  return true;
}

MpiRail::Channel& MpiRail::channel(int s, int peer, int index) {
  auto& channels = slots_[s].channels;
  for (Channel& c : channels)
    if (c.peer == peer && c.index == index) return c;
  channels.push_back({peer, index, tag(s, index), {}, {}, 0});
  return channels.back();
}

void MpiRail::open(int s, int peer, const Incoming& incoming, void* address) {
  Channel& c = channel(s, peer, incoming.signal);
  c.opened.push_back({static_cast<char*>(address), incoming.bytes, incoming.chunk});
  post(c);
}

void MpiRail::post(Channel& c) {
  while (!c.opened.empty() && c.posted.size() < most_puts) {
    Opened& r = c.opened.front();
    const size_t bytes = std::min(r.chunk, r.left);
    if (bytes) {
      c.posted.push_back(MPI_REQUEST_NULL);
      check_mpi(MPI_Irecv(r.at, static_cast<int>(bytes), MPI_BYTE, topology_.comm_rank(c.peer),
                          c.tag, comm_, &c.posted.back()),
                "MPI_Irecv");
    }
    r.at += bytes;
    r.left -= bytes;
    if (!r.left) c.opened.pop_front();
  }
}

void MpiRail::put(int s, const Put& put, const void* source) {
  Slot& slot = slots_[s];
  slot.sending.push_back({MPI_REQUEST_NULL, put.bytes, put.peer});
  slot.in_flight_bytes += put.bytes;
  check_mpi(MPI_Isend(source, static_cast<int>(put.bytes), MPI_BYTE, topology_.comm_rank(put.peer),
                      tag(s, put.signal), comm_, &slot.sending.back().request),
            "MPI_Isend");
}

bool MpiRail::may_put(int s, size_t bytes, size_t cap) const {
  const Slot& slot = slots_[s];
  if (slot.sending.empty()) return true;
  return slot.sending.size() < most_puts && slot.in_flight_bytes + bytes <= cap;
}

void MpiRail::poll(Channel& c) {
  while (!c.posted.empty()) {
    int flag = 0;
    check_mpi(MPI_Test(&c.posted.front(), &flag, MPI_STATUS_IGNORE), "MPI_Test");
    if (!flag) return;
    c.posted.pop_front();
    c.arrived++;
    if (!c.opened.empty()) post(c);
  }
}

bool MpiRail::arrived(int s, int peer, int index, uint64_t until) {
  if (index == credit || index == granted)
    return true;  // the receive is posted or MPI keeps the message
  Channel& c = channel(s, peer, index);
  if (c.arrived < until) poll(c);
  return c.arrived >= until;
}

void MpiRail::poll_sends(Slot& slot) {
  while (!slot.sending.empty()) {
    int flag = 0;
    check_mpi(MPI_Test(&slot.sending.front().request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    if (!flag) return;
    slot.in_flight_bytes -= slot.sending.front().bytes;
    slot.sending.pop_front();
    slot.complete++;
  }
}

size_t MpiRail::puts_complete(int s) {
  poll_sends(slots_[s]);
  return slots_[s].complete;
}

void MpiRail::progress(int s) {
  Slot& slot = slots_[s];
  poll_sends(slot);
  for (Channel& c : slot.channels) poll(c);
}

bool MpiRail::idle(int s) {
  Slot& slot = slots_[s];
  poll_sends(slot);
  if (!slot.sending.empty()) return false;
  int flag = 0;
  check_mpi(MPI_Testall(max_rounds, slot.records_sent.data(), &flag, MPI_STATUSES_IGNORE),
            "MPI_Testall");
  return flag != 0;
}

int MpiRail::awaited(int s) {
  const auto& sending = slots_[s].sending;
  return sending.empty() ? -1 : sending.front().peer;
}

// A receive can be cancelled; a send cannot (MPI 4 says so), and is left to MPI.
void MpiRail::abandon() {
  const auto drop = [](MPI_Request& request) {
    if (request == MPI_REQUEST_NULL) return;
    MPI_Cancel(&request);
    MPI_Request_free(&request);
  };
  for (Slot& slot : slots_) {
    for (Channel& c : slot.channels) {
      for (MPI_Request& request : c.posted) drop(request);
      c.posted.clear();
      c.opened.clear();
    }
    for (MPI_Request& request : slot.records_posted) drop(request);
  }
  for (Slot& slot : slots_) {  // MPI may still write, and read, there
    never_free_value(std::move(slot.inbox));
    never_free_value(std::move(slot.outbox));
  }
}

}  // namespace tide
