// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/in_process.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <stdexcept>
#include <thread>

#include "backend/cuda/backend.hpp"
#include "core/collective.hpp"
#include "query.hpp"

namespace perf::gpu {
namespace {

std::vector<tide::Param> params_of(const ParamList& list) {
  std::vector<tide::Param> params;
  for (const Param& p : list.params) {
    tide::Param& param = params.emplace_back();
    param.shape = {p.rows, p.row_elems, p.block_rows};
    param.full = param.shard = param.grad = static_cast<tide::Dtype>(p.dtype);
  }
  return params;
}

// Of the environment, as a group would take it.
double setting(const std::string& name) {
  const nlohmann::json config = tools::read_config();
  for (const auto& entry : config.at("environment")) {
    if (entry.value("info_key", "") != name) continue;
    if (entry.contains("problem"))
      throw std::invalid_argument(entry["problem"].get<std::string>() + "; change " +
                                  entry["name"].get<std::string>());
    const std::string given = entry.value("forced", entry.value("value", ""));
    return std::stod(given.empty() ? entry.at("default").get<std::string>() : given);
  }
  throw std::invalid_argument("the library has no " + name);
}

tide::Work work_of(bool allgather, Workload& w) {
  tide::Work work;
  work.sum_ctas = static_cast<int>(setting("tide_sum_ctas"));
  work.landing_ctas = static_cast<int>(setting("tide_landing_ctas"));
  work.landing_bytes_per_s = setting("tide_landing_bytes_per_s");
  work.arithmetic = {false, w.ranks, 1.0, false};
  work.addresses.shard_in = allgather ? w.shards.ptrs.data() : nullptr;
  work.addresses.shard_out = allgather ? nullptr : w.reduced.ptrs.data();
  return work;
}

struct Rank {
  Rank(tide::Node its_node, int device, tide::Collective its_collective, tide::Work its_work)
      : node(std::move(its_node)),
        backend(node, device),
        collective(std::move(its_collective)),
        work(std::move(its_work)) {
    work.bindings = &bindings;
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  tide::Node node;
  tide::CudaBackend backend;
  std::vector<std::shared_ptr<const tide::gpu::Binding>> bindings;
  tide::Collective collective;
  tide::Work work;
  std::exception_ptr failure;
};

// A thread a rank, which issues as the rank's process would: one that issued for all would let the
// last rank begin when the first is nearly through.  Between calls they spin, so that waking them
// is not in the time.
class InProcess {
 public:
  InProcess(std::vector<Workload>& ranks, bool allgather);
  ~InProcess();
  InProcess(const InProcess&) = delete;
  InProcess& operator=(const InProcess&) = delete;
  void run();

 private:
  static constexpr std::uint64_t over = UINT64_MAX;
  void drive(Rank& rank);
  void serve(Rank& rank);

  Bytes control_;  // of all ranks, in host memory
  tide::Topology topology_;
  std::vector<std::vector<tide::Pointer>> pointers_;  // [rank][parameter]
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::uint64_t call_ = 0;
  std::atomic<std::uint64_t> begun_ = 0;  // the call that all are to carry out, or `over`
  std::atomic<std::size_t> ended_ = 0;    // ranks that have
  std::atomic<bool> broken_ = false;      // a rank has failed
  std::vector<std::thread> threads_;      // of all ranks but the first, which is the caller's
};

InProcess::InProcess(std::vector<Workload>& workloads, bool allgather)
    : topology_(std::vector<int>(workloads.size(), 0)) {
  const int count = topology_.ranks();
  const std::size_t block = tide::ControlBlock::bytes(count);
  control_ = make_bytes(static_cast<std::int64_t>(block) * count, 0);
  std::vector<void*> blocks;
  for (const Workload& w : workloads) {
    blocks.push_back(control_.get() + blocks.size() * block);
    std::vector<tide::Pointer>& pointers = pointers_.emplace_back();
    for (void* p : (allgather ? w.params : w.grads).ptrs)
      pointers.push_back({p, reinterpret_cast<std::uint64_t>(p)});
  }
  const std::vector<tide::Param> params = params_of(*workloads.front().list);
  std::vector<tide::Shape> shapes;
  for (const tide::Param& p : params) shapes.push_back(p.shape);
  const auto rows = tide::Rows::chunk(count, shapes);
  const tide::Types types = allgather ? tide::gather_types(params)
                                      : tide::reduce_types(params, workloads.front().out_dtype);
  const tide::Options options;
  const tide::Plans packing = allgather
                                  ? tide::gather_packing(topology_, rows, params)
                                  : tide::reduce_packing(topology_, rows, params, types, options);
  for (int r = 0; r < count; ++r) {
    const auto plans = std::make_shared<tide::Plans>(packing);
    plans->direct = allgather ? tide::plan_allgather(topology_, packing.layout, {}, options, r)
                              : tide::plan_reduce_scatter(topology_, packing.layout, packing.raw,
                                                          {}, options, r);
    if (plans->direct.places.total() > 0)
      throw std::logic_error("a plan of one node takes workspace, and there is none in a process");
    Workload& w = workloads[static_cast<std::size_t>(r)];
    Rank& rank = *ranks_.emplace_back(std::make_unique<Rank>(tide::Node(r, blocks), w.gpu->device,
                                                             tide::Collective{types, plans},
                                                             work_of(allgather, w)));
    tide::place(rank.work, topology_, r);
    for (std::size_t l = 0; l < pointers_.size(); ++l)
      rank.work.addresses.param[l] = pointers_[l].data();
  }
  for (std::size_t r = 1; r < ranks_.size(); ++r)
    threads_.emplace_back([this, r] { serve(*ranks_[r]); });
}

InProcess::~InProcess() {
  begun_ = over;
  for (std::thread& thread : threads_) thread.join();
}

void InProcess::drive(Rank& rank) {
  try {
    for (bool through = false; !through && !broken_;) {
      through = true;
      if (!tide::drive_lanes(rank.backend, rank.work, through)) sched_yield();
    }
  } catch (...) {
    rank.failure = std::current_exception();
    broken_ = true;  // nobody waits for it
  }
  ++ended_;
}

void InProcess::serve(Rank& rank) {
  const tide::gpu::Use use(rank.backend.device());
  for (std::uint64_t seen = 0; seen != over;) {
    const std::uint64_t now = begun_;
    if (now == seen)
      sched_yield();
    else if (now != over)
      drive(rank);
    seen = now;
  }
}

// All enter at once, and all leave when the last has ended.
void InProcess::run() {
  ++call_;
  for (const auto& rank : ranks_) {
    tide::begin_call(rank->work, rank->collective);
    rank->work.call = call_;
    rank->work.slot = static_cast<int>(call_ % tide::slot_count);
  }
  ended_ = 0;
  begun_ = call_;
  drive(*ranks_.front());
  while (ended_ < ranks_.size()) sched_yield();
  for (const auto& rank : ranks_)
    if (rank->failure) std::rethrow_exception(rank->failure);
}

}  // namespace

Bytes mapped(int device, std::int64_t bytes) {
  const std::shared_ptr<tide::gpu::Memory> memory =
      tide::gpu::Memory::create(device, static_cast<std::size_t>(std::max<std::int64_t>(1, bytes)));
  memory->close_descriptor();
  return {memory, static_cast<char*>(memory->address())};
}

void combine(const std::vector<Contestant>& parts, Contestant& whole) {
  whole.clear = [parts] {
    for (const Contestant& part : parts) part.clear();
  };
  whole.verify = [parts] {
    for (std::size_t r = 0; r < parts.size(); ++r)
      if (const std::string wrong = parts[r].verify(); !wrong.empty())
        return fmt::format("in-process rank {}: {}", r, wrong);
    return std::string();
  };
}

Contestant tide_in_process(std::vector<Workload>& ranks, bool allgather) {
  Contestant c{"tide", "the plans of all ranks, one thread each"};
  std::vector<Contestant> parts(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) prepare_results(ranks[r], allgather, parts[r]);
  combine(parts, c);
  c.run = [node = std::make_shared<InProcess>(ranks, allgather)] { node->run(); };
  return c;
}

}  // namespace perf::gpu
