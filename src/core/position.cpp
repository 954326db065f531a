// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/position.hpp"

namespace tide {
namespace {

constexpr int in_bits = 8, setup_bits = 24;

// Counters wrap around; ranks are never half a turn apart.
int sign(uint32_t a, uint32_t b, int bits) {
  const auto turned = static_cast<int32_t>((a - b) << (32 - bits));
  return turned < 0 ? -1 : turned > 0;
}

}  // namespace

const char* name(SetupCall call) {
  switch (call) {
    case SetupCall::group_create:
      return "MPIX_Tide_group_create";
    case SetupCall::group_alloc:
      return "MPIX_Tide_group_alloc";
    case SetupCall::alloc:
      return "MPIX_Tide_alloc";
    case SetupCall::comm_node:
      return "MPIX_Tide_comm_node";
    case SetupCall::comm_rail:
      return "MPIX_Tide_comm_rail";
    case SetupCall::comm_grid:
      return "MPIX_Tide_comm_grid";
    case SetupCall::pipeline_create:
      return "MPIX_Tide_pipeline_create";
    case SetupCall::pipeline_begin:
      return "MPIX_Tide_pipeline_begin (that takes memory: the first, or the first with "
             "MPIX_TIDE_NO_SYNC)";
    case SetupCall::replica_allreduce:
      return "MPIX_Tide_replica_allreduce";
    case SetupCall::norm2:
      return "MPIX_Tide_norm2";
    case SetupCall::save:
      return "MPIX_Tide_save";
    case SetupCall::load:
      return "MPIX_Tide_load";
    case SetupCall::scatter:
      return "MPIX_Tide_scatter";
    case SetupCall::gather:
      return "MPIX_Tide_gather";
    default:
      return "another collective";
  }
}

uint64_t encode(const Position& p) {
  return static_cast<uint64_t>(p.calls) << (setup_bits + in_bits) |
         static_cast<uint64_t>(p.setups & ((1u << setup_bits) - 1)) << in_bits |
         static_cast<uint64_t>(p.in);
}

Position decode_position(uint64_t word) {
  Position p;
  p.calls = static_cast<uint32_t>(word >> (setup_bits + in_bits));
  p.setups = static_cast<uint32_t>(word >> in_bits) & ((1u << setup_bits) - 1);
  const auto in = static_cast<uint8_t>(word);
  if (in < static_cast<uint8_t>(SetupCall::count)) p.in = static_cast<SetupCall>(in);
  return p;
}

bool out_of_order(const Position& a, const Position& b) {
  return sign(a.calls, b.calls, 32) * sign(a.setups, b.setups, setup_bits) < 0;
}

}  // namespace tide
