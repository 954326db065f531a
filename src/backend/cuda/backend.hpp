// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The backend of device memory.  The steps of a plan are the host's; a copy or a sum is issued to a
// stream, and a signal, or the end of a lane, waits until that has done it.  The workspace is
// pinned host memory: what a rail that the host drives brings is landed from there by copy engines.
#pragma once
#include <array>
#include <memory>

#include "backend/cuda/gpu.hpp"
#include "backend/cuda/lower.hpp"
#include "backend/host/host.hpp"

namespace tide {

class CudaBackend : public HostBackend {
 public:
  CudaBackend(const Node& node, int device);
  const char* name() const override { return "cuda"; }
  void before_entry(Work& work) override;
  bool settled(Work& work, Lane lane) override;
  int device() const { return device_; }

 protected:
  bool carry_out(Work& work, Lane lane, const Op& op, Cursor& cursor, size_t& budget) override;

 private:
  struct Slot {  // a call under way
    uint64_t call = 0;
    std::shared_ptr<const gpu::Binding> binding;
    std::array<uint64_t, lane_count> issued{};  // mark of the last thing issued; 0: settled
  };
  const gpu::Binding& binding(Work& work);
  void run(const Work& work, const gpu::Lowered& lowered, gpu::Stream& stream);
  gpu::Stream& stream(Lane lane) { return lane == Lane::sum ? sum_ : copy_; }

  const int device_;
  gpu::Stream copy_, sum_, beside_;  // beside_: copies while a kernel lands
  std::array<Slot, slot_count> slots_;
  double land_again_s_ = 0;  // not before this time, where landings are capped
};

}  // namespace tide
