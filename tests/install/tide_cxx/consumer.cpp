// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A user's program in C++20: reduces a gradient into Tide's memory.  Started by two processes.
#include <cstdio>
#include <tide/tide.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0, wrong = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  {
    const tide::Group group(MPI_COMM_WORLD, {tide::param<tide::bf16, float>(7, 3)});
    const auto sum = group.alloc(tide::What::shard);
    const std::vector<tide::bf16> grad(21, tide::bf16(1.5f));
    tide::Request request = group.ireduce_scatter({grad}, sum, tide::Op::sum);
    request.wait();
    for (const float x : sum.piece<float>(0)) wrong += x != 1.5f * static_cast<float>(size);
  }
  MPI_Finalize();
  std::printf("%d ranks, %d wrong\n", size, wrong);
  return wrong != 0 || size != 2;
}
