// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The datagram that brings a segment's descriptor to a peer.
#pragma once
#include <cstdint>
#include <optional>

#include "core/memory.hpp"

namespace tide {

struct LetterHead {
  static constexpr uint32_t kVersion = 0x54440002;
  uint32_t version = kVersion;
  uint32_t sender = 0;  // member number
  uint64_t ticket = 0;
  SegmentId segment = 0;
  uint64_t bytes = 0;
  uint32_t on_device = 0;  // 1: a second descriptor is of device memory
  uint32_t pad = 0;
};

// Owns its descriptors.
struct Letter {
  LetterHead head;
  int fd = -1;  // -1: it came, but this process had no descriptor left for it
  int device_fd = -1;
  Letter() = default;
  Letter(Letter&& other) noexcept;
  Letter& operator=(Letter&& other) noexcept;
  ~Letter();
  int take_fd();
  int take_device_fd();
};

// Nonblocking socket, bound to a random abstract name.
int open_mail_socket(MailAddress& address);

// 0, or the errno of a failed sendmsg.
// device_fd: -1 where the head says so.
int send_letter(int socket, const MailAddress& to, const LetterHead& head, int fd,
                int device_fd = -1);
bool send_again(int code);  // the receiver's queue is full, or the kernel is short for the moment

enum class Post { letter, refused, none };
// `refused`: something came that is not a letter of this user; its descriptors are closed.
Post receive_letter(int socket, Letter& letter);

}  // namespace tide
