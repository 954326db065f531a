// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Data and the word that announces them in one active message.  Put one after the other they are
// two messages, and where UCX emulates puts each is answered.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>

#include "backend/rail/ucx_worker.hpp"

namespace tide {

constexpr unsigned message_id = 0;  // of all active messages of this worker's context

ucs_status_t UcxWorker::listen() {
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = message_id;
  handler.cb = on_message;
  handler.arg = this;
  return ucp_worker_set_am_recv_handler(worker_, &handler);
}

bool UcxWorker::may_write(uint64_t at, size_t bytes) const {
  const auto after = registered_.upper_bound(at);
  if (after == registered_.begin()) return false;
  const auto [first, last] = registered_.equal_range(std::prev(after)->first);
  return std::any_of(first, last, [&](const auto& memory) {
    const auto& [base, size] = memory;
    return at - base <= size && bytes <= size - (at - base);
  });
}

UcxRequest UcxWorker::announce(UcxPeer& peer, const Announcement& head, const void* data,
                               size_t bytes) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  const std::lock_guard lock(mutex_);
  return begun(peer,
               ucp_am_send_nbx(peer.endpoint, message_id, &head, sizeof head, data, bytes, &param));
}

// Called by UCX from progress(), which has the lock.  What is for no memory of this process comes
// late, from a peer that did not hear that a communicator was given up: it is dropped.
ucs_status_t UcxWorker::on_message(void* self, const void* header, size_t header_bytes, void* data,
                                   size_t bytes, const ucp_am_recv_param_t* param) {
  const auto* worker = static_cast<const UcxWorker*>(self);
  Announcement head;
  if (header_bytes != sizeof head || (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)) return UCS_OK;
  std::memcpy(&head, header, sizeof head);
  const bool tells = head.word_at != 0;
  if ((tells &&
       (!worker->may_write(head.word_at, sizeof head.word) || head.word_at % sizeof head.word)) ||
      (bytes && !worker->may_write(head.data_at, bytes)))
    return UCS_OK;
  if (bytes) std::memcpy(reinterpret_cast<void*>(head.data_at), data, bytes);
  if (tells)
    reinterpret_cast<std::atomic<uint64_t>*>(head.word_at)
        ->store(head.word, std::memory_order_release);
  return UCS_OK;
}

}  // namespace tide
