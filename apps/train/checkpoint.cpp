// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "failure.hpp"

namespace train {
namespace {

using Json = nlohmann::json;
constexpr int kVersion = 2;
constexpr char kKey[] = "tide-train";

// What must be the same for the run to go on as if it had never stopped.
Json identity(const Options& options, Trainer& trainer) {
  Json shapes = Json::array();
  for (const Layer& layer : trainer.weights().layers())
    for (const Tensor& t : layer.tensors) shapes.push_back({t.rows, t.row_elems});
  Json result = trainer.task().identity();
  result["tensors (rows, row_elems)"] = shapes;
  result["--batch"] = options.batch;
  result["--seed"] = options.seed;
  return result;
}

Json describe(const Trainer& trainer, const std::vector<double>& losses) {
  const State& state = trainer.state();
  Json history = Json::array();
  for (const Score& s : state.history)
    history.push_back({s.epoch, s.step, s.training_loss, s.validation_loss, s.measures});
  return {{"name", trainer.name()}, {"epoch", state.epoch},   {"batch", state.batch},
          {"step", state.step},     {"random", state.random}, {"history", history},
          {"losses", losses}};
}

// Each rank's loss of the epoch under way; kept apart, so that the same number of ranks adds them
// up in the same order.
std::vector<double> gather_losses(MPI_Comm comm, const State& state) {
  int ranks;
  MPI_Comm_size(comm, &ranks);
  const double own[2] = {state.loss.sum, state.loss.count};
  std::vector<double> all(2 * ranks);
  MPI_Allgather(own, 2, MPI_DOUBLE, all.data(), 2, MPI_DOUBLE, comm);
  return state.batch == 0 ? std::vector<double>{} : all;
}

void restore_losses(MPI_Comm comm, const std::vector<double>& losses, State& state) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  state.loss = {};
  if (int(losses.size()) == 2 * ranks)
    state.loss = {losses[2 * rank], losses[2 * rank + 1]};
  else if (rank == 0)
    for (size_t n = 0; n < losses.size(); ++n)
      (n % 2 ? state.loss.count : state.loss.sum) += losses[n];
}

void check_identity(const std::string& path, const Json& saved, const Json& ours) {
  for (const auto& [key, value] : ours.items())
    if (!saved.contains(key) || saved[key] != value)
      throw AgreedError(
          fmt::format("checkpoint {}: {} is {} there but {} here; give the same options or another "
                      "--checkpoint",
                      path, key, saved.contains(key) ? saved[key].dump() : "absent", value.dump()));
}

const Json& section(const std::string& path, const Json& header, const Trainer& trainer) {
  for (const Json& model : header.at("models"))
    if (model.at("name") == trainer.name()) return model;
  throw AgreedError(
      fmt::format("checkpoint {}: it holds no {} model; start with the options that wrote it", path,
                  trainer.name()));
}

State parse_state(const Json& model) {
  State state;
  state.epoch = model.at("epoch");
  state.batch = model.at("batch");
  state.step = model.at("step");
  state.random = model.at("random");
  for (const Json& s : model.at("history"))
    state.history.push_back({s[0], s[1], s[2], s[3], s[4].get<std::vector<double>>()});
  return state;
}

std::vector<MPIX_Tide_item> items_of(const std::vector<Trainer*>& trainers) {
  std::vector<MPIX_Tide_item> items;
  for (Trainer* t : trainers)
    for (const MPIX_Tide_item& item : t->weights().items()) items.push_back(item);
  return items;
}

// The run's own part of the metadata; the file is verified.
Json read_header(MPI_Comm comm, const std::string& path) {
  std::string text;
  size_t needed = 0;
  const auto load = [&] {
    return MPIX_Tide_load(comm, path.c_str(), 0, nullptr, text.data(), text.size(), &needed,
                          MPI_INFO_NULL);
  };
  int code = load();
  text.resize(needed);
  if (code == MPI_SUCCESS) code = load();
  if (code != MPI_SUCCESS)
    throw AgreedError(
        fmt::format("checkpoint {}: not a checkpoint of tide-train, or damaged ({}); "
                    "choose another name",
                    path, MPIX_Tide_error_message()));
  const Json metadata = Json::parse(text.c_str(), nullptr, false);
  const Json own = metadata.is_object() && metadata.contains(kKey)
                       ? Json::parse(std::string(metadata[kKey]), nullptr, false)
                       : Json();
  if (!own.is_object() || own.value("version", 0) != kVersion)
    throw AgreedError(fmt::format(
        "checkpoint {}: not a checkpoint of tide-train (no metadata \"{}\" of version {}); choose "
        "another name",
        path, kKey, kVersion));
  return own;
}

}  // namespace

void save_checkpoint(MPI_Comm comm, const Options& options, const std::vector<Trainer*>& trainers) {
  Json header = {{"version", kVersion},
                 {"identity", identity(options, *trainers[0])},
                 {"models", Json::array()}};
  for (Trainer* t : trainers)
    header["models"].push_back(describe(*t, gather_losses(comm, t->state())));
  const std::string metadata = Json({{kKey, header.dump()}}).dump();
  const std::vector<MPIX_Tide_item> items = items_of(trainers);
  if (MPIX_Tide_save(comm, options.checkpoint.c_str(), int(items.size()), items.data(),
                     metadata.c_str(), MPI_INFO_NULL) != MPI_SUCCESS)
    throw AgreedError(
        fmt::format("checkpoint {}: {}", options.checkpoint, MPIX_Tide_error_message()));
}

bool load_checkpoint(MPI_Comm comm, const Options& options, const std::vector<Trainer*>& trainers) {
  const std::string& path = options.checkpoint;
  int exists = 0;
  on_first_rank(comm, [&] { exists = std::filesystem::exists(path); });
  MPI_Bcast(&exists, 1, MPI_INT, 0, comm);
  if (!exists) return false;
  const Json header = read_header(comm, path);
  check_identity(path, header.at("identity"), identity(options, *trainers[0]));
  for (Trainer* t : trainers) {
    const Json& model = section(path, header, *t);
    t->state() = parse_state(model);
    restore_losses(comm, model.at("losses"), t->state());
  }
  const std::vector<MPIX_Tide_item> items = items_of(trainers);
  if (MPIX_Tide_load(comm, path.c_str(), int(items.size()), items.data(), nullptr, 0, nullptr,
                     MPI_INFO_NULL) != MPI_SUCCESS)
    throw AgreedError(fmt::format("checkpoint {}: {}", path, MPIX_Tide_error_message()));
  return true;
}

}  // namespace train
