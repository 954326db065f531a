// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A rank that is stopped while others have calls in a stream: the stream goes on within the bound,
// though the host waits for nothing but the stream, and the group tells TIMEOUT.  Two or more
// ranks.
#include "stopped.hpp"
#include "test_stream.hpp"

namespace tide_test {
namespace {

TEST(StreamTimeout, TheStreamGoesOn) {
  if (world().size < 2) GTEST_SKIP();
  Comm comm(dup(MPI_COMM_WORLD));
  Info one_second{{"tide_timeout", "1"}};
  Operation a(team_of(comm), Collective::gather, {param(64, 33), param(5, 3)}, {}, one_second);
  Operation b(team_of(comm), Collective::reduce, {param(9, 5)}, {}, one_second);
  TestStream stream;
  Stopped stopped(world().size - 1);
  a.write(1), b.write(1);
  TIDE_OK(MPIX_Tide_allgather_enqueue(a.in(), a.out(), a.list.group(), stream.handle()));
  stream.synchronize();
  a.expect_result("before");
  stopped.stop_here();
  if (!stopped.me()) {
    const double begun_s = now_s();
    TIDE_OK(MPIX_Tide_allgather_enqueue(a.in(), a.out(), a.list.group(), stream.handle()));
    TIDE_OK(MPIX_Tide_reduce_scatter_enqueue(b.in(), b.out(), b.out_dtype(), b.op(), b.scale(),
                                             b.list.group(), stream.handle()));
    stream.synchronize();
    EXPECT_LT(now_s() - begun_s, timeout_bound_s());
    for (const Operation* o : {&a, &b}) {
      int code = MPI_SUCCESS, kind = 0;
      TIDE_OK(MPIX_Tide_group_async_error(o->list.group(), &code));
      TIDE_OK(MPIX_Tide_error_kind(code, &kind));
      EXPECT_EQ(MPIX_TIDE_ERR_TIMEOUT, kind) << MPIX_Tide_error_message();
      EXPECT_NE(std::string::npos, std::string(MPIX_Tide_error_message()).find(stopped.name()))
          << MPIX_Tide_error_message();
    }
    expect_broken("enqueue", [&] {
      return MPIX_Tide_allgather_enqueue(a.in(), a.out(), a.list.group(), stream.handle());
    });
    expect_local_calls(a);
    stopped.resume();
  }
  sync(world());
  expect_usable(world());
}

// No communicator waits for ever because another one is looked at.
TEST(StreamTimeout, EveryCommunicatorsStreamGoesOn) {
  if (world().size < 2) GTEST_SKIP();
  Comm one(dup(MPI_COMM_WORLD)), other(dup(MPI_COMM_WORLD));
  Info one_second{{"tide_timeout", "1"}};
  Operation a(team_of(one), Collective::gather, {param(64, 33)}, {}, one_second);
  Operation b(team_of(other), Collective::gather, {param(9, 5)}, {}, one_second);
  TestStream streams[2];
  Stopped stopped(world().size - 1);
  const auto enqueue = [&](Operation& o, TestStream& stream) {
    return MPIX_Tide_allgather_enqueue(o.in(), o.out(), o.list.group(), stream.handle());
  };
  a.write(1), b.write(1);
  TIDE_OK(enqueue(a, streams[0]));
  TIDE_OK(enqueue(b, streams[1]));
  for (TestStream& stream : streams) stream.synchronize();
  stopped.stop_here();
  if (!stopped.me()) {
    const double begun_s = now_s();
    TIDE_OK(enqueue(a, streams[0]));
    TIDE_OK(enqueue(b, streams[1]));
    for (TestStream& stream : streams) stream.synchronize();
    EXPECT_LT(now_s() - begun_s, timeout_bound_s());
    for (const Operation* o : {&a, &b}) {
      int code = MPI_SUCCESS, kind = 0;
      TIDE_OK(MPIX_Tide_group_async_error(o->list.group(), &code));
      TIDE_OK(MPIX_Tide_error_kind(code, &kind));
      EXPECT_EQ(MPIX_TIDE_ERR_TIMEOUT, kind) << MPIX_Tide_error_message();
    }
    stopped.resume();
  }
  sync(world());
  expect_usable(world());
}

// A graph's call whose group the host has not done with does not hold the stream either, once the
// communicator has been given up.
TEST(StreamTimeout, GraphsOfABusyGroupGoOn) {
  if (world().size < 2) GTEST_SKIP();
  Comm comm(dup(MPI_COMM_WORLD));
  Info one_second{{"tide_timeout", "1"}};
  Operation a(team_of(comm), Collective::gather, {param(64, 33)}, {}, one_second);
  Operation b(team_of(comm), Collective::gather, {param(9, 5)}, {}, one_second);
  TestStream stream;
  TestGraph graph;
  Stopped stopped(world().size - 1);
  a.write(1), b.write(1);
  graph.begin(stream);
  TIDE_OK(MPIX_Tide_allgather_enqueue(a.in(), a.out(), a.list.group(), stream.handle()));
  graph.end(stream);
  MPIX_Tide_request request = MPIX_TIDE_REQUEST_NULL;
  TIDE_OK(MPIX_Tide_iallgather(a.in(), a.out(), a.list.group(), &request));
  for (int flag = 0; !flag;) TIDE_OK(MPIX_Tide_test_inputs(&request, &flag));
  sync(world());
  stopped.stop_here();
  if (!stopped.me()) {
    expect_timeout(stopped, "blocking call",
                   [&] { return MPIX_Tide_allgather(b.in(), b.out(), b.list.group()); });
    const double begun_s = now_s();
    graph.launch(stream);
    stream.synchronize();
    EXPECT_LT(now_s() - begun_s, timeout_bound_s());
    MPIX_Tide_wait(&request);
    stopped.resume();
  } else {
    MPIX_Tide_wait(&request);
  }
  sync(world());
  expect_usable(world());
}

// A graph's calls too, also those of runs that begin when the communicator has been given up.
TEST(StreamTimeout, GraphsGoOn) {
  if (world().size < 2) GTEST_SKIP();
  Comm comm(dup(MPI_COMM_WORLD));
  Info one_second{{"tide_timeout", "1"}};
  Operation a(team_of(comm), Collective::gather, {param(64, 33)}, {}, one_second);
  TestStream stream;
  TestGraph graph;
  Stopped stopped(world().size - 1);
  a.write(1);
  graph.begin(stream);
  TIDE_OK(MPIX_Tide_allgather_enqueue(a.in(), a.out(), a.list.group(), stream.handle()));
  graph.end(stream);
  graph.launch(stream);
  stream.synchronize();
  a.expect_result("before");
  stopped.stop_here();
  if (!stopped.me()) {
    const double begun_s = now_s();
    for (int k = 0; k < 3; k++) graph.launch(stream);
    stream.synchronize();
    EXPECT_LT(now_s() - begun_s, timeout_bound_s());
    int code = MPI_SUCCESS, kind = 0;
    TIDE_OK(MPIX_Tide_group_async_error(a.list.group(), &code));
    TIDE_OK(MPIX_Tide_error_kind(code, &kind));
    EXPECT_EQ(MPIX_TIDE_ERR_TIMEOUT, kind) << MPIX_Tide_error_message();
    stopped.resume();
  }
  sync(world());
  expect_usable(world());
}

}  // namespace
}  // namespace tide_test
