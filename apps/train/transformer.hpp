// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A small decoder-only transformer: pre-norm blocks, causal attention, tied embeddings.  Each half
// of a block is a layer of its own, so that lists are uneven; the embedding is visited twice.
// Attention: A. Vaswani et al., "Attention Is All You Need", 2017.
#pragma once
#include <vector>

#include "task.hpp"
#include "weights.hpp"

namespace train {

struct TransformerShape {
  int64_t tokens, context, width, heads, blocks;
};

/// Layers: embedding, attention and mlp of each block, final.  Visits: these, then the embedding.
Architecture transformer(const TransformerShape& shape);

class Transformer {
 public:
  Transformer(const TransformerShape& shape, int64_t max_sequences);
  /// Collective.  Begins a step.  text [sequences x (context + 1)]: each token is to be told from
  /// those before it in its sequence.  The cross-entropy, in nats.
  Loss forward(Weights& weights, const uint8_t* text, int64_t sequences);
  /// Collective, after forward of the same text: averages the gradients of `scale` times the loss
  /// into the pieces and finishes the step.
  void backward(Weights& weights, const uint8_t* text, int64_t sequences, float scale);
  /// After forward: the loss's derivative by the logits, [sequences, context, tokens].
  const std::vector<float>& derivative() const { return logits_; }
  int64_t max_sequences() const { return max_sequences_; }
  int64_t bytes() const;

 private:
  using Values = std::vector<float>;
  struct Norm {
    Values normed, inverse;  // [rows x width] before gain and bias, [rows]
  };
  struct Attention {
    Norm norm;
    Values qkv, shares,
        mixed;  // [rows x 3 width], [sequences, heads, context x context], [rows x width]
  };
  struct Mlp {
    Norm norm;
    Values before, tanh, after;  // [rows x 4 width]
  };
  void normalise(const float* const* w, int64_t rows, Norm& norm);
  void normalise_back(const float* const* w, int64_t rows, const Norm& norm, float* const* grads);
  void rescale(const float* const* w, int64_t rows, const Norm& norm);
  void attend(const float* const* w, int64_t sequences, Attention& a);
  void attend_back(const float* const* w, int64_t sequences, Attention& a, float* const* grads);
  void expand(const float* const* w, int64_t rows, Mlp& m);
  void expand_back(const float* const* w, int64_t rows, Mlp& m, float* const* grads);
  Loss cross_entropy(const uint8_t* text, int64_t sequences);

  TransformerShape shape_;
  int64_t max_sequences_;
  std::vector<Layer> layers_;
  LayerBuffer grads_;
  std::vector<Attention> attention_;
  std::vector<Mlp> mlp_;
  Norm final_;
  Values x_, h_, logits_;        // residual; normed times gain; [rows x tokens]
  Values dx_, dh_, dwide_, ds_;  // their gradients; [rows x 4 width]; [context x context]
};

}  // namespace train
