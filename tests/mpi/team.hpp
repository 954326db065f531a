// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What the tests know of a communicator: its ranks, and the nodes that they live on (by
// TIDE_FAKE_NODES where that is set, else by MPI itself).
#pragma once
#include <gtest/gtest.h>
#include <mpi.h>
#include <mpix_tide.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace tide_test {

struct Team {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  std::vector<int> node;  // by rank of comm: an arbitrary number of its node
  std::vector<std::vector<int>>
      members;           // ranks of each node, nodes in the order of their first rank
  int my_node() const;   // index into members
  int my_local() const;  // place inside members[my_node()]
  bool uniform() const;
};

Team team_of(MPI_Comm comm);  // collective
const Team& world();          // collective at first use
bool on_all(const Team& team, bool mine);
void sync(const Team& team);

class Comm {  // frees its communicator
 public:
  explicit Comm(MPI_Comm comm) : comm_(comm) {}
  ~Comm() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  operator MPI_Comm() const { return comm_; }
  void free() { MPI_Comm_free(&comm_); }

 private:
  MPI_Comm comm_;
};

MPI_Comm dup(MPI_Comm comm);
MPI_Comm split(MPI_Comm comm, int color, int key);  // color < 0: MPI_COMM_NULL

class Info {
 public:
  Info() = default;
  Info(std::initializer_list<std::pair<std::string, std::string>> pairs);
  ~Info() {
    int finalized = 0;
    MPI_Finalized(&finalized);  // of a static one
    if (info_ != MPI_INFO_NULL && !finalized) MPI_Info_free(&info_);
  }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  operator MPI_Info() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

// One way in which a call may fail: a kind of Tide's, or (kind 0) a plain class of MPI's.
struct Failure {
  int kind, mpi_class;
};
inline const Failure mismatch{MPIX_TIDE_ERR_MISMATCH, 0}, unsupported{MPIX_TIDE_ERR_UNSUPPORTED, 0};
inline const Failure arg{0, MPI_ERR_ARG}, count{0, MPI_ERR_COUNT}, buffer{0, MPI_ERR_BUFFER},
    comm_class{0, MPI_ERR_COMM}, request{0, MPI_ERR_REQUEST};

Failure failure_of(int code);
// This rank's call failed in one of these ways, with a one-line message that holds all the words
// and reaches MPI_Error_string.
void expect_failure(int code, std::initializer_list<Failure> allowed,
                    std::initializer_list<std::string> words = {});
// The same, and all ranks of the team failed alike; collective.
void expect_failure_on_all(const Team& team, int code, std::initializer_list<Failure> allowed,
                           std::initializer_list<std::string> words = {});

#define TIDE_OK(call)                                                                 \
  do {                                                                                \
    const int tide_code_ = (call);                                                    \
    EXPECT_EQ(MPI_SUCCESS, tide_code_) << #call << ": " << MPIX_Tide_error_message(); \
  } while (false)

}  // namespace tide_test
