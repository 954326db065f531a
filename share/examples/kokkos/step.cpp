// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A sharded training step: y = W x + b, fitted to targets that differ by rank.  fp32 masters are
// gathered as bf16; bf16 gradients are averaged in fp32.  The examples in all languages print the
// same.
#include <cstdio>
#include <tide/kokkos.hpp>

namespace {

using tide::bf16, tide::What;
constexpr int rows = 8, cols = 4, samples = 4, steps = 5;
using Host = Kokkos::DefaultHostExecutionSpace;
using Range = Kokkos::RangePolicy<Host>;
template <class Data>
using View = Kokkos::View<Data, Kokkos::LayoutRight, Kokkos::HostSpace>;

// Forward and backward on this rank's samples: the loss; the gradients go to dw and db.
template <class W, class B>
double backward(int rank, const W& w, const B& b, const W& dw, const B& db) {
  double x[samples][cols];
  for (int s = 0; s < samples; ++s)
    for (int c = 0; c < cols; ++c) x[s][c] = ((rank * samples + s + c) % 5 - 2) / 4.0;
  double loss = 0;
  const View<double**> d("d", samples, rows);
  Kokkos::parallel_for(Range(0, rows), [=](int r) {
    double sum_w[cols] = {}, sum_b = 0;
    for (int s = 0; s < samples; ++s) {
      double y = b(r);
      for (int c = 0; c < cols; ++c) y += static_cast<double>(w(r, c)) * x[s][c];
      d(s, r) = y - ((rank + s + r) % 3 - 1) / 2.0;
      for (int c = 0; c < cols; ++c) sum_w[c] += 2 * d(s, r) * x[s][c] / (samples * rows);
      sum_b += 2 * d(s, r) / (samples * rows);
    }
    for (int c = 0; c < cols; ++c) dw(r, c) = bf16(sum_w[c]);
    db(r) = bf16(sum_b);
  });
  Kokkos::parallel_reduce(
      Range(0, samples * rows),
      [=](int i, double& sum) {
        const double e = d(i / rows, i % rows);
        sum += e * e / (samples * rows);
      },
      loss);
  return loss;
}

template <class Master, class Mean>
void descend(const Master& value, const Mean& gradient) {
  Kokkos::parallel_for(Range(0, static_cast<int>(value.size())),
                       [=](int i) { value.data()[i] -= 0.5f * gradient.data()[i]; });
}

void train(MPI_Comm comm) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);

  // The gathered parameters and gradients are views of Tide's memory, which is fast; the masters
  // and means are Kokkos's own.  The descriptors come from views: bf16, with fp32 shards.
  const View<bf16**> w("w", rows, cols);
  const View<bf16*> b("b", rows);
  const tide::Group group(comm, {tide::param_of<float>(w), tide::param_of<float>(b)});
  const auto full = group.alloc(What::full), grad = group.alloc(What::grad);
  const auto full_w = tide::view<bf16**>(full, 0), dw = tide::view<bf16**>(grad, 0);
  const auto full_b = tide::view<bf16*>(full, 1), db = tide::view<bf16*>(grad, 1);

  const tide::Rows mine = group.shard(0);  // of b the same
  const View<float**> master_w("master of w", static_cast<std::size_t>(mine.count), cols),
      mean_w("gradient of w", static_cast<std::size_t>(mine.count), cols);
  const View<float*> master_b("master of b", static_cast<std::size_t>(mine.count)),
      mean_b("gradient of b", static_cast<std::size_t>(mine.count));
  for (int r = 0; r < mine.count; ++r) {
    const auto row = static_cast<int>(mine.first) + r;
    for (int c = 0; c < cols; ++c)
      master_w(r, c) = static_cast<float>((row * cols + c) % 7 - 3) / 8;
    master_b(r) = static_cast<float>(row % 3 - 1) / 4;
  }
  const auto masters = tide::inputs(master_w, master_b), grads = tide::inputs(dw, db);
  const auto params = tide::outputs(full_w, full_b), means = tide::outputs(mean_w, mean_b);

  const Host space;
  for (int step = 0; step < steps; ++step) {
    tide::allgather(space, group, masters, params);  // after what `space` was given before
    const double loss = backward(rank, full_w, full_b, dw, db);
    tide::reduce_scatter(space, group, grads, means, tide::Op::avg);
    descend(master_w, mean_w);  // the optimizer sees this rank's rows only
    descend(master_b, mean_b);
    double sum = 0;
    MPI_Reduce(&loss, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
    if (rank == 0) std::printf("step %d loss %.6f\n", step, sum / ranks);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  train(MPI_COMM_WORLD);
  Kokkos::finalize();
  MPI_Finalize();
  return 0;
}
