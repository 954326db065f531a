// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory_letter.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace tide {
namespace {

constexpr int kMostDescriptors = 253;  // the kernel's SCM_MAX_FD

sockaddr_un socket_address(const MailAddress& address) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, address.name, sizeof address.name);
  to.sun_path[0] = '\0';  // never a path, whatever a peer sent
  return to;
}
constexpr socklen_t kAddressBytes = offsetof(sockaddr_un, sun_path) + sizeof(MailAddress::name);

MailAddress random_address() {
  MailAddress address{};
  std::memcpy(address.name + 1, "tide.", 5);  // seen in `ss -x`
  for (size_t i = 6; i < sizeof address.name; i += 12) {
    uint64_t number = random_number();
    for (size_t j = i; j < std::min(i + 12, sizeof address.name); ++j, number >>= 5)
      address.name[j] = "abcdefghijklmnopqrstuvwxyz234567"[number & 31];
  }
  return address;
}

// Closes what is not wanted, on every way out.
struct Descriptors {
  std::vector<int> fds;
  ~Descriptors() {
    for (const int fd : fds) close(fd);
  }
};

void fill_control(cmsghdr* part, int type, const void* data, size_t bytes) {
  part->cmsg_len = CMSG_LEN(bytes);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = type;
  std::memcpy(CMSG_DATA(part), data, bytes);
}

bool read_control(msghdr& message, ucred& from, Descriptors& got) {
  bool known = false;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET) continue;
    if (part->cmsg_type == SCM_CREDENTIALS && part->cmsg_len == CMSG_LEN(sizeof from)) {
      std::memcpy(&from, CMSG_DATA(part), sizeof from);
      known = true;
    } else if (part->cmsg_type == SCM_RIGHTS) {
      got.fds.resize((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
      std::memcpy(got.fds.data(), CMSG_DATA(part), got.fds.size() * sizeof(int));
    }
  }
  return known;
}

}  // namespace

Letter::Letter(Letter&& other) noexcept
    : head(other.head), fd(other.take_fd()), device_fd(other.take_device_fd()) {}
Letter& Letter::operator=(Letter&& other) noexcept {
  head = other.head;
  std::swap(fd, other.fd);
  std::swap(device_fd, other.device_fd);
  return *this;
}
Letter::~Letter() {
  if (fd >= 0) close(fd);
  if (device_fd >= 0) close(device_fd);
}
int Letter::take_fd() { return std::exchange(fd, -1); }
int Letter::take_device_fd() { return std::exchange(device_fd, -1); }

int open_mail_socket(MailAddress& address) {
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    throw Error(Kind::no_mem, "mailbox: socket: {}; look at RLIMIT_NOFILE", strerror(errno));
  // Before it has a name, so that no letter comes without credentials.
  const int on = 1;
  int code = setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  for (int attempt = 0; code == 0 && attempt < 8; ++attempt) {
    address = random_address();
    const sockaddr_un name = socket_address(address);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&name), kAddressBytes) == 0) return fd;
    if (errno != EADDRINUSE) break;
  }
  const int why = errno;
  close(fd);
  throw Error(Kind::other, "mailbox: no abstract unix socket: {}", strerror(why));
}

int send_letter(int socket, const MailAddress& to, const LetterHead& head, int fd, int device_fd) {
  sockaddr_un name = socket_address(to);
  iovec body{const_cast<LetterHead*>(&head), sizeof head};
  const int fds[2] = {fd, device_fd};
  const size_t fd_bytes = sizeof fd * (head.on_device ? 2 : 1);
  alignas(cmsghdr) unsigned char control[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof fds)] = {};
  msghdr message{
      &name, kAddressBytes, &body, 1, control, CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(fd_bytes), 0};
  // The effective uid, which is what the receiver compares; by itself the kernel adds the real one.
  const ucred own{getpid(), geteuid(), getegid()};
  cmsghdr* part = CMSG_FIRSTHDR(&message);
  fill_control(part, SCM_CREDENTIALS, &own, sizeof own);
  fill_control(CMSG_NXTHDR(&message, part), SCM_RIGHTS, fds, fd_bytes);
  return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 ? 0 : errno;
}

bool send_again(int code) {
  return code == EAGAIN || code == EWOULDBLOCK || code == EINTR || code == ENOBUFS ||
         code == ENOMEM || code == ETOOMANYREFS;  // the last: too many descriptors under way
}

Post receive_letter(int socket, Letter& letter) {
  LetterHead head;
  iovec body{&head, sizeof head};
  alignas(cmsghdr) unsigned char
      control[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(kMostDescriptors * sizeof(int))];
  msghdr message{nullptr, 0, &body, 1, control, sizeof control, 0};
  ssize_t got;
  do got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got < 0) return Post::none;
  Descriptors descriptors;
  ucred from{};
  if (!read_control(message, from, descriptors)) return Post::refused;
  if (from.uid != geteuid() || got != sizeof head || (message.msg_flags & MSG_TRUNC) ||
      head.version != LetterHead::kVersion || head.on_device > 1)
    return Post::refused;
  // No descriptor and a cut control part: RLIMIT_NOFILE.  The sender cannot know: tell our caller.
  const size_t expected = 1 + head.on_device;
  const bool lost = descriptors.fds.size() < expected && (message.msg_flags & MSG_CTRUNC);
  if (descriptors.fds.size() != expected && !lost) return Post::refused;
  letter = Letter();
  letter.head = head;
  if (!lost) {
    letter.fd = descriptors.fds[0];
    if (head.on_device) letter.device_fd = descriptors.fds[1];
    descriptors.fds.clear();
  }
  return Post::letter;
}

}  // namespace tide
