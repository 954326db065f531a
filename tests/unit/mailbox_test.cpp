// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "core/memory_file.hpp"
#include "core/memory_letter.hpp"
#include "processes.hpp"

namespace tide::test {
namespace {

// Each member writes into everybody's memory after the exchange.
void exchange_and_write(Board& board, int rank, int processes, const std::vector<size_t>& sizes) {
  const long before = open_descriptors();
  Mailbox mailbox;
  std::vector<bool> has(processes);
  for (int i = 0; i < processes; ++i) has[i] = sizes[i % sizes.size()] != SIZE_MAX;
  const auto bytes_at = [&](int i) { return sizes[i % sizes.size()]; };
  auto mine = has[rank] ? Segment::create(bytes_at(rank)) : nullptr;
  const auto members = board.post(rank, processes, mailbox.address());
  for (uint64_t ticket = 1; ticket <= 3; ++ticket) {
    if (mine && ticket == 1) mine->keep_descriptor();
    if (mine && ticket == 3) mine = Segment::create(bytes_at(rank));
    const auto all = mailbox.exchange(ticket, rank, members, has, mine, 30);
    ASSERT_EQ(all.size(), members.size());
    EXPECT_EQ(all[rank], mine);
    for (int i = 0; i < processes; ++i) {
      ASSERT_EQ(all[i] != nullptr, has[i]) << i;
      if (!has[i]) continue;
      ASSERT_EQ(all[i]->bytes(), bytes_at(i));
      EXPECT_EQ(all[i]->descriptor() >= 0, i == rank && ticket < 3);
      const size_t at = static_cast<size_t>(rank) * bytes_at(i) / processes;
      if (bytes_at(i) > 100) bytes_of(*all[i])[at] = static_cast<unsigned char>(10 * ticket + rank);
      if (rank == (i + 1) % processes) bytes_of(*all[i])[bytes_at(i) - 1] = 0xab;
    }
    board.barrier(processes);
    if (mine) {
      EXPECT_EQ(bytes_of(*mine)[mine->bytes() - 1], 0xab);
    }
    for (int from = 0; mine && mine->bytes() > 100 && from < processes; ++from) {
      const size_t at = static_cast<size_t>(from) * mine->bytes() / processes;
      EXPECT_EQ(bytes_of(*mine)[at], 10 * ticket + from);
    }
    board.barrier(processes);
  }
  mine.reset();
  EXPECT_EQ(open_descriptors(), before + 1);  // the mailbox
}

TEST(Mailbox, ExchangesAmongTwoToEight) {
  for (const int processes : {1, 2, 3, 5, 8}) {
    Board& board = Board::make();
    run_processes(processes, [&](int rank) {
      exchange_and_write(board, rank, processes, {1, 70001, SIZE_MAX, 4096, 300000});
    });
  }
}

TEST(Mailbox, ExchangesLargeMemory) {
  Board& board = Board::make();
  run_processes(2, [&](int rank) { exchange_and_write(board, rank, 2, {size_t{48} << 20, 1}); });
}

// Two members in one process: this one's mailbox, and a bare socket that says what it likes.
struct Pair {
  Mailbox mailbox;
  std::vector<MailAddress> members{mailbox.address(), {}};
  int socket = open_mail_socket(members[1]);
  std::shared_ptr<Segment> segment = Segment::create(10000);
  LetterHead head{LetterHead::kVersion, 1, 5, segment->id(), 10000};
  ~Pair() { close(socket); }
  int send(const LetterHead& as, int fd) { return send_letter(socket, members[0], as, fd); }
  int send() { return send(head, segment->descriptor()); }
  std::vector<std::shared_ptr<Segment>> receive(double timeout_s = 20) {
    return mailbox.exchange(head.ticket, 0, members, {false, true}, nullptr, timeout_s);
  }
  int send_raw(size_t bytes, const std::vector<int>& fds) {
    sockaddr_un to{AF_UNIX, {}};
    std::memcpy(to.sun_path, members[0].name, 32);
    std::vector<unsigned char> body(bytes + 1), control(CMSG_SPACE(fds.size() * sizeof(int)));
    std::memcpy(body.data(), &head, std::min(bytes, sizeof head));
    iovec piece{body.data(), bytes};
    msghdr message{&to, offsetof(sockaddr_un, sun_path) + 32, &piece, 1, nullptr, 0, 0};
    if (!fds.empty()) {
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      cmsghdr* part = CMSG_FIRSTHDR(&message);
      part->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      std::memcpy(CMSG_DATA(part), fds.data(), fds.size() * sizeof(int));
    }
    return sendmsg(socket, &message, MSG_DONTWAIT) >= 0 ? 0 : errno;
  }
};

TEST(Mailbox, RefusesMalformedLettersAndClosesWhatTheyBrought) {
  Pair pair;
  const auto decoy = Segment::create(10000);
  const int fd = decoy->descriptor();
  LetterHead lie = pair.head;
  lie.segment = decoy->id();
  const LetterHead good = std::exchange(pair.head, lie);  // were one accepted, we should see it
  const int unsealed = open_nameless();
  allocate_file(unsealed, segment_file_bytes(10000));
  const long before = open_descriptors();
  // Each with what it must not get past: nothing comes in, and nothing stays open.
  const auto refused = [&](const char* what, int code) {
    ASSERT_EQ(code, 0) << what;
    expect_error(Kind::peer, "member 1 of 2", [&] { pair.receive(0.02); });
    EXPECT_EQ(open_descriptors(), before) << what;
    ++pair.head.ticket;
    lie.ticket = pair.head.ticket;
  };
  const size_t whole = sizeof(LetterHead);
  refused("short", pair.send_raw(whole - 1, {fd}));
  refused("empty", pair.send_raw(0, {fd}));
  refused("long", pair.send_raw(whole + 1, {fd}));
  refused("no descriptor", pair.send_raw(whole, {}));
  refused("two descriptors", pair.send_raw(whole, {fd, fd}));
  refused("many descriptors", pair.send_raw(whole, std::vector<int>(253, fd)));
  const auto changed = [&](auto LetterHead::*field, auto value) {
    LetterHead head = lie;
    head.*field = value;
    return pair.send(head, fd);
  };
  refused("version", changed(&LetterHead::version, 7u));
  refused("not a member", changed(&LetterHead::sender, 2u));
  refused("negative member", changed(&LetterHead::sender, 0xffffffffu));
  refused("ourselves", changed(&LetterHead::sender, 0u));
  refused("ticket of the past", changed(&LetterHead::ticket, uint64_t{5}));
  refused("size beyond the file", changed(&LetterHead::bytes, uint64_t{1} << 20));
  refused("size that wraps", changed(&LetterHead::bytes, UINT64_MAX - 4096));
  refused("size within the page", changed(&LetterHead::bytes, uint64_t{10001}));
  refused("segment", changed(&LetterHead::segment, lie.segment + 1));
  refused("unsealed", pair.send(lie, unsealed));
  refused("not a file", pair.send(lie, pair.socket));
  // The same letter as it should be is accepted, so each was refused for its fault.
  pair.head.segment = good.segment;
  EXPECT_EQ(pair.send_raw(whole, {fd}), 0);        // false: decoy under the good number
  EXPECT_EQ(changed(&LetterHead::sender, 0u), 0);  // in our own name
  EXPECT_EQ(pair.send(), 0);
  EXPECT_EQ(pair.send(lie, fd), 0);  // a second one is dropped
  const auto all = pair.receive();
  EXPECT_EQ(all[0], nullptr);
  EXPECT_EQ(all[1]->id(), good.segment);
  EXPECT_EQ(open_descriptors(), before);
  close(unsealed);
}

TEST(Mailbox, AnotherUserCannotInjectALetter) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  Pair pair;
  const auto decoy = Segment::create(10000);  // ours, so that only the credentials speak against it
  const pid_t stranger = spawn([&] {
    ASSERT_EQ(setgid(65534), 0);
    ASSERT_EQ(setuid(65534), 0);
    LetterHead lie = pair.head;
    lie.segment = decoy->id();
    EXPECT_EQ(pair.send(lie, decoy->descriptor()), 0);
    pair.head = lie;
    EXPECT_EQ(pair.send_raw(sizeof lie, {decoy->descriptor()}), 0);
  });
  ASSERT_EQ(wait_for(stranger), 0);
  const long before = open_descriptors();
  expect_error(Kind::peer, "sent no memory", [&] { pair.receive(0.05); });
  pair.head.ticket = 6;
  EXPECT_EQ(pair.send(), 0);
  EXPECT_EQ(pair.receive()[1]->id(), pair.segment->id());
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Mailbox, SilentMemberIsNamedAndItsLateLetterDropped) {
  Pair pair;
  const long before = open_descriptors();
  const auto start = std::chrono::steady_clock::now();
  expect_error(Kind::peer, "member 1 of 2 (this is 0): sent no memory within 0.2 s",
               [&] { pair.receive(0.2); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(took.count(), 0.2);
  EXPECT_LT(took.count(), 5);
  EXPECT_EQ(pair.send(), 0);  // too late
  pair.head.ticket = 6;
  EXPECT_EQ(pair.send(), 0);
  EXPECT_EQ(pair.receive()[1]->id(), pair.segment->id());
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Mailbox, DeadMemberIsNamedAtOnceAndTheOthersAreServed) {
  Pair pair;
  Mailbox second;
  pair.members.push_back(second.address());
  close(std::exchange(pair.socket, -1));  // member 1 is gone
  const std::vector<bool> has{true, true, true};
  const auto exchange = [&](Mailbox& mailbox, int me) {
    const auto mine = Segment::create(1);
    expect_error(Kind::peer, fmt::format("member 1 of 3 (this is {}): its mailbox does not", me),
                 [&] { mailbox.exchange(5, me, pair.members, has, mine, 30); });
  };
  const auto start = std::chrono::steady_clock::now();
  std::thread other([&] { exchange(second, 2); });
  exchange(pair.mailbox, 0);
  other.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 10);
}

TEST(Mailbox, LettersForOtherTicketsAreKept) {
  Pair pair;
  for (const uint64_t ticket : {9, 8, 7, 6, 5}) {
    pair.head.ticket = ticket;
    pair.head.bytes = ticket;
    const auto segment = Segment::create(ticket);
    pair.head.segment = segment->id();
    ASSERT_EQ(pair.send(pair.head, segment->descriptor()), 0);
  }
  for (const uint64_t ticket : {5, 7, 9, 8, 6}) {
    pair.head.ticket = ticket;
    EXPECT_EQ(pair.receive()[1]->bytes(), ticket);
  }
}

TEST(Mailbox, ForgottenTicketHoldsNobodysMemory) {
  Pair pair;
  const long before = open_descriptors();
  ASSERT_EQ(pair.send(), 0);
  pair.head.ticket = 6;
  ASSERT_EQ(pair.send(), 0);
  EXPECT_NE(pair.receive()[1], nullptr);
  EXPECT_EQ(open_descriptors(), before + 1);  // kept for ticket 5
  pair.mailbox.forget(5);
  EXPECT_EQ(open_descriptors(), before);
  pair.head.ticket = 5;
  ASSERT_EQ(pair.send(), 0);
  expect_error(Kind::peer, "sent no memory", [&] { pair.receive(0.02); });
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Mailbox, FullQueueIsWaitedFor) {
  Pair pair;
  int sent = 0;
  while (sent < 100000 && send_letter(pair.socket, pair.members[0], {}, pair.socket) == 0) ++sent;
  ASSERT_LT(sent, 100000);
  Mailbox sender;
  const std::vector<MailAddress> members{pair.members[0], sender.address()};
  const std::vector<bool> has{false, true};
  int idle = 0;
  std::thread thread(
      [&] { sender.exchange(5, 1, members, has, Segment::create(77), 30, [&] { ++idle; }); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(pair.mailbox.exchange(5, 0, members, has, nullptr, 30)[1]->bytes(), 77u);
  thread.join();
  EXPECT_GT(idle, 1);
}

TEST(Mailbox, NoDescriptorLeftIsAnErrorAtOnce) {
  const pid_t pid = spawn([] {
    Pair pair;
    ASSERT_EQ(pair.send(), 0);
    const int lowest_free = dup(0);
    close(lowest_free);
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = static_cast<rlim_t>(lowest_free);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    expect_error(Kind::no_mem, "member 1 of 2 (this is 0): no descriptor left",
                 [&] { pair.receive(); });
  });
  EXPECT_EQ(wait_for(pid), 0);
}

TEST(Mailbox, SeveralThreadsExchangeAtOnce) {
  Board& board = Board::make();
  const int processes = 3;
  run_processes(processes, [&](int rank) {
    Mailbox mailbox;
    const auto members = board.post(rank, processes, mailbox.address());
    const std::vector<bool> has(processes, true);
    const auto work = [&](uint64_t thread) {
      for (uint64_t i = 0; i < 40; ++i) {
        const auto mine = Segment::create(1000 * thread + i + 1);
        bytes_of(*mine)[0] = static_cast<unsigned char>(rank + 1);
        const auto all = mailbox.exchange(thread << 32 | i, rank, members, has, mine, 30);
        for (int from = 0; from < processes; ++from) {
          EXPECT_EQ(all[from]->bytes(), mine->bytes());
          EXPECT_EQ(bytes_of(*all[from])[0], from + 1);
        }
      }
    };
    const long before = open_descriptors();
    std::thread second(work, 2), third(work, 3);
    work(1);
    second.join();
    third.join();
    EXPECT_EQ(open_descriptors(), before);
    board.barrier(processes);
  });
}

TEST(Mailbox, ForkedChildDoesNotDisturbIt) {
  auto pair = std::make_unique<Pair>();
  ASSERT_EQ(pair->send(), 0);
  const pid_t child = spawn([&] {
    expect_error(Kind::other, "forked child", [&] { pair->receive(0.05); });
    pair.reset();  // as exit() would
  });
  EXPECT_EQ(wait_for(child), 0);
  const auto all = pair->receive();
  EXPECT_EQ(all[1]->id(), pair->segment->id());
  bytes_of(*all[1])[9999] = 3;
  EXPECT_EQ(bytes_of(*pair->segment)[9999], 3);
}

TEST(Mailbox, WrongArgumentsAreOurFault) {
  Pair pair;
  const auto exchange = [&](int me, std::vector<bool> has, std::shared_ptr<Segment> mine) {
    expect_error(Kind::intern, "memory exchange",
                 [&] { pair.mailbox.exchange(5, me, pair.members, has, mine, 1); });
  };
  exchange(-1, {true, true}, pair.segment);
  exchange(2, {true, true}, pair.segment);
  exchange(0, {true}, pair.segment);
  exchange(0, {false, true}, pair.segment);
  exchange(0, {true, true}, nullptr);
  pair.segment->close_descriptor();
  exchange(0, {true, true}, pair.segment);
}

}  // namespace
}  // namespace tide::test
