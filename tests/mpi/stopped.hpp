// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A rank that stops (SIGSTOP) while the others go on, and that comes back when they have seen
// enough.
#pragma once
#include <sys/types.h>

#include <functional>
#include <vector>

#include "operation.hpp"

namespace tide_test {

class Stopped {
 public:
  // Collective.  The culprit is a rank of MPI_COMM_WORLD other than 0, which watches it.
  explicit Stopped(int culprit);
  ~Stopped();
  bool me() const { return world().rank == culprit_; }
  std::string name() const { return "rank " + std::to_string(culprit_); }
  const Team& others() const { return others_; }  // not on the culprit

  void stop_here();  // the culprit stops itself
  // Rank 0: a process of its own stops the culprit after a while, whatever it does then.
  void stop_later(int ms);
  // Survivors: all of them have seen enough, the culprit may go on.
  void resume();

 private:
  int culprit_;
  std::vector<int> pids_;
  MPI_Comm others_comm_ = MPI_COMM_NULL;
  Team others_;
  std::vector<pid_t> children_;
};

double timeout_s();        // of the tests
double timeout_bound_s();  // twice that and a second

// A survivor's call: TIMEOUT within the bound, and it names the culprit; but not the very first
// call on a communicator, before which its ranks know nothing of each other.
enum class Culprit { named, unknown };
void expect_timeout(const Stopped& stopped, const char* what, const std::function<int()>& call,
                    Culprit culprit = Culprit::named);
// A call on what is broken: an error (TIMEOUT or PEER) at once.
void expect_broken(const char* what, const std::function<int()>& call);
// Queries and frees work on a broken group, and at once.
void expect_local_calls(Operation& operation);

}  // namespace tide_test
