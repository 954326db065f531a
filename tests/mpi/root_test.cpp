// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Scatter from, and gather to, a rank that has whole parameters.
#include <cstring>

#include "list.hpp"

namespace tide_test {
namespace {

std::vector<size_t> whole_bytes(const List& list, int root) {
  std::vector<size_t> bytes;
  for (size_t p = 0; p < list.count(); p++)
    bytes.push_back(
        world().rank == root ? list.full_elems(p) * size_of(shard_dtype(list.params()[p])) : 0);
  return bytes;
}

unsigned char byte_of(size_t p, size_t i, int salt) {
  return static_cast<unsigned char>(mix(p, i, static_cast<uint64_t>(salt)));
}

void expect_bytes(const Pieces& pieces, size_t p, size_t from, int salt, const char* what) {
  const auto* at = static_cast<const unsigned char*>(pieces[p]);
  for (size_t i = 0; i < pieces.bytes(p); i++)
    ASSERT_EQ(byte_of(p, from + i, salt), at[i]) << what << ": parameter " << p << " byte " << i;
}

size_t own_byte(const List& list, size_t p) {
  return list.first_elem(p, world().rank) * size_of(shard_dtype(list.params()[p]));
}

void there_and_back(const List& list, int root, int salt) {
  Pieces whole(world(), Memory::foreign, whole_bytes(list, root)),
      shards(world(), Memory::scattered, list.shard_bytes(), 0, static_cast<uint64_t>(salt)),
      back(world(), Memory::tide, whole_bytes(list, root));
  for (size_t p = 0; p < list.count(); p++)
    for (size_t i = 0; i < whole.bytes(p); i++)
      static_cast<unsigned char*>(whole[p])[i] = byte_of(p, i, salt);
  const bool here = world().rank == root;
  TIDE_OK(MPIX_Tide_scatter(root, here ? MPIX_TIDE_INPUTS(whole.list()) : nullptr, shards.list(),
                            list.group()));
  shards.expect_margins("scatter");
  for (size_t p = 0; p < list.count(); p++)
    expect_bytes(shards, p, own_byte(list, p), salt, "scatter");
  TIDE_OK(MPIX_Tide_gather(root, MPIX_TIDE_INPUTS(shards.list()), here ? back.list() : nullptr,
                           list.group()));
  back.expect_margins("gather");
  for (size_t p = 0; p < list.count(); p++) expect_bytes(back, p, 0, salt, "gather");
}

TEST(Root, ThereAndBackFromEachRank) {
  List chunks(world(), {param(7, 3), param(0, 4), param(1, 1, MPIX_TIDE_FP64),
                        param(50, 9, MPIX_TIDE_BF16, types_of(MPIX_TIDE_FP32, MPIX_TIDE_NOGRAD)),
                        param(11, 2, MPIX_TIDE_UINT8), param(6, 0)});
  for (int root = 0; root < world().size; root++) there_and_back(chunks, root, root + 1);
}

TEST(Root, RaggedLayoutAndManyMessages) {
  std::vector<MPI_Count> first;
  for (MPI_Count rows : {5, 3000}) {  // everything on the last rank; one row for each of the others
    for (int r = 0; r <= world().size; r++)
      first.push_back(r == world().size ? rows : rows == 5 ? 0 : r);
  }
  List list(world(), {param(5, 3), param(3000, 1024, MPIX_TIDE_FP64)}, MPI_INFO_NULL, first);
  there_and_back(list, 0, 3);  // 24 MB: several messages for the last rank
}

TEST(Root, WrongArguments) {
  List list(world(), {param(world().size, 3)}), other(world(), {param(world().size, 3)});
  Pieces whole(world(), Memory::tide, whole_bytes(list, world().rank)),
      shards(world(), Memory::tide, list.shard_bytes());
  shards.fill(0x11);
  const bool last = world().rank == world().size - 1;
  const auto in = [](const Pieces& p) { return MPIX_TIDE_INPUTS(p.list()); };
  for (int root : {-1, world().size})
    expect_failure_on_all(world(), MPIX_Tide_scatter(root, in(whole), shards.list(), list.group()),
                          {arg}, {"root"});
  expect_failure_on_all(
      world(), MPIX_Tide_scatter(0, in(whole), last ? nullptr : shards.list(), list.group()),
      {buffer}, {"shards"});
  expect_failure_on_all(world(), MPIX_Tide_scatter(0, nullptr, shards.list(), list.group()),
                        {buffer}, {"params"});
  const void* nothing[] = {nullptr};
  expect_failure_on_all(
      world(), MPIX_Tide_gather(0, last ? nothing : in(shards), whole.list(), list.group()),
      {buffer}, {"parameter 0"});
  expect_failure(MPIX_Tide_gather(0, in(shards), whole.list(), MPIX_TIDE_GROUP_NULL), {arg});
  if (world().size > 1) {
    expect_failure_on_all(world(),
                          MPIX_Tide_scatter(last ? 1 : 0, in(whole), shards.list(), list.group()),
                          {mismatch}, {"root"});
    expect_failure_on_all(world(),
                          last ? MPIX_Tide_gather(0, in(shards), whole.list(), list.group())
                               : MPIX_Tide_scatter(0, in(whole), shards.list(), list.group()),
                          {mismatch}, {"gather"});
    expect_failure_on_all(
        world(),
        MPIX_Tide_scatter(0, in(whole), shards.list(), last ? other.group() : list.group()),
        {mismatch}, {"group"});
  }
  MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL;
  TIDE_OK(MPIX_Tide_iallgather(in(shards), whole.list(), list.group(), &request));
  expect_failure_on_all(world(), MPIX_Tide_scatter(0, in(whole), shards.list(), list.group()),
                        {Failure{0, MPI_ERR_REQUEST}});
  TIDE_OK(MPIX_Tide_wait(&request));
  shards.expect_filled(0x11, "after wrong calls");
  there_and_back(list, 0, 9);
}

}  // namespace
}  // namespace tide_test
