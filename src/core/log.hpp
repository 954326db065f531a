// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Log lines: to stderr, or to the user's sink.  TIDE_LOG picks the level; warnings by default.
#pragma once
#include <string>

namespace tide {

enum class Level : int { error = 0, warn = 1, info = 2, debug = 3 };
using LogSink = void (*)(int level, const char* line, void* context);

void set_log_sink(LogSink sink, void* context);  // null: stderr
bool set_log_level(const std::string& name);     // false: not a level
bool logs(Level level);
void log(Level level, const std::string& line);
void warn_once(const std::string& line);  // each text once per process

}  // namespace tide
