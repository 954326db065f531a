// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Kokkos views as parameters, shards and gradients.  The sharded dimension is the one that varies
// slowest in memory: the first of a LayoutRight view, the last of a LayoutLeft view.  Views are
// contiguous; others are refused, LayoutStride by the compiler, the rest by an Error.
#pragma once
#include <Kokkos_Core.hpp>
#include <tide/tide.hpp>

#include <cstddef>
#include <string>
#include <type_traits>

namespace tide {
inline namespace cxx0 {

// Where Kokkos has types of its own for them; else they are float.
#if defined(KOKKOS_HALF_T_IS_FLOAT) && !KOKKOS_HALF_T_IS_FLOAT
template <>
struct DtypeOf<Kokkos::Experimental::half_t> : DtypeIs<Dtype::fp16> {};
#endif
#if defined(KOKKOS_BHALF_T_IS_FLOAT) && !KOKKOS_BHALF_T_IS_FLOAT
template <>
struct DtypeOf<Kokkos::Experimental::bhalf_t> : DtypeIs<Dtype::bf16> {};
#endif

/// The stream of an execution space, on which calls are put; `exists` is false for those of the
/// host.  Specialise it for execution spaces that are not known here.
template <class Space>
struct StreamOf {
  static constexpr bool exists = false;
};
#ifdef KOKKOS_ENABLE_CUDA
template <>
struct StreamOf<Kokkos::Cuda> {
  static constexpr bool exists = true;
  static void* of(const Kokkos::Cuda& space) { return space.cuda_stream(); }
};
#endif

namespace detail {

template <class View>
inline constexpr bool is_right = std::is_same_v<typename View::array_layout, Kokkos::LayoutRight>;
template <class View>
inline constexpr std::size_t rank_of = static_cast<std::size_t>(View::rank);
template <class View>
inline constexpr std::size_t sharded_dimension = is_right<View> ? 0 : rank_of<View> - 1;

template <class View>
constexpr void check_view() {
  static_assert(Kokkos::is_view<View>::value, "tide: pass Kokkos::View objects");
  constexpr bool left = std::is_same_v<typename View::array_layout, Kokkos::LayoutLeft>;
  static_assert(is_right<View> || left,
                "tide: a view with strides is no parameter: use LayoutRight (its first dimension "
                "is sharded) or LayoutLeft (its last is), or copy it into such a view");
  static_assert(rank_of<View> >= 1, "tide: a view of rank 0 has no rows: use one of one element");
  static_assert(Element<typename View::value_type>,
                "tide: this element type is not known: specialise tide::DtypeOf for it");
  static_assert(
      MPIX_TIDE_HAVE_CUDA ||
          Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename View::memory_space>::accessible,
      "tide: this Tide was built without GPU memory: pass views that the host can read");
}

template <class Void, class View>
Piece<Void> piece(const View& view) {
  check_view<View>();
  if (view.size() != 0 && !view.span_is_contiguous())
    throw Error(MPI_ERR_BUFFER, "view \"" + view.label() +
                                    "\" is not contiguous (a subview, or padded): pass the whole "
                                    "view, or a copy of it");
  return {view.data(), Extent{view.size(), dtype_of<typename View::value_type>}};
}

}  // namespace detail

/// A view as one piece of a list, for Inputs::add and Outputs::add.
template <class View>
Piece<const void> input(const View& view) {
  return detail::piece<const void>(view);
}
template <class View>
Piece<void> output(const View& view) {
  static_assert(!std::is_const_v<typename View::value_type>, "tide: an output is written");
  return detail::piece<void>(view);
}

/// One view per parameter.  The list refers to their memory and does not keep it alive.
template <class... Views>
Inputs inputs(const Views&... views) {
  return {input(views)...};
}
template <class... Views>
Outputs outputs(const Views&... views) {
  return {output(views)...};
}

/// The parameter whose gathered elements fill a view like this one; element types of the shard and
/// of the gradient, where they are others than the view's.
template <class Shard = void, class Grad = void, class View>
Param param_of(const View& view, MPI_Count block_rows = 0) {
  detail::check_view<View>();
  using Full = std::remove_cv_t<typename View::value_type>;
  using S = std::conditional_t<std::is_void_v<Shard>, Full, Shard>;
  using G = std::conditional_t<std::is_void_v<Grad>, Full, Grad>;
  MPI_Count row_elems = 1;
  for (std::size_t d = 0; d < detail::rank_of<View>; d++)
    if (d != detail::sharded_dimension<View>) row_elems *= static_cast<MPI_Count>(view.extent(d));
  const auto rows = static_cast<MPI_Count>(view.extent(detail::sharded_dimension<View>));
  return param<Full, S, G>(rows, row_elems, block_rows);
}

/// One parameter's piece of Tide memory as a view; the memory must outlive it.  row_extents: the
/// view's dimensions in their order, without the sharded one; not needed up to rank 2.
template <class DataType, class Layout = Kokkos::LayoutRight, class... Extents>
auto view(const GroupMemory& memory, std::size_t param, Extents... row_extents) {
  using View =
      Kokkos::View<DataType, Layout, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  detail::check_view<View>();
  constexpr std::size_t rank = detail::rank_of<View>, given = sizeof...(Extents);
  static_assert(static_cast<std::size_t>(View::rank_dynamic) == rank,
                "tide: write all dimensions of the view as *");
  static_assert(given + 1 == rank || (given == 0 && rank == 2),
                "tide: pass the dimensions of a row: all of the view's but the sharded one");
  const auto elems = memory.template piece<typename View::non_const_value_type>(param);
  const std::size_t row_elems = memory.row_elems(param), sharded = detail::sharded_dimension<View>;
  typename View::array_layout layout;
  std::size_t asked = given + 1 == rank ? 1 : row_elems, d = 0;
  if constexpr (given == 0 && rank == 2) layout.dimension[1 - sharded] = row_elems;
  ((d += d == sharded, layout.dimension[d++] = static_cast<std::size_t>(row_extents),
    asked *= static_cast<std::size_t>(row_extents)),
   ...);
  if (asked != row_elems)
    throw Error(MPI_ERR_ARG, "view of parameter " + std::to_string(param) + ": rows of " +
                                 std::to_string(asked) + " elements are asked for, its rows have " +
                                 std::to_string(row_elems) + "; pass the dimensions of a row");
  layout.dimension[sharded] = row_elems == 0 ? 0 : elems.size() / row_elems;
  return View(elems.data(), layout);
}

/// Of Kokkos, or of somebody who has specialised StreamOf.
template <class T>
concept ExecutionSpace = Kokkos::is_execution_space<T>::value || StreamOf<T>::exists;

/// The collectives after what `space` has been given: on its stream, where it has one; else when
/// that is done, blocking.
template <ExecutionSpace Space>
void allgather(const Space& space, const Group& group, const Inputs& shards,
               const Outputs& params) {
  if constexpr (StreamOf<Space>::exists) {
    group.allgather_enqueue(shards, params, StreamOf<Space>::of(space));
  } else {
    space.fence();
    group.allgather(shards, params);
  }
}
template <ExecutionSpace Space>
void reduce_scatter(const Space& space, const Group& group, const Inputs& grads,
                    const Outputs& shards, Op op, double scale = 1.0, Dtype out = Dtype::own) {
  if constexpr (StreamOf<Space>::exists) {
    group.reduce_scatter_enqueue(grads, shards, op, scale, out, StreamOf<Space>::of(space));
  } else {
    space.fence();
    group.reduce_scatter(grads, shards, op, scale, out);
  }
}

}  // namespace cxx0
}  // namespace tide
