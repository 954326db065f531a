// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "failure.hpp"

namespace train {
namespace {

using Json = nlohmann::json;
constexpr char kMagic[9] = "TIDETRN1";
constexpr int kVersion = 1;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw std::runtime_error(fmt::format("checkpoint {}: {}: {}", path, what,
                                       errno ? std::strerror(errno) : "unexpected end of file"));
}

void write_all(std::FILE* file, const std::string& path, const void* data, size_t bytes) {
  if (std::fwrite(data, 1, bytes, file) != bytes) fail(path, "cannot write");
}

void read_all(std::FILE* file, const std::string& path, void* data, size_t bytes) {
  errno = 0;
  if (std::fread(data, 1, bytes, file) != bytes) fail(path, "cannot read");
}

// What must be the same for the run to go on as if it had never stopped.
Json identity(const Options& options, const Samples& samples, const Weights& weights) {
  Json shapes = Json::array();
  for (const LayerShape& shape : weights.layers()) shapes.push_back({shape.out, shape.in});
  return {{"layers (out, in)", shapes},
          {"--vars", options.vars},
          {"--activation", int(options.activation)},
          {"--batch", options.batch},
          {"--seed", options.seed},
          {"data and --holdout (fingerprint)", samples.fingerprint()}};
}

Json describe(const Trainer& trainer, const State& state, const std::vector<double>& losses) {
  Json history = Json::array();
  for (const Score& s : state.history)
    history.push_back({s.epoch, s.step, s.training_loss, s.validation_loss, s.rmse});
  return {{"name", trainer.name()}, {"epoch", state.epoch},   {"batch", state.batch},
          {"step", state.step},     {"random", state.random}, {"history", history},
          {"losses", losses}};
}

// Each rank's squares and count of the epoch under way; kept apart, so that the same number of
// ranks adds them up in the same order.
std::vector<double> gather_losses(MPI_Comm comm, const State& state) {
  int ranks;
  MPI_Comm_size(comm, &ranks);
  const double own[2] = {state.squares, state.count};
  std::vector<double> all(2 * ranks);
  MPI_Gather(own, 2, MPI_DOUBLE, all.data(), 2, MPI_DOUBLE, 0, comm);
  return state.batch == 0 ? std::vector<double>{} : all;
}

void restore_losses(MPI_Comm comm, const std::vector<double>& losses, State& state) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  state.squares = state.count = 0;
  if (int(losses.size()) == 2 * ranks) {
    state.squares = losses[2 * rank];
    state.count = losses[2 * rank + 1];
  } else if (rank == 0) {
    for (size_t n = 0; n < losses.size(); ++n) (n % 2 ? state.count : state.squares) += losses[n];
  }
}

// All rows of one array of a tensor, on rank 0.
void collect(MPI_Comm comm, const Weights& weights, const Piece& piece, const float* own,
             std::vector<float>& full) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (!weights.sharded()) {
    if (rank == 0) full.assign(own, own + piece.own_elems());
    return;
  }
  const int place[2] = {int(piece.own_elems()), int(piece.first_elem())};
  std::vector<int> places(2 * ranks), counts(ranks), firsts(ranks);
  MPI_Gather(place, 2, MPI_INT, places.data(), 2, MPI_INT, 0, comm);
  for (int r = 0; r < ranks; ++r) counts[r] = places[2 * r], firsts[r] = places[2 * r + 1];
  if (rank == 0) full.resize(piece.rows * piece.row_elems);
  MPI_Gatherv(own, place[0], MPI_FLOAT, full.data(), counts.data(), firsts.data(), MPI_FLOAT, 0,
              comm);
}

void write_header(std::FILE* file, const std::string& path, const Json& header) {
  const std::string text = header.dump(1) + "\n";
  const uint64_t length = text.size();
  write_all(file, path, kMagic, 8);
  write_all(file, path, &length, sizeof length);
  write_all(file, path, text.data(), text.size());
}

Json read_header(std::FILE* file, const std::string& path) {
  char magic[8];
  uint64_t length;
  read_all(file, path, magic, 8);
  if (std::memcmp(magic, kMagic, 8) != 0)
    throw std::runtime_error(
        fmt::format("checkpoint {}: not a checkpoint of tide-train; choose another name", path));
  read_all(file, path, &length, sizeof length);
  if (length > (uint64_t(1) << 30)) throw std::runtime_error(path + ": damaged header");
  std::string text(length, '\0');
  read_all(file, path, text.data(), length);
  return Json::parse(text);
}

void check_identity(const std::string& path, const Json& saved, const Json& ours) {
  for (const auto& [key, value] : ours.items())
    if (!saved.contains(key) || saved[key] != value)
      throw std::runtime_error(
          fmt::format("checkpoint {}: {} is {} there but {} here; give the same options or another "
                      "--checkpoint",
                      path, key, saved.contains(key) ? saved[key].dump() : "absent", value.dump()));
}

const Json& section(const std::string& path, const Json& header, const Trainer& trainer) {
  for (const Json& model : header.at("models"))
    if (model.at("name") == trainer.name()) return model;
  throw std::runtime_error(
      fmt::format("checkpoint {}: it holds no {} model; start with the mode that wrote it", path,
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

int64_t model_elems(const Weights& weights) {
  int64_t elems = 0;
  for (const LayerShape& shape : weights.layers()) elems += shape.elems();
  return elems;
}

// Makes the rename itself survive a crash.
void sync_directory(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const int fd = open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

void bcast_text(MPI_Comm comm, std::string& text) {
  uint64_t length = text.size();
  MPI_Bcast(&length, 1, MPI_UINT64_T, 0, comm);
  text.resize(length);
  MPI_Bcast(text.data(), int(length), MPI_CHAR, 0, comm);
}

float* arrays(const Piece& piece, int which) {
  return which == 0 ? piece.master : which == 1 ? piece.moment1 : piece.moment2;
}

}  // namespace

std::string checkpoint_part(const std::string& path) { return path + ".part"; }

void save_checkpoint(MPI_Comm comm, const Options& options, const Samples& samples,
                     const std::vector<Trainer*>& trainers) {
  const std::string& path = options.checkpoint;
  const std::string temporary = checkpoint_part(path);
  Json header = {{"version", kVersion},
                 {"identity", identity(options, samples, trainers[0]->weights())},
                 {"models", Json::array()}};
  for (Trainer* t : trainers)
    header["models"].push_back(describe(*t, t->state(), gather_losses(comm, t->state())));
  File file;
  on_first_rank(comm, [&] {
    file.reset(std::fopen(temporary.c_str(), "wb"));
    if (!file) fail(temporary, "cannot create");
    write_header(file.get(), temporary, header);
  });
  std::vector<float> full;
  for (Trainer* t : trainers)
    for (const Piece& piece : t->weights().pieces())
      for (int which : {0, 1, 2}) {
        collect(comm, t->weights(), piece, arrays(piece, which), full);
        on_first_rank(comm, [&] {
          write_all(file.get(), temporary, full.data(), full.size() * sizeof(float));
        });
      }
  on_first_rank(comm, [&] {
    if (std::fflush(file.get()) != 0 || fsync(fileno(file.get())) != 0)
      fail(temporary, "cannot write");
    file.reset();
    if (std::rename(temporary.c_str(), path.c_str()) != 0) fail(path, "cannot rename to it");
    sync_directory(path);
  });
}

bool load_checkpoint(MPI_Comm comm, const Options& options, const Samples& samples,
                     const std::vector<Trainer*>& trainers) {
  const std::string& path = options.checkpoint;
  File file;
  std::string text;
  on_first_rank(comm, [&] {
    file.reset(std::fopen(path.c_str(), "rb"));
    if (!file && errno != ENOENT) fail(path, "cannot open");
    if (!file) return;
    const Json header = read_header(file.get(), path);
    check_identity(path, header.at("identity"), identity(options, samples, trainers[0]->weights()));
    for (Trainer* t : trainers) section(path, header, *t);
    const int64_t floats =
        3 * model_elems(trainers[0]->weights()) * int64_t(header.at("models").size());
    const int64_t expected = int64_t(std::ftell(file.get())) + 4 * floats;
    const int64_t found = int64_t(std::filesystem::file_size(path));
    if (expected != found)
      throw std::runtime_error(fmt::format(
          "checkpoint {}: {} bytes instead of {}: damaged; remove it", path, found, expected));
    text = header.dump();
  });
  bcast_text(comm, text);
  if (text.empty()) return false;
  const Json header = Json::parse(text);
  std::vector<float> full;
  for (const Json& model : header.at("models")) {
    const auto at = std::find_if(trainers.begin(), trainers.end(),
                                 [&](const Trainer* t) { return t->name() == model.at("name"); });
    Trainer* const t = at == trainers.end() ? nullptr : *at;  // null: pass over its numbers
    if (t) {
      t->state() = parse_state(model);
      restore_losses(comm, model.at("losses"), t->state());
    }
    for (const Piece& piece : trainers[0]->weights().pieces())
      for (int which : {0, 1, 2}) {
        full.resize(piece.rows * piece.row_elems);
        on_first_rank(
            comm, [&] { read_all(file.get(), path, full.data(), full.size() * sizeof(float)); });
        if (!t) continue;
        const int64_t slice = int64_t(1) << 28;
        for (int64_t n = 0; n < int64_t(full.size()); n += slice)
          MPI_Bcast(full.data() + n, int(std::min(slice, int64_t(full.size()) - n)), MPI_FLOAT, 0,
                    comm);
        const Piece& own = t->weights().pieces()[&piece - trainers[0]->weights().pieces().data()];
        std::copy_n(full.data() + own.first_elem(), own.own_elems(), arrays(own, which));
      }
  }
  return true;
}

}  // namespace train
