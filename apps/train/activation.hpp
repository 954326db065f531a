// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>

namespace train {

// Padé-like approximation, accurate to about 1e-7: unlike std::tanh it is vectorised.
inline float quick_tanh(float x) {
  x = std::min(std::max(x, -7.9f), 7.9f);
  const float s = x * x;
  float p = -2.76076847742355e-16f;
  p = p * s + 2.00018790482477e-13f;
  p = p * s + -8.60467152213735e-11f;
  p = p * s + 5.12229709037114e-08f;
  p = p * s + 1.48572235717979e-05f;
  p = p * s + 6.37261928875436e-04f;
  p = p * s + 4.89352455891786e-03f;
  float q = 1.19825839466702e-06f;
  q = q * s + 1.18534705686654e-04f;
  q = q * s + 2.26843463243900e-03f;
  q = q * s + 4.89352518554385e-03f;
  return x * p / q;
}

constexpr float kGelu = 0.7978845608f, kCubic = 0.044715f;  // of its approximation by tanh

}  // namespace train
