// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/log.hpp"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>

namespace tide {
namespace {

std::mutex mutex;
LogSink sink = nullptr;
void* sink_context = nullptr;
std::atomic<int> level_now{static_cast<int>(Level::warn)};

}  // namespace

void set_log_sink(LogSink new_sink, void* context) {
  const std::lock_guard lock(mutex);
  sink = new_sink;
  sink_context = context;
}

bool set_log_level(const std::string& name) {
  const char* names[] = {"error", "warn", "info", "debug"};
  for (int i = 0; i < 4; i++)
    if (name == names[i]) return level_now = i, true;
  return false;
}

bool logs(Level level) { return static_cast<int>(level) <= level_now; }

void log(Level level, const std::string& line) {
  if (!logs(level)) return;
  const std::lock_guard lock(mutex);
  if (sink)
    sink(static_cast<int>(level), line.c_str(), sink_context);
  else
    std::fprintf(stderr, "tide: %s\n", line.c_str());
}

void warn_once(const std::string& line) {
  static std::set<std::string> said;
  {
    const std::lock_guard lock(mutex);
    if (!said.insert(line).second) return;
  }
  log(Level::warn, line);
}

}  // namespace tide
