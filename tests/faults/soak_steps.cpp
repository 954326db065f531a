// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "soak_steps.hpp"

#include <algorithm>
#include <cstring>

namespace tide_test {
namespace {

// Types that one list may mix: any of its reductions into output type 0 or `out` is permitted.
struct Family {
  std::vector<std::pair<int, int>> types;  // dtype, types
  std::vector<int> out;
};
const std::vector<Family>& families() {
  constexpr int bf16 = MPIX_TIDE_BF16, fp16 = MPIX_TIDE_FP16, fp32 = MPIX_TIDE_FP32,
                fp64 = MPIX_TIDE_FP64, none = MPIX_TIDE_NOGRAD, uint8 = MPIX_TIDE_UINT8;
  static const std::vector<Family> all{
      {{{bf16, 0}}, {0, fp32, bf16}},
      {{{bf16, types_of(fp32, bf16)}, {bf16, 0}, {fp32, 0}}, {0, fp32}},
      {{{fp16, 0}, {bf16, 0}, {uint8, types_of(uint8, none)}}, {0, fp32}},
      {{{fp32, 0}, {bf16, types_of(bf16, none)}}, {0, fp32, fp64}},
      {{{fp64, 0}}, {0, fp64}}};
  return all;
}

}  // namespace

void Soak::step() {
  usleep(static_cast<unsigned>(mix(random_(), static_cast<uint64_t>(world().rank)) % 300));  // skew
  const uint64_t what = draw(112);
  if (what < 5) return make_place();
  if (what < 9) return free_place();
  if (what < 20) return make_list();
  if (what < 27) return free_list();
  if (what < 58) return gather();
  if (what < 89) return reduce();
  if (what < 93) return store_memory();
  if (what < 97) return free_memory();
  if (what < 100) return wrong_call();
  if (what < 106) return start_several();
  complete_several();
}

Soak::Place* Soak::any_place(bool with_lists) {
  std::vector<Place*> fit;
  for (Place& p : places_)
    if (!p.comm_freed && (!with_lists || p.list_count)) fit.push_back(&p);
  const uint64_t at = draw(1000);
  return fit.empty() ? nullptr : fit[at % fit.size()];
}

void Soak::make_place() {
  const uint64_t kind = draw(6), members = random_();
  if (places_.size() >= 8) return;
  const int me = world().rank;
  MPI_Comm comm = MPI_COMM_NULL;
  if (kind == 0) comm = dup(MPI_COMM_WORLD);
  if (kind == 1) comm = split(MPI_COMM_WORLD, 0, -me);  // reversed
  if (kind == 2) comm = split(MPI_COMM_WORLD, me % 2, me);
  if (kind == 3) comm = split(MPI_COMM_WORLD, members >> me & 1 ? 0 : -1, me);  // with gaps
  if (kind == 4) comm = split(MPI_COMM_WORLD, 0, static_cast<int>(mix(members, me) % 100));
  if (kind == 5) comm = dup(MPI_COMM_SELF);
  Place place;
  if (comm != MPI_COMM_NULL) {
    place.comm = std::make_unique<Comm>(comm);
    place.team = team_of(comm);
  }
  places_.push_back(std::move(place));
  ++comms_;
}

// Whole, or the communicator first while its groups live on.
void Soak::free_place() {
  const uint64_t at = draw(1000), comm_first = draw(2);
  if (places_.empty()) return;
  Place& place = places_[at % places_.size()];
  if (place.flies) return;
  if (comm_first && place.list_count && !place.comm_freed) {
    place.comm.reset();
    place.comm_freed = true;
    return;
  }
  if (place.comm && comm_first) place.comm.reset();
  places_.erase(places_.begin() + static_cast<long>(at % places_.size()));
}

void Soak::make_list() {
  Place* place = any_place(false);
  const Family& family = families()[draw(families().size())];
  const int count = static_cast<int>(draw(4) == 0 ? draw(40) : draw(6));
  std::vector<MPIX_Tide_param> params;
  for (int p = 0; p < count; ++p) {
    const auto [dtype, types] = family.types[draw(family.types.size())];
    const auto rows = static_cast<MPI_Count>(draw(8) == 0 ? draw(600) : draw(24));
    const auto columns = static_cast<MPI_Count>(draw(70)), block = static_cast<MPI_Count>(draw(6));
    params.push_back(param(rows, columns, dtype, types, block));
  }
  const bool by_rank = draw(4) == 0, staged = draw(4) == 0, ragged = draw(4) == 0;
  const std::string chunk = std::to_string(uint64_t{64} << draw(15));
  const uint64_t cuts = random_();
  if (!place || place->list_count >= 4) return;
  ++lists_;
  ++place->list_count;
  if (!place->comm) return;
  const Info info{{"tide_order", by_rank ? "rank" : "node"},
                  {"tide_foreign", staged ? "staged" : "auto"},
                  {"tide_chunk_bytes", chunk}};
  std::vector<MPI_Count> first_row;
  for (size_t p = 0; ragged && p < params.size(); ++p) {
    params[p].block_rows = 0;
    std::vector<MPI_Count> row{0, params[p].rows};
    for (int r = 1; r < place->team.size; ++r)
      row.push_back(static_cast<MPI_Count>(mix(cuts, p, static_cast<uint64_t>(r)) %
                                           static_cast<uint64_t>(params[p].rows + 1)));
    std::sort(row.begin(), row.end());
    first_row.insert(first_row.end(), row.begin(), row.end());
  }
  place->lists.push_back(std::make_unique<List>(place->team, params, info, first_row));
}

void Soak::free_list() {
  const uint64_t at = draw(1000), which = draw(1000);
  std::vector<size_t> fit;
  for (size_t i = 0; i < places_.size(); ++i)
    if (places_[i].list_count) fit.push_back(i);
  if (fit.empty()) return;
  const size_t i = fit[at % fit.size()];
  Place& place = places_[i];
  const auto list = static_cast<long>(which % static_cast<uint64_t>(place.list_count));
  if (!place.lists.empty()) place.lists.erase(place.lists.begin() + list);
  if (--place.list_count == 0 && place.comm_freed)
    places_.erase(places_.begin() + static_cast<long>(i));
}

void Soak::gather() {
  Place* place = any_place(true);
  GatherOptions o;
  const uint64_t which = draw(1000);
  o.shards = static_cast<Memory>(draw(5));
  o.params = static_cast<Memory>(draw(5));
  o.in_place = static_cast<InPlace>(draw(4));
  o.shift_bytes = draw(2) * 8;
  o.salt = random_();
  if (!place) return;
  ++gathers_;
  if (!place->comm) return;
  const List& list = *place->lists[which % place->lists.size()];
  const bool converts = std::any_of(list.params().begin(), list.params().end(),
                                    [](const auto& p) { return shard_dtype(p) != p.dtype; });
  if (converts) o.in_place = InPlace::no;
  check_allgather(list, o);
}

void Soak::reduce() {
  Place* place = any_place(true);
  ReduceOptions o;
  const uint64_t which = draw(1000), out = draw(1000), seed = random_();
  o.grads = static_cast<Memory>(draw(5));
  o.shards = static_cast<Memory>(draw(5));
  o.op = draw(2) ? MPIX_TIDE_SUM : MPIX_TIDE_AVG;
  o.scale = std::vector<double>{1, 0.5, -3, 1.0 / 3}[draw(4)];
  o.accumulate = draw(3) == 0;
  if (draw(3) == 0) o.pattern = rough;
  if (draw(3) == 0)
    o.absent = [seed](int r, int p) {
      return mix(seed, static_cast<uint64_t>(r), static_cast<uint64_t>(p)) % 3 == 0;
    };
  o.shift_bytes = draw(2) * 8;
  o.seed = seed;
  if (!place) return;
  ++reduces_;
  if (!place->comm) return;
  const List& list = *place->lists[which % place->lists.size()];
  for (const Family& family : families()) {  // the first that covers the list
    const bool covers = std::all_of(list.params().begin(), list.params().end(), [&](const auto& p) {
      return std::count(family.types.begin(), family.types.end(), std::pair(p.dtype, p.types));
    });
    if (!covers) continue;
    o.out_dtype = family.out[out % family.out.size()];
    check_reduce_scatter(list, o);
    return;
  }
  ADD_FAILURE() << "a list of no family";
}

void Soak::store_memory() {
  Place* place = any_place(false);
  const uint64_t bytes = draw(4) == 0 ? draw(3 << 20) : draw(20000);
  const bool shared = draw(3) == 0;
  const auto filling = static_cast<unsigned char>(draw(256));
  if (!place || stored_count_ >= 12) return;
  ++allocs_;
  ++stored_count_;
  if (!place->comm) return;
  void* base = nullptr;
  // Sizes differ by rank, but not where a node shares them.
  const size_t mine = shared ? bytes : bytes * static_cast<size_t>(place->team.rank + 1) / 2;
  TIDE_OK(MPIX_Tide_alloc(*place->comm, static_cast<MPI_Aint>(mine),
                          Info{{"tide_share", shared ? "node" : "none"}}, &base));
  EXPECT_EQ(mine == 0, base == nullptr);
  if (!base) return;
  std::memset(base, filling, mine);
  stored_.push_back({static_cast<unsigned char*>(base), mine, filling, shared});
}

void Soak::free_memory() {
  const uint64_t at = mix(random_(), static_cast<uint64_t>(world().rank));  // local: any order
  if (stored_count_) --stored_count_;
  free_stored(at);
}

void Soak::free_stored(uint64_t at) {
  if (stored_.empty()) return;
  const auto one = stored_.begin() + static_cast<long>(at % stored_.size());
  const auto is_filling = [&](unsigned char c) { return c == one->filling; };
  EXPECT_TRUE(std::all_of(one->base, one->base + one->bytes, is_filling)) << "memory was changed";
  TIDE_OK(MPIX_Tide_free(MPI_COMM_NULL, one->base));
  stored_.erase(one);
}

// One rank passes no list: the same error on all, and the next step finds everything in order.
void Soak::wrong_call() {
  Place* place = any_place(true);
  const uint64_t which = draw(1000), who = draw(1000);
  if (!place) return;
  ++errors_;
  if (!place->comm) return;
  const List& list = *place->lists[which % place->lists.size()];
  if (list.count() == 0) return;
  Pieces shards(place->team, Memory::tide, list.shard_bytes());
  Pieces params(place->team, Memory::foreign, list.full_bytes());
  const bool me =
      static_cast<int>(who % static_cast<uint64_t>(place->team.size)) == place->team.rank;
  MPI_Comm_set_errhandler(*place->comm, MPI_ERRORS_RETURN);
  const int code = MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shards.list()),
                                       me ? nullptr : params.list(), list.group());
  expect_failure_on_all(place->team, code, {buffer, arg}, {"NULL"});
}

// Requests that stay open over the following steps, blocking calls on the same communicator
// included.
void Soak::start_several() {
  Place* place = any_place(false);
  const int count = static_cast<int>(1 + draw(4));
  const bool persistent = draw(2) == 0;
  OperationOptions options;
  options.inputs = static_cast<Memory>(draw(2));
  options.outputs = static_cast<Memory>(draw(2));
  options.op = draw(2) ? MPIX_TIDE_SUM : MPIX_TIDE_AVG;
  const uint64_t salt = random_();
  if (!place || place->flies) return;
  flights_ += count;
  place->flies = true;
  place->persistent = persistent;
  if (!place->comm) return;
  place->flying = several(place->team, count, options);
  for (const auto& operation : place->flying) {
    operation->write(salt);
    if (persistent) TIDE_OK(operation->init());
    TIDE_OK(persistent ? operation->start() : operation->begin());
  }
}

void Soak::complete_several() {
  std::vector<Place*> fit;
  for (Place& p : places_)
    if (p.flies) fit.push_back(&p);
  const uint64_t at = draw(1000);
  if (!fit.empty()) complete(*fit[at % fit.size()]);
}

// In an order of each rank's own, by test or by wait.
void Soak::complete(Place& place) {
  const size_t count = place.flying.size(), first = static_cast<size_t>(world().rank);
  for (size_t k = 0; k < count; ++k) {
    Operation& operation = *place.flying[(first + k) % count];
    TIDE_OK((first + k) % 2 ? operation.test_until_over() : operation.wait());
    operation.expect_result("started in an earlier step");
    if (place.persistent) TIDE_OK(MPIX_Tide_request_free(&operation.request));
  }
  place.flying.clear();
  place.flies = false;
}

void Soak::free_everything() {
  for (Place& place : places_)
    if (place.flies) complete(place);
  places_.clear();
  while (!stored_.empty()) free_stored(0);  // no draw: the ranks have different numbers of them
  stored_count_ = 0;
  // Peers let go of what others freed at their next call.
  sync(world());
  expect_usable(world());
}

std::string Soak::progress(int round) const {
  return "round " + std::to_string(round) + ": " + std::to_string(gathers_) + " all-gathers, " +
         std::to_string(reduces_) + " reduce-scatters, " + std::to_string(lists_) + " groups on " +
         std::to_string(comms_) + " communicators, " + std::to_string(allocs_) + " allocations, " +
         std::to_string(errors_) + " errors, " + std::to_string(flights_) + " requests, " +
         std::to_string(places_.size()) + " alive";
}

}  // namespace tide_test
