// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <mpix_tide.h>

#include "gpu/device.hpp"
#include "gpu/in_process.hpp"
#include "gpu/resident_kernel.hpp"
#include "gpu/rows.hpp"

namespace perf::gpu {
namespace {

using Streams = std::vector<Stream>;  // of each rank

void synchronise(const Streams& streams) {
  for (const Stream& stream : streams) stream.synchronise();
}

/// What was issued to any of the streams comes before what is issued to each of them next.
class Join {
 public:
  explicit Join(std::size_t streams) : events_(streams) {
    for (cudaEvent_t& event : events_)
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
  ~Join() {
    for (cudaEvent_t event : events_) cudaEventDestroy(event);
  }
  Join(const Join&) = delete;
  Join& operator=(const Join&) = delete;

  // All before the first, then the first before all.
  void issue(const Streams& streams) const {
    for (std::size_t r = 1; r < streams.size(); ++r) after(streams[0], streams[r], events_[r]);
    check(cudaEventRecord(events_[0], streams[0]), "cudaEventRecord");
    for (std::size_t r = 1; r < streams.size(); ++r)
      check(cudaStreamWaitEvent(streams[r], events_[0], 0), "cudaStreamWaitEvent");
  }

 private:
  static void after(const Stream& later, const Stream& earlier, cudaEvent_t event) {
    check(cudaEventRecord(event, earlier), "cudaEventRecord");
    check(cudaStreamWaitEvent(later, event, 0), "cudaStreamWaitEvent");
  }
  std::vector<cudaEvent_t> events_;
};

Contestant plain(std::vector<Workload>& ranks) {
  Contestant c{"plain", "bound: cudaMemcpyAsync of the shards into the memory of all ranks"};
  std::vector<Contestant> parts(ranks.size());
  std::vector<Packed> packed;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    packed.push_back(prepare_packed_gather(ranks[r], parts[r], allocate));
  combine(parts, c);
  c.run = [packed, streams = std::make_shared<Streams>(ranks.size())] {
    const std::size_t count = packed.size();
    for (std::size_t k = 1; k <= count; ++k)  // each the next rank first, itself last
      for (std::size_t r = 0; r < count; ++r) {
        const auto bytes = static_cast<std::size_t>(packed[r].shard_bytes);
        check(cudaMemcpyAsync(packed[(r + k) % count].recv.get() + r * bytes, packed[r].send.get(),
                              bytes, cudaMemcpyDeviceToDevice, (*streams)[r]),
              "cudaMemcpyAsync");
      }
    synchronise(*streams);
  };
  return c;
}

ResidentRows rows_of(const std::vector<Wide>& wide, std::size_t rank) {
  ResidentRows rows{};
  for (const Wide& x : wide) rows.row[rows.rows++] = x.send.get() + rank * x.shard_bytes;
  return rows;
}

void issue_resident(const std::vector<Wide>& wide, int acc_dtype, std::size_t rank,
                    cudaStream_t stream) {
  check(launch_resident(rows_of(wide, rank), wide[rank].recv.get(), wide[rank].count,
                        acc_dtype == MPIX_TIDE_FP64, stream),
        "launch of the resident kernel");
}

Contestant resident(std::vector<Workload>& ranks) {
  Contestant c{"resident", "packed fp32 of all ranks, added by 16 blocks a rank that stay"};
  std::vector<Contestant> parts(ranks.size());
  std::vector<Wide> wide;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    wide.push_back(prepare_packed_reduce(ranks[r], parts[r]));
  combine(parts, c);
  c.run = [wide, acc = ranks.front().acc_dtype, streams = std::make_shared<Streams>(ranks.size())] {
    for (std::size_t r = 0; r < wide.size(); ++r) issue_resident(wide, acc, r, (*streams)[r]);
    synchronise(*streams);
  };
  return c;
}

Contestant stock_resident(std::vector<Workload>& ranks) {
  Contestant c{"stock-resident", "chunk_cat to fp32, 16 blocks a rank that stay, views"};
  std::vector<Contestant> parts(ranks.size());
  std::vector<StockReduce> stock;
  std::vector<Wide> wide;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    stock.push_back(prepare_stock_reduce(ranks[r], parts[r]));
    wide.push_back(stock.back().wide);
  }
  c.workspace_bytes = parts.front().workspace_bytes;
  combine(parts, c);
  c.run = [stock, wide, acc = ranks.front().acc_dtype,
           streams = std::make_shared<Streams>(ranks.size()),
           join = std::make_shared<Join>(ranks.size())] {
    for (std::size_t r = 0; r < stock.size(); ++r) stock[r].chunk_cat.run((*streams)[r]);
    join->issue(*streams);
    for (std::size_t r = 0; r < stock.size(); ++r) {
      issue_resident(wide, acc, r, (*streams)[r]);
      stock[r].casts.run((*streams)[r]);
    }
    synchronise(*streams);
  };
  return c;
}

}  // namespace

std::vector<Contestant> in_process_baselines(const Options& o, std::vector<Workload>& ranks,
                                             bool allgather) {
  std::vector<Contestant> all;
  if (allgather && o.has_baseline("plain")) all.push_back(plain(ranks));
  if (!allgather && o.has_baseline("stock-resident")) all.push_back(stock_resident(ranks));
  if (!allgather && o.has_baseline("resident")) all.push_back(resident(ranks));
  return all;
}

}  // namespace perf::gpu
