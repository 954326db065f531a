// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// V30: more bytes, and nightly more elements, than 2^31.  The arrays are one memory file of 64 MiB
// mapped again and again, with pages of their own where the numbers are looked at, so that they
// cost hardly any memory.  Two ranks.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "list.hpp"

namespace tide_test {
namespace {

const size_t period = size_t{1} << 25;                // bf16 elements of the file
const size_t file_bytes = period * 2, own = 1 << 16;  // bytes of each stretch of own pages

class Folded {  // n bf16 elements; element i lies in the file at i mod 2^25, but for the stretches
                // around `special`
 public:
  Folded(size_t elems, const std::vector<size_t>& special)
      : bytes_((elems * 2 + file_bytes) / file_bytes * file_bytes) {
    const int fd = memfd_create("tide-test", 0);
    EXPECT_EQ(0, ftruncate(fd, static_cast<off_t>(file_bytes)));
    base_ = static_cast<char*>(
        mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    EXPECT_NE(MAP_FAILED, static_cast<void*>(base_));
    for (size_t at = 0; at < bytes_; at += file_bytes)
      mmap(base_ + at, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    for (size_t elem : special)
      mmap(stretch(elem), own, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
           0);
    close(fd);
  }
  ~Folded() { munmap(base_, bytes_); }
  Folded(const Folded&) = delete;
  Folded& operator=(const Folded&) = delete;
  uint16_t* data() { return reinterpret_cast<uint16_t*>(base_); }
  void* at = nullptr;

  char* stretch(size_t elem) { return base_ + elem * 2 / own * own; }
  // The elements [from, to) of the stretch that holds elem.
  static size_t from(size_t elem) { return elem * 2 / own * own / 2; }
  static size_t to(size_t elem) { return from(elem) + own / 2; }

 private:
  size_t bytes_;
  char* base_ = nullptr;
};

double folded(int r, size_t i) { return small_integers(r, 0, i % period); }  // what the file holds
double special(int r, size_t i) { return small_integers(r, 1, i); }  // what the own stretches hold

void reduce_large(size_t elems) {
  ASSERT_EQ(2, world().size);
  const size_t half = (elems + 1) / 2, first = world().rank ? half : 0,
               mine = world().rank ? elems - half : half;
  const std::vector<size_t> marks = {0,    size_t{1} << 29, half - 1,
                                     half, size_t{1} << 30, elems - 1};
  List list(world(), {param(static_cast<MPI_Count>(elems), 1)});
  expect_rows(list, 0, {static_cast<MPI_Count>(half), static_cast<MPI_Count>(elems - half)});
  Folded grad(elems, marks);
  for (size_t i = 0; i < period; ++i)
    store(MPIX_TIDE_BF16, grad.data() + period + i,
          folded(world().rank, i));  // block 1 has no own stretch
  const auto in_own = [&](size_t i) {
    for (size_t m : marks)
      if (i >= Folded::from(m) && i < Folded::to(m)) return true;
    return false;
  };
  for (size_t m : marks) {
    for (size_t i = Folded::from(m); i < Folded::to(m); ++i)
      store(MPIX_TIDE_BF16, grad.data() + i, special(world().rank, i));
  }
  std::vector<size_t>
      looked_at;  // this rank's share of the marks, counted from its own first element
  for (size_t m : marks)
    if (m >= first && m < first + mine) looked_at.push_back(m - first);
  Folded out(mine, looked_at);
  for (size_t m : looked_at) std::memset(out.stretch(m), 0xFF, own);
  void *grads = grad.data(), *shards = out.data();
  TIDE_OK(MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(&grads), &shards, MPIX_TIDE_BF16, MPIX_TIDE_SUM,
                                   1.0, list.group()));
  for (size_t m : looked_at) {
    for (size_t j = Folded::from(m); j < Folded::to(m); ++j) {
      const double seen = load(MPIX_TIDE_BF16, out.data() + j);
      if (j >= mine) {
        ASSERT_TRUE(seen != seen) << "written past the end, element " << j << " of " << mine;
        continue;
      }
      const size_t i = first + j;
      const double wanted = in_own(i) ? special(0, i) + special(1, i) : folded(0, i) + folded(1, i);
      ASSERT_EQ(wanted, seen) << "element " << i;
    }
  }
}

void gather_large(size_t elems) {
  ASSERT_EQ(2, world().size);
  const size_t half = (elems + 1) / 2, first = world().rank ? half : 0,
               mine = world().rank ? elems - half : half;
  const std::vector<size_t> marks = {0,    size_t{1} << 29, half - 1,
                                     half, size_t{1} << 30, elems - 1};
  std::vector<size_t> own_marks;
  for (size_t m : marks)
    if (m >= first && m < first + mine) own_marks.push_back(m - first);
  List list(world(), {param(static_cast<MPI_Count>(elems), 1)});
  Folded shard(mine, own_marks), full(elems, marks);
  const auto bits = [](size_t i) { return static_cast<uint16_t>(40503 * i + 1 + i / period); };
  for (size_t m : own_marks)
    for (size_t j = Folded::from(m); j < Folded::to(m); ++j) shard.data()[j] = bits(first + j);
  for (size_t m : marks) std::memset(full.stretch(m), 0xFF, own);
  void *shards = shard.data(), *params = full.data();
  TIDE_OK(MPIX_Tide_allgather(MPIX_TIDE_INPUTS(&shards), &params, list.group()));
  // Only where the owner's own stretch and the reader's overlap are the numbers known.
  for (size_t m : marks) {
    const size_t owner_first = m >= half ? half : 0, in_shard = m - owner_first;
    const size_t from = std::max(Folded::from(m), owner_first + Folded::from(in_shard));
    const size_t to =
        std::min({Folded::to(m), owner_first + Folded::to(in_shard), m >= half ? elems : half});
    for (size_t i = from; i < to; ++i) ASSERT_EQ(bits(i), full.data()[i]) << "element " << i;
  }
  for (size_t i = elems; i < Folded::to(elems - 1); ++i)
    ASSERT_EQ(0xFFFF, full.data()[i]) << "written past the end";
}

TEST(Large, ReduceScatterBeyondTwoGibibytes) { reduce_large(1073741832); }
TEST(Large, AllgatherBeyondTwoGibibytes) { gather_large(1073741832); }

// Nightly: TEST_TIDE_HUGE=1
TEST(Large, ReduceScatterBeyondTwoToThe31Elements) {
  if (!std::getenv("TEST_TIDE_HUGE")) GTEST_SKIP() << "set TEST_TIDE_HUGE";
  reduce_large(2147483656);
}

TEST(Large, AllgatherBeyondTwoToThe31Elements) {
  if (!std::getenv("TEST_TIDE_HUGE")) GTEST_SKIP() << "set TEST_TIDE_HUGE";
  gather_large(2147483656);
}

}  // namespace
}  // namespace tide_test
