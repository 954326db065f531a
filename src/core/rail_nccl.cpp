// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The rail of device memory.  What NCCL does in its set-up needs all ranks and cannot be given up,
// so it runs on a thread of its own while this one hears of the others, and each step ends with all
// ranks knowing how it went everywhere.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "core/clock.hpp"
#include "core/context.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/progress.hpp"
#include "core/settings.hpp"
#if TIDE_HAVE_NCCL
#include "backend/rail/nccl.hpp"
#endif

namespace tide {

// The reason of the lowest rank that has one, the same on all; empty: none has.
std::string Context::first_reason(const std::string& mine) {
  const auto* text = reinterpret_cast<const std::byte*>(mine.data());
  const auto told = gather_blobs(Rail::Bytes(text, text + mine.size()));
  const auto any = std::find_if(told.begin(), told.end(), [](const auto& t) { return !t.empty(); });
  if (any == told.end()) return "";
  return fmt::format("rank {}: ", topology_.comm_rank(static_cast<int>(any - told.begin()))) +
         std::string(reinterpret_cast<const char*>(any->data()), any->size());
}

#if TIDE_HAVE_NCCL
namespace {

constexpr int failure_tag = 31996;
// With NCCL, whatever it connects: without a limit of time, and with one, however short.
constexpr double nccl_patience_s = 120, least_patience_s = 10;
constexpr double parting_s = 0.2;  // after another rank has failed
constexpr double beat_s = 0.05;

struct ApartStep {
  std::string why;
  std::atomic<bool> over = false;
};

std::string reason_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

std::shared_ptr<ApartStep> run_apart(std::function<void()> act) {
  auto step = std::make_shared<ApartStep>();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const std::string no_thread = reason_of([&] {
    std::thread([step, act = std::move(act)] {
      step->why = reason_of(act);
      step->over = true;
    }).detach();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!no_thread.empty()) step->why = no_thread, step->over = true;
  return step;
}

}  // namespace

// `act` keeps alive what it uses: the thread stays behind where NCCL does not return.
std::string Context::apart(std::function<void()> act) {
  const auto step = run_apart(std::move(act));
  const double begun_s = now_s(), limit_s = setup_limit_s_;
  const double patience_s = limit_s > 0 ? std::max(2 * limit_s, least_patience_s) : nccl_patience_s;
  double beaten_s = begun_s, heard_s = 0;
  process_.progress().wait(*this, [&] {
    if (step->over || broken()) return true;
    const double now = now_s();
    if (now - beaten_s > beat_s) {  // for those who wait for this rank
      const std::lock_guard lock(mutex);
      moved_++;
      beaten_s = now;
    }
    int flag = 0;
    if (heard_s == 0) MPI_Iprobe(MPI_ANY_SOURCE, failure_tag, dup_, &flag, MPI_STATUS_IGNORE);
    if (flag) heard_s = now;
    return (heard_s > 0 && now - heard_s > parting_s) || now - begun_s > patience_s;
  });
  {
    const std::lock_guard lock(mutex);
    check_whole();
  }
  std::string why;
  if (step->over)
    why = step->why;
  else if (heard_s == 0)
    why = fmt::format("NCCL did not return within {} s", patience_s);
  // The others may wait inside NCCL for this rank: they are told, and take the message in the end.
  const bool tell = step->over && !why.empty();
  std::vector<MPI_Request> sent;
  std::vector<std::byte> nothing;
  for (int r = 0; tell && r < comm_size(); r++)
    if (r != comm_rank())
      MPI_Isend(nullptr, 0, MPI_BYTE, r, failure_tag, dup_, &sent.emplace_back());
  const std::vector<char> tells = gather_all<char>(tell);
  for (int r = 0; r < comm_size(); r++) {
    if (!tells[static_cast<size_t>(r)] || r == comm_rank()) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Irecv(nullptr, 0, MPI_BYTE, r, failure_tag, dup_, &request), "MPI_Irecv");
    finish(request, nothing, "MPI_Irecv");
  }
  for (MPI_Request& request : sent) finish(request, nothing, "MPI_Isend");
  return first_reason(why);
}

// Communicators of all ranks, node-major.  Result: why there are none.
std::string Context::make_nccl_rail(Rail& records) {
  const NcclLibrary* library = nullptr;
  NcclRail::Ids ids{};
  std::string why = first_reason(reason_of([&] {
    device();
    library = &NcclLibrary::get();
    if (rank_ == 0) ids = NcclRail::make_ids(*library);
  }));
  if (!why.empty()) return why;
  const std::vector<int> versions = gather_all(library->version);
  for (size_t r = 1; r < versions.size(); r++)
    if (versions[r] != versions[0])
      return fmt::format("rank {} has NCCL {}, rank 0 {}", r, nccl_version_text(versions[r]),
                         nccl_version_text(versions[0]));
  broadcast(&ids, sizeof ids, topology_.comm_rank(0));
  std::shared_ptr<NcclRail> rail;
  why = first_reason(reason_of([&] {
    rail = std::make_shared<NcclRail>(*library, records, dup_, topology_, rank_, device());
  }));
  if (why.empty()) why = apart([rail, ids] { rail->init(ids); });
  if (why.empty()) nccl_rail_ = std::move(rail);
  return why;
}

// Calls that start from now on, of whatever group, go over the rail of host memory: what NCCL has
// failed at, some rank may be waiting in.
void Context::lose_nccl(const std::string& why) {
  why_no_nccl_ = why;
  if (!device_workspace_) return nccl_rail_.reset();  // no group has it
  const std::lock_guard lock(mutex);
  device_workspace_.reset();
  log(Level::warn, fmt::format("the nccl rail is given up: {}", why));
}

// One size for all, as NCCL before 2.30.7 wants it.  Result: why it has not grown; lost: nor can
// what there was be used any more.
std::string Context::grow_device_workspace(size_t bytes, bool& lost) {
  const std::shared_ptr<NcclRail> rail = nccl_rail_;
  std::vector<std::shared_ptr<Segment>> parts;
  std::shared_ptr<Segment> mine;
  std::string why =
      first_reason(reason_of([&] { mine = Segment::create_on(device(), bytes * slot_count); }));
  if (!why.empty()) return why;
  const std::vector<bool> all(static_cast<size_t>(topology_.size(node())), true);
  why = first_reason(reason_of([&] { parts = share(mine, all, device()); }));
  if (!why.empty()) return why;
  const bool first = device_workspace_ == nullptr;
  auto fresh = std::make_shared<WorkspaceSet>();
  fresh->of = std::move(parts);
  why_no_switch_.clear();
  asked_for_multicast_ = multicast_ == MulticastMode::nvlink;
  if (asked_for_multicast_)
    if (const auto whole = make_multicast(*this, multicast_, true, fresh->of, why_no_switch_))
      for (int slot = 0; slot < slot_count; slot++)
        fresh->multicast[slot] = fresh->part(*whole, slot);
  why = apart([rail, fresh, mine, first] {
    fresh->exposed = rail->expose(mine);
    if (first) rail->warm_up();
  });
  if (!why.empty()) return lost = true, why;
  {
    const std::lock_guard lock(mutex);
    device_workspace_ = std::move(fresh);
  }
  // Memory that an earlier workspace left, once it is in no rank's use.
  const std::vector<int64_t> here = rail->unused();
  const auto* raw = reinterpret_cast<const std::byte*>(here.data());
  std::vector<int64_t> everywhere = here;
  for (const Rail::Bytes& blob : gather_blobs({raw, raw + here.size() * sizeof(int64_t)})) {
    std::vector<int64_t> there(blob.size() / sizeof(int64_t));
    if (!there.empty()) std::memcpy(there.data(), blob.data(), there.size() * sizeof(int64_t));
    std::erase_if(everywhere, [&](int64_t number) {
      return std::find(there.begin(), there.end(), number) == there.end();
    });
  }
  if (!everywhere.empty()) why = apart([rail, everywhere] { rail->release(everywhere); });
  lost |= !why.empty();
  return why;
}

Rail* Context::device_rail(const Settings& settings, size_t bytes, Rail* records,
                           std::string& why_not) {
  const std::string& wanted = settings.text("tide_rail");
  const bool insist = wanted == "nccl";
  if (!records || (!insist && wanted != "auto") || (!insist && !any_gpu_in_use_)) return nullptr;
  const bool wishes = insist || nccl_rail_ || knows_device() || !wanted_device_.empty();
  int64_t facts[2] = {-static_cast<int64_t>(bytes), wishes};
  least(facts, 2);
  const size_t most = static_cast<size_t>(-facts[0]);
  const size_t need = (most + nccl_alignment - 1) / nccl_alignment * nccl_alignment;
  if (!need || !facts[1]) return nullptr;  // nothing crosses, or not every rank has a device
  if (!insist && std::string(records->name()) == "ucx") {
    why_not =
        "rail of device memory: what ucx brings to host memory is landed by copy engines, what "
        "nccl brings by kernels; tide_rail = nccl insists";
    return nullptr;
  }
  std::string why = why_no_nccl_;
  if (why.empty()) {
    bool lost = !nccl_rail_;
    if (lost) why = make_nccl_rail(*records);
    const size_t has = device_workspace_ ? device_workspace_->bytes(0) : 0;
    const bool lacks_multicast = multicast_ == MulticastMode::nvlink && !asked_for_multicast_;
    if (why.empty() && (has < need || lacks_multicast))
      why = grow_device_workspace(std::max(has, need), lost);
    if (why.empty()) return nccl_rail_.get();
    if (lost) lose_nccl(why);
  }
  if (insist) throw Error(Kind::unsupported, "tide_rail = nccl: {}; use auto, mpi or ucx", why);
  why_not = "rail of device memory: nccl is not used: " + why;
  return nullptr;
}
void Context::abandon_device_rail() {
  if (nccl_rail_) nccl_rail_->abandon();
}
#else
void Context::abandon_device_rail() {}
Rail* Context::device_rail(const Settings&, size_t, Rail*, std::string&) { return nullptr; }
#endif

}  // namespace tide
