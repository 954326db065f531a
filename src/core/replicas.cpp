// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/replicas.hpp"

#include <cmath>
#include <new>

#include "core/agreed_words.hpp"
#include "core/allocate.hpp"
#include "core/log.hpp"
#include "core/owned_info.hpp"
#include "core/progress.hpp"
#include "mpix_tide.h"

namespace tide {
namespace {

constexpr size_t align_bytes = 64;

int64_t shard_elems(const Group& group, size_t p) {
  const Param& param = group.params()[p];
  return group.rows_of(static_cast<int>(p), group.context().comm_rank()) * param.shape.row_elems;
}

// What is wrong with this rank's arguments, as rank `me` of the replicas.
Status check(const Group& group, const ReplicaArguments& a, int me) {
  const auto report = [&](Kind kind, Fault fault, size_t p = SIZE_MAX) {
    return Status{me, static_cast<int16_t>(kind), fault, static_cast<int32_t>(p)};
  };
  const auto& params = group.params();
  if (a.wrong) {
    log(Level::error, fmt::format("rank {}: {}", me, a.wrong->error.what()));
    return report(Kind::buffer, Fault::told, static_cast<size_t>(a.wrong->param));
  }
  if (a.op != MPIX_TIDE_SUM && a.op != MPIX_TIDE_AVG) return report(Kind::arg, Fault::replica_op);
  if (a.dtype < 0 || a.dtype > MPIX_TIDE_FP64) return report(Kind::arg, Fault::replica_dtype);
  if (!std::isfinite(a.scale)) return report(Kind::arg, Fault::bad_scale);
  if (!params.empty() && !a.shards) return report(Kind::buffer, Fault::null_list);
  for (size_t p = 0; p < params.size(); p++) {
    if (params[p].frozen) continue;
    const Dtype dtype = params[p].shard_or(a.dtype);
    if (dtype == Dtype::uint8) return report(Kind::unsupported, Fault::uint8_gradient, p);
    if (shard_elems(group, p) == 0) continue;
    if (!a.shards[p]) return report(Kind::buffer, Fault::replica_null, p);
    if (reinterpret_cast<uintptr_t>(a.shards[p]) % bytes_of(dtype))
      return report(Kind::buffer, Fault::replica_unaligned, p);
  }
  return {};
}

// The group's own settings, and additions in the order of ranks.
void copy_settings(const Group& group, OwnedInfo& info) {
  info.set("tide_order", "rank");
  for (const char* key :
       {"tide_rail", "tide_rail_devices", "tide_foreign", "tide_chunk_bytes", "tide_eager_bytes",
        "tide_rail_inflight_bytes", "tide_timeout", "tide_progress"})
    if (const std::string& value = group.settings().text(key); !value.empty()) info.set(key, value);
}

Arguments reducing(const ReplicaArguments& a) {
  Arguments r;
  r.reduce = true;
  r.op = a.op;
  r.scale = a.scale;
  r.out_dtype = a.dtype;
  return r;
}

std::vector<Param> flat_params(const Group& group, int dtype) {
  std::vector<Param> list;
  for (size_t p = 0; p < group.params().size(); p++) {
    Param flat;
    const Param& param = group.params()[p];
    const Dtype type = param.shard_or(dtype);
    flat.shape = {param.frozen ? 0 : shard_elems(group, p), 1, 0};
    flat.full = flat.shard = flat.grad = type;
    flat.dtype = static_cast<int>(type);
    flat.types = MPIX_TIDE_TYPES(flat.dtype, param.frozen ? MPIX_TIDE_NOGRAD : flat.dtype);
    flat.frozen = param.frozen;
    list.push_back(flat);
  }
  return list;
}

std::shared_ptr<Group> make_group(const Group& of, const ReplicaArguments& a) {
  std::vector<std::string> names;
  for (size_t p = 0; p < of.params().size(); p++)
    names.push_back(of.param_name(static_cast<int64_t>(p)));
  OwnedInfo settings;
  copy_settings(of, settings);
  try {
    auto made = Group::create(a.replica, flat_params(of, a.dtype), nullptr, settings, {},
                              SetupCall::replica_allreduce);
    made->set_names("", names);
    return made;
  } catch (const Error& e) {
    if (e.kind() != Kind::mismatch) throw;
    throw Error(Kind::mismatch,
                "{} (rows: elements of a rank's shard); the ranks of replica must own the same "
                "rows, as those of MPIX_Tide_comm_grid do",
                e.what());
  }
}

// Which rows of each parameter this rank owns; how many the groups have compared.
AgreedWords first_rows(const Group& group) {
  AgreedWords words;
  for (size_t p = 0; p < group.params().size(); p++) {
    const auto param = static_cast<int>(p);
    const int rank = group.context().comm_rank();
    const std::string& name = group.param_name(param);
    if (!group.params()[p].frozen && group.rows_of(param, rank))
      words.add(fmt::format("parameter {}{}: the shard's first row", p,
                            name.empty() ? "" : fmt::format(" ({})", name)),
                group.rows().first(param, rank));
  }
  return words;
}

std::shared_ptr<void> aligned(size_t bytes) {
  return {::operator new (bytes + align_bytes, std::align_val_t{align_bytes}),
          [](void* at) { ::operator delete (at, std::align_val_t{align_bytes}); }};
}

// Collective.  Memory that the replicas of a node reach.
std::shared_ptr<void> on_device(Context& context, size_t bytes) {
  OwnedInfo info;
  info.set("mpi_memory_alloc_kinds", "cuda:device");
  void* base = allocate(context, static_cast<int64_t>(bytes + align_bytes), info);
  return {base, [&process = context.process()](void* at) { process.memory.remove(at); }};
}

}  // namespace

const Replicas::Pair& Replicas::make(Group& group, Context& context, const ReplicaArguments& a) {
  Pair pair{make_group(group, a), make_group(group, a), {}};
  const Group& flat = *pair.reduce;
  const Context::Setup setup(context, group.limit_s(), SetupCall::replica_allreduce);
  AgreedWords rows;
  context.together([&] { rows = first_rows(group); });
  compare(context, rows,
          "the ranks of replica must own the same rows, as those of MPIX_Tide_comm_grid do");
  int64_t on_host = 1;
  for (size_t p = 0; p < flat.params().size(); p++)
    if (flat.rows_of(static_cast<int>(p), context.comm_rank()) && gpu::device_of(a.shards[p]) >= 0)
      on_host = 0;
  context.least(&on_host, 1);
  std::vector<size_t> at;
  size_t bytes = 0;
  context.together([&] {
    for (size_t p = 0; p < flat.params().size(); p++) {
      at.push_back(bytes);
      const auto rows = static_cast<size_t>(flat.rows_of(static_cast<int>(p), context.comm_rank()));
      bytes +=
          (rows * bytes_of(flat.params()[p].full) + align_bytes - 1) / align_bytes * align_bytes;
    }
  });
  std::shared_ptr<void> memory;
  if (on_host)
    context.together([&] { memory = aligned(bytes); });
  else
    memory = on_device(context, bytes);
  for (size_t offset : at) pair.sums.push_back(static_cast<std::byte*>(memory.get()) + offset);
  pair.reduce->own(memory);
  pair.gather->own(memory);
  pair.reduce->tell_async_errors_to(group.weak_from_this());
  pair.gather->tell_async_errors_to(group.weak_from_this());
  const std::lock_guard lock(mutex_);
  return pairs_[{&context, a.dtype}] = std::move(pair);
}

std::unique_ptr<Request> Replicas::request(Group& group, const ReplicaArguments& a) {
  const auto context = Context::of(a.replica, group.limit_s());
  const Pair* pair = nullptr;
  const Status wrong = check(group, a, context->comm_rank());
  if (wrong.good()) {
    const std::lock_guard lock(mutex_);
    const auto known = pairs_.find({context.get(), a.dtype});
    if (known != pairs_.end()) pair = &known->second;
  }
  if (!pair) {
    // A peer that has its groups starts the reduce-scatter: then both calls fail, and its second
    // one is not begun.
    Arguments question = reducing(a);
    question.out_dtype = std::max(0, std::min<int>(a.dtype, MPIX_TIDE_UINT8));
    question.wrong = wrong;
    const auto plain = context->plain_group();
    try {
      run(plain, question);
    } catch (const Error& e) {
      const std::lock_guard lock(context->mutex);
      if (e.kind() != Kind::request) context->count_call();
      throw;
    }
    pair = &make(group, *context, a);
  }
  Arguments sum = reducing(a), land;
  sum.inputs = a.shards;
  sum.outputs = pair->sums.data();
  land.inputs = pair->sums.data();
  land.outputs = a.shards;
  return std::make_unique<Request>(std::make_unique<Request>(pair->reduce, sum, false),
                                   pair->gather, land);
}

std::shared_ptr<Group> Context::plain_group() {
  if (plain_group_) return plain_group_;
  auto made = Group::create(user_, {}, nullptr, MPI_INFO_NULL, {}, SetupCall::replica_allreduce);
  made->borrow_context();
  return plain_group_ = made;
}

}  // namespace tide
