// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "dtypes.hpp"
#include "param_list.hpp"

// One layer each of three published models, with the shapes of their checkpoints.
namespace perf {
namespace {

struct Builder {
  double scale;
  int dtype;
  ParamList list;

  MPI_Count size(MPI_Count full) const {
    if (scale == 1) return full;
    const double eighths = std::round(static_cast<double>(full) * scale / 8);
    return 8 * std::max<MPI_Count>(1, static_cast<MPI_Count>(eighths));
  }
  void exact(const std::string& name, MPI_Count rows, MPI_Count row_elems) {
    list.params.push_back({name, rows, row_elems, 0, dtype});
  }
  void matrix(const std::string& name, MPI_Count rows, MPI_Count row_elems) {
    exact(name, size(rows), size(row_elems));
  }
  void vector(const std::string& name, MPI_Count rows) { exact(name, size(rows), 1); }
  void linear(const std::string& name, MPI_Count rows, MPI_Count row_elems) {
    matrix(name + ".weight", rows, row_elems);
    vector(name + ".bias", rows);
  }
};

// 64 heads of 128, 8 of them for keys and values; feed-forward 28672.
void llama_70b(Builder& b) {
  b.list.description = "one layer of Llama-3.1-70B";
  b.matrix("self_attn.q_proj.weight", 8192, 8192);
  b.matrix("self_attn.k_proj.weight", 1024, 8192);
  b.matrix("self_attn.v_proj.weight", 1024, 8192);
  b.matrix("self_attn.o_proj.weight", 8192, 8192);
  b.matrix("mlp.gate_proj.weight", 28672, 8192);
  b.matrix("mlp.up_proj.weight", 28672, 8192);
  b.matrix("mlp.down_proj.weight", 8192, 28672);
  b.vector("input_layernorm.weight", 8192);
  b.vector("post_attention_layernorm.weight", 8192);
}

// Hidden 2048, 32 heads of 128 with 4 for keys and values, 128 experts of 768.
void qwen3_30b(Builder& b) {
  b.list.description = "one layer of Qwen3-30B-A3B with all its 128 experts";
  b.matrix("self_attn.q_proj.weight", 4096, 2048);
  b.matrix("self_attn.k_proj.weight", 512, 2048);
  b.matrix("self_attn.v_proj.weight", 512, 2048);
  b.matrix("self_attn.o_proj.weight", 2048, 4096);
  b.vector("self_attn.q_norm.weight", 128);
  b.vector("self_attn.k_norm.weight", 128);
  b.exact("mlp.gate.weight", 128, b.size(2048));  // a row per expert: their number stays
  for (int e = 0; e < 128; ++e) {
    b.matrix(fmt::format("mlp.experts.{}.gate_proj.weight", e), 768, 2048);
    b.matrix(fmt::format("mlp.experts.{}.up_proj.weight", e), 768, 2048);
    b.matrix(fmt::format("mlp.experts.{}.down_proj.weight", e), 2048, 768);
  }
  b.vector("input_layernorm.weight", 2048);
  b.vector("post_attention_layernorm.weight", 2048);
}

// A 3-D (video) diffusion transformer: dim 5120, feed-forward 13824; six modulation vectors that
// form a single row, so that only rank 0 owns any of them.
void wan22_14b(Builder& b) {
  b.list.description = "one block of a 3-D diffusion transformer of Wan2.2's size (14B)";
  b.exact("modulation", 1, 6 * b.size(5120));
  for (const std::string attention : {"self_attn", "cross_attn"}) {
    for (const std::string part : {".q", ".k", ".v", ".o"}) b.linear(attention + part, 5120, 5120);
    b.vector(attention + ".norm_q.weight", 5120);
    b.vector(attention + ".norm_k.weight", 5120);
  }
  b.vector("norm3.weight", 5120);
  b.vector("norm3.bias", 5120);
  b.linear("ffn.0", 13824, 5120);
  b.linear("ffn.2", 5120, 13824);
}

void small(Builder& b) {
  b.list.description = "32 parameters of 1024 elements (2 KiB in bf16)";
  for (int p = 0; p < 32; ++p) b.exact(fmt::format("small.{}", p), 32, 32);
}

}  // namespace

std::int64_t ParamList::full_bytes() const {
  std::int64_t bytes = 0;
  for (const Param& p : params) bytes += p.elems() * static_cast<MPI_Count>(elem_bytes(p.dtype));
  return bytes;
}

std::vector<std::string> model_names() { return {"llama70b", "qwen30b", "wan14b", "small"}; }

ParamList model_list(const std::string& name, double scale, int dtype) {
  Builder b{scale, dtype, {name, "", "", scale, {}}};
  if (name == "llama70b")
    llama_70b(b);
  else if (name == "qwen30b")
    qwen3_30b(b);
  else if (name == "wan14b")
    wan22_14b(b);
  else
    small(b);
  if (name == "small") b.list.scale = 1;
  return b.list;
}

double scale_for_mib(const std::string& name, double mib) {
  const double wanted_bytes = mib * 1024 * 1024;
  double low = 0, high = 1;  // bytes grow with the scale, in steps because sizes are rounded
  for (int step = 0; step < 50; ++step) {
    const double mid = (low + high) / 2;
    const auto bytes = static_cast<double>(model_list(name, mid, MPIX_TIDE_BF16).full_bytes());
    (bytes < wanted_bytes ? low : high) = mid;
  }
  const auto bytes_at = [&](double scale) {
    return static_cast<double>(model_list(name, scale, MPIX_TIDE_BF16).full_bytes());
  };
  if (bytes_at(1) <= wanted_bytes) return 1;
  return wanted_bytes - bytes_at(low) < bytes_at(high) - wanted_bytes ? low : high;
}

}  // namespace perf
