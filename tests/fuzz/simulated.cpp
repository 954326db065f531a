// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "simulated.hpp"

#include "core/log.hpp"
#include "run.hpp"
#include "world.hpp"

// The simulator leaves by _Exit where ranks hang (--wrap): a fuzzer wants to see an abort.
extern "C" [[noreturn]] void __wrap__Exit(int) { std::abort(); }

namespace fuzz {

void run_ranks(int ranks, const std::function<void(int)>& body) {
  tide::set_log_sink([](int, const char*, void*) {}, nullptr);
  std::string nodes = "0";
  for (int r = 1; r < ranks; r++) nodes += ",0";
  const simulator::Outcome outcome = simulator::run_ranks(nodes, ranks, {}, body);
  require(outcome.failure.empty(), outcome.failure.c_str());
}

void sleep_us(uint64_t time_us) {
  simulator::Schedule& clock = *simulator::schedule();
  const uint64_t end_us = clock.now_us() + time_us;
  clock.wake_at(end_us);
  clock.wait_until([&] { return clock.now_us() >= end_us; }, [] { return "time"; });
}

int live_requests() { return simulator::me().requests; }

}  // namespace fuzz
