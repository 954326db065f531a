// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A sharded training step: y = W x + b, fitted to targets that differ by rank.  fp32 masters are
// gathered as bf16; bf16 gradients are averaged in fp32.  The examples in all languages print the
// same.
#include <cstdio>
#include <tide/tide.hpp>

namespace {

using tide::bf16, tide::What;
constexpr int rows = 8, cols = 4, samples = 4, steps = 5;

// Forward and backward on this rank's samples: the loss; the gradients go to dw and db.
double backward(int rank, std::span<const bf16> w, std::span<const bf16> b, std::span<bf16> dw,
                std::span<bf16> db) {
  double loss = 0, sum_w[rows][cols] = {}, sum_b[rows] = {};
  for (int s = 0; s < samples; ++s) {
    double x[cols];
    for (int c = 0; c < cols; ++c) x[c] = ((rank * samples + s + c) % 5 - 2) / 4.0;
    for (int r = 0; r < rows; ++r) {
      double y = b[r];
      for (int c = 0; c < cols; ++c) y += static_cast<double>(w[r * cols + c]) * x[c];
      const double d = y - ((rank + s + r) % 3 - 1) / 2.0;
      loss += d * d / (samples * rows);
      for (int c = 0; c < cols; ++c) sum_w[r][c] += 2 * d * x[c] / (samples * rows);
      sum_b[r] += 2 * d / (samples * rows);
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) dw[r * cols + c] = bf16(sum_w[r][c]);
    db[r] = bf16(sum_b[r]);
  }
  return loss;
}

void train(MPI_Comm comm) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);

  // Gathered as bf16, fp32 shards, bf16 gradients.
  const tide::Group group(comm,
                          {tide::param<bf16, float>(rows, cols), tide::param<bf16, float>(rows)});
  const auto full = group.alloc(What::full), grad = group.alloc(What::grad),
             master = group.alloc(What::shard), mean = group.alloc(What::shard);
  const auto w = master.piece<float>(0), b = master.piece<float>(1);
  for (std::size_t i = 0; i < w.size(); ++i)
    w[i] = static_cast<float>((group.shard(0).first * cols + static_cast<int>(i)) % 7 - 3) / 8;
  for (std::size_t r = 0; r < b.size(); ++r)
    b[r] = static_cast<float>((group.shard(1).first + static_cast<int>(r)) % 3 - 1) / 4;

  for (int step = 0; step < steps; ++step) {
    group.allgather(master, full);  // the owner rounds: all ranks compute with the same bits
    const double loss = backward(rank, full.piece<bf16>(0), full.piece<bf16>(1),
                                 grad.piece<bf16>(0), grad.piece<bf16>(1));
    group.reduce_scatter(grad, mean, tide::Op::avg);
    for (std::size_t p = 0; p < 2; ++p) {  // the optimizer sees this rank's rows only
      const auto value = master.piece<float>(p), gradient = mean.piece<float>(p);
      for (std::size_t i = 0; i < value.size(); ++i) value[i] -= 0.5f * gradient[i];
    }
    double sum = 0;
    MPI_Reduce(&loss, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
    if (rank == 0) std::printf("step %d loss %.6f\n", step, sum / ranks);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // errors become exceptions
  try {
    train(MPI_COMM_WORLD);
  } catch (const tide::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
