// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "slow_rail.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

#include "operation.hpp"

namespace tide_test {
namespace {

struct Held {
  const void* buffer;
  int count, peer, tag;
  MPI_Datatype type;
  MPI_Comm comm;
  double due_s;
  MPI_Request told;  // generalized: complete when `sent` is
  MPI_Request sent = MPI_REQUEST_NULL;
};

std::recursive_mutex mutex;
std::deque<Held> held;
double rate = 0, free_at_s = 0;
size_t seen = 0;
std::atomic<size_t> by_other_threads = 0;

void note_thread() {
  if (gettid() != getpid()) by_other_threads++;
}

int no_status(void*, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
int no_free(void*) { return MPI_SUCCESS; }
int no_cancel(void*, int) { return MPI_SUCCESS; }

// Sends what is due, and completes what has been sent.
void pump() {
  const std::lock_guard lock(mutex);
  for (Held& h : held) {
    if (h.sent != MPI_REQUEST_NULL || now_s() < h.due_s) break;
    PMPI_Isend(h.buffer, h.count, h.type, h.peer, h.tag, h.comm, &h.sent);
  }
  while (!held.empty() && held.front().sent != MPI_REQUEST_NULL) {
    int flag = 0;
    PMPI_Test(&held.front().sent, &flag, MPI_STATUS_IGNORE);
    if (!flag) return;
    PMPI_Grequest_complete(held.front().told);
    held.pop_front();
  }
}

bool must_queue(size_t bytes, int peer, int tag, MPI_Comm comm) {
  if (rate > 0 && bytes >= slow_bytes()) return true;
  return std::any_of(held.begin(), held.end(), [&](const Held& h) {
    return h.peer == peer && h.tag == tag && h.comm == comm;
  });
}

}  // namespace

size_t slow_bytes() { return 2048; }

void slow_rail(double bytes_per_s) {
  const std::lock_guard lock(mutex);
  rate = bytes_per_s;
}
size_t rail_messages_held() {
  const std::lock_guard lock(mutex);
  return held.size();
}
size_t calls_of_other_threads() { return by_other_threads; }

size_t rail_messages_seen() {
  const std::lock_guard lock(mutex);
  return seen;
}

}  // namespace tide_test

using namespace tide_test;

extern "C" int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  note_thread();
  const std::lock_guard lock(mutex);
  int size = 0;
  PMPI_Type_size(type, &size);
  const size_t bytes = static_cast<size_t>(count) * static_cast<size_t>(size);
  if (!must_queue(bytes, peer, tag, comm))
    return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
  ++seen;
  const double from = std::max(now_s(), free_at_s);
  free_at_s = rate > 0 ? from + static_cast<double>(bytes) / rate : from;
  PMPI_Grequest_start(no_status, no_free, no_cancel, nullptr, request);
  held.push_back({buffer, count, peer, tag, type, comm, free_at_s, *request});
  pump();
  return MPI_SUCCESS;
}

extern "C" int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  pump();
  return PMPI_Test(request, flag, status);
}

extern "C" int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status* statuses) {
  pump();
  return PMPI_Testall(count, requests, flag, statuses);
}

extern "C" int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  note_thread();
  pump();
  return PMPI_Iprobe(source, tag, comm, flag, status);
}
