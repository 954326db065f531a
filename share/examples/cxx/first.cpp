// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <tide/tide.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // errors become exceptions
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const tide::Group group(MPI_COMM_WORLD, {tide::param<float>(4)});  // one parameter, 4 rows
    const auto mine = group.extent(0, tide::What::shard).elems;
    std::vector<float> shard(mine, rank + 1.0f), full(4), grad(4, rank + 1.0f), sum(mine);
    group.allgather({shard}, {full});
    group.reduce_scatter({grad}, {sum}, tide::Op::sum);
    if (rank == 0) std::printf("row 3 of 4 is %g, gradients sum to %g\n", full[3], sum[0]);
  } catch (const tide::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
