// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The probe of copy engines; only where Tide is built with CUDA.
#pragma once
#include <string>
#include <vector>

struct EngineRow {
  std::string form;
  bool copy_engine;  // it ended while every multiprocessor was taken
};
// On the current device; empty: why_not says so.  Forks once, before it uses CUDA.
std::vector<EngineRow> probe_engines(std::string& title, std::string& why_not);
