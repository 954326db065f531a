// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Several threads may be in exchange() at once, each with its own ticket: one of them polls the
// socket, sorts what comes by ticket and wakes the others.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/memory.hpp"
#include "core/memory_letter.hpp"

namespace tide {
namespace {

using Letters = std::vector<Letter>;
constexpr size_t kMostKept = 4096;      // letters that nobody has asked for yet
constexpr size_t kMostFinished = 1024;  // tickets remembered, to drop what comes too late

}  // namespace

struct Mailbox::State {
  int socket = -1;
  pid_t creator = getpid();
  std::mutex mutex;
  std::condition_variable changed;
  bool polling = false;
  std::unordered_map<uint64_t, Letters> by_ticket;
  size_t kept = 0;
  size_t refused = 0;
  std::deque<uint64_t> finished;

  ~State() {
    if (socket >= 0) close(socket);  // in a forked child: its own copy of the descriptor
  }
  Letters take(uint64_t ticket) {
    std::lock_guard lock(mutex);
    auto node = by_ticket.extract(ticket);
    if (node.empty()) return {};
    kept -= node.mapped().size();
    return std::move(node.mapped());
  }
  void finish(uint64_t ticket) {
    take(ticket);  // closes them
    std::lock_guard lock(mutex);
    finished.push_back(ticket);
    if (finished.size() > kMostFinished) finished.pop_front();
  }
  // Returns when a letter for this ticket may be there, or after wait_ms.
  void wait(uint64_t ticket, int wait_ms) {
    std::unique_lock lock(mutex);
    const auto arrived = [&] { return by_ticket.count(ticket) != 0 || !polling; };
    if (polling) {
      changed.wait_for(lock, std::chrono::milliseconds(wait_ms), arrived);
      return;
    }
    if (by_ticket.count(ticket) != 0) return;
    polling = true;
    lock.unlock();
    pollfd readable{socket, POLLIN, 0};
    poll(&readable, 1, wait_ms);
    lock.lock();
    polling = false;
    drain();
    changed.notify_all();
  }

 private:
  void drain() {
    // Bounded: whoever floods the socket does not keep us from looking at the clock.
    for (int i = 0; i < 256; ++i) {
      Letter letter;
      const Post post = receive_letter(socket, letter);
      if (post == Post::none) return;
      const uint64_t ticket = letter.head.ticket;
      const bool late = std::find(finished.begin(), finished.end(), ticket) != finished.end();
      if (post == Post::refused || late || kept >= kMostKept) {
        ++refused;
        continue;
      }
      by_ticket[ticket].push_back(std::move(letter));
      ++kept;
    }
  }
};

// One call of exchange(), from this member's side.
struct Mailbox::Exchange {
  State& state;
  uint64_t ticket;
  int me;
  const std::vector<MailAddress>& members;
  std::shared_ptr<Segment> mine;
  int device;
  std::vector<bool> awaited, unsent;
  std::vector<std::shared_ptr<Segment>> result;
  std::optional<Error> failure = {};  // the first
  std::string last_refusal = {};

  ~Exchange() { state.finish(ticket); }

  bool sending() const { return std::count(unsent.begin(), unsent.end(), true) != 0; }
  bool receiving() const { return std::count(awaited.begin(), awaited.end(), true) != 0; }

  void fail(size_t member, Kind kind, const std::string& why) {
    awaited[member] = unsent[member] = false;
    if (failure) return;
    failure = Error(kind, "memory exchange: member {} of {} (this is {}): {}", member,
                    members.size(), me, why);
  }
  void send() {
    for (size_t k = 1; k < members.size(); ++k) {  // not all to the same one first
      const size_t to = (static_cast<size_t>(me) + k) % members.size();
      if (!unsent[to]) continue;
      const LetterHead head{
          LetterHead::kVersion, static_cast<uint32_t>(me),      ticket, mine->id(),
          mine->bytes(),        mine->device_descriptor() >= 0, 0};
      const int code = send_letter(state.socket, members[to], head, mine->descriptor(),
                                   mine->device_descriptor());
      if (code == 0) unsent[to] = false;
      if (code != 0 && !send_again(code))
        fail(to, Kind::peer, fmt::format("its mailbox does not accept: {}", strerror(code)));
    }
  }
  void open(Letters letters) {
    for (Letter& letter : letters) {
      const size_t from = letter.head.sender;
      if (from >= members.size() || !awaited[from]) continue;  // a second one, or a stranger
      if (letter.fd < 0) {
        fail(from, Kind::no_mem, "no descriptor left to receive its memory; raise RLIMIT_NOFILE");
        continue;
      }
      try {
        if ((letter.head.on_device != 0) != (device >= 0))
          throw Error(Kind::peer, "it is memory of another kind than expected");
        auto segment = Segment::attach(letter.head.segment, letter.head.bytes, letter.take_fd(),
                                       letter.take_device_fd(), device);
        segment->close_descriptor();
        result[from] = std::move(segment);
        awaited[from] = false;
      } catch (const Error& error) {
        // A false letter must not keep the true one out: go on waiting.
        if (error.kind() == Kind::peer) last_refusal = error.what();
        if (error.kind() != Kind::peer) fail(from, error.kind(), error.what());
      }
    }
  }
  void expire(double timeout_s) {
    const std::string seen = last_refusal.empty() ? "" : " (refused: " + last_refusal + ")";
    for (size_t i = 0; i < members.size(); ++i)
      if (awaited[i] || unsent[i])
        fail(i, Kind::peer,
             fmt::format("{} within {} s{}; is it alive and in this network namespace?",
                         awaited[i] ? "sent no memory" : "took no letter", timeout_s, seen));
  }
};

Mailbox::Mailbox() : state_(std::make_unique<State>()) {
  state_->socket = open_mail_socket(address_);
}
Mailbox::~Mailbox() = default;

void Mailbox::forget(uint64_t ticket) {
  if (getpid() != state_->creator) return;
  state_->wait(0, 0);  // what lies in the socket holds memory as well
  state_->finish(ticket);
}

std::vector<std::shared_ptr<Segment>> Mailbox::exchange(
    uint64_t ticket, int me, const std::vector<MailAddress>& members, const std::vector<bool>& has,
    std::shared_ptr<Segment> mine, double timeout_s, const std::function<void()>& idle,
    int device) {
  const size_t self = static_cast<size_t>(me);
  if (me < 0 || self >= members.size() || has.size() != members.size() ||
      has[self] != (mine != nullptr) || (mine && mine->descriptor() < 0))
    throw Error(Kind::intern, "memory exchange: member {} of {}: {}", me, members.size(),
                mine ? "its segment's descriptor is closed, or `has` differs" : "`has` differs");
  if (getpid() != state_->creator)
    throw Error(Kind::other, "memory exchange in a forked child of process {}", state_->creator);

  Exchange now{*state_,
               ticket,
               me,
               members,
               mine,
               device,
               has,
               std::vector<bool>(members.size(), !!mine),
               std::vector<std::shared_ptr<Segment>>(members.size())};
  now.awaited[self] = now.unsent[self] = false;
  now.result[self] = mine;
  const double start_s = now_s();
  for (;;) {
    now.send();
    now.open(state_->take(ticket));
    if (!now.sending() && !now.receiving()) break;
    const double gone_s = now_s() - start_s;
    if (timeout_s > 0 && gone_s >= timeout_s) {
      now.expire(timeout_s);
      break;
    }
    double wait_s = now.sending() || idle ? 0.001 : 0.1;
    if (timeout_s > 0) wait_s = std::min(wait_s, timeout_s - gone_s);
    state_->wait(ticket, static_cast<int>(wait_s * 1000) + 1);
    if (idle) idle();
  }
  if (now.failure) throw Error(*now.failure);
  if (mine && !mine->keeps_descriptor()) mine->close_descriptor();
  return std::move(now.result);
}

}  // namespace tide
