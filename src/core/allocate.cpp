// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/allocate.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/multicast.hpp"
#include "core/settings.hpp"

namespace tide {
namespace {

struct Wish {
  int64_t bytes;
  int32_t shared;
  int32_t device;  // memory of a device
  int32_t multicast;
  int32_t insists;  // tide_multicast = on
};

// MPI 4.1's names.  The kind that the info asks for, else that of tide_memory.
bool wants_device(const std::string& kind, const Settings& settings) {
  if (kind == "cuda" || kind == "cuda:device") return true;
  if (kind.empty()) return settings.text("tide_memory") == "cuda";
  if (kind == "system") return false;
  throw Error(Kind::arg, "mpi_memory_alloc_kinds: '{}' is not a kind; use system or cuda:device",
              kind);
}

// What the environment asks for, or a group of the communicator.
MulticastMode multicast_wish(Context& context, const Settings& settings, bool device) {
  const std::string& asked = settings.text("tide_multicast");
  if (asked == "emulate") return MulticastMode::emulated;
  if (context.multicast() != MulticastMode::nvlink && asked != "on" && asked != "auto")
    return context.multicast();
  const std::string why = device ? why_no_multicast(context, settings) : "of host memory";
  if (device && asked == "on" && !why.empty())
    throw Error(Kind::unsupported, "tide_multicast = on: {}; or use auto, off or emulate", why);
  return why.empty() ? MulticastMode::nvlink : MulticastMode::off;
}

// Collective.  Memory without such an address is memory all the same, unless one was insisted on.
std::shared_ptr<const Multicast> multicast_for(Context& context, MulticastMode mode, bool wanted,
                                               const std::vector<std::shared_ptr<Segment>>& parts,
                                               bool insist) {
  std::string why;
  auto made = make_multicast(context, mode, wanted, parts, why);
  if (!why.empty() && insist)
    throw Error(Kind::unsupported, "tide_multicast = on: {}; use auto, off or emulate", why);
  if (!why.empty()) log(Level::info, fmt::format("memory without multicast: {}", why));
  return made;
}

// Collective, after ranks have mapped each other's device memory.  True where one could not (its
// device reaches no other, or it was started with its own device alone in sight): then nobody keeps
// what it mapped, and calls take such memory for foreign.
bool keep_apart(Context& context, const std::shared_ptr<Segment>& mine,
                std::vector<std::shared_ptr<Segment>>& all, const std::string& why, bool shared) {
  context.note_gpu_in_use();
  int64_t together = why.empty();
  context.least(&together, 1);
  if (together) return false;
  if (shared)
    throw Error(Kind::unsupported,
                "tide_share = node: the devices of a node's ranks do not reach each other; let "
                "each rank see all devices of its node, or leave tide_share out");
  const Topology& t = context.topology();
  all.assign(static_cast<size_t>(t.size(context.node())), nullptr);
  all[static_cast<size_t>(t.local(context.rank()))] = mine;
  if (mine && !mine->keeps_descriptor()) mine->close_descriptor();
  if (!why.empty())
    warn_once(
        fmt::format("rank {}: device memory of its node's ranks cannot be mapped, and calls go "
                    "through host memory; let each rank see all devices of its node (no "
                    "--gpus-per-task, no CUDA_VISIBLE_DEVICES of its own): {}",
                    context.comm_rank(), why));
  return true;
}

}  // namespace

void* allocate(Context& context, int64_t bytes, MPI_Info info) {
  Process& process = context.process();
  const Topology& t = context.topology();
  const int locals = t.size(context.node()), me = t.local(context.rank());
  Wish wish{bytes, 0, 0, 0, 0};
  int device = -1;
  context.together([&] {
    const Settings settings = Settings::read(info, Setting::alloc);
    wish.device = wants_device(info_value(info, "mpi_memory_alloc_kinds"), settings);
    context.want_device(settings.text("tide_device"));
    if (wish.device) device = context.device();
    wish.shared = settings.text("tide_share") == "node";
    wish.insists = settings.text("tide_multicast") == "on";
    wish.multicast = static_cast<int32_t>(multicast_wish(context, settings, wish.device));
    if (bytes < 0) throw Error(Kind::arg, "bytes is {}; pass at least 0", bytes);
  });
  const std::vector<Wish> wishes = context.gather_all(wish);
  const auto of = [&](int rank) { return wishes[static_cast<size_t>(t.comm_rank(rank))]; };
  for (int r = 0; r < t.ranks(); r++) {  // the same facts and so the same verdict on all ranks
    const int first = t.rank(t.node(r), 0);
    if (of(r).shared != of(0).shared)
      throw Error(Kind::mismatch,
                  "rank {}: tide_share differs from rank {}'s; pass the same info on all ranks",
                  t.comm_rank(r), t.comm_rank(0));
    if (of(r).device != of(0).device)
      throw Error(
          Kind::mismatch,
          "rank {}: mpi_memory_alloc_kinds (or tide_memory) asks for {} memory, rank {} for "
          "{}; pass the same info on all ranks",
          t.comm_rank(r), of(r).device ? "device" : "host", t.comm_rank(0),
          of(0).device ? "device" : "host");
    if (of(r).shared && of(r).bytes != of(first).bytes)
      throw Error(Kind::mismatch,
                  "rank {}: bytes is {} but rank {} of its node asks for {}; tide_share = node "
                  "needs one size per node",
                  t.comm_rank(r), of(r).bytes, t.comm_rank(first), of(first).bytes);
  }
  std::shared_ptr<Segment> mine;
  context.together([&] {
    if (bytes <= 0 || (wish.shared && me != 0)) return;
    mine = device < 0 ? Segment::create(static_cast<size_t>(bytes))
                      : Segment::create_on(device, static_cast<size_t>(bytes));
  });
  std::vector<bool> has;
  for (int l = 0; l < locals; l++) {
    const Wish& w = of(t.rank(context.node(), l));
    has.push_back(w.bytes > 0 && (!w.shared || l == 0));
  }
  std::vector<std::shared_ptr<Segment>> all;
  std::string apart;
  context.together([&] {
    try {
      all = context.share(mine, has, device);
    } catch (const Error& e) {
      if (device < 0 || e.kind() != Kind::device) throw;
      apart = e.what();
    }
  });
  const bool alone = wish.device && keep_apart(context, mine, all, apart, wish.shared != 0);
  auto mode = static_cast<MulticastMode>(wish.multicast);
  for (const Wish& w : wishes) mode = std::min(mode, static_cast<MulticastMode>(w.multicast));
  std::shared_ptr<const Multicast> multicast;
  if (mode != MulticastMode::off)
    multicast = multicast_for(
        context, mode,
        !alone && !wish.shared && std::all_of(all.begin(), all.end(), [](auto& s) { return !!s; }),
        all, std::any_of(wishes.begin(), wishes.end(), [](const Wish& w) { return w.insists; }));
  process.memory.drop_freed();
  for (int l = 0; l < locals; l++) {
    const auto& segment = all[static_cast<size_t>(l)];
    if (!segment) continue;
    const bool mine_to_pass = wish.shared || l == me;  // only what a user may pass needs a kind
    if (mine_to_pass)
      process.remember(segment->id(), {alone ? std::vector{context.peer(context.rank()).process}
                                             : context.node_processes(),
                                       wish.shared != 0, multicast});
    if (mine_to_pass)
      process.memory.add(segment, !wish.shared);
    else
      process.memory.attach(segment);
  }
  const auto& own = all[static_cast<size_t>(wish.shared ? 0 : me)];
  return own ? own->base() : nullptr;
}

void release(void* base) {
  if (!base) return;
  Process& process = Process::get();
  const auto found = process.memory.find(base, 1);
  if (!found || found->offset != 0 || !process.memory.remove(base))
    throw Error(Kind::arg,
                "base {} is not memory from MPIX_Tide_alloc, or was freed already; pass the "
                "address that it gave",
                base);
  process.forget(found->segment);
}

}  // namespace tide
