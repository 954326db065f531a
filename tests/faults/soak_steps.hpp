// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The steps of a soak: each draws from the common sequence, acts, and checks what came out.
#pragma once
#include <unistd.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "list.hpp"
#include "operation.hpp"

namespace tide_test {

// Outside of a TEST GoogleTest still counts failures.
inline bool failed() { return testing::UnitTest::GetInstance()->Failed(); }

class Soak {
 public:
  explicit Soak(uint64_t seed) : random_(seed) {}
  void step();  // collective over MPI_COMM_WORLD: all ranks take the same one
  void free_everything();
  std::string progress(int round) const;

 private:
  struct Place {  // a communicator with its groups; null on ranks outside of it
    std::unique_ptr<Comm> comm;
    Team team;
    std::vector<std::unique_ptr<List>> lists;
    int list_count = 0;                              // also known outside
    bool comm_freed = false;                         // its groups live on
    std::vector<std::unique_ptr<Operation>> flying;  // started, not completed
    bool flies = false;                              // also known outside
    bool persistent = false;
  };
  struct Stored {  // memory that stands for a while
    unsigned char* base;
    size_t bytes;
    unsigned char filling;
    bool shared;
  };
  uint64_t draw(uint64_t below) { return random_() % below; }
  Place* any_place(bool with_lists);
  void make_place();
  void free_place();
  void make_list();
  void free_list();
  void gather();
  void reduce();
  void store_memory();
  void free_memory();
  void free_stored(uint64_t at);
  void wrong_call();
  void start_several();
  void complete_several();
  void complete(Place& place);

  std::mt19937_64 random_;
  std::vector<Place> places_;
  std::vector<Stored> stored_;
  int stored_count_ = 0;  // at least stored_.size(), and the same on all ranks
  long gathers_ = 0, reduces_ = 0, lists_ = 0, comms_ = 0, allocs_ = 0, errors_ = 0, flights_ = 0;
};

}  // namespace tide_test
