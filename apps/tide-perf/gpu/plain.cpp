// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "agreement.hpp"
#include "gpu/device.hpp"
#include "gpu/rows.hpp"
#include "host.hpp"

// The bound: each rank pushes its packed shard into every rank's buffer by plain copies, one stream
// for each of them, and waits for nobody.
namespace perf::gpu {
namespace {

// A peer's memory, mapped here.
std::shared_ptr<char> open_peer(const cudaIpcMemHandle_t& handle) {
  void* at = nullptr;
  check(cudaIpcOpenMemHandle(&at, handle, cudaIpcMemLazyEnablePeerAccess), "cudaIpcOpenMemHandle");
  return {static_cast<char*>(at), [](char* p) { cudaIpcCloseMemHandle(p); }};
}

// recv of each rank; empty and `problem` where one cannot be mapped.
std::vector<std::shared_ptr<char>> open_peers(const Workload& w, const Packed& x,
                                              std::string& problem) {
  std::vector<cudaIpcMemHandle_t> handles(static_cast<std::size_t>(w.ranks));
  cudaIpcMemHandle_t mine{};
  std::vector<std::shared_ptr<char>> peers;
  try {
    check(cudaIpcGetMemHandle(&mine, x.recv.get()), "cudaIpcGetMemHandle");
  } catch (const std::exception& e) {
    problem = e.what();
  }
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, handles.data(), sizeof mine, MPI_BYTE, w.comm);
  tools::agree(w.comm, problem);
  try {
    for (int r = 0; r < w.ranks; ++r)
      peers.push_back(r == w.rank ? std::shared_ptr<char>(x.recv, x.recv.get())
                                  : open_peer(handles[static_cast<std::size_t>(r)]));
  } catch (const std::exception& e) {
    problem = e.what();
  }
  tools::agree(w.comm, problem);
  return peers;
}

}  // namespace

Contestant plain_allgather(Workload& w) {
  Contestant c{"plain", "bound: cudaMemcpyAsync of the shard into the memory of all ranks"};
  const bool one_host = host_of(w.comm).ranks == w.ranks;
  std::string problem = one_host ? "" : "its copies reach one host only";
  std::vector<std::shared_ptr<char>> peers;
  Packed x{};
  try {
    tools::agree(w.comm, problem);
    x = prepare_packed_gather(w, c, allocate);
    peers = open_peers(w, x, problem);
  } catch (const tools::AgreedError& e) {
    c.refused = fmt::format("left out: {}", e.what());
    return c;
  }
  const auto streams = std::make_shared<std::vector<Stream>>(static_cast<std::size_t>(w.ranks));
  c.run = [x, peers, streams, rank = w.rank] {
    const auto bytes = static_cast<std::size_t>(x.shard_bytes);
    for (std::size_t k = 1; k <= peers.size(); ++k) {  // the next rank first, this one last
      const std::size_t r = (static_cast<std::size_t>(rank) + k) % peers.size();
      check(cudaMemcpyAsync(peers[r].get() + rank * x.shard_bytes, x.send.get(), bytes,
                            cudaMemcpyDefault, (*streams)[r]),
            "cudaMemcpyAsync");
    }
    for (const Stream& stream : *streams) stream.synchronise();
  };
  return c;
}

}  // namespace perf::gpu
