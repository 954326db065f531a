// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// V24: MPI_Finalize with everything still alive, in several variants (first argument); each must
// end with exit status 0.
#include <mpi.h>
#include <mpix_tide.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace {

int failures = 0;

void ok(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::fprintf(stderr, "%s: %s\n", what, MPIX_Tide_error_message());
  ++failures;
}

struct Live {
  MPI_Comm comm;
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  void *grad = nullptr, *shard = nullptr;
};

Live use(MPI_Comm comm) {
  Live live{comm};
  MPIX_Tide_param p;
  std::memset(&p, 0, sizeof p);
  p.rows = 5;
  p.row_elems = 3;
  p.dtype = MPIX_TIDE_FP32;
  ok(MPIX_Tide_group_create(comm, 1, &p, MPI_INFO_NULL, &live.group), "group_create");
  ok(MPIX_Tide_alloc(comm, 4096, MPI_INFO_NULL, &live.grad), "alloc");
  ok(MPIX_Tide_alloc(comm, 4096, MPI_INFO_NULL, &live.shard), "alloc");
  int size = 0;
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < 15; ++i) static_cast<float*>(live.grad)[i] = 2.0f;
  ok(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(&live.grad), &live.shard, 0, MPIX_TIDE_SUM, 1.0,
                              live.group),
     "reduce_scatter");
  MPI_Count first, rows;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  ok(MPIX_Tide_group_shard(live.group, 0, rank, &first, &rows), "group_shard");
  for (MPI_Count i = 0; i < rows * 3; ++i)
    failures += static_cast<float*>(live.shard)[i] != 2.0f * static_cast<float>(size);
  return live;
}

Live late;  // freed by a static destructor, after main

struct AfterMain {
  bool wanted = false;
  ~AfterMain() {
    if (!wanted) return;
    MPIX_Tide_group_free(&late.group);  // whatever it returns: no crash, no MPI call
    MPIX_Tide_free(MPI_COMM_NULL, late.grad);
    if (write(STDOUT_FILENO, "static destructor ran\n", 22) < 0) _exit(4);
  }
} after_main;

void leave_alive(const char* variant) {
  MPI_Comm copy, half;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  Live w = use(MPI_COMM_WORLD), d = use(copy), s = use(MPI_COMM_SELF), h = use(half);
  late = w;
  if (std::strcmp(variant, "comm_freed") == 0) {
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
  } else if (std::strcmp(variant, "groups_freed") == 0) {
    for (Live* live : {&d, &w, &h, &s}) ok(MPIX_Tide_group_free(&live->group), "group_free");
  } else if (std::strcmp(variant, "memory_freed") == 0) {
    for (Live* live : {&s, &w, &h, &d}) {
      ok(MPIX_Tide_free(MPI_COMM_NULL, live->shard), "free");
      ok(MPIX_Tide_free(live->comm, live->grad), "free");
    }
  } else if (std::strcmp(variant, "one_rank_frees") == 0 && rank == 0) {
    ok(MPIX_Tide_group_free(&w.group), "group_free");
    ok(MPIX_Tide_free(MPI_COMM_NULL, d.grad), "free");
  } else if (std::strcmp(variant, "static_destructor") == 0) {
    after_main.wanted = true;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* variant = argc > 1 ? argv[1] : "all_alive";
  const int wanted = argc > 2 ? std::atoi(argv[2]) : 2;
  alarm(30);  // the case's own limit
  MPI_Init(nullptr, nullptr);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != wanted) {
    std::fprintf(stderr, "%d ranks were asked for, MPI_COMM_WORLD has %d: wrong launcher\n", wanted,
                 size);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (std::strcmp(variant, "unused") != 0) leave_alive(variant);
  MPI_Finalize();
  if (std::strcmp(variant, "after_finalize") == 0) {
    MPIX_Tide_group_free(&late.group);
    MPIX_Tide_free(MPI_COMM_NULL, late.shard);
  }
  std::printf("finalized, %d failures\n", failures);
  return failures ? 5 : 0;
}
