// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// UCX (Unified Communication X, UCP interface >= 1.13) in this process: one context and one worker
// for all communicators, an endpoint per peer process, made when it is first written to.  Peers put
// into memory that was registered here, and write into it by active messages.
#pragma once
#include <ucp/api/ucp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tide {

using Blob = std::vector<std::byte>;

bool is_verbs(const std::string& device);  // of this host: "mlx5_0", or with its port

class UcxWorker;

// A peer process.  The endpoint stays until the worker ends.
struct UcxPeer {
  ucp_ep_h endpoint = nullptr;
  std::atomic<int> fault = UCS_OK;  // set by UCX once the connection has failed
};

// Memory of this process that peers may put into, and puts may read.  Unregisters at its end;
// nobody may put then.
class UcxMemory {
 public:
  UcxMemory(std::shared_ptr<UcxWorker> worker, void* base, size_t bytes);
  ~UcxMemory();
  UcxMemory(const UcxMemory&) = delete;
  UcxMemory& operator=(const UcxMemory&) = delete;
  bool holds(const void* at) const {
    const auto* p = static_cast<const char*>(at);
    return p >= base_ && p < base_ + bytes_;
  }
  const Blob& key() const { return key_; }  // for peers
  ucp_mem_h handle() const { return handle_; }

 private:
  std::shared_ptr<UcxWorker> worker_;
  const char* base_;
  size_t bytes_;
  ucp_mem_h handle_ = nullptr;
  Blob key_;
};

// To memory that a peer registered: the word, where word_at is not 0, comes after the data.
// Addresses are the peer's.
struct Announcement {
  uint64_t word, word_at, data_at;
};

using UcxRequest = ucs_status_ptr_t;  // null: complete

class UcxWorker : public std::enable_shared_from_this<UcxWorker> {
 public:
  // `device`: as UCX names it ("mlx5_0:1", "eth0"); empty: UCX's choice, or UCX_NET_DEVICES.
  // Error{unsupported} where UCX cannot be used, with its reason.
  static std::shared_ptr<UcxWorker> make(const std::string& device);
  ~UcxWorker();
  UcxWorker(const UcxWorker&) = delete;
  UcxWorker& operator=(const UcxWorker&) = delete;

  const Blob& address() const { return address_; }
  const std::string& device() const { return device_; }
  // The peer of that process number.  Error{peer} where no endpoint can be made.
  UcxPeer& connect(uint64_t process, const Blob& address);
  ucp_rkey_h unpack(UcxPeer& peer, const Blob& key);
  void release(ucp_rkey_h key);
  // True, and null, once complete.  How it ended is told by the peer's fault.
  bool test(UcxPeer& peer, UcxRequest& request);
  // `source` stays as it is until the request is complete.  memory: where it was registered, or
  // null.
  UcxRequest put(UcxPeer& peer, const void* source, size_t bytes, uint64_t to, ucp_rkey_h key,
                 const UcxMemory* memory);
  // One message; from one rank to another they come in order.  In no order with puts.  Head
  // and data stay as they are until the request is complete.
  UcxRequest announce(UcxPeer& peer, const Announcement& head, const void* data, size_t bytes);
  // Over sockets a put is a message that the peer answers, after two copies: then bulk data goes by
  // announce(), too, in pieces of at most most_piece bytes, which are no longer than a segment.
  bool over_sockets() const { return over_sockets_; }
  static constexpr size_t most_piece = size_t{480} << 10;
  // What is put to a peer after this comes after what was put to it before.
  void fence();
  void progress();
  bool failed() const { return failed_.load(std::memory_order_relaxed); }  // any peer

 private:
  friend class UcxMemory;
  explicit UcxWorker(const std::string& device);
  UcxRequest begun(UcxPeer& peer, ucs_status_ptr_t status);
  void note(UcxPeer& peer, ucs_status_t status);
  ucs_status_t listen();
  bool may_write(uint64_t at, size_t bytes) const;
  static ucs_status_t on_message(void* self, const void* header, size_t header_bytes, void* data,
                                 size_t bytes, const ucp_am_recv_param_t* param);
  static void on_error(void* self, ucp_ep_h endpoint, ucs_status_t status);

  std::string device_;
  bool over_sockets_;
  std::mutex mutex_;  // of all calls of UCX
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  Blob address_;
  std::map<uint64_t, std::unique_ptr<UcxPeer>> peers_;
  std::multimap<uint64_t, size_t> registered_;  // bytes, by address
  std::atomic<bool> failed_ = false;
};

}  // namespace tide
