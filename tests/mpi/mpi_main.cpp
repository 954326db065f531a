// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The main of every MPI test.  All ranks run the same cases in the same order; a case that fails on
// any rank fails the process on all.  A case that hangs is ended by an alarm that says which case,
// which rank, where it stands.
//   --ranks=N          how many ranks the launcher was asked for: another size is a wrong launcher,
//   and fails
//   --deadline=S       seconds for the whole program (below the CTest TIMEOUT)
//   --hosts=2,2,1      ranks of each host, host by host: other places fail (tests/cluster)
//   --thread-multiple  initialise MPI with MPI_THREAD_MULTIPLE
#include <execinfo.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "hosts.hpp"

namespace {

int rank = 0, size = 1, deadline_s = 55;
time_t started;
bool failed_anywhere = false;
char alarm_text[512] = "";

extern "C" void on_alarm(int) {
  // Only calls that are safe inside a signal: the process is stuck somewhere unknown.
  if (write(STDERR_FILENO, alarm_text, std::strlen(alarm_text)) < 0) _exit(125);
  void* frames[48];
  backtrace_symbols_fd(frames, backtrace(frames, 48), STDERR_FILENO);
  _exit(124);  // without MPI_Finalize: the launcher ends the other ranks
}

void arm(const std::string& name) {
  const int left_s = std::max(1, deadline_s - static_cast<int>(time(nullptr) - started));
  const int limit_s = std::min(std::max(40, deadline_s - 15), left_s);  // of one case
  std::snprintf(
      alarm_text, sizeof alarm_text,
      "\n[ WATCHDOG ] rank %d of %d: %s still runs after %d s.  Hint: a rank waits for one that "
      "never comes; "
      "compare the stacks of the ranks, or rerun with --gtest_filter=%s and attach gdb -p %d\n",
      rank, size, name.c_str(), limit_s, name.c_str(), static_cast<int>(getpid()));
  alarm(static_cast<unsigned>(limit_s));
}

class RankListener : public testing::EmptyTestEventListener {
 public:
  RankListener() { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
  ~RankListener() override { MPI_Comm_free(&comm_); }

  void OnTestStart(const testing::TestInfo& info) override { arm(name_of(info)); }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (rank == 0 || !result.failed()) return;  // rank 0 has GoogleTest's own printer
    std::fprintf(stderr, "[ rank %d/%d ] %s:%d: Failure\n%s\n", rank, size,
                 result.file_name() ? result.file_name() : "?", result.line_number(),
                 result.message());
  }

  void OnTestEnd(const testing::TestInfo& info) override {
    std::vector<int> failed(static_cast<size_t>(size));
    const int mine = info.result()->Failed() ? 1 : 0;
    MPI_Allgather(&mine, 1, MPI_INT, failed.data(), 1, MPI_INT, comm_);
    arm("after " + name_of(info));
    if (std::count(failed.begin(), failed.end(), 0) == size) return;
    failed_anywhere = true;
    if (rank != 0) return;
    std::string ranks;
    for (int r = 0; r < size; ++r) {
      if (failed[static_cast<size_t>(r)]) ranks.append(1, ' ').append(std::to_string(r));
    }
    std::fprintf(stderr, "[  RANKS   ] %s failed on rank(s)%s of %d\n", name_of(info).c_str(),
                 ranks.c_str(), size);
  }

 private:
  static std::string name_of(const testing::TestInfo& info) {
    return std::string(info.test_suite_name()) + "." + info.name();
  }
  MPI_Comm comm_ = MPI_COMM_NULL;
};

const char* value_of(int argc, char** argv, const char* name) {
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], name, std::strlen(name)) == 0) return argv[i] + std::strlen(name);
  }
  return nullptr;
}

void check_launch(const char* program, const char* ranks) {
  const int wanted = ranks ? std::atoi(ranks) : size;
  if (wanted == size) return;
  if (rank == 0)
    std::fprintf(
        stderr,
        "%s: %d ranks were asked for, MPI_COMM_WORLD has %d.  Hint: the mpiexec of another "
        "MPI, or srun without "
        "its --mpi option, starts every process as rank 0 of 1\n",
        program, wanted, size);
  sleep(rank == 0 ? 1 : 5);  // an abort may overtake the message on its way through the launcher
  MPI_Abort(MPI_COMM_WORLD, 3);
}

void check_hosts(const char* counts) {
  const std::string wrong = counts ? tide_test::wrong_hosts(counts) : "";
  if (wrong.empty()) return;
  std::fprintf(stderr, "[ rank %d/%d ] not the hosts that were asked for (%s): %s\n", rank, size,
               counts, wrong.c_str());
  sleep(1);  // the others say it as well
  MPI_Abort(MPI_COMM_WORLD, 3);
}

int run_cases() {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) delete listeners.Release(listeners.default_result_printer());
  auto* ranks = new RankListener;
  listeners.Append(ranks);
  int failed = RUN_ALL_TESTS() != 0 || failed_anywhere;
  const auto* all = testing::UnitTest::GetInstance();
  if (all->successful_test_count() + all->failed_test_count() == 0 && !GTEST_FLAG_GET(list_tests)) {
    std::fprintf(stderr, "[ rank %d/%d ] no case ran: wrong rank count or filter\n", rank, size);
    failed = 1;
  }
  delete listeners.Release(ranks);
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  started = time(nullptr);
  std::signal(SIGALRM, on_alarm);
  if (const char* text = value_of(argc, argv, "--deadline=")) deadline_s = std::atoi(text);
  void* first[1];
  backtrace(first, 1);  // loads the unwinder now, not inside the signal
  arm("MPI_Init");
  int given = 0;
  MPI_Init_thread(
      &argc, &argv,
      value_of(argc, argv, "--thread-multiple") ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED,
      &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check_launch(argv[0], value_of(argc, argv, "--ranks="));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  check_hosts(value_of(argc, argv, "--hosts="));
  testing::InitGoogleTest(&argc, argv);
  int failed = run_cases(), any = 0;
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  arm("MPI_Finalize");
  MPI_Finalize();
  return any;
}
