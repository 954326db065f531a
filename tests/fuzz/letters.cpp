// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Letters of memory as anybody of this user could send them, with a descriptor of any file, before
// the true one.  The exchange must bring a segment that is what it was announced to be.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "core/memory_letter.hpp"
#include "input.hpp"

using namespace fuzz;
using namespace tide;

namespace {

constexpr size_t page = 4096;
constexpr uint64_t ticket = 7;

// A file that is nearly a segment: its size, its seals, its header.
int file_from(Input& in, SegmentId id, uint64_t bytes) {
  const auto how = in.take<uint8_t>();
  if (how == 0xFF) return open("/dev/null", O_RDWR | O_CLOEXEC);
  const int fd = memfd_create("tide", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  const off_t size = static_cast<off_t>(page * (how & 3) + (how & 4 ? 1 : 0));
  require(ftruncate(fd, size) == 0, "a file of the harness");
  uint64_t header[4] = {0x5449444553454731, id, bytes, 0};
  if (how & 8) in.copy(header, sizeof header);
  if (size) require(pwrite(fd, header, sizeof header, 0) == sizeof header, "its header");
  int seals = 0;
  if (!(how & 0x10)) seals |= F_SEAL_SHRINK;
  if (!(how & 0x20)) seals |= F_SEAL_GROW;
  if (how & 0x40) seals |= F_SEAL_WRITE;
  fcntl(fd, F_ADD_SEALS, seals);
  return fd;
}

struct Sender {
  MailAddress address{};
  int socket = open_mail_socket(address);
  ~Sender() { close(socket); }
};

// A letter of the form, or any bytes with any number of descriptors.
void send_forged(Input& in, const Sender& sender, const MailAddress& to) {
  const auto how = in.take<uint8_t>();
  LetterHead head{LetterHead::kVersion, 1, ticket, 99, 1};
  if (how & 1) head.sender = in.take<uint32_t>();
  if (how & 2) head.segment = in.take<uint64_t>();
  if (how & 4) head.bytes = static_cast<uint64_t>(in.count());
  if (how & 8) head.ticket = in.below(8);
  if (how & 16) head.version = in.take<uint32_t>();
  const int fd = file_from(in, head.segment, head.bytes);
  if (!(how & 32)) {
    send_letter(sender.socket, to, head, fd);
  } else {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, to.name, sizeof to.name);
    unsigned char body[64];
    std::memcpy(body, &head, sizeof head);
    iovec part{body, in.below(sizeof body)};
    const size_t fds = in.below(4);
    alignas(cmsghdr) unsigned char control[CMSG_SPACE(4 * sizeof fd)] = {};
    msghdr message{&name, offsetof(sockaddr_un, sun_path) + sizeof to.name, &part, 1, nullptr, 0,
                   0};
    if (fds) {
      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE(fds * sizeof fd);
      cmsghdr* rights = CMSG_FIRSTHDR(&message);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(fds * sizeof fd);
      for (size_t i = 0; i < fds; i++)
        std::memcpy(CMSG_DATA(rights) + i * sizeof fd, &fd, sizeof fd);
    }
    sendmsg(sender.socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  close(fd);
}

// Of its bytes every one can be read and written.
void check_segment(const Segment& segment) {
  auto* base = static_cast<volatile unsigned char*>(segment.base());
  for (const size_t at : {size_t{0}, segment.bytes() / 2, segment.bytes() - 1})
    if (at < segment.bytes()) base[at] = static_cast<unsigned char>(base[at] + 1);
  require(segment.id() != 0, "a segment has a number");
}

std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  Input in(data, bytes);
  const auto before = open_descriptors();
  {
    Mailbox box;
    Sender sender;
    for (int i = 0; i < 6 && in.left(); i++) send_forged(in, sender, box.address());
    const auto true_one = Segment::create(1);
    const LetterHead head{LetterHead::kVersion, 1, ticket, true_one->id(), true_one->bytes()};
    while (send_letter(sender.socket, box.address(), head, true_one->descriptor()) != 0)
      box.forget(ticket + 100);  // a full socket: let it be read
    try {
      const auto got =
          box.exchange(ticket, 0, {box.address(), sender.address}, {false, true}, {}, 5);
      require(got.size() == 2 && !got[0] && got[1], "a segment of the other");
      check_segment(*got[1]);
    } catch (const Error& error) {
      // A file of the right user and form that cannot be mapped writable.
      require(error.kind() == Kind::no_mem, error.what());
    }
  }
  require(open_descriptors() == before, "no descriptor is left open");
  return 0;
}
