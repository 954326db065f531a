// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Element types, and parameters described by them.
#pragma once
#include <tide/cxx20.hpp>

#include <mpix_tide.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tide/bf16.hpp>

namespace tide {
inline namespace cxx0 {

using Param = MPIX_Tide_param;

enum class Dtype : int {
  own = 0,  // where the C interface takes 0: each parameter's own
  bf16 = MPIX_TIDE_BF16,
  fp16 = MPIX_TIDE_FP16,
  fp32 = MPIX_TIDE_FP32,
  fp64 = MPIX_TIDE_FP64,
  uint8 = MPIX_TIDE_UINT8
};

/// The element type of a C++ type.  Specialise it for types of your own that have the same bits:
///   template <> struct tide::DtypeOf<my::half> { static constexpr tide::Dtype value =
///   tide::Dtype::fp16; };
template <class T>
struct DtypeOf {};
template <Dtype D>
struct DtypeIs {
  static constexpr Dtype value = D;
};
template <>
struct DtypeOf<bf16> : DtypeIs<Dtype::bf16> {};
template <>
struct DtypeOf<float> : DtypeIs<Dtype::fp32> {};
template <>
struct DtypeOf<double> : DtypeIs<Dtype::fp64> {};
template <>
struct DtypeOf<std::uint8_t> : DtypeIs<Dtype::uint8> {};
template <>
struct DtypeOf<std::byte> : DtypeIs<Dtype::uint8> {};

template <class T>
concept Element = requires {
  { DtypeOf<std::remove_cv_t<T>>::value } -> std::convertible_to<Dtype>;
};
template <Element T>
inline constexpr Dtype dtype_of = DtypeOf<std::remove_cv_t<T>>::value;

constexpr const char* name(Dtype dtype) noexcept {
  constexpr const char* names[] = {"any type", "bf16", "fp16", "fp32", "fp64", "uint8"};
  return names[static_cast<int>(dtype)];
}

/// As a gradient type: the parameter is never reduced.
struct Frozen {};

/// A parameter by the types of the gathered elements, the shard and the gradient: param<bf16,
/// float>(rows, row_elems) has fp32 masters, gathered as bf16, with bf16 gradients.
template <Element Full, Element Shard = Full, class Grad = Full>
requires Element<Grad> || std::same_as<Grad, Frozen>
constexpr Param param(MPI_Count rows, MPI_Count row_elems = 1, MPI_Count block_rows = 0) noexcept {
  int grad = MPIX_TIDE_NOGRAD;
  if constexpr (Element<Grad>) grad = static_cast<int>(dtype_of<Grad>);
  return {rows, row_elems, block_rows, static_cast<int>(dtype_of<Full>),
          MPIX_TIDE_TYPES(static_cast<int>(dtype_of<Shard>), grad)};
}

}  // namespace cxx0
}  // namespace tide
