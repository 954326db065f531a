// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/rail/mpi.hpp"

#include <algorithm>

#include "core/left_behind.hpp"

namespace tide {

// In flight, and received, at once, however small: MPI keeps the memory of as many requests for
// good.
constexpr size_t most_puts = 256;
constexpr int max_rounds = 32, record_tag = slot_count * index_count;

MpiRail::MpiRail(MPI_Comm comm, const Topology& topology) : comm_(comm), topology_(topology) {
  for (Slot& slot : slots_) {
    slot.records.resize(max_rounds);
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

void MpiRail::send_record(int s, int peer, int round, const EntryRecord& record) {
  check_mpi(MPI_Isend(&record, sizeof record, MPI_BYTE, topology_.comm_rank(peer),
                      record_tag + s * max_rounds + round, comm_,
                      &slots_[s].records_sent[static_cast<size_t>(round)]),
            "MPI_Isend");
}

bool MpiRail::receive_record(int s, int peer, int round, EntryRecord& record) {
  Slot& slot = slots_[s];
  const size_t k = static_cast<size_t>(round);
  MPI_Request& posted = slot.records_posted[k];
  if (posted == MPI_REQUEST_NULL)
    check_mpi(MPI_Irecv(&slot.records[k], sizeof record, MPI_BYTE, topology_.comm_rank(peer),
                        record_tag + s * max_rounds + round, comm_, &posted),
              "MPI_Irecv");
  int flag = 0;
  check_mpi(MPI_Test(&posted, &flag, MPI_STATUS_IGNORE), "MPI_Test");
  if (flag) record = slot.records[k];
  return flag != 0;
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
  for (Slot& slot : slots_) never_free_value(std::move(slot.records));  // MPI may still write there
}

}  // namespace tide
