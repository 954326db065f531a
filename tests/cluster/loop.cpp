// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// loop SECONDS: gathers and reduces over and over, every element compared with the definition, for
// tests that spoil the network meanwhile.  Nothing but Tide communicates in the loop: the order to
// stop is a gathered parameter.  links.sh judges what is printed.
#include <mpi.h>
#include <mpix_tide.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr MPI_Count rows_per_rank = 300, row_elems = 1000;
int rank = 0, size = 1;
double longest_s = 0;

// Integers so small that any sum is exact.
float value(int r, MPI_Count i, int call) {
  return static_cast<float>((7 * i + 3 * r + call) % 31);
}

[[noreturn]] void stop_with(int code, double took_s, int calls) {
  int kind = 0;
  MPIX_Tide_error_kind(code, &kind);
  std::printf("rank %d of %d, call %d: %s after %.1f s: %s\n", rank, size, calls,
              kind == MPIX_TIDE_ERR_TIMEOUT ? "TIMEOUT"
              : kind == MPIX_TIDE_ERR_PEER  ? "PEER"
                                            : "OTHER",
              took_s, MPIX_Tide_error_message());
  std::fflush(stdout);
  sleep(3);  // others may still be on their way, and one end may end all
  _exit(0);  // MPI_Finalize could not succeed
}

void expect(bool right, const char* what, int call) {
  if (right) return;
  std::printf("rank %d of %d, call %d: WRONG %s\n", rank, size, call, what);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

template <class Call>
void timed(int calls, Call call) {
  const double begun_s = MPI_Wtime();
  const int code = call();
  const double took_s = MPI_Wtime() - begun_s;
  if (code != MPI_SUCCESS) stop_with(code, took_s, calls);
  longest_s = std::max(longest_s, took_s);
}

struct Buffers {
  std::vector<float> shard, full, grad, sum, stop_all;
  float stop = 0, stop_grad = 0;
};

void gather(MPIX_Tide_group group, Buffers& b, int call) {
  for (MPI_Count i = 0; i < rows_per_rank * row_elems; ++i) b.shard[i] = value(rank, i, call);
  void *shards[] = {b.shard.data(), &b.stop}, *params[] = {b.full.data(), b.stop_all.data()};
  timed(call, [&] { return MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards), params, group); });
  bool right = true;
  for (int r = 0; r < size; ++r)
    for (MPI_Count i = 0; i < rows_per_rank * row_elems; ++i)
      right = right && b.full[r * rows_per_rank * row_elems + i] == value(r, i, call);
  expect(right, "all-gather", call);
}

void reduce(MPIX_Tide_group group, Buffers& b, int call) {
  const MPI_Count all = size * rows_per_rank * row_elems, first = rank * rows_per_rank * row_elems;
  for (MPI_Count i = 0; i < all; ++i) b.grad[i] = value(rank, i, call);
  std::vector<float> stop_grads(static_cast<size_t>(size));
  void *grads[] = {b.grad.data(), stop_grads.data()}, *sums[] = {b.sum.data(), &b.stop_grad};
  timed(call, [&] {
    return MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads), sums, 0, MPIX_TIDE_SUM, 1.0, group);
  });
  bool right = true;
  for (MPI_Count i = 0; i < rows_per_rank * row_elems; ++i) {
    float sum = 0;
    for (int r = 0; r < size; ++r) sum += value(r, first + i, call);
    right = right && b.sum[i] == sum;
  }
  expect(right, "reduce-scatter", call);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 5;
  alarm(static_cast<unsigned>(seconds) + 60);
  MPI_Init(nullptr, nullptr);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPIX_Tide_param list[2];
  std::memset(list, 0, sizeof list);
  list[0].rows = size * rows_per_rank;
  list[0].row_elems = row_elems;
  list[1].rows = size;
  list[1].row_elems = 1;
  list[0].dtype = list[1].dtype = MPIX_TIDE_FP32;
  MPIX_Tide_group group;
  timed(0, [&] { return MPIX_Tide_group_create(comm, 2, list, MPI_INFO_NULL, &group); });
  Buffers b;
  b.shard.resize(static_cast<size_t>(rows_per_rank * row_elems));
  b.sum = b.shard;
  b.full.resize(b.shard.size() * static_cast<size_t>(size));
  b.grad = b.full;
  b.stop_all.resize(static_cast<size_t>(size));
  MPIX_Tide_topology told;
  MPIX_Tide_comm_topology(comm, &told);

  int call = 0;
  const double begun_s = MPI_Wtime();
  for (double told_s = begun_s; b.stop_all[0] == 0;) {
    b.stop = rank == 0 && MPI_Wtime() - begun_s > seconds ? 1 : 0;
    gather(group, b, ++call);
    reduce(group, b, ++call);
    if (rank == 0 && MPI_Wtime() - told_s > 0.2) {
      told_s = MPI_Wtime();
      std::printf("call %d\n", call);
      std::fflush(stdout);
    }
  }
  std::printf("rank %d of %d on %d nodes: %d calls are right, the longest took %.1f s\n", rank,
              size, told.nodes, call, longest_s);
  MPIX_Tide_group_free(&group);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
