// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Who keeps a communicator waiting.  A rank that has heard nothing for the time limit asks all
// others where they stand.  Ranks that are inside Tide answer, whatever they wait for.  When the
// asker has waited as long again (at least half a second) and still nothing moved anywhere, it
// follows the answers from rank to rank, each to the one that it waits for, to the rank that is
// silent or has not made the call: the culprit.  All waiting ranks walk to the same one.  The first
// verdict goes to all ranks; the communicator is given up.
// Messages travel on our duplicate of the communicator with a tag of their own.  Not thread-safe:
// the context's mutex is held.
#pragma once
#include <mpi.h>

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "core/position.hpp"
#include "core/status.hpp"
#include "core/where.hpp"

namespace tide {

constexpr int watch_tag = 31999;

class Watch {
 public:
  struct Here {                // this rank, now
    Where where;               // on this communicator
    Where elsewhere;           // the wait of this process on another one, if any
    std::vector<int> missing;  // communicator ranks that it waits for, as far as they are known
    Position position;         // in the order of operations
    uint64_t moved = 0;        // grows whenever anything moves
    uint64_t entered = 0;      // the last call that it entered
    bool waiting = false;      // the user waits: the clock runs
    double limit_s = 0;        // 0: none
  };

  explicit Watch(MPI_Comm comm);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // To be called some hundred times a second while anybody waits anywhere.  A verdict, own or
  // another's, at most once.
  std::optional<Status> tick(const Here& here);
  // What has come meanwhile: questions are answered, another's verdict is returned.
  std::optional<Status> hear(const Here& here);
  void tell(const Status& verdict);  // to all others, once
  // Of two ranks that are out of order: about the one that is in a set-up, if any.
  static Status another_way(const Position& here, int me, const Position& there, int other);
  // After a verdict of one's own: where each rank was heard to stand, a line each.
  std::vector<std::string> report(const Here& here) const;

 private:
  enum Kind : int32_t { ask, answer, alarm };
  struct Notice {
    int32_t kind, from;
    uint64_t round, moved, entered, position;
    Where where, elsewhere;
    Status verdict;
  };
  struct Heard {  // of one rank, in this round
    bool any = false;
    uint64_t moved_first = 0;
    Notice last{};
  };
  struct Sending {
    MPI_Request request;
    Notice notice;
  };
  void send(int to, Kind kind, const Here& here, const Status& verdict = {});
  void ask_all(const Here& here);
  void ask_for_order(const Here& here, double step_s);
  bool anything_moved() const;
  Status verdict(const Here& here) const;
  Status accuse(int rank, const Here& here) const;

  MPI_Comm comm_;
  int me_ = 0, size_ = 1;
  double last_tick_s_ = 0, idle_s_ = 0, next_ask_s_ = 0;
  uint64_t moved_ = 0, round_ = 0;
  double unlimited_s_ = 0;   // that nothing has moved, where there is no limit
  double next_order_s_ = 1;  // of it, when to ask for the order
  bool asking_ = false, told_ = false;
  std::vector<Heard> heard_;
  std::list<Sending> sending_;
};

}  // namespace tide
