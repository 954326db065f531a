// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent calls on groups of several communicators, started in one order and
// completed in another on each rank; inputs are spoiled as soon as they may be.
#include <algorithm>

#include "operation.hpp"
#include "run.hpp"
#include "world.hpp"

namespace simulator {

using namespace tide_test;

namespace {

uint64_t drawn(uint64_t& state, uint64_t below) {
  state = mix(state, 1);
  return state % below;
}

struct Piece {
  std::unique_ptr<Operation> operation;
  bool persistent = false, active = false;
  uint64_t rounds = 0;
};

class RequestsOnRank {
 public:
  RequestsOnRank(const Case& shape, uint64_t seed, int rank)
      : shape_(shape), common_(mix(seed, 11)), own_(mix(seed, 12, static_cast<uint64_t>(rank))) {}

  void run() {
    Team team = team_of();
    MPI_Comm second;
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    for (uint64_t k = 2 + drawn(common_, 3); k > 0; k--) {
      team.comm = drawn(common_, 2) ? MPI_COMM_WORLD : second;
      add(team);
    }
    // What all ranks draw alike decides what is started; what each draws, what is completed when.
    for (int step = 0; step < 10; step++) {
      Piece& piece = pieces_[drawn(common_, pieces_.size())];
      if (piece.active) finish(piece);
      begin(piece);
      for (Piece& other : pieces_)
        if (other.active && drawn(own_, 4) == 0) poke(other);
    }
    std::vector<Piece*> order;
    for (Piece& piece : pieces_) order.push_back(&piece);
    for (size_t k = order.size(); k > 1; k--) std::swap(order[k - 1], order[drawn(own_, k)]);
    for (Piece* piece : order)
      if (piece->active) finish(*piece);
    for (Piece& piece : pieces_)
      if (piece.persistent) TIDE_OK(MPIX_Tide_request_free(&piece.operation->request));
    schedule()->doing("end");
    pieces_.clear();
    MPI_Comm_free(&second);
  }

 private:
  Team team_of() const {
    Team team;
    MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &team.size);
    team.node = shape_.nodes;
    team.members = ranks_by_node(team.node);
    return team;
  }

  void add(const Team& team) {
    static constexpr Memory memories[] = {Memory::tide, Memory::tide, Memory::scattered};
    std::vector<MPIX_Tide_param> list;
    for (uint64_t p = 1 + drawn(common_, 4); p > 0; p--)
      list.push_back(param(static_cast<MPI_Count>(drawn(common_, 90)),
                           static_cast<MPI_Count>(1 + drawn(common_, 20))));
    OperationOptions options;
    options.inputs = memories[drawn(common_, 3)];
    options.outputs = memories[drawn(common_, 3)];
    MPI_Info info;
    MPI_Info_create(&info);
    if (drawn(common_, 2)) MPI_Info_set(info, "tide_eager_bytes", "0");
    MPI_Info_set(info, "tide_chunk_bytes", drawn(common_, 2) ? "64" : "1000");
    Piece& piece = pieces_.emplace_back();
    piece.operation = std::make_unique<Operation>(
        team, drawn(common_, 2) ? tide_test::Collective::gather : tide_test::Collective::reduce,
        list, options, info);
    MPI_Info_free(&info);
    piece.persistent = drawn(common_, 2);
    if (piece.persistent) TIDE_OK(piece.operation->init());
  }

  void begin(Piece& piece) {
    schedule()->doing("start");
    piece.operation->write(++piece.rounds);
    TIDE_OK(piece.persistent ? piece.operation->start() : piece.operation->begin());
    piece.active = true;
  }

  void poke(Piece& piece) {
    schedule()->doing("test");
    int flag = 0;
    if (drawn(own_, 2)) {
      TIDE_OK(MPIX_Tide_test_inputs(&piece.operation->request, &flag));
    } else {
      TIDE_OK(MPIX_Tide_test(&piece.operation->request, &flag));
      if (flag) over(piece);
    }
    schedule()->turn(Turn::idle);
  }

  void finish(Piece& piece) {
    schedule()->doing("completion");
    MPIX_Tide_request& request = piece.operation->request;
    if (drawn(own_, 3) == 0) {
      TIDE_OK(MPIX_Tide_wait_inputs(&request));
      piece.operation->spoil_inputs();
    }
    if (drawn(own_, 2)) {
      TIDE_OK(MPIX_Tide_wait(&request));
    } else {
      for (int flag = 0; !flag; schedule()->turn(Turn::idle))
        if (MPIX_Tide_test(&request, &flag) != MPI_SUCCESS) {
          ADD_FAILURE() << "test: " << MPIX_Tide_error_message();
          break;
        }
    }
    over(piece);
  }

  void over(Piece& piece) {
    piece.active = false;
    piece.operation->expect_result("a request");
  }

  const Case& shape_;
  uint64_t common_, own_;
  std::vector<Piece> pieces_;
};

}  // namespace

Outcome run_requests(uint64_t seed, const Mode& mode) {
  Case shape;
  shape.nodes = random_nodes(mix(seed, 2), 1 + static_cast<int>(mix(seed, 1) % 8));
  return run_ranks(shape.fake_nodes(), shape.ranks(), mode,
                   [&](int r) { RequestsOnRank(shape, seed, r).run(); });
}

}  // namespace simulator
