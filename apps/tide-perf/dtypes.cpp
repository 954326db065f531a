// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "dtypes.hpp"

#include <array>
#include <cstring>

namespace perf {
namespace {

struct Dtype {
  int id;
  const char* name;
  std::size_t bytes;
};
constexpr std::array<Dtype, 5> dtypes{{{MPIX_TIDE_BF16, "bf16", 2},
                                       {MPIX_TIDE_FP16, "fp16", 2},
                                       {MPIX_TIDE_FP32, "fp32", 4},
                                       {MPIX_TIDE_FP64, "fp64", 8},
                                       {MPIX_TIDE_UINT8, "uint8", 1}}};

template <class T>
void put(void* dst, T value) {
  std::memcpy(dst, &value, sizeof value);
}

}  // namespace

std::size_t elem_bytes(int dtype) {
  for (const Dtype& d : dtypes)
    if (d.id == dtype) return d.bytes;
  return 0;
}

std::string dtype_name(int dtype) {
  for (const Dtype& d : dtypes)
    if (d.id == dtype) return d.name;
  return "own";
}

int dtype_from_name(const std::string& name) {
  for (const Dtype& d : dtypes)
    if (name == d.name) return d.id;
  return 0;
}

void encode(void* dst, int dtype, double value) {
  switch (dtype) {
    case MPIX_TIDE_BF16:
      return put(dst, to_bf16(static_cast<float>(value)));
    case MPIX_TIDE_FP16:
      return put(dst, static_cast<Fp16>(static_cast<float>(value)));
    case MPIX_TIDE_FP32:
      return put(dst, static_cast<float>(value));
    case MPIX_TIDE_FP64:
      return put(dst, value);
    default:
      return put(dst, static_cast<std::uint8_t>(static_cast<int>(value)));
  }
}

}  // namespace perf
