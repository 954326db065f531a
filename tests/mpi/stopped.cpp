// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stopped.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#ifdef __SANITIZE_ADDRESS__
// A UCX worker that is kept for good after a rank was given up (core/left_behind.hpp) holds these
// through chunks that UCX maps itself, where LeakSanitizer does not look.  Only in programs that
// stop a rank: elsewhere the same objects tell of a worker that was lost.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();
const char* __lsan_default_suppressions() {
  return "leak:ucp_ep_create_base\nleak:uct_mm_seg_new\n";
}
#endif

namespace tide_test {
namespace {

const Failure timeout{MPIX_TIDE_ERR_TIMEOUT, 0}, peer{MPIX_TIDE_ERR_PEER, 0};

// A process that sends one signal later: only calls that are safe after a fork.
pid_t signal_later(pid_t to, int signal, int ms) {
  const pid_t child = fork();
  if (child != 0) return child;
  usleep(static_cast<useconds_t>(ms) * 1000);
  kill(to, signal);
  _exit(0);
}

}  // namespace

double timeout_s() { return 1.0; }
double timeout_bound_s() { return 2 * timeout_s() + 1; }

Stopped::Stopped(int culprit) : culprit_(culprit), pids_(static_cast<size_t>(world().size)) {
  const int mine = getpid();
  MPI_Allgather(&mine, 1, MPI_INT, pids_.data(), 1, MPI_INT, MPI_COMM_WORLD);
  others_comm_ = split(MPI_COMM_WORLD, me() ? -1 : 0, world().rank);
  if (!me()) others_ = team_of(others_comm_);
  sync(world());
  // Whatever happens to the survivors, the culprit must not stay stopped for ever.
  if (world().rank == 0)
    children_.push_back(signal_later(pids_[static_cast<size_t>(culprit_)], SIGCONT, 30000));
}

Stopped::~Stopped() {
  for (size_t i = 0; i < children_.size(); ++i) {
    kill(children_[i], SIGKILL);
    waitpid(children_[i], nullptr, 0);
  }
  if (others_comm_ != MPI_COMM_NULL) MPI_Comm_free(&others_comm_);
}

void Stopped::stop_here() {
  if (me()) raise(SIGSTOP);
}

void Stopped::stop_later(int ms) {
  if (world().rank == 0)
    children_.push_back(signal_later(pids_[static_cast<size_t>(culprit_)], SIGSTOP, ms));
}

void Stopped::resume() {
  if (me()) return;
  sync(others_);
  if (world().rank == 0) kill(pids_[static_cast<size_t>(culprit_)], SIGCONT);
}

void expect_timeout(const Stopped& stopped, const char* what, const std::function<int()>& call,
                    Culprit culprit) {
  SCOPED_TRACE(what);
  const double begun_s = now_s();
  const int code = call();
  const double took_s = now_s() - begun_s;
  const std::string message = MPIX_Tide_error_message();
  expect_failure(code, {timeout}, {culprit == Culprit::named ? stopped.name() : "tide_timeout"});
  EXPECT_LT(took_s, timeout_bound_s());
  std::printf("rank %d, %s: %.2f s, %s\n", world().rank, what, took_s, message.c_str());
}

void expect_broken(const char* what, const std::function<int()>& call) {
  SCOPED_TRACE(what);
  const double begun_s = now_s();
  expect_failure(call(), {timeout, peer});
  EXPECT_LT(now_s() - begun_s, timeout_s() / 2) << "a broken group answers at once";
}

void expect_local_calls(Operation& operation) {
  const double begun_s = now_s();
  MPIX_Tide_group group = operation.list.group();
  char text[4096];
  size_t needed = 0;
  int nparams = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  MPIX_Tide_sizes sizes;
  TIDE_OK(MPIX_Tide_group_report(group, text, sizeof text, &needed));
  TIDE_OK(MPIX_Tide_group_get(group, &comm, &nparams, nullptr));
  TIDE_OK(MPIX_Tide_group_sizes(group, &sizes));
  TIDE_OK(MPIX_Tide_group_shard(group, 0, 0, nullptr, nullptr));
  if (operation.request != MPIX_TIDE_REQUEST_NULL)
    TIDE_OK(MPIX_Tide_request_free(&operation.request));
  operation.list.forget_group();
  TIDE_OK(MPIX_Tide_group_free(&group));
  operation.drop_inputs();
  EXPECT_LT(now_s() - begun_s, timeout_s() / 2) << "queries and frees do not wait";
}

}  // namespace tide_test
