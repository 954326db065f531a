// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "world.hpp"

using namespace simulator;

namespace {

// Every entry into MPI lets this rank's transfers go on, whatever it asks about.
void enter() {
  const std::lock_guard lock(me().mutex);
  transfer(me());
}

bool complete(MPI_Request* request, MPI_Status* status) {
  MPI_Status outcome{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0, 0};
  if (*request) {
    if (!(*request)->test(outcome)) return false;
    world().ranks[static_cast<size_t>((*request)->owner)]->requests--;
    delete *request;
    *request = nullptr;
  }
  if (status) *status = outcome;
  return true;
}

void after(bool moved) {
  if (moved)
    schedule()->maybe_turn();
  else if (schedule()->chance(4) == 0)
    schedule()->turn(Turn::idle);
}

}  // namespace

extern "C" {

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  enter();
  const bool was = *request != nullptr;
  *flag = complete(request, status);
  if (*flag && was) schedule()->event("done");
  if (was) after(*flag);
  return MPI_SUCCESS;
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  enter();
  bool any = false;
  *flag = 1;
  for (int i = 0; i < count; i++) {
    any |= requests[i] != nullptr;
    // Requests that complete stay as they are until all have: MPI's rule.  Ours complete by
    // themselves, so each one is freed once it is done; what is null then counts as done.
    if (!complete(&requests[i], statuses ? &statuses[i] : nullptr)) *flag = 0;
  }
  if (any) after(*flag);
  return MPI_SUCCESS;
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  enter();
  *index = MPI_UNDEFINED;
  bool any = false;
  const int start = count ? static_cast<int>(schedule()->chance(static_cast<uint64_t>(count))) : 0;
  for (int k = 0; k < count && *index == MPI_UNDEFINED; k++) {
    const int i = (start + k) % count;
    if (!requests[i]) continue;
    any = true;
    if (complete(&requests[i], status)) *index = i;
  }
  *flag = *index != MPI_UNDEFINED || !any;
  after(*flag);
  return MPI_SUCCESS;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  enter();
  if (!*request) return complete(request, status), MPI_SUCCESS;
  Rank& rank = me();
  MPI_Status outcome{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0, 0};
  bool done = false;  // asked for once more where somebody else gets the turn first
  schedule()->wait_until(
      [&] {
        if (done) return true;
        {
          const std::lock_guard lock(rank.mutex);
          transfer(rank);
        }
        return done = (*request)->test(outcome);
      },
      (*request)->what);
  rank.requests--;
  delete *request;
  *request = nullptr;
  if (status) *status = outcome;
  schedule()->event("done");
  return MPI_SUCCESS;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  for (int i = 0; i < count; i++) MPI_Wait(&requests[i], statuses ? &statuses[i] : nullptr);
  return MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request* request) {
  if ((*request)->cancel) (*request)->cancel();
  return MPI_SUCCESS;
}
int MPI_Test_cancelled(const MPI_Status* status, int* flag) {
  *flag = status->cancelled;
  return MPI_SUCCESS;
}
int MPI_Status_set_elements(MPI_Status*, MPI_Datatype, int) { return MPI_SUCCESS; }
int MPI_Status_set_cancelled(MPI_Status* status, int flag) {
  status->cancelled = flag;
  return MPI_SUCCESS;
}
int MPI_Request_free(MPI_Request* request) {
  me().requests--;
  delete *request;  // what it asked for still happens
  *request = nullptr;
  return MPI_SUCCESS;
}

int MPI_Grequest_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* drop,
                       MPI_Grequest_cancel_function*, void* extra, MPI_Request* request) {
  auto* made = new simulated_request;
  made->what = [] { return std::string("a generalized request"); };
  made->owner = my_rank();
  me().requests++;
  made->test = [=](MPI_Status& status) {
    if (!made->completed.load(std::memory_order_acquire)) return false;
    if (query) query(extra, &status);
    if (drop) drop(extra);
    return true;
  };
  *request = made;
  return MPI_SUCCESS;
}
int MPI_Grequest_complete(MPI_Request request) {
  request->completed.store(true, std::memory_order_release);
  return MPI_SUCCESS;
}
}
