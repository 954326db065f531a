// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include <fmt/format.h>
#include <gtest/gtest-spi.h>

#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "core/process.hpp"
#include "system_calls.hpp"
#include "world.hpp"

namespace simulator {

using namespace tide_test;

namespace {

// What gtest's macros found, on any thread.
class Findings {
 public:
  std::string text() const {
    std::string all;
    for (int i = 0; i < array_.size() && i < 10; i++)
      if (const auto& part = array_.GetTestPartResult(i); part.failed())
        all += std::string(part.file_name() ? part.file_name() : "") + ":" +
               std::to_string(part.line_number()) + ": " + part.message() + "\n";
    return all;
  }

 private:
  testing::TestPartResultArray array_;
  testing::ScopedFakeTestPartResultReporter reporter_{
      testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &array_};
};

struct Members {
  std::vector<int> world_ranks;  // by rank of the communicator
  int color = 0, key = 0;
};

Members members_of(Over over, int ranks, int me) {
  Members m;
  m.key = over == Over::reversed ? -me : me;
  m.color = over == Over::halves ? me % 2 : 0;
  for (int r = 0; r < ranks; r++)
    if (over != Over::halves || r % 2 == m.color) m.world_ranks.push_back(r);
  if (over == Over::reversed) std::reverse(m.world_ranks.begin(), m.world_ranks.end());
  return m;
}

// Team of a communicator by the case's own node map: nothing is asked of the library.
Team team_over(MPI_Comm comm, const Members& members, const std::vector<int>& nodes) {
  Team team;
  team.comm = comm;
  MPI_Comm_rank(comm, &team.rank);
  MPI_Comm_size(comm, &team.size);
  for (const int r : members.world_ranks) team.node.push_back(nodes[static_cast<size_t>(r)]);
  team.members = ranks_by_node(team.node);
  return team;
}

class CaseOnRank {
 public:
  CaseOnRank(const Case& c, int me, uint64_t seed) : case_(c), me_(me), seed_(seed) {}
  void run() {
    for (size_t g = 0; g < case_.groups.size(); g++) make_group(g);
    for (size_t s = 0; s < case_.steps.size(); s++) {
      const Step& step = case_.steps[s];
      schedule()->doing("step " + std::to_string(s) + ": " +
                        (step.reduce ? "reduce-scatter" : "all-gather") + " of group " +
                        std::to_string(step.group));
      const List& list = *lists_[step.group];
      if (step.reduce)
        check_reduce_scatter(list, step.sums);
      else
        check_allgather(list, step.gather);
    }
    schedule()->doing("end");
    clean_up();
  }

 private:
  MPI_Comm comm_of(Over over, const Members& members) {
    MPI_Comm& comm = comms_[static_cast<size_t>(over)];
    if (over == Over::world) return MPI_COMM_WORLD;
    if (comm != MPI_COMM_NULL) return comm;
    if (over == Over::duplicate)
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else
      MPI_Comm_split(MPI_COMM_WORLD, members.color, members.key, &comm);
    return comm;
  }

  void make_group(size_t g) {
    const GroupCase& group = case_.groups[g];
    schedule()->doing("creation of group " + std::to_string(g));
    const Members members = members_of(group.over, case_.ranks(), me_);
    const Team team = team_over(comm_of(group.over, members), members, case_.nodes);
    std::vector<MPI_Count> rows;
    if (group.ragged) rows = ragged_rows(group.params, team.size, group.ragged);
    MPI_Info info;
    MPI_Info_create(&info);
    for (const auto& [key, value] : group.info) MPI_Info_set(info, key.c_str(), value.c_str());
    lists_.push_back(std::make_unique<List>(team, group.params, info, rows));
    if (group.least_workspace) {
      MPIX_Tide_sizes sizes{};
      TIDE_OK(MPIX_Tide_group_sizes(lists_.back()->group(), &sizes));
      const std::string least = std::to_string(sizes.reduce_scatter_workspace_min_bytes);
      MPI_Info_set(info, "tide_workspace_bytes", least.c_str());
      lists_.back() = std::make_unique<List>(team, group.params, info, rows);
    }
    MPI_Info_free(&info);
  }

  // Groups before communicators, after them, or after MPI_Finalize.
  void clean_up() {
    const uint64_t order = mix(seed_, 0xE4D) % 3;
    if (order == 0) lists_.clear();
    for (MPI_Comm& comm : comms_)
      if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    if (order == 1) lists_.clear();
  }

  const Case& case_;
  int me_;
  uint64_t seed_;
  MPI_Comm comms_[4] = {};
  std::vector<std::unique_ptr<List>> lists_;
};

// The end of a process.  Where records are never destroyed they stay, in reach of a leak checker.
template <class Record>
void end_process(Record* record) {
  static std::vector<Record*> kept;
  if constexpr (std::is_destructible_v<Record>)
    delete record;
  else
    kept.push_back(record);
}

std::string left_behind(const std::vector<std::string>& by_rank) {
  std::string text;
  for (size_t r = 0; r < by_rank.size(); r++)
    if (!by_rank[r].empty()) text += fmt::format("rank {} left behind: {}\n", r, by_rank[r]);
  if (mapped()) text += fmt::format("{} mappings are left behind\n", mapped());
  return text;
}

}  // namespace

Outcome run_ranks(const std::string& nodes, int ranks, const Mode& mode,
                  const std::function<void(int)>& body, const std::function<void(int)>& late) {
  setenv("TIDE_FAKE_NODES", nodes.c_str(), 1);
  begin_addresses();
  Findings findings;
  Schedule schedule(mode, ranks);
  std::vector<std::string> left(static_cast<size_t>(ranks));
  std::vector<tide::Process*> records(static_cast<size_t>(ranks));
  Outcome outcome;
  {
    World world(schedule, ranks);
    set_world(&world);
    schedule.run([&](int r) {
      const auto at = static_cast<size_t>(r);
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, nullptr);
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
      MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
      body(r);
      records[at] = &tide::Process::get();
      MPI_Finalize();
      left[at] = left_over(me());
      if (late) late(r);
    });
    outcome.simulated_s = static_cast<double>(schedule.now_us()) * 1e-6;
    for (tide::Process* record : records) end_process(record);
    set_world(nullptr);
  }
  outcome.failure = findings.text();
  if (!mode.leaves_behind) outcome.failure += left_behind(left);
  outcome.log_hash = schedule.log_hash();
  outcome.turns = schedule.turns();
  return outcome;
}

Outcome run_case(const Case& c, const Mode& mode) {
  std::vector<std::unique_ptr<CaseOnRank>> ranks(static_cast<size_t>(c.ranks()));
  const auto body = [&](int r) {
    auto& mine = ranks[static_cast<size_t>(r)];
    mine = std::make_unique<CaseOnRank>(c, r, mode.seed);
    mine->run();
  };
  return run_ranks(c.fake_nodes(), c.ranks(), mode, body,
                   [&](int r) { ranks[static_cast<size_t>(r)].reset(); });
}

}  // namespace simulator
