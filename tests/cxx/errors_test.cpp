// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Errors are exceptions with code and message; a wrong list is an error on all ranks, and none
// hangs.
#include <string>
#include <tide/tide.hpp>

#include "team.hpp"

namespace {

using namespace tide_test;

// What `act` throws; an Error of code MPI_SUCCESS where it does not.
template <class Act>
tide::Error thrown(Act act) {
  try {
    act();
  } catch (const tide::Error& error) {
    return error;
  }
  return {MPI_SUCCESS, "nothing was thrown"};
}

void expect_words(const tide::Error& error, std::initializer_list<const char*> words) {
  for (const char* word : words)
    EXPECT_NE(std::string::npos, std::string(error.what()).find(word)) << error.what();
}

// Before main, and so before MPI_Init: an exception, where a function of MPI would end the program.
const std::string before_init = [] {
  const tide::Param params[] = {tide::param<float>(6, 2)};
  const MPI_Count first_row[] = {0, 6};
  return std::string(thrown([&] { tide::Group(MPI_COMM_WORLD, params, first_row); }).what());
}();
TEST(CxxErrors, BeforeInit) {
  EXPECT_NE(std::string::npos, before_init.find("before MPI_Init")) << before_init;
}

// Two parameters of 6 rows; each rank has buffers of the right size.
struct Fixture {
  tide::Group group{MPI_COMM_WORLD, {tide::param<float>(6, 2), tide::param<double>(6)}};
  std::vector<float> full = std::vector<float>(12), shard = own<float>(0);
  std::vector<double> full2 = std::vector<double>(6), shard2 = own<double>(1);

  template <class T>
  std::vector<T> own(std::size_t p) const {
    return std::vector<T>(group.extent(p, tide::What::shard).elems);
  }
  void expect_usable() const {
    EXPECT_NO_THROW(group.allgather({shard, shard2}, {full_(), full2_()}));
  }
  std::span<float> full_() const { return {const_cast<float*>(full.data()), full.size()}; }
  std::span<double> full2_() const { return {const_cast<double*>(full2.data()), full2.size()}; }
};

TEST(CxxErrors, CarryCodeClassKindAndMessage) {
  const tide::Error error = thrown([] {
    tide::Group(MPI_COMM_WORLD, {tide::Param{4, 1, 0, 77, 0}});
  });
  EXPECT_NE(MPI_SUCCESS, error.code());
  EXPECT_EQ(MPI_ERR_ARG, error.error_class());
  EXPECT_EQ(0, error.kind());
  EXPECT_STREQ(MPIX_Tide_error_message(), error.what());
  expect_words(error, {"parameter 0", "dtype"});
}

TEST(CxxErrors, CarryTheKindsThatMpiHasNoClassFor) {
  if (world().size < 2) GTEST_SKIP();
  const MPI_Count rows = world().rank == 1 ? 5 : 4;
  const tide::Error error =
      thrown([&] { tide::Group(MPI_COMM_WORLD, {tide::param<float>(rows)}); });
  EXPECT_EQ(MPIX_TIDE_ERR_MISMATCH, error.kind());
  expect_words(error, {"rank 1", "rows", "5", "4"});
}

TEST(CxxErrors, OfANullGroupAndANullRequest) {
  EXPECT_EQ(MPI_ERR_ARG, thrown([] { tide::Group().sizes(); }).error_class());
  EXPECT_EQ(MPI_ERR_ARG, thrown([&] {
                           tide::Group().allgather(tide::Inputs{}, tide::Outputs{});
                         }).error_class());
  EXPECT_EQ(MPI_ERR_REQUEST, thrown([] { tide::Request().start(); }).error_class());
  EXPECT_NO_THROW(tide::Request().wait());
}

// One rank's list is wrong: all throw, that one with what it did, and the group stays usable.
void expect_all_throw(const Fixture& f, const tide::Error& error, int wrong_rank,
                      std::initializer_list<const char*> words) {
  EXPECT_EQ(MPI_ERR_BUFFER, error.error_class()) << error.what();
  if (world().rank == wrong_rank)
    expect_words(error, words);
  else
    expect_words(error, {("rank " + std::to_string(wrong_rank)).c_str()});
  f.expect_usable();
}

TEST(CxxErrors, AListOfAnotherLength) {
  const Fixture f;
  const int last = world().size - 1;
  tide::Inputs shards{f.shard, f.shard2};
  if (world().rank == last) shards.add(nullptr);
  const auto error = thrown([&] { f.group.allgather(shards, {f.full_(), f.full2_()}); });
  expect_all_throw(f, error, last, {"shards has 3 pieces", "2 parameters"});
}

TEST(CxxErrors, ASpanOfAnotherLength) {
  const Fixture f;
  const std::span<float> grads = world().rank == 0 ? f.full_().first(11) : f.full_();
  std::vector<float> sum = f.own<float>(0);
  std::vector<double> sum2 = f.own<double>(1);
  const auto error = thrown([&] {
    f.group.reduce_scatter({grads, f.full2_()}, {sum, sum2}, tide::Op::sum);
  });
  expect_all_throw(f, error, 0,
                   {"rank 0: grads: parameter 0", "11 elements of fp32", "12 elements of fp32"});
}

TEST(CxxErrors, ASpanOfAnotherTypeTurnsUpWhenANonblockingCallBegins) {
  const Fixture f;
  std::vector<float> wrong(6);
  tide::Outputs params{f.full_(), f.full2_()};
  if (world().rank == 0) params = {f.full_(), wrong};
  const auto error = thrown([&] {
    tide::Request request = f.group.iallgather({f.shard, f.shard2}, params);
    EXPECT_NE(0, world().rank);
    request.wait();
  });
  expect_all_throw(f, error, 0,
                   {"params: parameter 1", "6 elements of fp32", "6 elements of fp64"});
}

TEST(CxxErrors, APersistentCallWithAWrongListFailsOnAllRanks) {
  const Fixture f;
  const bool wrong = world().rank == 0;
  tide::Inputs shards{f.shard, f.shard2};
  if (wrong) shards.add(nullptr);
  tide::Request gather = f.group.allgather_init(shards, {f.full_(), f.full2_()});
  for (int round = 0; round < 2; round++) {
    gather.start();
    expect_all_throw(f, thrown([&] { gather.wait(); }), 0, {"shards has 3 pieces"});
  }
  std::vector<float> sum = f.own<float>(0);
  std::vector<double> sum2 = f.own<double>(1);
  tide::Outputs sums{sum, sum2};
  if (wrong) sums = {sum};
  tide::Request reduce = f.group.reduce_scatter_init({f.full_(), f.full2_()}, sums, tide::Op::sum);
  tide::Request moved = std::move(reduce);
  moved.start();
  expect_all_throw(f, thrown([&] { moved.wait(); }), 0, {"shards has 1 pieces"});
}

TEST(CxxErrors, OfTheFirstRequestThatFails) {
  Fixture f;
  tide::Group other(MPI_COMM_WORLD, {tide::param<float>(4)});
  f.group.set_names({"first", "of two"});
  other.set_names({"second"});
  tide::Request requests[] = {f.group.iallgather({nullptr, f.shard2}, {nullptr, f.full2_()}),
                              other.iallgather({nullptr}, {nullptr})};
  expect_words(thrown([&] { tide::wait_all(requests); }), {"first"});
}

TEST(CxxErrors, AParameterThatTheGroupHasNot) {
  const Fixture f;
  const auto error = thrown([&] { (void)f.group.extent(7, tide::What::full); });
  EXPECT_EQ(MPI_ERR_ARG, error.error_class());
  expect_words(error, {"parameter 7", "2"});
}

TEST(CxxErrors, TheOutputTypeOfAReductionIsChecked) {
  const tide::Group group(MPI_COMM_WORLD, {tide::param<tide::bf16>(4)});
  std::vector<tide::bf16> grad(4, tide::bf16(1.0f));
  std::vector<float> sum(group.extent(0, tide::What::shard).elems);
  EXPECT_EQ(MPI_ERR_BUFFER,
            thrown([&] { group.reduce_scatter({grad}, {sum}, tide::Op::sum); }).error_class());
  group.reduce_scatter({grad}, {sum}, tide::Op::sum, 1.0, tide::Dtype::fp32);
  for (const float s : sum) EXPECT_EQ(static_cast<float>(world().size), s);
}

TEST(CxxErrors, ARaggedLayoutNeedsItsRows) {
  const std::vector<tide::Param> params{tide::param<float>(6)};
  std::vector<MPI_Count> first_row(static_cast<std::size_t>(world().size) + 1, 6);
  first_row[0] = 0;  // all rows on rank 0
  EXPECT_EQ(world().rank == 0 ? 6 : 0,
            tide::Group(MPI_COMM_WORLD, params, first_row).shard(0).count);
  first_row.pop_back();
  const auto error = thrown([&] { tide::Group(MPI_COMM_WORLD, params, first_row); });
  EXPECT_EQ(MPI_ERR_ARG, error.error_class());
  expect_words(error, {"first_row has"});
}

TEST(CxxErrors, StreamsNeedADevice) {
  const Fixture f;
  const auto error = thrown([&] {
    f.group.allgather_enqueue({f.shard, f.shard2}, {f.full_(), f.full2_()}, nullptr);
  });
  EXPECT_EQ(MPIX_TIDE_ERR_UNSUPPORTED, error.kind());
  EXPECT_NO_THROW(f.group.check_enqueued());
}

}  // namespace
