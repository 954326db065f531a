// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Tide memory and foreign memory: sizes, freed and reallocated addresses, one copy per node, which
// path is taken.  Any ranks and map; runs with TIDE_FOREIGN=auto, cma and staged.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "list.hpp"

namespace tide_test {
namespace {

void* tide_alloc(const Team& team, size_t bytes, MPI_Info info = MPI_INFO_NULL) {
  void* base = nullptr;
  TIDE_OK(MPIX_Tide_alloc(team.comm, static_cast<MPI_Aint>(bytes), info, &base));
  return base;
}

TEST(Alloc, ZeroGivesNullAndSizesMayDiffer) {
  void* base = &base;
  TIDE_OK(MPIX_Tide_alloc(MPI_COMM_WORLD, 0, MPI_INFO_NULL, &base));
  EXPECT_EQ(nullptr, base);
  for (int round = 0; round < 3; ++round) {
    const size_t bytes = static_cast<size_t>((world().rank + round) % 3) * 10007;
    auto* mine = static_cast<unsigned char*>(tide_alloc(world(), bytes));
    EXPECT_EQ(bytes == 0, mine == nullptr);
    for (size_t i = 0; i < bytes; ++i) mine[i] = static_cast<unsigned char>(i);
    if (mine) TIDE_OK(MPIX_Tide_free(round % 2 ? MPI_COMM_NULL : MPI_COMM_WORLD, mine));
  }
}

TEST(Alloc, WrongArguments) {
  void* base = nullptr;
  const bool last = world().rank == world().size - 1;
  expect_failure_on_all(
      world(), MPIX_Tide_alloc(MPI_COMM_WORLD, last ? -1 : 64, MPI_INFO_NULL, &base), {count, arg});
  EXPECT_EQ(nullptr, base) << "nothing may stay allocated where another rank failed";
  Info unknown{{"tide_no_such_key", "1"}}, share{{"tide_share", "galaxy"}},
      kind{{"mpi_memory_alloc_kinds", "tape"}};
  for (const Info* info : {&unknown, &share, &kind}) {
    expect_failure_on_all(world(), MPIX_Tide_alloc(MPI_COMM_WORLD, 64, *info, &base),
                          {arg, unsupported});
  }
  Info good{{"mpi_memory_alloc_kinds", "system"}, {"tide_share", "none"}};
  TIDE_OK(MPIX_Tide_alloc(MPI_COMM_WORLD, 64, good, &base));
  TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, base));
}

TEST(Alloc, FreeIsLocalAndInAnyOrder) {
  std::vector<void*> bases;
  for (int i = 0; i < 6; ++i) bases.push_back(tide_alloc(world(), 5000));
  if (world().rank % 2) std::swap(bases.front(), bases.back());
  for (void* base : bases) {
    usleep(static_cast<useconds_t>(world().rank) * 500);
    TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, base));
  }
  expect_usable(world());
}

TEST(Alloc, OutlivesItsCommunicator) {
  Comm comm(dup(MPI_COMM_WORLD));
  List list(team_of(comm), {param(9, 4)});
  void* full = tide_alloc(team_of(comm), list.full_bytes()[0]);
  void* shard = list.shard_bytes()[0] ? std::malloc(list.shard_bytes()[0]) : nullptr;
  comm.free();
  for (uint64_t salt = 1; salt < 4; ++salt) {
    write_shards(list, &shard, salt);
    TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(&shard), &full, list.group()));
    expect_gathered(list, &full, salt, "freed communicator");
  }
  TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, full));
  std::free(shard);
}

// One buffer gives way to another at the same address; what a peer remembers of the address is
// worthless.
TEST(Reuse, TideMemoryFreedAndAllocatedAgain) {
  List list(world(), {param(64, 33)});
  int same_address = 0;
  void* last = nullptr;
  for (uint64_t round = 1; round <= 12; ++round) {
    void* full = tide_alloc(world(), list.full_bytes()[0]);
    void* shard = tide_alloc(world(), list.shard_bytes()[0]);
    same_address += full == last;
    last = full;
    write_shards(list, &shard, round);
    TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(&shard), &full, list.group()));
    expect_gathered(list, &full, round, "reallocated");
    if (round % 3 == 0 && world().rank == 0) usleep(3000);
    TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, full));
    if (shard) TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, shard));
  }
  RecordProperty("same_address", same_address);
}

TEST(Reuse, KindChangesAtOneAddress) {
  List list(world(), {param(64, 33)});
  const size_t bytes = list.full_bytes()[0];
  void* shard = list.shard_bytes()[0] ? std::malloc(list.shard_bytes()[0]) : nullptr;
  for (uint64_t round = 1; round <= 6; ++round) {
    void* full = tide_alloc(world(), bytes);
    write_shards(list, &shard, round);
    TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(&shard), &full, list.group()));
    expect_gathered(list, &full, round, "Tide memory");
    TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, full));
    // On some ranks foreign pages come to stand at the very address (where the kernel lets us).
    if ((static_cast<uint64_t>(world().rank) + round) % 2) {
      void* foreign = mmap(full, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      write_shards(list, &shard, 100 + round);
      TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(&shard), &foreign, list.group()));
      expect_gathered(list, &foreign, 100 + round, "foreign memory");
      munmap(foreign, bytes);
    } else {
      void* heap = std::malloc(bytes);
      write_shards(list, &shard, 100 + round);
      TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(&shard), &heap, list.group()));
      expect_gathered(list, &heap, 100 + round, "malloc");
      std::free(heap);
    }
  }
  std::free(shard);
}

TEST(Reuse, ForeignPagesReplacedInPlace) {
  List list(world(), {param(64, 33)});
  const ReduceOptions options{.out_dtype = MPIX_TIDE_FP32, .pattern = rough};
  const size_t bytes = list.grad_bytes()[0];
  void* grad = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Pieces sums(world(), Memory::foreign, list.out_bytes(MPIX_TIDE_FP32));
  for (int round = 0; round < 6; ++round) {
    grad =
        mmap(grad, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    write_grads(list, &grad, options);
    sums.fill(0xFF);
    TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(&grad), sums.list(), MPIX_TIDE_FP32,
                                     MPIX_TIDE_SUM, 1.0, list.group()));
    expect_reduced(list, sums.list(), options, "replaced pages");
  }
  munmap(grad, bytes);
}

// Memory over one communicator serves groups of another.
TEST(Mixed, MemoryOfOtherCommunicators) {
  Comm half(split(MPI_COMM_WORLD, world().rank % 2, world().rank)), all(dup(MPI_COMM_WORLD));
  const Team teams[] = {team_of(MPI_COMM_SELF), team_of(half), team_of(all), world()};
  List list(world(), {param(64, 5), param(9, 2)});
  for (const Team& team : teams) {
    Pieces shards(team, Memory::tide, list.shard_bytes()),
        full(team, Memory::tide, list.full_bytes());
    for (uint64_t salt = 1; salt <= 2; ++salt) {
      write_shards(list, shards.list(), salt);
      TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards.list()), full.list(), list.group()));
      expect_gathered(list, full.list(), salt, "memory of another communicator");
    }
  }
}

bool on_one_node() { return world().members.size() == 1; }

class NodeShared : public testing::Test {
 protected:
  Info share_{{"tide_share", "node"}};
  const std::vector<int>& mates_ = world().members[static_cast<size_t>(world().my_node())];
  bool first_ = world().my_local() == 0;
};

TEST_F(NodeShared, AllRanksOfANodeSeeTheSamePages) {
  const size_t bytes = 3 * 4096 + 100;
  auto* base = static_cast<unsigned char*>(tide_alloc(world(), bytes, share_));
  ASSERT_NE(nullptr, base);
  for (size_t writer = 0; writer < mates_.size(); ++writer) {
    if (mates_[writer] == world().rank)
      std::memset(base, static_cast<int>(world().rank + 1), bytes);
    sync(world());
    for (size_t i : {size_t{0}, size_t{4096}, bytes - 1})
      EXPECT_EQ(mates_[writer] + 1, base[i]) << "byte " << i;
    sync(world());
  }
  // Nodes of other sizes run fewer rounds; leave together.
  for (size_t round = mates_.size(); round < static_cast<size_t>(world().size); ++round) {
    sync(world());
    sync(world());
  }
  TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, base));
}

TEST_F(NodeShared, AllgatherIsExactAndOneCopyServesTheNode) {
  List list(world(), usual_list(MPIX_TIDE_BF16));
  std::vector<void*> full(list.count());
  void* base = nullptr;
  TIDE_OK(MPIX_Tide_group_alloc(list.group(), MPIX_TIDE_FULL, 0, share_, full.data(), &base));
  for (Memory memory : {Memory::tide, Memory::foreign, Memory::by_rank}) {
    Pieces shards(world(), memory, list.shard_bytes());
    for (uint64_t salt = 1; salt <= 3; ++salt) {
      write_shards(list, shards.list(), salt);
      TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards.list()), full.data(), list.group()));
      expect_gathered(list, full.data(), salt, "node-shared parameters");
      sync(world());
    }
  }
  if (first_ && full[0]) *static_cast<uint16_t*>(full[0]) = 0x1234;
  sync(world());
  EXPECT_EQ(0x1234, *static_cast<uint16_t*>(full[0])) << "the ranks of a node hold one copy";
  sync(world());
  TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, base));
}

TEST_F(NodeShared, InPlace) {
  List list(world(), usual_list(MPIX_TIDE_FP32));
  std::vector<void*> full(list.count()), rows(list.count());
  void* base = nullptr;
  TIDE_OK(MPIX_Tide_group_alloc(list.group(), MPIX_TIDE_FULL, 0, share_, full.data(), &base));
  for (uint64_t salt = 1; salt <= 4; ++salt) {
    for (size_t p = 0; p < list.count(); ++p) {
      rows[p] = list.shard_elems(p)
                    ? static_cast<char*>(full[p]) + list.first_elem(p, world().rank) * 4
                    : nullptr;
    }
    write_shards(list, rows.data(), salt);
    TIDE_OK(MPIX_Tide_allgather(salt % 2 ? MPIX_TIDE_IN_PLACE : MPIX_TIDE_INPUTS(rows.data()),
                                full.data(), list.group()));
    expect_gathered(list, full.data(), salt, "node-shared, in place");
    sync(world());
  }
  TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, base));
}

TEST_F(NodeShared, NothingIsWrittenBeforeAllRanksOfTheNodeEntered) {
  List list(world(), {param(64, 33)});
  auto* full = static_cast<unsigned char*>(tide_alloc(world(), list.full_bytes()[0], share_));
  Pieces shards(world(), Memory::tide, list.shard_bytes());
  for (int late = 0; late < world().size; ++late) {
    write_shards(list, shards.list(), 3);
    if (first_) std::memset(full, 0x5A, list.full_bytes()[0]);
    sync(world());
    if (world().rank == late) {
      usleep(30000);
      bool clean = true;
      for (size_t i = 0; i < list.full_bytes()[0]; ++i) clean = clean && full[i] == 0x5A;
      EXPECT_TRUE(clean) << "shared pages were written before rank " << late << " entered";
    }
    void* at = full;
    TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards.list()), &at, list.group()));
    expect_gathered(list, &at, 3, "node-shared, late rank");
    sync(world());
  }
  TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, full));
}

TEST_F(NodeShared, DifferentSizesOnANodeAreRefusedOnAll) {
  if (world().size == static_cast<int>(world().members.size()))
    GTEST_SKIP() << "no node has two ranks";
  void* base = nullptr;
  const size_t bytes = 4096 + static_cast<size_t>(world().my_local()) * 4096;
  expect_failure_on_all(
      world(), MPIX_Tide_alloc(MPI_COMM_WORLD, static_cast<MPI_Aint>(bytes), share_, &base),
      {arg, mismatch}, {"tide_share"});
  EXPECT_EQ(nullptr, base);
  expect_usable(world());
}

TEST_F(NodeShared, SizesMayDifferBetweenNodes) {
  auto* base = static_cast<char*>(
      tide_alloc(world(), 1000 + static_cast<size_t>(world().my_node()) * 5000, share_));
  ASSERT_NE(nullptr, base);
  sync(world());
  if (first_) base[999 + world().my_node() * 5000] = 42;
  sync(world());
  EXPECT_EQ(42, base[999 + world().my_node() * 5000]);
  TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, base));
}

TEST_F(NodeShared, RefusedAsGradientsOutputsAndInParts) {
  bool shared_somewhere = world().size > static_cast<int>(world().members.size());
  if (!shared_somewhere) GTEST_SKIP() << "no node has two ranks";
  List list(world(), {param(64, 33)});
  const size_t bytes = 2 * 64 * 33 * 4;
  void* shared = tide_alloc(world(), bytes, share_);
  Pieces grads(world(), Memory::tide, list.grad_bytes()),
      sums(world(), Memory::tide, list.out_bytes(MPIX_TIDE_FP32));
  Pieces shards(world(), Memory::tide, list.shard_bytes());
  expect_failure_on_all(world(),
                        MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(&shared), sums.list(),
                                                 MPIX_TIDE_FP32, MPIX_TIDE_SUM, 1.0, list.group()),
                        {buffer});
  expect_failure_on_all(world(),
                        MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grads.list()), &shared,
                                                 MPIX_TIDE_FP32, MPIX_TIDE_SUM, 1.0, list.group()),
                        {buffer});
  void* moved =
      static_cast<char*>(shared) + world().my_local() * 128;  // overlapping, but not the same range
  expect_failure_on_all(world(),
                        MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards.list()), &moved, list.group()),
                        {buffer});
  check_allgather(list);
  check_reduce_scatter(list);
  TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, shared));
}

TEST(Foreign, PathIsTheOneAskedFor) {
  if (!on_one_node() || world().size == 1) GTEST_SKIP() << "for several ranks of one node";
  const char* asked = std::getenv("TIDE_FOREIGN");
  List list(world(), {param(64, 33), param(9, 2)});
  const auto report = [&] {
    size_t needed = 0;
    TIDE_OK(MPIX_Tide_group_report(list.group(), nullptr, 0, &needed));
    std::string text(needed + 1, '\0');
    TIDE_OK(MPIX_Tide_group_report(list.group(), text.data(), text.size(), &needed));
    return text;
  };
  check_allgather(list);
  check_reduce_scatter(list);
  const std::string direct = report();
  EXPECT_NE(std::string::npos, direct.find("host-direct")) << direct;
  check_allgather(list, {.shards = Memory::foreign, .params = Memory::foreign});
  check_reduce_scatter(list, {.grads = Memory::foreign, .shards = Memory::foreign});
  const std::string foreign = report();
  if (asked && std::strcmp(asked, "staged") == 0)
    EXPECT_NE(std::string::npos, foreign.find("host-staged")) << foreign;
  else if (asked && std::strcmp(asked, "cma") == 0)
    EXPECT_NE(std::string::npos, foreign.find("host-cma")) << foreign;
  else
    EXPECT_TRUE(foreign.find("host-cma") != std::string::npos ||
                foreign.find("host-staged") != std::string::npos)
        << foreign;
}

// A rank passes a page that nobody may touch.  It owns no row itself, so only its peer's transfer
// fails; all ranks of all nodes must hear of it, and the next call must be right.
TEST(Foreign, FailedTransferIsAnErrorOnAllNodes) {
  const char* asked = std::getenv("TIDE_FOREIGN");
  const Team& team = world();
  if (asked && std::strcmp(asked, "staged") == 0)
    GTEST_SKIP() << "staging copies on the owner's side";
  size_t node = 0;
  while (node < team.members.size() &&
         std::find(team.members[node].begin(), team.members[node].end(), 0) ==
             team.members[node].end())
    ++node;
  if (team.members[node].size() < 2) GTEST_SKIP() << "rank 0 has no peer on its node";
  const int victim = team.members[node][1];
  List list(team, {param(1, 64)});
  Pieces shards(team, Memory::tide, list.shard_bytes()),
      params(team, Memory::foreign, list.full_bytes());
  void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* full = team.rank == victim ? page : params.list()[0];
  expect_failure_on_all(team,
                        MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards.list()), &full, list.group()),
                        {{MPIX_TIDE_ERR_PEER, 0}}, {"rank 0"});
  munmap(page, 4096);
  check_allgather(list, {.shards = Memory::foreign, .params = Memory::foreign});
  check_reduce_scatter(list, {.grads = Memory::foreign, .shards = Memory::foreign});
}

TEST(Foreign, OrdinaryMemoryOfALoneRankIsDirect) {
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  const MPIX_Tide_param p = param(4, 1, MPIX_TIDE_FP32);
  TIDE_OK(MPIX_Tide_group_create(MPI_COMM_SELF, 1, &p, MPI_INFO_NULL, &group));
  float shard[4] = {1, 2, 3, 4}, full[4] = {};
  void *from = shard, *to = full;
  TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(&from), &to, group));
  EXPECT_EQ(4.0F, full[3]);
  char text[8192];
  TIDE_OK(MPIX_Tide_group_report(group, text, sizeof text, nullptr));
  EXPECT_EQ(nullptr, std::strstr(text, "host-cma")) << text;
  TIDE_OK(MPIX_Tide_group_free(&group));
}

TEST(Foreign, LargeTransfersInManySlices) {
  List list(world(), {param(1031, 517), param(3, 1), param(129, 4099)});
  for (Memory memory : {Memory::foreign, Memory::by_rank, Memory::by_param}) {
    check_allgather(list, {.shards = memory, .params = memory, .salt = 3});
    check_allgather(list, {.params = memory, .in_place = InPlace::sentinel, .salt = 4});
    check_reduce_scatter(
        list, {.grads = memory, .shards = memory, .out_dtype = MPIX_TIDE_FP32, .pattern = rough});
  }
}

TEST(Foreign, MixChangesFromCallToCall) {
  List list(world(), usual_list(MPIX_TIDE_BF16));
  for (uint64_t call = 1; call <= 12; ++call) {
    const auto kind = [&](uint64_t which) { return static_cast<Memory>(mix(call, which, 5) % 5); };
    check_allgather(list, {.shards = kind(1), .params = kind(2), .salt = call});
    check_reduce_scatter(list,
                         {.grads = kind(3), .shards = kind(4), .pattern = rough, .seed = call});
  }
}

}  // namespace
}  // namespace tide_test
