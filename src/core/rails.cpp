// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Which transport joins the nodes: the one that was asked for, or the best that every rank has. All
// ranks decide alike, from what they told each other.
#include <algorithm>
#include <cstring>

#include "backend/rail/mpi.hpp"
#include "core/context.hpp"
#include "core/error.hpp"
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

Rail* Context::rail(const std::string& wanted, std::string& why_not_better) {
  if (topology_.nodes() == 1) return nullptr;
  if (!mpi_rail_) mpi_rail_ = std::make_unique<MpiRail>(dup_, topology_);
  if (wanted == "mpi") {
    why_not_better = "rail: tide_rail = mpi";
    return mpi_rail_.get();
  }
  if (wanted == "auto" && nodes_share_host_) {
    why_not_better = "rail: nodes share a host, where MPI's shared memory is the shortest way";
    return mpi_rail_.get();
  }
  if (!ucx_rail_ && why_no_ucx_.empty()) make_ucx_rail();
  if (ucx_rail_) return ucx_rail_.get();
  if (wanted == "ucx")
    throw Error(Kind::unsupported, "tide_rail = ucx: {}; use auto or mpi", why_no_ucx_);
  why_not_better = "rail: " + why_no_ucx_;
  return mpi_rail_.get();
}

#if TIDE_HAVE_UCX
// A rank that has no UCX tells the others; that is no error of theirs.
void Context::make_ucx_rail() {
  std::unique_ptr<Rail> mine;
  try {
    std::vector<uint64_t> processes;
    for (const Peer& p : peers_) processes.push_back(p.process);
    mine = std::make_unique<UcxRail>(process_.ucx(""), topology_, rank_, std::move(processes));
  } catch (const std::exception& e) {
    why_no_ucx_ = e.what();
  }
  const Rail::Bytes said(
      reinterpret_cast<const std::byte*>(why_no_ucx_.data()),
      reinterpret_cast<const std::byte*>(why_no_ucx_.data() + why_no_ucx_.size()));
  const auto told = gather_blobs(said);
  const auto other =
      std::find_if(told.begin(), told.end(), [](const auto& t) { return !t.empty(); });
  if (other != told.end()) {
    why_no_ucx_ =
        fmt::format("rank {}: ", topology_.comm_rank(static_cast<int>(other - told.begin()))) +
        std::string(reinterpret_cast<const char*>(other->data()), other->size());
    return;
  }
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
void Context::make_ucx_rail() { why_no_ucx_ = "this Tide was built without UCX (TIDE_WITH_UCX)"; }
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
