// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "run.hpp"

using namespace simulator;

namespace {

constexpr unsigned most_s_a_seed = 240;  // of real time: a thread that holds the turn blocks
constexpr uint64_t twice_every = 8;      // seeds: same seed, same execution

struct Settings {
  std::string seeds = "0:20", mode = "deterministic", workload = "random";
  int64_t seed = -1;
  bool verbose = false, twice = false;
  std::string program;
};

char now_running[512];

void say_seed(int signal) {
  const char* why = signal == SIGALRM ? "hangs: " : "dies: ";
  for (const char* text : {why, static_cast<const char*>(now_running), "\n"})
    if (write(2, text, strlen(text)) < 0) break;
  _exit(1);
}

std::string command(const Settings& s, uint64_t seed) {
  return s.program + " --workload " + s.workload + " --mode " + s.mode + " --seed " +
         std::to_string(seed);
}

// V19 in many sizes: odd counts of nodes, with one rank a node, and with two for the smaller ones.
Case sweep_case(uint64_t seed) {
  const int nodes = 2 + static_cast<int>(seed / 2) % 32, locals = seed % 2 && nodes <= 12 ? 2 : 1;
  std::vector<int> map;
  for (int l = 0; l < locals; l++)
    for (int n = 0; n < nodes; n++) map.push_back(n);
  return plain_case(map, seed);
}

Outcome run_seed(const Settings& s, uint64_t seed) {
  Mode mode;
  mode.deterministic = s.mode == "deterministic";
  mode.seed = seed;
  mode.verbose = s.verbose;
  mode.replay = command(s, seed);
  if (s.workload == "refusals") return run_refusal(seed, mode);
#ifdef TIDE_SIMULATE_REQUESTS
  if (s.workload == "requests") return run_requests(seed, mode);
  if (s.workload == "stalls") return run_stall(seed, mode);
#endif
  return run_case(s.workload == "sweep" ? sweep_case(seed) : random_case(seed), mode);
}

bool check_seed(const Settings& s, uint64_t seed) {
  std::snprintf(now_running, sizeof now_running, "%s", command(s, seed).c_str());
  alarm(most_s_a_seed);
  if (s.verbose && s.workload == "random")
    std::fprintf(stderr, "%s", random_case(seed).text().c_str());
  Outcome outcome = run_seed(s, seed);
  const bool again = s.mode == "deterministic" && (s.twice || seed % twice_every == 0);
  if (again && outcome.failure.empty()) {
    const Outcome second = run_seed(s, seed);
    if (second.log_hash != outcome.log_hash)
      outcome.failure =
          "run twice, the seed gives two executions: " + std::to_string(outcome.turns) + " and " +
          std::to_string(second.turns) + " turns\n" + second.failure;
  }
  alarm(0);
  if (s.verbose)
    std::fprintf(stderr, "seed %llu: %llu turns, %.6f s, log %016llx\n",
                 static_cast<unsigned long long>(seed),
                 static_cast<unsigned long long>(outcome.turns), outcome.simulated_s,
                 static_cast<unsigned long long>(outcome.log_hash));
  if (outcome.failure.empty()) return true;
  std::fprintf(stderr, "seed %llu: %sreplay: %s\n", static_cast<unsigned long long>(seed),
               outcome.failure.c_str(), command(s, seed).c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  s.program = argv[0];
  CLI::App app(
      "All ranks of Tide in one process, over a simulated MPI: each seed is one execution.");
  app.add_option("--seeds", s.seeds, "first:end, the end not included")->capture_default_str();
  app.add_option("--seed", s.seed, "this one alone");
  app.add_option("--mode", s.mode)
      ->check(CLI::IsMember({"deterministic", "free"}))
      ->capture_default_str();
  app.add_option("--workload", s.workload,
                 "random calls, a sweep over node counts, or memory that is refused")
      ->check(CLI::IsMember({"random", "sweep", "refusals", "requests", "stalls"}))
      ->capture_default_str();
  app.add_flag("--verbose", s.verbose, "tell every event");
  app.add_flag("--twice", s.twice, "run every seed twice and compare the executions");
  CLI11_PARSE(app, argc, argv);
  testing::InitGoogleTest();
  for (const int signal : {SIGALRM, SIGABRT}) ::signal(signal, say_seed);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  for (const int signal : {SIGSEGV, SIGBUS}) ::signal(signal, say_seed);
#endif
  uint64_t first = 0, end = 0;
  if (s.seed >= 0) {
    first = static_cast<uint64_t>(s.seed), end = first + 1;
  } else if (std::sscanf(s.seeds.c_str(), "%lu:%lu", &first, &end) != 2 || end <= first) {
    std::fprintf(stderr, "--seeds: '%s' is not first:end; write for example 0:200\n",
                 s.seeds.c_str());
    return 2;
  }
  uint64_t failed = 0;
  for (uint64_t seed = first; seed < end && failed < 5; seed++) failed += !check_seed(s, seed);
  std::printf("%llu seeds of workload %s, %llu failed\n",
              static_cast<unsigned long long>(end - first), s.workload.c_str(),
              static_cast<unsigned long long>(failed));
  return failed != 0;
}
