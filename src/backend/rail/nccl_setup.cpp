// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "backend/rail/nccl.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/left_behind.hpp"

namespace tide {

NcclRail::NcclRail(const NcclLibrary& library, Rail& records, MPI_Comm comm,
                   const Topology& topology, int rank, int device)
    : library_(library),
      records_(records),
      comm_(comm),
      topology_(topology),
      rank_(rank),
      device_(device) {
  const gpu::Use use(device);
  for (Way& way : ways_) way.stream = std::make_unique<gpu::Stream>(device);
}

NcclRail::Ids NcclRail::make_ids(const NcclLibrary& library) {
  Ids ids;
  for (NcclId& id : ids) library.check(library.get_unique_id(&id), "ncclGetUniqueId");
  return ids;
}

std::string NcclRail::detail() const {
  return fmt::format("NCCL {}; records over {}", nccl_version_text(library_.version),
                     records_.name());
}

void NcclRail::init(const Ids& ids) {
  const gpu::Use use(device_);
  for (size_t w = 0; w < ways_.size(); w++)
    library_.check(library_.init_rank(&ways_[w].comm, topology_.ranks(), ids[w], rank_),
                   "ncclCommInitRank");
}

std::shared_ptr<const void> NcclRail::expose(std::shared_ptr<Segment> segment) {
  const std::lock_guard lock(in_nccl_);
  const gpu::Use use(device_);
  Memory& m = [&]() -> Memory& {
    const std::lock_guard list_lock(memories_mutex_);
    return memories_.emplace_back(Memory{next_memory_++, std::move(segment), {}, {}});
  }();
  const size_t bytes = (m.segment->bytes() + nccl_alignment - 1) / nccl_alignment * nccl_alignment;
  for (size_t w = 0; w < ways_.size(); w++) {
    library_.check(library_.window_register(ways_[w].comm, m.segment->base(), bytes, &m.windows[w],
                                            nccl_symmetric),
                   "ncclCommWindowRegister");
    if (!m.windows[w])  // with success
      throw Error(Kind::unsupported,
                  "NCCL {} has no windows between these ranks: every GPU must reach the others of "
                  "its node, and between nodes NCCL needs InfiniBand with GPUDirect or GDRCopy "
                  "(NCCL_DEBUG=INFO says symmetricSupport 0)",
                  nccl_version_text(library_.version));
  }
  const auto user = std::make_shared<int>(0);
  m.users = user;
  return user;
}

// NCCL connects peers at their first put.
void NcclRail::warm_up() {
  const std::lock_guard lock(in_nccl_);
  const gpu::Use use(device_);
  const Memory& m = memories_.back();
  const int node = topology_.node(rank_), local = topology_.local(rank_);
  if (local >= topology_.rails()) return;
  std::vector<NcclWait> waits;
  for (int n = 0; n < topology_.nodes(); n++)
    if (n != node) waits.push_back({1, topology_.rank(n, local), 0, 0});
  for (size_t w = 0; w < ways_.size(); w++) {
    Way& way = ways_[w];
    library_.check(library_.group_start(), "ncclGroupStart");
    int code = 0;
    for (const NcclWait& to : waits)
      if (code == 0)
        code = library_.put_signal(m.segment->base(), 1, nccl_bytes, to.peer, m.windows[w], 0, 0, 0,
                                   0, way.comm, way.stream->native());
    const int ended = library_.group_end();
    library_.check(code ? code : ended, "ncclPutSignal");
    library_.check(library_.wait_signal(static_cast<int>(waits.size()), waits.data(), way.comm,
                                        way.stream->native()),
                   "ncclWaitSignal");
  }
  for (Way& way : ways_) way.stream->drain();
}

std::vector<int64_t> NcclRail::unused() const {
  const std::lock_guard lock(memories_mutex_);
  std::vector<int64_t> numbers;
  for (const Memory& m : memories_)
    if (m.users.expired()) numbers.push_back(m.number);
  return numbers;
}

void NcclRail::release(const std::vector<int64_t>& numbers) {
  const std::lock_guard lock(in_nccl_);
  const gpu::Use use(device_);
  for (const int64_t number : numbers) {
    const auto at = std::find_if(memories_.begin(), memories_.end(),
                                 [&](const Memory& m) { return m.number == number; });
    if (at == memories_.end()) continue;
    for (size_t w = 0; w < ways_.size(); w++)
      if (at->windows[w])
        library_.check(library_.window_deregister(ways_[w].comm, at->windows[w]),
                       "ncclCommWindowDeregister");
    const std::lock_guard list_lock(memories_mutex_);
    memories_.erase(at);
  }
}

struct NcclRail::Ending {
  std::array<NcclComm, 2> comms = {};
  std::atomic<bool> over = false;
};

// Local: abort, which asks no peer, where destroy would.  It waits for what is on the device, and
// so perhaps for a peer that is gone.
void NcclRail::end() {
  if (ending_) return;
  ending_ = std::make_shared<Ending>();
  for (size_t w = 0; w < ways_.size(); w++) ending_->comms[w] = ways_[w].comm;
  if (!ending_->comms[0]) {
    ending_->over = true;
    return;
  }
  try {
    std::thread([ending = ending_, library = &library_, device = device_] {
      const gpu::Use use(device);
      for (NcclComm comm : ending->comms)
        if (comm) library->abort(comm);
      ending->over = true;
    }).detach();
  } catch (const std::exception&) {  // no thread: stays
  }
}

void NcclRail::abandon() {
  abandoned_ = true;
  end();
}

NcclRail::~NcclRail() {
  end();
  const double patience_s = abandoned_ ? 0.5 : 10;
  for (const double until = now_s() + patience_s; !ending_->over && now_s() < until;) usleep(200);
  if (ending_->over && !abandoned_) return;
  for (Way& way : ways_) never_free(std::shared_ptr<gpu::Stream>(std::move(way.stream)));
  never_free_value(std::move(memories_));
  never_free_value(std::move(outgoing_));
}

}  // namespace tide
