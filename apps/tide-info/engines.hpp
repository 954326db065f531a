// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The probe of copy engines; only where Tide is built with CUDA.
#pragma once
#include <string>
#include <vector>

struct EngineRow {
  std::string form;
  bool copy_engine;   // it ended while every multiprocessor was taken
  std::string cupti;  // what CUPTI's record of it says; empty where there is no CUPTI
};
struct EngineTable {
  std::string device;
  std::string cupti;            // its version, or why there is none
  std::vector<EngineRow> rows;  // none: `why_not` says so
  std::string why_not;
};
// On the current device.  Forks once, before it uses CUDA.
EngineTable probe_engines();
