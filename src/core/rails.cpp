// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Which transport joins the nodes: the one that was asked for, or the best that every rank has. All
// ranks decide alike, from what they told each other.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "backend/rail/mpi.hpp"
#include "core/context.hpp"
#include "core/error.hpp"
#include "core/rail_table.hpp"
#include "core/settings.hpp"
#if TIDE_HAVE_UCX
#include "backend/rail/ucx.hpp"
#endif

namespace tide {

// Of different lengths, in node-major order.
std::vector<Rail::Bytes> Context::gather_blobs(const Rail::Bytes& mine) {
  int64_t room = -static_cast<int64_t>(mine.size());
  least(&room, 1);
  const size_t most = static_cast<size_t>(-room), stride = sizeof(uint64_t) + most;
  const uint64_t size = mine.size();
  std::vector<std::byte> told(stride), all(stride * static_cast<size_t>(comm_size()));
  std::memcpy(told.data(), &size, sizeof size);
  std::copy(mine.begin(), mine.end(), told.begin() + sizeof size);
  gather_bytes(told.data(), all.data(), stride);
  std::vector<Rail::Bytes> result;
  for (int r = 0; r < topology_.ranks(); r++) {
    const std::byte* at = all.data() + stride * static_cast<size_t>(topology_.comm_rank(r));
    uint64_t bytes = 0;
    std::memcpy(&bytes, at, sizeof bytes);
    bytes = std::min<uint64_t>(bytes, most);
    result.emplace_back(at + sizeof bytes, at + sizeof bytes + bytes);
  }
  return result;
}

Rail* Context::rail(const Settings& settings, std::string& why_not_better) {
  if (topology_.nodes() == 1) return nullptr;
  std::string wanted = settings.text("tide_rail");
  if (wanted == "nccl") wanted = "auto";  // that one carries device memory only
  if (!mpi_rail_) mpi_rail_ = std::make_unique<MpiRail>(dup_, topology_);
  if (wanted == "mpi") {
    why_not_better = "rail: tide_rail = mpi";
    return mpi_rail_.get();
  }
  if (wanted == "auto" && nodes_share_host_) {
    why_not_better = "rail: nodes share a host, where MPI's shared memory is the shortest way";
    return mpi_rail_.get();
  }
  const std::string devices = settings.text("tide_rail_devices");
  if (ucx_devices_) together([&] { check_same_devices(devices); });
  if (!ucx_rail_ && why_no_ucx_.empty() && !(wanted == "auto" && only_tcp_)) {
    ucx_devices_ = devices;
    make_ucx_rail(devices, wanted == "ucx");
  }
  if (ucx_rail_ && (wanted == "ucx" || !only_tcp_)) return ucx_rail_.get();
  if (wanted == "ucx")
    throw Error(Kind::unsupported, "tide_rail = ucx: {}; use auto or mpi", why_no_ucx_);
  why_not_better =
      "rail: " + (only_tcp_ ? "not every rank has a verbs device, and over TCP UCX does "
                              "not outlive a lost connection; tide_rail = ucx insists"
                            : why_no_ucx_);
  return mpi_rail_.get();
}

// A communicator has one set of rails, which its first group between nodes made.  What stands in
// the environment a group has not asked for itself.
void Context::check_same_devices(const std::string& devices) const {
  if (devices.empty() || devices == *ucx_devices_ ||
      devices == environment_value("TIDE_RAIL_DEVICES"))
    return;
  throw Error(Kind::arg,
              "tide_rail_devices = {}: the rails of this communicator go by {} since its first "
              "group; give all its groups the same, or a communicator of their own (MPI_Comm_dup)",
              devices, ucx_devices_->empty() ? "the table of NICs" : "'" + *ucx_devices_ + "'");
}

#if TIDE_HAVE_UCX
// As far as they are known: those that UCX will take where it chooses among the user's.
static bool all_verbs(std::vector<std::string> devices, bool by_user) {
  const char* named = by_user ? std::getenv("UCX_NET_DEVICES") : nullptr;
  std::istringstream list(named ? named : "");
  for (std::string one; std::getline(list, one, ',');) devices.push_back(one);
  return !devices.empty() && std::all_of(devices.begin(), devices.end(), is_verbs);
}

// Of this rank, and why these.  Empty: as UCX chooses.
std::vector<std::string> Context::rail_devices(const std::string& asked, std::string& why) {
  const Machine& machine = process_.machine.get();
  const std::vector<Location> all = gather_all(location_here(machine));
  const int local = topology_.local(rank_);
  why = "UCX's choice";
  if (local >= topology_.rails()) return {};
  if (asked.empty() && std::getenv("UCX_NET_DEVICES"))
    return why = "UCX_NET_DEVICES", std::vector<std::string>();
  if (asked.empty() && !machine.live) return {};
  std::vector<Location> carriers;
  for (int l = 0; l < topology_.rails(); l++)
    carriers.push_back(all[static_cast<size_t>(topology_.comm_rank(topology_.rank(node(), l)))]);
  const RailTable table = rail_table_of_node(machine, carriers, asked);
  if (table.rows.empty()) return why += ": " + table.why_empty, std::vector<std::string>();
  const RailRow& mine = table.rows[static_cast<size_t>(local)];
  why = mine.reason;
  return mine.devices;
}

// A rank that has no UCX tells the others; that is no error of theirs.
void Context::make_ucx_rail(const std::string& asked, bool insist) {
  std::unique_ptr<Rail> mine;
  std::string chosen;
  std::vector<std::string> devices;
  together([&] { process_.machine.get(); });
  devices = rail_devices(asked, chosen);
  int64_t fit = !carrier() || all_verbs(devices, asked.empty() && devices.empty());
  least(&fit, 1);
  only_tcp_ = !fit;
  if (only_tcp_ && !insist) return;
  if (devices.empty()) devices = {""};
  for (std::string& device : devices)
    if (is_verbs(device) && device.find(':') == std::string::npos)
      device += ":1";  // UCX numbers their ports
  try {
    std::vector<uint64_t> processes;
    for (const Peer& p : peers_) processes.push_back(p.process);
    std::vector<std::shared_ptr<UcxWorker>> workers;
    for (const std::string& device : devices) workers.push_back(process_.ucx(device));
    mine = std::make_unique<UcxRail>(workers, topology_, rank_, std::move(processes), chosen);
  } catch (const std::exception& e) {
    why_no_ucx_ = e.what();
  }
  why_no_ucx_ = first_reason(why_no_ucx_);
  if (!why_no_ucx_.empty()) return;
  mine->connect([this](const Rail::Bytes& b) { return gather_blobs(b); });
  ucx_rail_ = std::move(mine);
  auto exposed = std::make_shared<WorkspaceSet>(*workspace_);
  expose(*exposed);
  {
    const std::lock_guard lock(mutex);
    workspace_ = std::move(exposed);
  }
  driven_ = ucx_rail_.get();
}
#else
void Context::make_ucx_rail(const std::string&, bool) {
  why_no_ucx_ = "this Tide was built without UCX (TIDE_WITH_UCX)";
}
#endif

// Collective, where there is a rail that must know the workspace.
void Context::expose(WorkspaceSet& workspace) {
  if (!ucx_rail_) return;
  together([&] {
    const auto& mine = workspace.of[static_cast<size_t>(topology_.local(rank_))];
    workspace.exposed = ucx_rail_->expose(mine ? mine->base() : nullptr, mine ? mine->bytes() : 0);
  });
  ucx_rail_->tell_exposed([this](const Rail::Bytes& b) { return gather_blobs(b); });
}

}  // namespace tide
