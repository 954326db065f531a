// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <thread>

#include "processes.hpp"

namespace tide::test {
namespace {

TEST(Registry, FindsOnlyWholeRangesOfOneSegment) {
  MemoryRegistry registry;
  const auto one = Segment::create(10000), two = Segment::create(1);
  registry.add(one, false);
  registry.add(two, false);
  EXPECT_EQ(registry.live(), 2u);
  unsigned char* at = bytes_of(*one);
  const auto offset = [&](ptrdiff_t from, size_t bytes) -> ptrdiff_t {
    const auto found = registry.find(at + from, bytes);
    if (!found) return -1;
    EXPECT_EQ(found->segment, one->id());
    return static_cast<ptrdiff_t>(found->offset);
  };
  EXPECT_EQ(offset(0, 10000), 0);
  EXPECT_EQ(offset(9999, 1), 9999);
  EXPECT_EQ(offset(17, 9983), 17);
  EXPECT_EQ(offset(10000, 0), 10000);
  EXPECT_EQ(offset(17, 9984), -1);
  EXPECT_EQ(offset(0, 10001), -1);
  EXPECT_EQ(offset(10000, 1), -1);
  EXPECT_EQ(offset(10001, 0), -1);
  EXPECT_EQ(offset(-1, 2), -1);  // the header is not the user's
  EXPECT_EQ(offset(17, SIZE_MAX), -1);
  EXPECT_EQ(offset(17, SIZE_MAX - 16), -1);
  EXPECT_EQ(offset(1, SIZE_MAX - reinterpret_cast<uintptr_t>(at)), -1);
  EXPECT_FALSE(registry.find(nullptr, 0));
  EXPECT_FALSE(registry.find(nullptr, SIZE_MAX));
  EXPECT_FALSE(registry.find(&registry, 1));
  ASSERT_TRUE(registry.find(two->base(), 1));
  EXPECT_EQ(registry.find(two->base(), 1)->segment, two->id());
  expect_error(Kind::intern, "added twice", [&] { registry.add(one, false); });
}

TEST(Registry, RemoveTakesOnlyTheStartOfLiveMemory) {
  MemoryRegistry registry;
  auto segment = Segment::create(100);
  void* const base = segment->base();
  const SegmentId id = segment->id();
  registry.add(segment, false);
  const uint64_t epoch = registry.epoch(), freed = registry.freed_epoch();
  EXPECT_FALSE(registry.remove(static_cast<char*>(base) + 1));
  EXPECT_FALSE(registry.remove(nullptr));
  EXPECT_EQ(registry.epoch(), epoch);
  EXPECT_EQ(registry.base_of(id), base);
  EXPECT_TRUE(registry.remove(base));
  EXPECT_FALSE(registry.remove(base));
  EXPECT_NE(registry.epoch(), epoch);
  EXPECT_EQ(registry.freed_epoch(), freed);  // shared by the node: nobody is told
  EXPECT_FALSE(segment->freed());
  EXPECT_FALSE(registry.find(base, 1));
  EXPECT_EQ(registry.base_of(id), nullptr);
  EXPECT_EQ(segment.use_count(), 1);
}

TEST(Registry, EveryChangeMovesTheEpoch) {
  MemoryRegistry registry, copy = registry;
  uint64_t last = copy.epoch();
  const auto moved = [&] { return std::exchange(last, copy.epoch()) != copy.epoch(); };
  auto segment = Segment::create(1), second = Segment::create(1);
  const auto peers = Segment::attach(segment->id(), 1, dup(segment->descriptor()));
  registry.add(segment, true);
  EXPECT_TRUE(moved());
  registry.attach(peers);
  EXPECT_TRUE(moved());
  EXPECT_FALSE(copy.find(peers->base(), 1));  // a peer's memory is not the user's to pass
  copy.drop_freed();
  EXPECT_FALSE(moved());
  const uint64_t freed = copy.freed_epoch();
  registry.remove(segment->base());
  EXPECT_TRUE(moved());
  EXPECT_NE(copy.freed_epoch(), freed);
  EXPECT_EQ(copy.base_of(segment->id()), peers->base());
  copy.drop_freed();
  EXPECT_TRUE(moved());
  EXPECT_EQ(copy.base_of(segment->id()), nullptr);
  EXPECT_EQ(peers.use_count(), 1);
  registry.add(second, true);
  registry.clear();
  EXPECT_TRUE(second->freed());  // the end of the process's use is a free
  EXPECT_EQ(second.use_count(), 1);
  EXPECT_EQ(copy.live(), 0u);
}

TEST(Registry, PeerSeesTheOwnersFreeAndNoChildDoesIt) {
  Board& board = Board::make();
  run_processes(2, [&](int rank) {
    Mailbox mailbox;
    MemoryRegistry registry;
    auto mine = rank == 0 ? Segment::create(5000) : nullptr;
    const auto members = board.post(rank, 2, mailbox.address());
    auto all = mailbox.exchange(77, rank, members, {true, false}, mine, 20);
    const SegmentId id = all[0]->id();
    if (rank == 0) registry.add(all[0], true);
    if (rank == 1) registry.attach(all[0]);
    void* const base = all[0]->base();
    all.clear();
    mine.reset();
    if (rank == 0) {
      const uint64_t freed = registry.freed_epoch();
      EXPECT_EQ(wait_for(spawn([&] { EXPECT_TRUE(registry.remove(base)); })), 0);
      board.barrier(2);
      board.barrier(2);
      EXPECT_TRUE(registry.remove(base));
      EXPECT_NE(registry.freed_epoch(), freed);
      board.barrier(2);
    } else {
      board.barrier(2);
      registry.drop_freed();
      EXPECT_EQ(registry.base_of(id), base);  // what the child freed was its own copy
      board.barrier(2);
      board.barrier(2);
      registry.drop_freed();
      EXPECT_EQ(registry.base_of(id), nullptr);
      unsigned char page;
      EXPECT_EQ(mincore(base, 1, &page), -1);  // not mapped any more
    }
  });
}

TEST(Registry, AFreeTakesEffectWhenTheLastHoldGoes) {
  MemoryRegistry registry;
  auto segment = Segment::create(5000);
  const SegmentId id = segment->id();
  void* const base = segment->base();
  registry.add(segment, true);
  auto held = registry.hold({id}), again = registry.hold({id});
  const uint64_t freed = registry.freed_epoch();
  EXPECT_TRUE(registry.remove(base));
  EXPECT_FALSE(registry.find(base, 1));  // the user's no more
  EXPECT_FALSE(registry.remove(base));
  held.clear();
  EXPECT_EQ(registry.base_of(id), base);
  EXPECT_EQ(registry.freed_epoch(), freed);
  EXPECT_FALSE(segment->freed());
  again.clear();
  EXPECT_EQ(registry.base_of(id), nullptr);
  EXPECT_NE(registry.freed_epoch(), freed);
  EXPECT_TRUE(segment->freed());
  segment.reset();
  unsigned char page;
  EXPECT_EQ(mincore(base, 1, &page), -1);  // not mapped any more
}

TEST(Registry, IsSafeFromSeveralThreads) {
  MemoryRegistry registry;
  const auto stays = Segment::create(100);
  registry.add(stays, false);
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) {
      EXPECT_TRUE(registry.find(stays->base(), 100));
      EXPECT_EQ(registry.base_of(stays->id()), stays->base());
      registry.drop_freed();
      sched_yield();
    }
  });
  for (int i = 0; i < 300; ++i) {
    const auto segment = Segment::create(100);
    registry.add(segment, true);
    registry.attach(Segment::attach(segment->id(), 100, dup(segment->descriptor())));
    EXPECT_TRUE(registry.remove(segment->base()));
  }
  done = true;
  reader.join();
  EXPECT_EQ(registry.live(), 1u);
}

}  // namespace
}  // namespace tide::test
