// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A stream of the test's, on a GPU or emulated: copies in its order, and pauses; and graphs.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#ifdef TIDE_TEST_EMULATED_DEVICE
#include <condition_variable>
#include <deque>
#include <mutex>

#include "backend/cuda/emulated.hpp"
#else
#include <cuda_runtime_api.h>
#endif

namespace tide_test {

#ifdef TIDE_TEST_EMULATED_DEVICE

class TestStream {
 public:
  TestStream() {
    stream_.submit = [this](std::function<void()> work) { submit(std::move(work)); };
  }
  ~TestStream() {
    submit([this] { end_ = true; });
    thread_.join();
  }
  void* handle() { return &stream_; }
  void copy(void* to, const void* from, size_t bytes) {
    submit([=] { std::memmove(to, from, bytes); });
  }
  void call(std::function<void()> work) { submit(std::move(work)); }
  void synchronize() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return queue_.empty() && !busy_; });
  }

 private:
  friend class TestGraph;
  void submit(std::function<void()> work) {
    if (stream_.capture) return stream_.capture->work.push_back(std::move(work));
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    more_.notify_one();
  }
  void run() {
    while (!end_) {
      std::unique_lock lock(mutex_);
      more_.wait(lock, [this] { return !queue_.empty(); });
      const auto work = std::move(queue_.front());
      queue_.pop_front();
      busy_ = true;
      lock.unlock();
      work();
      lock.lock();
      busy_ = false;
      done_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable more_, done_;
  std::deque<std::function<void()>> queue_;
  bool busy_ = false, end_ = false;
  tide::gpu::EmulatedStream stream_;
  std::thread thread_{[this] { run(); }};
};

// What a stream is given between begin and end, to be run any number of times.
class TestGraph {
 public:
  void begin(TestStream& stream) { stream.stream_.capture = &graph_; }
  void end(TestStream& stream) { stream.stream_.capture = nullptr; }
  void launch(TestStream& stream) {
    for (const auto& work : graph_.work) stream.submit(work);
  }

 private:
  tide::gpu::EmulatedGraph graph_;
};

#else

class TestStream {
 public:
  TestStream() {
    if (const char* device = std::getenv("TIDE_DEVICE")) cudaSetDevice(std::atoi(device));
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
  }
  ~TestStream() { cudaStreamDestroy(stream_); }
  void* handle() { return stream_; }
  void copy(void* to, const void* from, size_t bytes) {
    cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_);
  }
  void call(std::function<void()> work) {
    cudaLaunchHostFunc(
        stream_,
        [](void* given) {
          auto* kept = static_cast<std::function<void()>*>(given);
          (*kept)();
          delete kept;
        },
        new std::function<void()>(std::move(work)));
  }
  void synchronize() { cudaStreamSynchronize(stream_); }

 private:
  friend class TestGraph;
  cudaStream_t stream_ = nullptr;
};

class TestGraph {
 public:
  ~TestGraph() {
    if (exec_) cudaGraphExecDestroy(exec_);
  }
  void begin(TestStream& stream) {
    cudaStreamBeginCapture(stream.stream_, cudaStreamCaptureModeGlobal);
  }
  void end(TestStream& stream) {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaSuccess, cudaStreamEndCapture(stream.stream_, &graph));
    EXPECT_EQ(cudaSuccess, cudaGraphInstantiate(&exec_, graph, 0));
    cudaGraphDestroy(graph);
  }
  void launch(TestStream& stream) {
    EXPECT_EQ(cudaSuccess, cudaGraphLaunch(exec_, stream.stream_));
  }

 private:
  cudaGraphExec_t exec_ = nullptr;
};

#endif

inline void pause(TestStream& stream, int ms) {
  stream.call([=] { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); });
}

}  // namespace tide_test
