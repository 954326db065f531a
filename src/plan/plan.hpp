// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The vocabulary of the planner: read this first.  A plan is what one rank does in one collective
// call, as six kinds of operation on three lanes.  Each lane runs in order, the three run
// concurrently; the order in which the planner emitted the operations is also a valid single queue.
// A plan holds no address, no pointer and no state: regions are symbolic, and a backend turns them
// into addresses.  Units are bytes unless a name says otherwise; ranks are node-major
// (topology.hpp).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plan/layout.hpp"
#include "plan/topology.hpp"

namespace tide {

// param: the whole parameters (all-gather output, or the gradients of a reduce-scatter); shard:
// this rank's rows (input, or output).  stage, landing and partial are workspace.  Elements: param
// as the user passed them; stage as param; landing and partial in the accumulation type, or in the
// gradient type where the plan is raw.
enum class Buffer : uint8_t { param, shard, stage, landing, partial };
enum class Lane : uint8_t { copy, rail, sum };
constexpr int lane_count = 3;
constexpr int every_local = -2;  // as a rank: each rank of the node

struct Region {
  Buffer buffer = Buffer::param;
  int rank = 0;
  size_t offset = 0;  // of the interval's first byte; workspace only: param and shard are addressed
                      // by the interval
  size_t pitch = 0;   // between the rows of a Sum's source
};

// Index of a signal.  One lane sends and one lane waits for each (sender, receiver, index); values
// count within a call.
enum Index : int {
  ready,        // entered; only in plans with sync_in_plan
  done,         // finished; only in plans with sync_in_plan
  inputs_read,  // the sender will not read this rank's inputs any more
  staged,
  stage_free,
  own_staged,
  own_free,  // rows pushed into, and released from, a rank's stages
  gathered,
  gathered_free,  // all-gather without peer stores: a piece stands in the sender's stage
  arrived,        // rail lane to copy lane: a piece of the round is in the stage
  summed,
  partial_free,
  sent,  // sum lane <-> rail lane of one rank
  credit,
  landed,  // reduce-scatter over a rail
  layer_here,
  layer_read,  // a chunk is complete in the landing / its rows were added (by another rank)
  granted,     // all-gather over a rail: each pair meets in one round only, so one index does
  round_0,     // round k of an all-gather is round_0 + k
  index_count = round_0 + 32
};

std::string index_name(int index);  // "landed"
constexpr bool reports_puts(int index) { return index != arrived; }

struct Incoming {  // what a rail peer may now put: a two-sided rail posts its receives from this
  int signal;      // the put's index
  Region region;
  size_t bytes;
  size_t chunk;  // it comes in puts of this size, the last one shorter
};

// dst is one rank's, or every local rank's, region.  Where element types differ (fp32 shard into
// bf16 parameter) it rounds.
struct Copy {
  Region dst, src;
  Interval interval;
};
// Contiguous bytes to a rail peer, then its signal.
struct Put {
  int peer, signal;
  Region dst, src;
  size_t bytes;
};
// After everything earlier in its lane, puts included: it reports their completion without holding
// up the lane.  `arrived` alone does not wait for puts: it tells what came in.
struct Signal {
  int peer, index;
  std::optional<Incoming> opens = {};
};
// Until the sender has sent `until` signals of this index in this call.
struct Wait {
  int peer, index;
  uint64_t until;
};

enum class Order : uint8_t {
  rows,   // row 0 + row 1 + ...
  nodes,  // rows are ranks, node-major; (sum over node 0) + (sum over node 1) + ...
  ranks   // rows are ranks, node-major in memory; added in communicator rank order
};
// dst = [base +] rows added in order.  rows == every_local: row h is src in local rank h's memory,
// and where Limits::switch_sum says so a backend may leave these to a switch; else row h starts at
// src.offset + h * src.pitch.  Into Buffer::shard it is the last sum: average,
// scale, accumulate and the output type apply.
struct Sum {
  Region dst;
  std::optional<Region> base;
  Region src;
  int rows;
  Order order;
  Interval interval;
};
// As Sum over the node's ranks at one offset of their memory, added by the switch in an order of
// its own.
struct SwitchSum {
  Region dst;
  std::optional<Region> base;
  Region src;
  Interval interval;
};

using Op = std::variant<Copy, Put, Signal, Wait, Sum, SwitchSum>;

struct Workspace {
  size_t stage = 0, landing = 0, partial = 0;
  size_t total() const { return stage + landing + partial; }
};

// Round k of an eager all-gather: the first `send` bytes of the stage go with the record that the
// node 2^k before hears, `receive` bytes come with that of the node 2^k after, to `place`.
struct EagerRound {
  size_t send = 0, receive = 0, place = 0;
};

struct Plan {
  std::vector<Copy> before_entry;  // eager all-gather: the own shard into the stage of its rail
  std::vector<EagerRound> eager;   // and what a carrier sends with the entry's records: all of it
  std::array<std::vector<Op>, lane_count> lanes;
  std::vector<Lane> emitted;  // lane of each operation in order of emission
  Workspace need;             // of this rank
  Workspace places;  // sizes of the buffers of any rank of the node that has them, in this order
  std::array<size_t, lane_count>
      inputs;  // this rank's own reads of its inputs end with this many operations of each lane
  bool tells_inputs_read = false;  // every local rank sends inputs_read to every other, and itself
  bool raw = false;                // reduce-scatter: gradients, not partials, cross the rails
  int rounds = 0, chunks = 0;      // of the rail; chunks: pieces of one destination
  size_t puts = 0, put_bytes = 0,
         copied_bytes = 0;  // copied: by Copy operations, counted once per destination rank
  void add(Lane lane, Op op) {
    lanes[static_cast<size_t>(lane)].push_back(std::move(op));
    emitted.push_back(lane);
  }
};

// What a backend can do; plain values, equal on all ranks of the communicator.
struct Limits {
  bool peer_stores = true;  // a Copy may store into the parameters of the node's ranks
  bool peer_loads = true;   // a Sum or Copy may load the gradients of the node's ranks
  bool switch_sum = false;  // a switch adds: Latin-square placement where the nodes are equal
  bool sync_in_plan =
      false;  // the plan carries `ready` and `done`; else entry and exit are the request's
};

struct Options {
  size_t chunk_bytes =
      size_t{1} << 20;  // of an all-gather's puts, and of staging without peer access
  size_t workspace_bytes =
      0;                    // upper bound of a reduce-scatter's landing + partial (0: the default)
  size_t eager_bytes = 0;   // all-gathers of so many bytes travel with the entry's records
  int puts_in_flight = 2;   // P
  bool rank_order = false;  // tide_order = rank
};

// elem_bytes of `gathered`: the gathered type.  Any M, L, uneven nodes.
Plan plan_allgather(const Topology&, const Layout& gathered, const Limits&, const Options&,
                    int rank);

// A reduce-scatter plans on one of two packings: partials in the accumulation type, or raw slices
// in the gradient type. raw where largest node * gradient bytes <= accumulation bytes for the whole
// list (or rank_order on several nodes).
bool reduce_scatter_is_raw(const Topology&, const Layout& accumulated, const Layout& gradients,
                           const Options&);
Plan plan_reduce_scatter(const Topology&, const Layout& packing, bool raw, const Limits&,
                         const Options&, int rank);
// The smallest workspace_bytes with which plan_reduce_scatter can be made, the largest over ranks.
size_t reduce_scatter_workspace_min(const Topology&, const Layout& packing, bool raw, const Limits&,
                                    const Options&);

// Text of a plan, one line an operation, in order of emission.
std::string print(const Plan&);

// Proof, over the plans of all ranks (check.cpp): see CheckResult.  Throws std::runtime_error on a
// defect.
}  // namespace tide
