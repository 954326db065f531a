// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Element types in messages: by name, not by number.
#pragma once
#include <fmt/format.h>

#include <string>

#include "mpix_tide.h"

namespace tide {

inline std::string dtype_name(int dtype) {
  switch (dtype) {
    case MPIX_TIDE_BF16:
      return "bf16";
    case MPIX_TIDE_FP16:
      return "fp16";
    case MPIX_TIDE_FP32:
      return "fp32";
    case MPIX_TIDE_FP64:
      return "fp64";
    case MPIX_TIDE_UINT8:
      return "uint8";
    case MPIX_TIDE_NOGRAD:
      return "NOGRAD";
  }
  return fmt::format("{}", dtype);
}

inline std::string types_name(int types) {  // of MPIX_Tide_param.types
  if (types == 0) return "0 (shard and gradient have dtype)";
  return fmt::format("TYPES({}, {})", dtype_name(types & 0xff), dtype_name(types >> 8));
}

}  // namespace tide
