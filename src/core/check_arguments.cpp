// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a rank can see wrong with its own arguments before it enters a call.
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "core/call.hpp"
#include "mpix_tide.h"

namespace tide {
namespace {

struct Range {
  uintptr_t begin, end;
  int64_t param;
};

Status report(const Group& group, Kind kind, Fault fault, int64_t param = -1) {
  return {group.context().comm_rank(), static_cast<int16_t>(kind), fault,
          static_cast<int32_t>(param)};
}

Status check_reduce(const Group& group, const Arguments& a) {
  const int op = a.op & ~(MPIX_TIDE_ACCUMULATE | MPIX_TIDE_NULL_IS_ZERO);
  if (op != MPIX_TIDE_SUM && op != MPIX_TIDE_AVG) return report(group, Kind::arg, Fault::bad_op);
  if (a.out_dtype < 0 || a.out_dtype > MPIX_TIDE_UINT8)
    return report(group, Kind::arg, Fault::bad_out_dtype);
  if (!std::isfinite(a.scale)) return report(group, Kind::arg, Fault::bad_scale);
  const auto& params = group.params();
  for (size_t p = 0; p < params.size(); p++) {
    if (params[p].frozen) continue;
    if (params[p].grad == Dtype::uint8)
      return report(group, Kind::unsupported, Fault::uint8_gradient, static_cast<int64_t>(p));
    const Dtype out = a.out_dtype ? static_cast<Dtype>(a.out_dtype) : params[p].shard;
    if (!may_sum_into(params[p].grad, out))
      return report(group, Kind::unsupported, Fault::out_dtype, static_cast<int64_t>(p));
  }
  return {};
}

Status check_gather(const Group& group, const Arguments& a) {
  const auto& params = group.params();
  for (size_t p = 0; p < params.size(); p++) {
    if (!may_gather_as(params[p].shard, params[p].full))
      return report(group, Kind::unsupported, Fault::gather_types, static_cast<int64_t>(p));
    if (a.in_place && params[p].shard != params[p].full)
      return report(group, Kind::unsupported, Fault::in_place_types, static_cast<int64_t>(p));
  }
  return {};
}

// Outputs must not overlap each other, nor inputs: but a shard may be its own rows of the gathered
// parameter.
Status check_overlap(const Group& group, const std::vector<Range>& inputs,
                     std::vector<Range> outputs, bool reduce) {
  std::sort(outputs.begin(), outputs.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < outputs.size(); i++)
    if (outputs[i].begin < outputs[i - 1].end)
      return report(group, Kind::buffer, Fault::outputs_overlap,
                    std::max(outputs[i].param, outputs[i - 1].param));
  const int me = group.context().comm_rank();
  for (const Range& in : inputs) {
    auto out = std::upper_bound(outputs.begin(), outputs.end(), in.begin,
                                [](uintptr_t at, const Range& r) { return at < r.end; });
    for (; out != outputs.end() && out->begin < in.end; ++out) {
      const Param& param = group.params()[static_cast<size_t>(out->param)];
      const uintptr_t own =
          out->begin + static_cast<uintptr_t>(group.rows().first(static_cast<int>(out->param), me) *
                                              param.shape.row_elems) *
                           bytes_of(param.full);
      if (!reduce && in.param == out->param && in.begin == own && param.shard == param.full)
        continue;
      return report(group, Kind::buffer,
                    reduce ? Fault::grads_in_outputs : Fault::inputs_in_outputs, in.param);
    }
  }
  return {};
}

// TIDE_CHECK: does this process have the memory?  Its first and last byte are read by the kernel,
// which says no where we would die.
bool have(uintptr_t begin, uintptr_t end) {
  char bytes[2];
  iovec here{bytes, 2};
  iovec there[2] = {{reinterpret_cast<void*>(begin), 1}, {reinterpret_cast<void*>(end - 1), 1}};
  return process_vm_readv(getpid(), &here, 1, there, 2, 0) == 2 || errno != EFAULT;
}

Status check_memory(const Group& group, const std::vector<Range>& inputs,
                    const std::vector<Range>& outputs) {
  for (const Range& r : inputs)
    if (!have(r.begin, r.end)) return report(group, Kind::buffer, Fault::unmapped_input, r.param);
  for (const Range& r : outputs)
    if (!have(r.begin, r.end)) return report(group, Kind::buffer, Fault::unmapped_output, r.param);
  return {};
}

// One kind of memory, and one device, in the whole call.
Status check_kinds(Group& group, Side& side, const std::vector<Range>& inputs,
                   const std::vector<Range>& outputs) {
  side.memory = inputs.empty() && outputs.empty() ? 0 : host_memory;
  if (!gpu::in_use()) return {};
  side.memory = 0;
  for (const auto* ranges : {&inputs, &outputs})
    for (const Range& r : *ranges) {
      const int device = gpu::device_of(reinterpret_cast<const void*>(r.begin));
      side.memory |= device < 0 ? host_memory : device_memory;
      if (side.memory == (host_memory | device_memory))
        return report(group, Kind::buffer, Fault::mixed_memory, r.param);
      if (device >= 0 && !group.context().adopt_device(device))
        return report(group, Kind::buffer, Fault::other_device, r.param);
    }
  return {};
}

Status check_lists(Group& group, Side& side, const Arguments& a) {
  const auto& params = group.params();
  const int me = group.context().comm_rank();
  if (!params.empty() && (!a.outputs || (!a.in_place && !a.inputs)))
    return report(group, Kind::buffer, Fault::null_list);
  std::vector<Range> inputs, outputs;
  for (size_t i = 0; i < params.size(); i++) {
    const Param& param = params[i];
    const int64_t p = static_cast<int64_t>(i);
    if (a.reduce && param.frozen) continue;
    const Dtype in_type = type_of(a, param, true), out_type = type_of(a, param, false);
    const size_t own =
        static_cast<size_t>(group.rows_of(static_cast<int>(i), me) * param.shape.row_elems);
    const size_t in_bytes = a.reduce ? side.full_bytes[i] : own * bytes_of(in_type);
    const size_t out_bytes = a.reduce ? own * bytes_of(out_type) : side.full_bytes[i];
    const bool zero_input = a.reduce && (a.op & MPIX_TIDE_NULL_IS_ZERO);
    if (in_bytes && !a.in_place) {
      const auto at = reinterpret_cast<uintptr_t>(a.inputs[i]);
      if (!at && !zero_input) return report(group, Kind::buffer, Fault::null_input, p);
      if (at % bytes_of(in_type)) return report(group, Kind::buffer, Fault::unaligned_input, p);
      if (at) inputs.push_back({at, at + in_bytes, p});
    }
    if (out_bytes) {
      const auto at = reinterpret_cast<uintptr_t>(a.outputs[i]);
      if (!at) return report(group, Kind::buffer, Fault::null_output, p);
      if (at % bytes_of(out_type)) return report(group, Kind::buffer, Fault::unaligned_output, p);
      outputs.push_back({at, at + out_bytes, p});
      if (a.reduce) {
        const Process& process = group.context().process();
        bool shared = false;
        if (const auto found = process.memory.find(a.outputs[i], out_bytes))
          process.reaches(found->segment, {}, shared);
        if (shared) return report(group, Kind::buffer, Fault::shared_output, p);
      }
    }
  }
  if (const Status s = check_kinds(group, side, inputs, outputs); !s.good()) return s;
  if (group.checks() && !(side.memory & device_memory))
    if (const Status s = check_memory(group, inputs, outputs); !s.good()) return s;
  return check_overlap(group, inputs, std::move(outputs), a.reduce);
}

}  // namespace

int64_t wanted_instead(const Group& group, const Status& s, const Fields& fields) {
  const auto& params = group.params();
  const bool input = s.fault == Fault::input_elems || s.fault == Fault::input_dtype;
  const bool of_list = s.fault == Fault::input_length || s.fault == Fault::output_length;
  if (of_list || s.param < 0 || static_cast<size_t>(s.param) >= params.size())
    return static_cast<int64_t>(params.size());
  const Param& param = params[static_cast<size_t>(s.param)];
  if (s.fault == Fault::input_elems || s.fault == Fault::output_elems)
    return input == (fields.reduce != 0) ? param.elems()
                                         : group.rows_of(s.param, s.rank) * param.shape.row_elems;
  Arguments a;
  a.reduce = fields.reduce;
  a.out_dtype = fields.out_dtype;
  return static_cast<int64_t>(type_of(a, param, input));
}

Status check_arguments(Group& group, Side& side, const Arguments& a) {
  if (a.reduce && a.in_place) return report(group, Kind::unsupported, Fault::in_place_reduce);
  if (!a.wrong.good()) return a.wrong;
  if (const Status s = a.reduce ? check_reduce(group, a) : check_gather(group, a); !s.good())
    return s;
  if (const Status s = check_lists(group, side, a); !s.good()) return s;
  return {};
}

}  // namespace tide
