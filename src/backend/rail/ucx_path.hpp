// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The way of one network device from this rank to the other ranks of a communicator, over UCX:
// where their memory is, by number, and puts into it.  Number 0 is a rank's board, the others what
// it exposed, in the same order on all ranks.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backend/rail/ucx_worker.hpp"

namespace tide {

class UcxPath {
 public:
  // `ranks`: of the communicator.
  UcxPath(std::shared_ptr<UcxWorker> worker, size_t ranks, void* board, size_t board_bytes);
  ~UcxPath();
  UcxPath(const UcxPath&) = delete;
  UcxPath& operator=(const UcxPath&) = delete;

  Blob introduction() const;  // for the same path of the other ranks
  // Error{peer} where it is none.
  void meet(size_t rank, uint64_t process, const Blob& introduction);
  std::shared_ptr<UcxMemory> expose(void* base, size_t bytes);  // null for nothing
  Blob last_key() const;                                        // of what was exposed last
  void learn(size_t rank, const Blob& key);
  uint64_t number_of(const void* mine) const;  // of the exposed memory that holds it; 0: none

  // `source` stays as it is until the request is complete.
  UcxRequest put(size_t rank, const void* source, size_t bytes, uint64_t memory, uint64_t to);
  // head's addresses count from the rank's board; they are changed to the peer's.  Head and data
  // stay as they are until the request is complete.
  UcxRequest announce(size_t rank, Announcement& head, const void* data, size_t bytes);
  // A piece of a put: only head's word counts from the board.
  bool over_sockets() const { return worker_->over_sockets(); }
  UcxRequest send(size_t rank, Announcement& head, const void* data, size_t bytes);
  void fence() { worker_->fence(); }  // between puts to one rank
  bool test(size_t rank, UcxRequest& request) {
    return worker_->test(*others_[rank].peer, request);
  }
  void progress() { worker_->progress(); }
  // The first rank whose connection has failed; -1: none.  why: UCX's words.
  int failed(const char*& why) const;
  uint64_t board_of(size_t rank) const { return others_[rank].board; }
  const std::string& device() const { return worker_->device(); }

 private:
  struct Other {
    UcxPeer* peer = nullptr;  // null: not yet written to
    uint64_t process = 0, board = 0;
    Blob address;                  // of its worker
    std::vector<Blob> keys;        // by number
    std::vector<ucp_rkey_h> open;  // unpacked, or null
  };
  UcxPeer& peer(Other& other);
  ucp_rkey_h key(Other& other, uint64_t memory);

  std::shared_ptr<UcxWorker> worker_;
  uint64_t board_;
  UcxMemory board_memory_;
  std::vector<std::weak_ptr<UcxMemory>> exposed_;  // from number 1
  std::vector<Other> others_;
};

}  // namespace tide
