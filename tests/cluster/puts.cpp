// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What plain ucp_put_nbx carry over the rails: no plan, no signals, no sums.
//   puts BYTES CHUNK REPETITIONS
// Ranks are grouped by their number on the host; each puts BYTES to the same rank of every other
// host, CHUNK at a time, and flushes.  Prints the median time from a barrier to the slowest flush,
// the bytes a second that come into a host meanwhile, and the processors' time per byte delivered.
// Devices and segments are those that Tide takes (TIDE_RAIL_DEVICES).
#include <mpi.h>
#include <sched.h>
#include <sys/resource.h>
#include <ucp/api/ucp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void check(ucs_status_t status, const char* what) {
  if (status == UCS_OK) return;
  std::fprintf(stderr, "puts: %s: %s\n", what, ucs_status_string(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

double cpu_s() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

std::string device_of(int local) {  // of the comma list, in turn; UCX joins with commas, not +
  const char* all = std::getenv("TIDE_RAIL_DEVICES");
  std::vector<std::string> list(1);
  for (const char* c = all ? all : ""; *c; c++) {
    if (*c == ',')
      list.emplace_back();
    else
      list.back() += *c == '+' ? ',' : *c;
  }
  return list[static_cast<size_t>(local) % list.size()];
}

struct Rail {
  ucp_context_h context = nullptr;
  ucp_worker_h worker = nullptr;
  std::vector<char> source, target;
  ucp_mem_h memory = nullptr, source_memory = nullptr;
  std::vector<ucp_ep_h> endpoints;
  std::vector<ucp_rkey_h> keys;
  std::vector<uint64_t> at;
};

ucp_mem_h registered(ucp_context_h context, std::vector<char>& memory) {
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  params.address = memory.data();
  params.length = memory.size();
  ucp_mem_h handle = nullptr;
  check(ucp_mem_map(context, &params, &handle), "ucp_mem_map");
  return handle;
}

std::vector<std::vector<char>> gathered(MPI_Comm comm, const void* mine, size_t bytes) {
  int ranks = 0, size = static_cast<int>(bytes), most = 0;
  MPI_Comm_size(comm, &ranks);
  std::vector<int> sizes(static_cast<size_t>(ranks));
  MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm);
  most = *std::max_element(sizes.begin(), sizes.end());
  std::vector<char> said(static_cast<size_t>(most)), all(said.size() * sizes.size());
  std::copy_n(static_cast<const char*>(mine), bytes, said.begin());
  MPI_Allgather(said.data(), most, MPI_BYTE, all.data(), most, MPI_BYTE, comm);
  std::vector<std::vector<char>> result;
  for (size_t r = 0; r < sizes.size(); r++) {
    const auto first = all.begin() + static_cast<long>(r * said.size());
    result.emplace_back(first, first + sizes[r]);
  }
  return result;
}

void connect(Rail& rail, MPI_Comm peers, const std::string& device, size_t bytes) {
  int count = 0;
  MPI_Comm_size(peers, &count);
  ucp_config_t* config = nullptr;
  check(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
  if (!device.empty())
    check(ucp_config_modify(config, "NET_DEVICES", device.c_str()), "NET_DEVICES");
  unsigned major = 0, minor = 0, release = 0;
  ucp_get_version(&major, &minor, &release);
  const std::string prefix = major == 1 && minor < 14 ? "" : "TCP_";
  ucp_config_modify(config, (prefix + "TX_SEG_SIZE").c_str(), "512k");
  ucp_config_modify(config, (prefix + "RX_SEG_SIZE").c_str(), "512k");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_RMA;
  check(ucp_init(&params, config, &rail.context), "ucp_init");
  ucp_config_release(config);
  ucp_worker_params_t single{};
  check(ucp_worker_create(rail.context, &single, &rail.worker), "ucp_worker_create");
  rail.source.assign(bytes, 1);
  rail.target.assign(bytes * static_cast<size_t>(count), 0);
  rail.memory = registered(rail.context, rail.target);
  rail.source_memory = registered(rail.context, rail.source);

  ucp_address_t* address = nullptr;
  size_t size = 0, key_size = 0;
  void* key = nullptr;
  check(ucp_worker_get_address(rail.worker, &address, &size), "ucp_worker_get_address");
  check(ucp_rkey_pack(rail.context, rail.memory, &key, &key_size), "ucp_rkey_pack");
  const auto addresses = gathered(peers, address, size), keys = gathered(peers, key, key_size);
  const uint64_t base = reinterpret_cast<uint64_t>(rail.target.data());
  rail.at.resize(addresses.size());
  MPI_Allgather(&base, 1, MPI_UINT64_T, rail.at.data(), 1, MPI_UINT64_T, peers);
  rail.endpoints.resize(addresses.size());
  rail.keys.resize(addresses.size());
  for (size_t r = 0; r < addresses.size(); r++) {
    ucp_ep_params_t to{};
    to.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    to.address = reinterpret_cast<const ucp_address_t*>(addresses[r].data());
    check(ucp_ep_create(rail.worker, &to, &rail.endpoints[r]), "ucp_ep_create");
    check(ucp_ep_rkey_unpack(rail.endpoints[r], keys[r].data(), &rail.keys[r]),
          "ucp_ep_rkey_unpack");
  }
  ucp_rkey_buffer_release(key);
  ucp_worker_release_address(rail.worker, address);
}

void barrier(Rail& rail, MPI_Comm comm) {  // peers need this side's progress
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm, &request);
  for (int done = 0; !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
    if (!ucp_worker_progress(rail.worker)) sched_yield();
}

void exchange(Rail& rail, size_t me, size_t bytes, size_t chunk) {
  std::vector<ucs_status_ptr_t> requests;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH;
  param.memh = rail.source_memory;
  const size_t peers = rail.endpoints.size();
  for (size_t at = 0; at < bytes; at += chunk)
    for (size_t s = 1; s < peers; s++) {
      const size_t to = (me + s) % peers;
      requests.push_back(ucp_put_nbx(rail.endpoints[to], rail.source.data() + at,
                                     std::min(chunk, bytes - at), rail.at[to] + me * bytes + at,
                                     rail.keys[to], &param));
    }
  const ucp_request_param_t plain{};
  requests.push_back(ucp_worker_flush_nbx(rail.worker, &plain));
  for (ucs_status_ptr_t request : requests) {
    if (!UCS_PTR_IS_PTR(request)) {
      check(UCS_PTR_STATUS(request), "a put");
      continue;
    }
    ucs_status_t status = UCS_INPROGRESS;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
      if (!ucp_worker_progress(rail.worker)) sched_yield();
    check(status, "a put");
    ucp_request_free(request);
  }
}

void release(Rail& rail) {
  for (size_t r = 0; r < rail.endpoints.size(); r++) {
    ucp_rkey_destroy(rail.keys[r]);
    ucp_request_param_t force{};
    force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    force.flags = UCP_EP_CLOSE_FLAG_FORCE;
    const ucs_status_ptr_t request = ucp_ep_close_nbx(rail.endpoints[r], &force);
    if (!UCS_PTR_IS_PTR(request)) continue;
    while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(rail.worker);
    ucp_request_free(request);
  }
  ucp_mem_unmap(rail.context, rail.memory);
  ucp_mem_unmap(rail.context, rail.source_memory);
  ucp_worker_destroy(rail.worker);
  ucp_cleanup(rail.context);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long bytes = argc == 4 ? std::atol(argv[1]) : 0, chunk = argc == 4 ? std::atol(argv[2]) : 0;
  const int repetitions = argc == 4 ? std::atoi(argv[3]) : 0;
  int rank = 0, ranks = 0, local = 0, on_host = 0, me = 0, hosts = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (bytes < 1 || chunk < 1 || repetitions < 1) {
    if (!rank) std::fprintf(stderr, "usage: puts BYTES CHUNK REPETITIONS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Comm host = MPI_COMM_NULL, peers = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &local);
  MPI_Comm_size(host, &on_host);
  MPI_Comm_split(MPI_COMM_WORLD, local, rank, &peers);
  MPI_Comm_rank(peers, &me);
  MPI_Comm_size(peers, &hosts);

  Rail rail;
  connect(rail, peers, device_of(local), static_cast<size_t>(bytes));
  std::vector<double> times;
  double cpu_before = 0, cpu = 0, all_cpu = 0;
  for (int i = -1; i < repetitions; i++) {
    barrier(rail, MPI_COMM_WORLD);
    if (!i) cpu_before = cpu_s();
    const double begun = MPI_Wtime();
    exchange(rail, static_cast<size_t>(me), static_cast<size_t>(bytes), static_cast<size_t>(chunk));
    const double took = MPI_Wtime() - begun;
    barrier(rail, MPI_COMM_WORLD);
    cpu = cpu_s() - cpu_before;
    double slowest = 0;
    MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (i >= 0) times.push_back(slowest);
  }
  MPI_Reduce(&cpu, &all_cpu, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  const double into_host = static_cast<double>(bytes) * (hosts - 1) * on_host;
  if (!rank)
    std::printf("puts %8.1f ms  %8.1f MB/s into a host  %6.2f ns of CPU per byte\n", 1e3 * median,
                1e-6 * into_host / median, 1e9 * all_cpu / (into_host * hosts * repetitions));
  release(rail);
  MPI_Comm_free(&peers);
  MPI_Comm_free(&host);
  MPI_Finalize();
  return 0;
}
