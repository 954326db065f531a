// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Notices of any content (core/watch) from two ranks to a third that waits for them.  A verdict
// must name a rank that there is, and an error.
#include <mpi.h>

#include <array>
#include <list>
#include <utility>
#include <vector>

#include "core/watch.hpp"
#include "simulated.hpp"

using namespace fuzz;
using namespace tide;

namespace {

constexpr int ranks = 3;
constexpr size_t notice_bytes = 104;

struct Shared {
  std::array<std::list<std::vector<unsigned char>>, ranks> posts;  // by sender
  Watch::Here here;
  bool decided = false, over = false;
};

// A body begins with kind, from; round, moved, entered, position.  Often these are right and the
// rest is not.
void read_post(Input& in, Shared& shared) {
  const auto how = in.take<uint8_t>();
  const int from = how & 1 ? 1 : 2;
  std::vector<unsigned char> body(how & 2 ? in.below(notice_bytes) : notice_bytes);
  std::array<unsigned char, notice_bytes> bytes{};
  in.copy(bytes.data(), in.below(notice_bytes));
  const int32_t head[2] = {how >> 2 & 3, from};
  const uint64_t round = how >> 6;
  if (how & 16) std::memcpy(bytes.data(), head, sizeof head);
  if (how & 32) std::memcpy(bytes.data() + sizeof head, &round, sizeof round);
  std::copy_n(bytes.begin(), body.size(), body.begin());
  shared.posts[static_cast<size_t>(from)].push_back(std::move(body));
}

Watch::Here here_from(Input& in) {
  Watch::Here here;
  here.where.call = in.below(7);
  here.where.peer = static_cast<int32_t>(in.below(2)) - 1;
  if (here.where.peer == 0) here.where.peer = 2;
  here.where.phase = static_cast<Phase>(in.below(static_cast<size_t>(Phase::setup)));
  const size_t missing = in.below(3);
  for (int r = 1; r < ranks; r++)
    if (missing >> (r - 1) & 1) here.missing.push_back(r);
  here.waiting = true;
  here.limit_s = 0.25;
  return here;
}

void check(const Status& verdict) {
  require(verdict.rank >= 0 && verdict.rank < ranks, "a verdict names a rank that there is");
  require(verdict.kind > 0 && verdict.kind <= static_cast<int>(Kind::other), "and an error");
  require(!describe(verdict, "").empty(), "in words");
}

void wait_for_them(Shared& shared) {
  Watch watch(MPI_COMM_WORLD);
  for (int ticks = 0; ticks < 40; ticks++) {
    if (const auto verdict = watch.tick(shared.here)) {
      check(*verdict);
      for (const auto& line : watch.report(shared.here)) require(!line.empty(), "in words");
      watch.tell(*verdict);
      break;
    }
    sleep_us(50'000);
  }
  shared.decided = true;
  shared.here.limit_s = 0;
  do {
    watch.tick(shared.here);
    sleep_us(50'000);
  } while (live_requests() || !shared.posts[1].empty() || !shared.posts[2].empty());
  watch.tick(shared.here);
  shared.over = true;
}

// Of a question's number: such a body is an answer, and one that comes before is not listened to.
bool numbered(const std::vector<unsigned char>& body) {
  uint64_t round = 0;
  if (body.size() >= 16) std::memcpy(&round, body.data() + 8, sizeof round);
  return round != 0;
}

void send_them(int me, Shared& shared) {
  auto& posts = shared.posts[static_cast<size_t>(me)];
  std::list<MPI_Request> sent;
  const auto send = [&](bool answers) {
    for (const auto& body : posts)
      if (numbered(body) == answers)
        MPI_Isend(body.data(), static_cast<int>(body.size()), MPI_BYTE, 0, watch_tag,
                  MPI_COMM_WORLD, &sent.emplace_back());
  };
  send(false);
  bool answered = false;
  for (int flag = 0; !shared.over || flag; sleep_us(20'000)) {
    while (!sent.empty()) {
      MPI_Test(&sent.front(), &flag, MPI_STATUS_IGNORE);
      if (!flag) break;
      sent.pop_front();
    }
    if (sent.empty() && answered) posts.clear();
    MPI_Status status;
    MPI_Iprobe(0, watch_tag, MPI_COMM_WORLD, &flag, &status);
    unsigned char body[notice_bytes];
    if (flag)
      MPI_Recv(body, sizeof body, MPI_BYTE, 0, watch_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if ((flag || shared.decided) && !std::exchange(answered, true)) send(true);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  Input in(data, bytes);
  Shared shared;
  shared.here = here_from(in);
  for (int i = 0; i < 16 && in.left(); i++) read_post(in, shared);
  run_ranks(ranks, [&](int r) { r ? send_them(r, shared) : wait_for_them(shared); });
  return 0;
}
