// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The layers of a model, gathered, prefetched and reduced visit by visit.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tide/group.hpp>
// After it, which says that C++20 is needed.
#include <tide_bindings.h>

namespace tide {
inline namespace cxx0 {

enum class PipelineMode : int {
  in_place = MPIX_TIDE_IN_PLACE_MODE,
  slot_reuse = MPIX_TIDE_SLOT_REUSE_MODE
};
inline constexpr int layer_keep = MPIX_TIDE_LAYER_KEEP, layer_frozen = MPIX_TIDE_LAYER_FROZEN;

/// What a training step does; see MPIX_Tide_schedule.
struct Schedule {
  std::vector<std::reference_wrapper<const Group>> layers;
  std::vector<int> layer_flags;                       // empty: none
  std::optional<std::vector<int>> forward, backward;  // none: all in order, and their reverse
  PipelineMode mode = PipelineMode::in_place;
  int prefetch = 1;
  bool reshard_after_forward = true;
};

/// Storage of one visit's parameters (Void: const void) or gradients, which the pipeline owns.
template <class Void>
class LayerView {
 public:
  explicit LayerView(const List<Void>& pieces) : pieces_(pieces) {}
  /// The elements of one parameter.  Throws where T is not their type.
  template <Element T>
  auto piece(std::size_t param) const {
    using Value = std::conditional_t<std::is_const_v<Void>, const T, T>;
    if (param >= pieces_.size())
      throw Error(MPI_ERR_ARG, "LayerView: parameter " + std::to_string(param) + " of " +
                                   std::to_string(pieces_.size()) + "; they count from 0");
    const Extent extent = pieces_.extents()[param];
    if (extent.dtype != dtype_of<T> && extent.dtype != Dtype::own)
      throw Error(MPI_ERR_ARG, "LayerView: parameter " + std::to_string(param) + " is " +
                                   name(extent.dtype) + ", not " + name(dtype_of<T>) +
                                   "; ask for its own type");
    return std::span<Value>(static_cast<Value*>(pieces_[param]), extent.elems);
  }
  std::size_t size() const noexcept { return pieces_.size(); }
  const List<Void>& pieces() const noexcept { return pieces_; }

 private:
  List<Void> pieces_;
};

struct PipelineSizes {
  MPI_Count param_bytes = 0, grad_bytes = 0, workspace_bytes = 0;
};

/// mpix_tide.h says which call is due when, and how long storage lives.  Freed while a micro-batch
/// is under way it leaves operations behind that still use the shards: finish first.
class Pipeline {
 public:
  Pipeline() = default;
  /// Collective over the groups' communicator.
  explicit Pipeline(const Schedule& s, MPI_Info info = MPI_INFO_NULL) {
    std::vector<MPIX_Tide_group> groups;
    for (const Group& group : s.layers) groups.push_back(group.handle());
    std::vector<int> flags = s.layer_flags;
    if (!flags.empty() && flags.size() != groups.size()) {  // refused on all ranks
      PMPIX_Tide_next_wrong(
          MPI_ERR_ARG,
          ("layer_flags has " + std::to_string(flags.size()) + " elements but layers has " +
           std::to_string(groups.size()) + "; pass one for each layer, or none")
              .c_str());
      flags.resize(groups.size());
    }
    const int none = 0;  // an empty list has an address
    const auto address = [&](const std::optional<std::vector<int>>& list) {
      return !list ? nullptr : list->empty() ? &none : list->data();
    };
    MPIX_Tide_schedule schedule{};
    schedule.nlayers = static_cast<int>(groups.size());
    schedule.groups = groups.data();
    schedule.layer_flags = flags.empty() ? nullptr : flags.data();
    schedule.nforward = s.forward ? static_cast<int>(s.forward->size()) : 0;
    schedule.forward = address(s.forward);
    schedule.nbackward = s.backward ? static_cast<int>(s.backward->size()) : 0;
    schedule.backward = address(s.backward);
    schedule.mode = static_cast<int>(s.mode);
    schedule.prefetch = s.prefetch;
    schedule.reshard_after_forward = s.reshard_after_forward;
    check(MPIX_Tide_pipeline_create(&schedule, info, &handle_));
    for (const Group& group : s.layers) {
      Layer layer;
      for (std::size_t p = 0; p < group.params().size(); p++) {
        layer.params.push_back(group.extent(p, What::full));
        layer.shards.push_back(group.extent(p, What::shard));
        layer.grads.push_back(group.extent(p, What::grad));
      }
      layers_.push_back(std::move(layer));
    }
  }
  ~Pipeline() {
    if (handle_ && !detail::finalized()) MPIX_Tide_pipeline_free(&handle_);
  }
  Pipeline(Pipeline&& other) noexcept { swap(other); }
  Pipeline& operator=(Pipeline&& other) noexcept {
    Pipeline taken(std::move(other));
    swap(taken);
    return *this;
  }
  void swap(Pipeline& other) noexcept {
    std::swap(handle_, other.handle_);
    layers_.swap(other.layers_);
  }

  /// Local: a layer's shards, and where the reduced gradients go (their element type is reduce's).
  void bind(int layer, const Inputs& shards, const Outputs& grad_shards) {
    bind(layer, shards, grad_shards.pointers(), grad_shards.extents());
  }
  /// The same for a frozen layer.
  void bind(int layer, const Inputs& shards) {
    bind(layer, shards, nullptr, std::vector<Extent>(shards.size()));
  }

  // stream: none, or one of a device, in whose order the call is made.
  void begin(void* stream = nullptr) { check(MPIX_Tide_pipeline_begin(handle_, 0, stream)); }
  /// Gradients of this micro-batch stay here and are reduced with the next one's.
  void begin_no_sync(void* stream = nullptr) {
    check(MPIX_Tide_pipeline_begin(handle_, MPIX_TIDE_NO_SYNC, stream));
  }
  [[nodiscard]] LayerView<const void> gather(int layer, void* stream = nullptr) {
    std::vector<void*> at(count(layer));
    check(MPIX_Tide_pipeline_gather(handle_, layer, at.data(), stream));
    return view<const void>(at, this->layer(layer).params);
  }
  void release(int layer, void* stream = nullptr) {
    check(MPIX_Tide_pipeline_release(handle_, layer, stream));
  }
  [[nodiscard]] LayerView<void> grads(int layer, void* stream = nullptr) {
    std::vector<void*> at(count(layer));
    check(MPIX_Tide_pipeline_grads(handle_, layer, at.data(), stream));
    return view<void>(at, this->layer(layer).grads);
  }
  void reduce(int layer, Op op, double scale = 1.0, Dtype out = Dtype::own,
              void* stream = nullptr) {
    check(MPIX_Tide_pipeline_reduce(handle_, layer, static_cast<int>(out), static_cast<int>(op),
                                    scale, stream));
  }
  void finish(void* stream = nullptr) { check(MPIX_Tide_pipeline_finish(handle_, stream)); }

  PipelineSizes sizes() const {
    PipelineSizes s;
    check(MPIX_Tide_pipeline_sizes(handle_, &s.param_bytes, &s.grad_bytes, &s.workspace_bytes));
    return s;
  }
  /// For the C interface.
  MPIX_Tide_pipeline handle() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != MPIX_TIDE_PIPELINE_NULL; }

 private:
  struct Layer {
    std::vector<Extent> params, shards, grads;
  };
  const Layer& layer(int which) const { return layers_[static_cast<std::size_t>(which)]; }
  // 0 where there is no such layer: the call says so.
  std::size_t count(int which) const {
    const bool known = which >= 0 && static_cast<std::size_t>(which) < layers_.size();
    return known ? layer(which).params.size() : 0;
  }
  template <class Void>
  static LayerView<Void> view(const std::vector<void*>& at, const std::vector<Extent>& extents) {
    List<Void> pieces;
    for (std::size_t p = 0; p < at.size(); p++) pieces.add({at[p], extents[p]});
    return LayerView<Void>(pieces);
  }
  struct Told {  // of a list, to the library
    explicit Told(const std::vector<Extent>& extents) {
      for (const Extent& e : extents) {
        dtypes.push_back(static_cast<int>(e.dtype));
        elems.push_back(e.dtype == Dtype::own ? -1 : static_cast<MPI_Count>(e.elems));
      }
    }
    MPIX_Tide_arrays arrays() const {
      return {static_cast<int>(dtypes.size()), dtypes.data(), elems.data()};
    }
    std::vector<int> dtypes;
    std::vector<MPI_Count> elems;
  };
  void bind(int which, const Inputs& shards, void* const* out, const std::vector<Extent>& outs) {
    const std::size_t want = count(which), out_size = outs.size();
    const std::string start = "Pipeline::bind: layer " + std::to_string(which) + ": ";
    if (want && (shards.size() != want || out_size != want))
      throw Error(MPI_ERR_ARG, start + "the lists have " + std::to_string(shards.size()) + " and " +
                                   std::to_string(out_size) + " pieces, the group has " +
                                   std::to_string(want) + " parameters; pass one for each");
    for (std::size_t p = 0; p < want; p++)
      if (const Extent have = shards.extents()[p];
          have.dtype != Dtype::own && have != layer(which).shards[p])
        throw Error(MPI_ERR_ARG, start + "parameter " + std::to_string(p) +
                                     ": the shard has another length or type; pass this rank's "
                                     "rows");
    const Told results(outs);  // operations tell what does not fit, on all ranks
    const MPIX_Tide_arrays arrays = results.arrays();
    if (out && want) PMPIX_Tide_next_lists(nullptr, &arrays);
    check(MPIX_Tide_pipeline_bind(handle_, which, shards.pointers(), out));
  }

  MPIX_Tide_pipeline handle_ = MPIX_TIDE_PIPELINE_NULL;
  std::vector<Layer> layers_;
};

}  // namespace cxx0
}  // namespace tide
