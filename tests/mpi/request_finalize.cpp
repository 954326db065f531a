// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Finalize with requests still alive, in several variants (first argument): leaked at the
// worst, never a crash or a hang; exit status 0.
#include <dirent.h>
#include <mpi.h>
#include <mpix_tide.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace {

int failures = 0;

void ok(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::fprintf(stderr, "%s: %s\n", what, MPIX_Tide_error_message());
  ++failures;
}

std::set<int> threads() {
  std::set<int> found;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* entry = readdir(tasks))
    if (const int id = std::atoi(entry->d_name)) found.insert(id);
  closedir(tasks);
  return found;
}

struct Live {  // an all-gather with its buffers, never freed
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL;
  std::vector<float> shard, full;
  const void* in = nullptr;
  void* out = nullptr;
};

Live* make(MPI_Comm comm, bool thread) {
  static auto& all = *new std::vector<Live*>;  // where a leak detector sees them
  auto* live = all.emplace_back(new Live);
  MPIX_Tide_param p;
  std::memset(&p, 0, sizeof p);
  p.rows = 300;
  p.row_elems = 100;
  p.dtype = MPIX_TIDE_FP32;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "tide_progress", thread ? "thread" : "poll");
  ok(MPIX_Tide_group_create(comm, 1, &p, info, &live->group), "group_create");
  MPI_Info_free(&info);
  live->shard.assign(30000, 1.0f);
  live->full.assign(30000, 0.0f);
  live->in = live->shard.data();
  live->out = live->full.data();
  return live;
}

void begin(Live* live) {
  ok(MPIX_Tide_iallgather(&live->in, &live->out, live->group, &live->request), "iallgather");
}

void init(Live* live) {
  ok(MPIX_Tide_allgather_init(&live->in, &live->out, live->group, MPI_INFO_NULL, &live->request),
     "allgather_init");
}

std::set<int> fresh_threads;

void leave_alive(const std::string& variant) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const bool thread = variant.rfind("thread", 0) == 0;
  const std::set<int> before = threads();
  std::vector<Live*> lives;
  for (int i = 0; i < 5; ++i) lives.push_back(make(i < 3 ? comm : MPI_COMM_SELF, thread));
  const bool persistent = variant == "inactive" || variant == "restarted" ||
                          variant == "persistent_active" || variant == "thread_inactive";
  for (Live* live : lives) persistent ? init(live) : begin(live);
  for (Live* live : lives) {
    if (variant == "inactive" || variant == "thread_inactive") break;
    if (persistent) ok(MPIX_Tide_start(&live->request), "start");
    if (variant == "restarted") ok(MPIX_Tide_wait(&live->request), "wait");
  }
  if (variant == "freed_active" || variant == "all_freed")
    for (Live* live : lives) ok(MPIX_Tide_request_free(&live->request), "request_free");
  if (variant == "groups_freed" || variant == "all_freed")
    for (Live* live : lives) ok(MPIX_Tide_group_free(&live->group), "group_free");
  if (variant == "comm_freed" || variant == "all_freed") MPI_Comm_free(&comm);
  // One rank has begun one more that nobody else will ever begin.
  if (variant == "one_rank_active" && rank == 0) begin(make(MPI_COMM_SELF, false));
  // The others finalize meanwhile, and complete what they have begun.
  if (variant == "one_rank_waited" && rank == 0)
    for (Live* live : lives) ok(MPIX_Tide_wait(&live->request), "wait");
  if (variant == "thread_used")
    for (Live* live : lives) ok(MPIX_Tide_wait(&live->request), "wait");
  for (int id : threads())
    if (!before.count(id)) fresh_threads.insert(id);
  if (thread && fresh_threads.empty()) {
    std::fprintf(stderr, "no progress thread was started\n");
    ++failures;
  }
}

// A start that the other ranks never join: finalize must not wait for it.
void leave_unmatched(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  Live* live = make(comm, false);
  if (rank == 0) begin(live);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string variant = argc > 1 ? argv[1] : "active";
  const int wanted = argc > 2 ? std::atoi(argv[2]) : 2;
  alarm(45);
  int size = 0, given = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != wanted) {
    std::fprintf(stderr, "%d ranks were asked for, MPI_COMM_WORLD has %d: wrong launcher\n", wanted,
                 size);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (variant == "unmatched")
    leave_unmatched(MPI_COMM_WORLD);
  else
    leave_alive(variant);
  MPI_Finalize();
  const std::set<int> left = threads();
  for (int id : fresh_threads)
    if (left.count(id)) std::fprintf(stderr, "thread %d still lives\n", id), ++failures;
  std::printf("finalized, %d failures\n", failures);
  return failures ? 5 : 0;
}
