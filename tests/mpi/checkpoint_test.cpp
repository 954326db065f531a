// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints: what comes back, on other communicators and layouts too.  Any ranks, any map.
#include "checkpoint.hpp"

#include <cstring>

namespace tide_test {
namespace {

TEST(Checkpoint, ComesBackWithItsMetadata) {
  const Folder folder;
  Model w(world(), usual()), m(world(), usual(), MPIX_TIDE_FP32);
  const char* metadata = "{\"step\": \"100\", \"note\": \"a \\\"quoted\\\" word, \\u00fc\"}";
  w.write(1);
  m.write(2);
  TIDE_OK(save(folder / "a", {w.item(""), m.item("adam.m")}, metadata));
  EXPECT_EQ(std::vector<std::string>{"a"}, folder.files()) << "nothing else stays behind";
  w.shards.fill(0);
  m.shards.fill(0);
  const MPIX_Tide_item items[] = {w.item(""), m.item("adam.m")};
  char text[100], small[8] = "xxxxxxx";
  size_t needed = 0;
  TIDE_OK(MPIX_Tide_load(MPI_COMM_WORLD, (folder / "a").c_str(), 2, items, text, sizeof text,
                         &needed, MPI_INFO_NULL));
  EXPECT_STREQ("{\"note\":\"a \\\"quoted\\\" word, \xC3\xBC\",\"step\":\"100\"}", text);
  EXPECT_EQ(std::strlen(text) + 1, needed);
  w.expect(1, "parameters");
  for (size_t i = 0; i < m.shards.bytes(3); i++)
    EXPECT_EQ(0, static_cast<char*>(m.shards[3])[i]) << "frozen: it has no moment";
  m.expect(2, "moments", 3);
  TIDE_OK(MPIX_Tide_load(MPI_COMM_WORLD, (folder / "a").c_str(), 1, items, small, sizeof small,
                         nullptr, MPI_INFO_NULL));
  EXPECT_STREQ("{\"note\"", small) << "cut where it does not fit";
}

TEST(Checkpoint, BytesDoNotDependOnTheRanks) {
  const Folder folder;
  Model whole(world(), usual());
  whole.write(7);
  TIDE_OK(save(folder / "all", {whole.item("")}));
  const Comm self(dup(MPI_COMM_SELF));
  Model alone(team_of(self), usual());
  alone.write(7);
  const std::string own = folder / ("alone" + std::to_string(world().rank));
  TIDE_OK(save(own, {alone.item("")}, nullptr, self));
  sync(world());
  EXPECT_EQ(contents(folder / "all"), contents(own));
  alone.shards.fill(0);
  TIDE_OK(load(folder / "all", {alone.item("")}, self));
  alone.expect(7, "many ranks' file on one");
  // A ragged layout: everything on the last rank.
  std::vector<MPI_Count> first;
  for (const auto& p : usual())
    for (int r = 0; r <= world().size; r++) first.push_back(r == world().size ? p.rows : 0);
  Model ragged(world(), usual(), 0, first);
  TIDE_OK(load(folder / "alone0", {ragged.item("")}));
  ragged.expect(7, "one rank's file on a ragged layout");
  TIDE_OK(save(folder / "ragged", {ragged.item("")}));
  sync(world());
  EXPECT_EQ(contents(folder / "all"), contents(folder / "ragged"));
}

TEST(Checkpoint, OneReplicaWrites) {
  const Folder folder;
  MPI_Comm shard_comm, replica_comm;
  TIDE_OK(MPIX_Tide_comm_grid(MPI_COMM_WORLD, world().size % 2 ? 1 : world().size / 2, &shard_comm,
                              &replica_comm));
  const Comm shard(shard_comm), replica(replica_comm);
  Model w(team_of(shard), usual());
  const int mine = team_of(replica).rank;
  w.write(mine == 0 ? 4 : 5);  // that others hold something else must not show
  TIDE_OK(save(folder / "r", {w.item("")}));
  w.shards.fill(0);
  TIDE_OK(load(folder / "r", {w.item("")}));
  w.expect(4, "every replica reads");
}

TEST(Checkpoint, ManyRounds) {
  const Folder folder;
  const MPI_Count rows = 70000;  // 36 MB: on one rank three rounds of 16 MiB
  std::vector<MPI_Count> first{0};
  for (int r = 1; r <= world().size; r++) first.push_back(r == world().size ? rows : r);
  Model w(world(), {param(rows, 65, MPIX_TIDE_FP64)}, 0, first);
  w.write(3);
  TIDE_OK(save(folder / "large", {w.item("")}));
  w.shards.fill(0);
  TIDE_OK(load(folder / "large", {w.item("")}));
  w.expect(3, "in rounds");
}

TEST(Checkpoint, NothingIsAFileToo) {
  const Folder folder;
  List empty(world(), {});
  const MPIX_Tide_item item{"", empty.group(), 0, nullptr};
  TIDE_OK(save(folder / "none", {}));
  TIDE_OK(load(folder / "none", {}));
  TIDE_OK(save(folder / "none", {item}, "{}"));
  size_t needed = 0;
  TIDE_OK(MPIX_Tide_load(MPI_COMM_WORLD, (folder / "none").c_str(), 0, nullptr, nullptr, 0, &needed,
                         MPI_INFO_NULL));
  EXPECT_EQ(3u, needed);
}

TEST(Checkpoint, ALinkIsReplacedAndNotFollowed) {
  const Folder folder;
  write_file(folder / "target", "precious");
  if (world().rank == 0) fs::create_symlink(folder / "target", folder / "link");
  sync(world());
  Model w(world(), usual());
  w.write(1);
  TIDE_OK(save(folder / "link", {w.item("")}));
  sync(world());
  EXPECT_EQ("precious", contents(folder / "target"));
  EXPECT_FALSE(fs::is_symlink(folder / "link"));
}

}  // namespace
}  // namespace tide_test
