// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A user's program with Kokkos views: the last dimension of a LayoutLeft view is sharded.  Started
// by two processes.
#include <cstdio>
#include <tide/kokkos.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  int size = 0, wrong = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  {
    const Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> full("full", 3, 7);
    const tide::Group group(MPI_COMM_WORLD, {tide::param_of(full)});
    const auto memory = group.alloc(tide::What::shard);
    const auto shard = tide::view<double**, Kokkos::LayoutLeft>(memory, 0);
    const tide::Rows mine = group.shard(0);
    for (int r = 0; r < mine.count; ++r)
      for (int c = 0; c < 3; ++c) shard(c, r) = static_cast<double>(10 * (mine.first + r) + c);
    group.allgather(tide::inputs(shard), tide::outputs(full));
    for (int r = 0; r < 7; ++r)
      for (int c = 0; c < 3; ++c) wrong += full(c, r) != 10 * r + c;
  }
  Kokkos::finalize();
  MPI_Finalize();
  std::printf("%d ranks, %d wrong\n", size, wrong);
  return wrong != 0 || size != 2;
}
