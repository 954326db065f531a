// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <tide/kokkos.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> full("weight", 4, 2);
    const tide::Group group(MPI_COMM_WORLD, {tide::param_of(full)});  // 4 rows of 2
    const auto memory = group.alloc(tide::What::shard);
    const auto shard = tide::view<float**>(memory, 0);  // this rank's rows
    Kokkos::deep_copy(shard, rank + 1.0f);
    group.allgather(tide::inputs(shard), tide::outputs(full));
    group.reduce_scatter(tide::inputs(full), tide::outputs(shard), tide::Op::avg);
    if (rank == 0) std::printf("row 3 of 4 is %g, row 0 averages to %g\n", full(3, 0), shard(0, 0));
  }
  Kokkos::finalize();
  MPI_Finalize();
}
