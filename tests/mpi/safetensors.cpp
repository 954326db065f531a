// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// One side of safetensors_test.py: mpi_safetensors save|load PATH.  Element i of parameter p has
// the bytes of (i * 40503 + p * 13 + 1) mod 256, in every type.
#include <mpix_tide.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

int rank = 0;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "rank %d: %s: %s\n", rank, what, MPIX_Tide_error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
  _exit(1);
}

unsigned char byte_of(size_t p, size_t i) {
  return static_cast<unsigned char>(i * 40503 + p * 13 + 1);
}

}  // namespace

int main(int argc, char** argv) {
  alarm(45);
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 3) fail("usage: mpi_safetensors save|load PATH");
  const bool saves = std::strcmp(argv[1], "save") == 0;
  const std::vector<MPIX_Tide_param> params = {
      {7, 3, 0, MPIX_TIDE_BF16, 0}, {5, 1, 0, MPIX_TIDE_FP16, 0},   {9, 4, 0, MPIX_TIDE_FP32, 0},
      {2, 3, 0, MPIX_TIDE_FP64, 0}, {11, 5, 0, MPIX_TIDE_UINT8, 0}, {0, 4, 0, MPIX_TIDE_FP32, 0}};
  const char* names[] = {"bf16", "fp16", "fp32", "fp64", "bytes", "empty \"\xC3\xBC\""};
  const size_t elem_bytes[] = {2, 2, 4, 8, 1, 4};
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  if (MPIX_Tide_group_create(MPI_COMM_WORLD, static_cast<int>(params.size()), params.data(),
                             MPI_INFO_NULL, &group) ||
      MPIX_Tide_group_set_names(group, "model.", names))
    fail("group");
  std::vector<std::vector<unsigned char>> shards(params.size());
  std::vector<void*> list;
  std::vector<size_t> first(params.size());
  for (size_t p = 0; p < params.size(); p++) {
    MPI_Count row = 0, rows = 0;
    MPIX_Tide_group_shard(group, static_cast<int>(p), rank, &row, &rows);
    const size_t row_bytes = static_cast<size_t>(params[p].row_elems) * elem_bytes[p];
    first[p] = static_cast<size_t>(row) * row_bytes;
    shards[p].resize(static_cast<size_t>(rows) * row_bytes + 1);
    for (size_t i = 0; saves && i + 1 < shards[p].size(); i++)
      shards[p][i] = byte_of(p, first[p] + i);
    list.push_back(shards[p].data());
  }
  const MPIX_Tide_item item = {"", group, 0, list.data()};
  char metadata[200] = "";
  if (saves) {
    if (MPIX_Tide_save(MPI_COMM_WORLD, argv[2], 1, &item, "{\"by\":\"tide\"}", MPI_INFO_NULL))
      fail("save");
  } else {
    if (MPIX_Tide_load(MPI_COMM_WORLD, argv[2], 1, &item, metadata, sizeof metadata, nullptr,
                       MPI_INFO_NULL))
      fail("load");
    if (std::string(metadata) != "{\"by\":\"safetensors\"}") fail(metadata);
    for (size_t p = 0; p < params.size(); p++)
      for (size_t i = 0; i + 1 < shards[p].size(); i++)
        if (shards[p][i] != byte_of(p, first[p] + i)) fail("a byte differs");
  }
  MPIX_Tide_group_free(&group);
  MPI_Finalize();
  if (rank == 0) std::printf("%s done\n", argv[1]);
  return 0;
}
