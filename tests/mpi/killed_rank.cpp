// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// killed_rank [call|request|create]: the last rank kills itself; each survivor prints what its call
// returned and ends without MPI_Finalize, which could not succeed.  killed_rank.cmake judges.
#include <mpi.h>
#include <mpix_tide.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int rank = 0, size = 1;
MPI_Comm comm;

int create(MPIX_Tide_group* group) {
  MPIX_Tide_param p;
  std::memset(&p, 0, sizeof p);
  p.rows = 64;
  p.row_elems = 33;
  p.dtype = MPIX_TIDE_FP32;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "tide_timeout", "1");
  const int code = MPIX_Tide_group_create(comm, 1, &p, info, group);
  MPI_Info_free(&info);
  return code;
}

[[noreturn]] void report(int code, double took_s) {
  int kind = 0;
  MPIX_Tide_error_kind(code, &kind);
  const char* name = code == MPI_SUCCESS             ? "SUCCESS"
                     : kind == MPIX_TIDE_ERR_TIMEOUT ? "TIMEOUT"
                     : kind == MPIX_TIDE_ERR_PEER    ? "PEER"
                                                     : "OTHER";
  std::printf("\nsurvivor %d of %d: %s %s: %s\n", rank, size, name,
              took_s < 3.0 ? "in time" : "too late", MPIX_Tide_error_message());
  std::fflush(stdout);
  sleep(2);  // others may still be on their way, and one end may end all
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const char* where = argc > 1 ? argv[1] : "call";
  alarm(25);
  MPI_Init(nullptr, nullptr);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  std::vector<float> shard(64 * 33), full(64 * 33);
  const void* in = shard.data();
  void* out = full.data();
  const bool creating = std::strcmp(where, "create") == 0;
  if (create(&group) != MPI_SUCCESS || MPIX_Tide_allgather(&in, &out, group) != MPI_SUCCESS) {
    std::printf("\nset-up failed: %s\n", MPIX_Tide_error_message());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  if (rank == size - 1) {
    usleep(200000);
    raise(SIGKILL);
  }
  const double begun_s = now_s();
  int code = MPI_SUCCESS;
  if (creating) {
    MPIX_Tide_group another = MPIX_TIDE_GROUP_NULL;
    code = create(&another);
  } else if (std::strcmp(where, "request") == 0) {
    MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL;
    code = MPIX_Tide_iallgather(&in, &out, group, &request);
    if (code == MPI_SUCCESS) code = MPIX_Tide_wait(&request);
  } else {
    code = MPIX_Tide_allgather(&in, &out, group);
  }
  report(code, now_s() - begun_s);
}
