// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/session.hpp"
#include "host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "agreement.hpp"
#include "gpu/baselines.hpp"
#include "gpu/device.hpp"
#include "gpu/trace.hpp"

namespace perf::gpu {
namespace {

// The value of a variable of this tool, which the library would not know.
std::string take(const char* variable, const char* otherwise) {
  const char* value = std::getenv(variable);
  const std::string taken = value == nullptr || *value == '\0' ? otherwise : value;
  unsetenv(variable);
  return taken;
}

// Or a problem.
std::string choose(const Options& o, int place, int& device) {
  std::string why;
  const int count = devices(why);
  if (count == 0)
    return fmt::format("no device: {}; use --memory tide, or run where a GPU is", why);
  const char* wanted = std::getenv("TIDE_DEVICE");
  std::string asked = wanted == nullptr ? "" : wanted;
  const std::string name = o.device.empty() ? "TIDE_DEVICE=" : "--memory cuda:";
  if (!o.device.empty()) asked = o.device;
  if (asked.empty()) asked = std::to_string(place % count);
  const auto [end, code] = std::from_chars(asked.data(), asked.data() + asked.size(), device);
  if (code == std::errc() && end == asked.data() + asked.size() && device >= 0 && device < count)
    return "";
  return fmt::format("{}{} is no device; this process has 0 to {}", name, asked, count - 1);
}

// `mine` of each rank, by rank.
std::vector<std::string> gather_texts(MPI_Comm comm, const std::string& mine) {
  constexpr std::size_t most = 256;
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  std::string text = mine.substr(0, most - 1);
  text.resize(most);
  std::string all(most * static_cast<std::size_t>(ranks), '\0');
  MPI_Allgather(text.data(), most, MPI_CHAR, all.data(), most, MPI_CHAR, comm);
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < all.size(); at += most) texts.emplace_back(&all[at]);
  return texts;
}

}  // namespace

Session open_session(const Options& o, MPI_Comm comm) {
  Session session;
  const char* nccl = std::getenv("TIDE_NCCL_LIBRARY");  // the library's, too
  session.nccl_library = nccl == nullptr || *nccl == '\0' ? "libnccl.so.2" : nccl;
  session.cublas_library = take("TIDE_CUBLAS_LIBRARY", "libcublas.so");
  session.cupti_library = take("TIDE_CUPTI_LIBRARY", "");
  if (!o.on_device()) return session;
  // Streams that share a queue of the device wait for each other: one for each rank, at the least.
  if (o.in_process > 0) setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::string problem = choose(o, host_of(comm).place, session.device);
  tools::agree(comm, problem.empty() ? "" : fmt::format("rank {}: {}", rank, problem));
  if (!o.device.empty()) setenv("TIDE_DEVICE", o.device.c_str(), 1);  // the library obeys it, too
  const std::string cupti = open_trace(o, comm, session);
  use(session.device);
  session.versions = versions() + cupti;
  session.devices = gather_texts(comm, fmt::format("{} {}", session.device, name(session.device)));
  const std::string mine = uuid(session.device);
  const std::vector<std::string> uuids = gather_texts(comm, mine);
  session.sharing = static_cast<int>(std::count(uuids.begin(), uuids.end(), mine));
  if (o.in_process > 0)
    session.sharing = o.in_process;
  else
    open_nccl(o, comm, session);
  return session;
}

}  // namespace perf::gpu
