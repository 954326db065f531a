// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <nlohmann/json.hpp>
#include <string>

// What tide-info shows.  Each section is gathered as JSON and printed from it, so that --json and
// the text cannot disagree.
namespace info {

/// {"ranks", "nodes": [{"host", "ranks": [...]}], "rails": [[...], ...], "uniform"}; complete on
/// rank 0 only.  Collective; throws tools::AgreedError on all ranks.
nlohmann::json topology_section(MPI_Comm comm);

/// {"tide memory": report, "malloc memory": report} after one call of each collective on a small
/// list.  Collective; throws tools::AgreedError on all ranks.
nlohmann::json paths_section(MPI_Comm comm);

/// The library's configuration without its environment table.
nlohmann::json config_section();
nlohmann::json engines_section();  // a probe; std::runtime_error where there is no device

/// [{"name", "meaning", "default", "value", "set", "environment_only", "missing": values that this
/// version refuses, "problem": why the current value is refused, or ""}]; TIDE_ variables that the
/// library does not know are listed too, with a problem that says so.
nlohmann::json environment_section();

std::string topology_text(const nlohmann::json& topology);
std::string paths_text(const nlohmann::json& paths);
std::string config_text(const nlohmann::json& config);
std::string engines_text(const nlohmann::json& engines);
std::string environment_text(const nlohmann::json& environment);

/// Any JSON as indented lines "key   value", keys aligned.
std::string outline(const nlohmann::json& value, int indent);

}  // namespace info
