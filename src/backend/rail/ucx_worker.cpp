// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/rail/ucx_worker.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "core/clock.hpp"
#include "core/error.hpp"

namespace tide {
namespace {

void check(ucs_status_t status, Kind kind, const char* what) {
  if (status != UCS_OK) throw Error(kind, "UCX: {} failed: {}", what, ucs_status_string(status));
}

// The user's own variables stay.  TCP: with segments of 8 KiB, the default, its puts reach a sixth
// of the rate.  UCX 1.13 aborts the process where it answers a put over a connection that its
// keepalive has given up: a silent network is for tide_timeout to find.
void tune(ucp_config_t* config, const std::string& device) {
  const auto set = [&](const std::string& prefix, const char* name, const char* value) {
    const std::string variable = std::string("UCX_") + (prefix.empty() ? "TCP_" : prefix) + name;
    if (!std::getenv(variable.c_str())) ucp_config_modify(config, (prefix + name).c_str(), value);
  };
  if (!std::getenv("UCX_KEEPALIVE_INTERVAL"))
    ucp_config_modify(config, "KEEPALIVE_INTERVAL", "inf");
  const char* transports = std::getenv("UCX_TLS");
  const bool tcp = !transports || std::strstr(transports, "tcp") || std::strstr(transports, "all");
  if (!tcp || is_verbs(device)) return;  // UCX warns of settings that nobody reads
  unsigned major = 0, minor = 0, release = 0;
  ucp_get_version(&major, &minor, &release);
  const std::string prefix = major == 1 && minor < 14 ? "" : "TCP_";
  set(prefix, "RX_SEG_SIZE", "512k");
  set(prefix, "TX_SEG_SIZE", "512k");
  set(prefix, "KEEPIDLE", "inf");
}

// Whether all devices are network interfaces of the kernel ("eth0", "ib0"), as far as they are
// named.
bool all_sockets(std::string devices) {
  if (const char* all = std::getenv("UCX_NET_DEVICES"); devices.empty() && all) devices = all;
  std::istringstream list(devices);
  bool sockets = !devices.empty();
  for (std::string one; std::getline(list, one, ',');)
    sockets = sockets && access(("/sys/class/net/" + one).c_str(), F_OK) == 0;
  return sockets;
}

// Of the network devices that UCX opened, as its own listing names them ("tcp/eth0"); it has no
// other way to tell.
std::vector<std::string> opened_devices(ucp_context_h context) {
  char* text = nullptr;
  size_t bytes = 0;
  FILE* memory = open_memstream(&text, &bytes);
  if (!memory) return {};
  ucp_context_print_info(context, memory);
  std::fclose(memory);
  std::istringstream lines(std::string(text, bytes));
  std::free(text);
  std::vector<std::string> devices;
  for (std::string line; std::getline(lines, line);) {
    const size_t slash = line.rfind('/');
    if (line.find(" resource ") == std::string::npos || slash == std::string::npos) continue;
    const std::string device = line.substr(slash + 1);
    if (device.compare(0, 6, "memory") != 0 &&
        std::find(devices.begin(), devices.end(), device) == devices.end())
      devices.push_back(device);
  }
  return devices;
}

// UCX only warns of a device that it does not have, and finds no way to a peer later.
std::string why_not_opened(ucp_context_h context, const std::string& device) {
  const std::vector<std::string> opened = opened_devices(context);
  if (device.empty() || std::find(opened.begin(), opened.end(), device) != opened.end()) return "";
  return fmt::format(
      "UCX opens no device {} here (ucx_info -d lists those that it can open); name another "
      "(TIDE_RAIL_DEVICES), or set TIDE_RAIL=mpi",
      device);
}

}  // namespace

bool is_verbs(const std::string& device) {
  const std::string name = device.substr(0, device.find(':'));
  return !name.empty() && access(("/sys/class/infiniband/" + name).c_str(), F_OK) == 0;
}

std::shared_ptr<UcxWorker> UcxWorker::make(const std::string& device) {
  return std::shared_ptr<UcxWorker>(new UcxWorker(device));
}

UcxWorker::UcxWorker(const std::string& device)
    : device_(device), over_sockets_(all_sockets(device)) {
  ucp_config_t* config = nullptr;
  check(ucp_config_read(nullptr, nullptr, &config), Kind::unsupported, "ucp_config_read");
  tune(config, device);
  if (!device.empty()) {
    const ucs_status_t known = ucp_config_modify(config, "NET_DEVICES", device.c_str());
    if (known != UCS_OK) {
      ucp_config_release(config);
      check(known, Kind::unsupported, "the choice of a network device");
    }
  }
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_RMA | UCP_FEATURE_AM;
  params.name = "tide";
  const ucs_status_t made = ucp_init(&params, config, &context_);
  ucp_config_release(config);
  check(made, Kind::unsupported, "ucp_init");
  if (const std::string why = why_not_opened(context_, device); !why.empty()) {
    ucp_cleanup(context_);
    throw Error(Kind::unsupported, "{}", why);
  }
  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  const ucs_status_t created = ucp_worker_create(context_, &worker, &worker_);
  if (created != UCS_OK) ucp_cleanup(context_);
  check(created, Kind::unsupported, "ucp_worker_create");
  ucp_address_t* address = nullptr;
  size_t bytes = 0;
  const ucs_status_t heard = listen();
  const ucs_status_t told =
      heard == UCS_OK ? ucp_worker_get_address(worker_, &address, &bytes) : heard;
  if (told != UCS_OK) {
    ucp_worker_destroy(worker_);
    ucp_cleanup(context_);
  }
  check(told, Kind::unsupported,
        heard == UCS_OK ? "ucp_worker_get_address" : "ucp_worker_set_am_recv_handler");
  const auto* first = reinterpret_cast<const std::byte*>(address);
  address_.assign(first, first + bytes);
  ucp_worker_release_address(worker_, address);
}

// First what peers still have to answer: UCX 1.13 aborts a process that answers a put over a
// connection that its peer has closed.  Peers may be gone, so there is a limit.
UcxWorker::~UcxWorker() {
  constexpr double patience_s = 1;
  std::vector<ucs_status_ptr_t> under_way;
  const auto finish = [&] {
    for (const double begun = now_s(); !under_way.empty() && now_s() - begun < patience_s;) {
      ucp_worker_progress(worker_);
      if (ucp_request_check_status(under_way.back()) == UCS_INPROGRESS) continue;
      ucp_request_free(under_way.back());
      under_way.pop_back();
    }
    under_way.clear();
  };
  for (const auto& [process, peer] : peers_) {
    const ucp_request_param_t plain{};
    const ucs_status_ptr_t request = ucp_ep_flush_nbx(peer->endpoint, &plain);
    if (UCS_PTR_IS_PTR(request)) under_way.push_back(request);
  }
  finish();
  for (const auto& [process, peer] : peers_) {
    ucp_request_param_t force{};
    force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    force.flags = UCP_EP_CLOSE_FLAG_FORCE;
    const ucs_status_ptr_t request = ucp_ep_close_nbx(peer->endpoint, &force);
    if (UCS_PTR_IS_PTR(request)) under_way.push_back(request);
  }
  finish();
  ucp_worker_destroy(worker_);
  ucp_cleanup(context_);
}

void UcxWorker::on_error(void* self, ucp_ep_h endpoint, ucs_status_t status) {
  auto* worker = static_cast<UcxWorker*>(self);
  for (const auto& [process, peer] : worker->peers_)
    if (peer->endpoint == endpoint) peer->fault = status;
  worker->failed_ = true;
}

UcxPeer& UcxWorker::connect(uint64_t process, const Blob& address) {
  const std::lock_guard lock(mutex_);
  auto& peer = peers_[process];
  if (peer) return *peer;
  auto made = std::make_unique<UcxPeer>();
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = on_error;
  params.err_handler.arg = this;
  ucs_status_t status = ucp_ep_create(worker_, &params, &made->endpoint);
  if (status == UCS_ERR_UNREACHABLE || status == UCS_ERR_UNSUPPORTED) {
    params.err_mode = UCP_ERR_HANDLING_MODE_NONE;  // shared memory does not watch its peers
    status = ucp_ep_create(worker_, &params, &made->endpoint);
  }
  if (status == UCS_ERR_UNREACHABLE)
    throw Error(Kind::peer,
                "UCX: no way to a peer over {} ({}); name devices that join the nodes "
                "(TIDE_RAIL_DEVICES), or set TIDE_RAIL=mpi",
                device_.empty() ? "the devices that it chose, or UCX_NET_DEVICES named" : device_,
                ucs_status_string(status));
  check(status, Kind::peer, "ucp_ep_create");
  return *(peer = std::move(made));
}

ucp_rkey_h UcxWorker::unpack(UcxPeer& peer, const Blob& key) {
  const std::lock_guard lock(mutex_);
  ucp_rkey_h result = nullptr;
  check(ucp_ep_rkey_unpack(peer.endpoint, key.data(), &result), Kind::peer, "ucp_ep_rkey_unpack");
  return result;
}

void UcxWorker::release(ucp_rkey_h key) {
  const std::lock_guard lock(mutex_);
  ucp_rkey_destroy(key);
}

UcxRequest UcxWorker::put(UcxPeer& peer, const void* source, size_t bytes, uint64_t to,
                          ucp_rkey_h key, const UcxMemory* memory) {
  ucp_request_param_t param{};
  if (memory) {
    param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH;
    param.memh = memory->handle();
  }
  const std::lock_guard lock(mutex_);
  return begun(peer, ucp_put_nbx(peer.endpoint, source, bytes, to, key, &param));
}

void UcxWorker::fence() {
  const std::lock_guard lock(mutex_);
  check(ucp_worker_fence(worker_), Kind::peer, "ucp_worker_fence");
}

void UcxWorker::progress() {
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < 16 && ucp_worker_progress(worker_); i++) {
  }
}

void UcxWorker::note(UcxPeer& peer, ucs_status_t status) {
  if (status == UCS_OK) return;
  peer.fault = status;
  failed_ = true;
}

UcxRequest UcxWorker::begun(UcxPeer& peer, ucs_status_ptr_t status) {
  if (UCS_PTR_IS_PTR(status)) return status;
  note(peer, UCS_PTR_STATUS(status));
  return nullptr;
}

bool UcxWorker::test(UcxPeer& peer, UcxRequest& request) {
  if (!request) return true;
  const std::lock_guard lock(mutex_);
  const ucs_status_t status = ucp_request_check_status(request);
  if (status == UCS_INPROGRESS) return false;
  note(peer, status);
  ucp_request_free(request);
  request = nullptr;
  return true;
}

UcxMemory::UcxMemory(std::shared_ptr<UcxWorker> worker, void* base, size_t bytes)
    : worker_(std::move(worker)), base_(static_cast<const char*>(base)), bytes_(bytes) {
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  params.address = base;
  params.length = bytes;
  const std::lock_guard lock(worker_->mutex_);
  const ucs_status_t mapped = ucp_mem_map(worker_->context_, &params, &handle_);
  if (mapped != UCS_OK)
    throw Error(
        Kind::no_mem,
        "UCX: {} bytes of workspace cannot be registered ({}); raise the limit of locked memory "
        "(ulimit -l), or set tide_rail=mpi",
        bytes, ucs_status_string(mapped));
  void* key = nullptr;
  size_t size = 0;
  const ucs_status_t packed = ucp_rkey_pack(worker_->context_, handle_, &key, &size);
  if (packed != UCS_OK) {
    ucp_mem_unmap(worker_->context_, handle_);
    check(packed, Kind::no_mem, "ucp_rkey_pack");
  }
  const auto* first = static_cast<const std::byte*>(key);
  key_.assign(first, first + size);
  ucp_rkey_buffer_release(key);
  worker_->registered_.emplace(reinterpret_cast<uint64_t>(base), bytes);
}

UcxMemory::~UcxMemory() {
  const std::lock_guard lock(worker_->mutex_);
  auto& all = worker_->registered_;
  const auto [first, last] = all.equal_range(reinterpret_cast<uint64_t>(base_));
  all.erase(std::find_if(first, last, [&](const auto& one) { return one.second == bytes_; }));
  ucp_mem_unmap(worker_->context_, handle_);
}

}  // namespace tide
