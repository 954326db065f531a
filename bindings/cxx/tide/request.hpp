// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// An operation in progress, or a persistent one.
#pragma once
#include <tide/cxx20.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tide/error.hpp>

namespace tide {
inline namespace cxx0 {

enum class Op : int {
  sum = MPIX_TIDE_SUM,
  avg = MPIX_TIDE_AVG,
  accumulate = MPIX_TIDE_ACCUMULATE,     // | it to one of these
  null_is_zero = MPIX_TIDE_NULL_IS_ZERO  // |
};
constexpr Op operator|(Op a, Op b) noexcept {
  return static_cast<Op>(static_cast<int>(a) | static_cast<int>(b));
}

/// Null, nonblocking (active, null once complete) or persistent.  Its end waits for an active
/// operation, since its peers use the buffers until then; what that wait says is lost: call wait.
class Request {
 public:
  Request() = default;
  /// Takes a handle of the C interface.  wrong: what was wrong with its lists, if anything.
  explicit Request(MPIX_Tide_request handle, std::string wrong = {}) noexcept
      : handle_(handle), wrong_(std::move(wrong)) {}
  ~Request() {
    if (!handle_ || detail::finalized()) return;
    MPIX_Tide_wait(&handle_);
    if (handle_) MPIX_Tide_request_free(&handle_);
  }
  Request(Request&& other) noexcept
      : handle_(other.release()), wrong_(std::exchange(other.wrong_, {})) {}
  Request& operator=(Request&& other) noexcept {
    Request taken(std::move(other));  // this one's operation ends as by the destructor
    std::swap(handle_, taken.handle_);
    std::swap(wrong_, taken.wrong_);
    return *this;
  }

  void start() { check(MPIX_Tide_start(&handle_)); }
  void wait() { detail::check(MPIX_Tide_wait(&handle_), wrong_); }
  void wait_inputs() { check(MPIX_Tide_wait_inputs(&handle_)); }
  [[nodiscard]] bool test() {
    int flag = 0;
    detail::check(MPIX_Tide_test(&handle_, &flag), wrong_);
    return flag != 0;
  }
  [[nodiscard]] bool test_inputs() {
    int flag = 0;
    check(MPIX_Tide_test_inputs(&handle_, &flag));
    return flag != 0;
  }
  /// op and scale of an inactive persistent reduce-scatter.
  void set(Op op, double scale) {
    check(MPIX_Tide_request_set(handle_, static_cast<int>(op), scale));
  }
  /// An MPI request that completes with this one, for MPI_Waitall and the like.
  [[nodiscard]] MPI_Request mpi() const {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPIX_Tide_request_mpi(handle_, &request));
    return request;
  }

  /// Not null.
  explicit operator bool() const noexcept { return handle_ != MPIX_TIDE_REQUEST_NULL; }
  MPIX_Tide_request handle() const noexcept { return handle_; }
  [[nodiscard]] MPIX_Tide_request release() noexcept {
    return std::exchange(handle_, MPIX_TIDE_REQUEST_NULL);
  }

 private:
  friend void start_all(std::span<Request> requests);
  friend void wait_all(std::span<Request> requests);
  friend bool test_all(std::span<Request> requests);
  // Calls `act` on the handles as one array; the requests keep what it leaves of them.
  template <class Act>
  static void on_all(std::span<Request> requests, Act act) {
    std::vector<MPIX_Tide_request> handles;
    for (const Request& request : requests) handles.push_back(request.handle_);
    const int code = act(static_cast<int>(handles.size()), handles.data());
    for (std::size_t i = 0; i < handles.size(); i++) requests[i].handle_ = handles[i];
    cxx0::check(code);
  }

  MPIX_Tide_request handle_ = MPIX_TIDE_REQUEST_NULL;
  std::string wrong_;
};

inline void start_all(std::span<Request> requests) {
  Request::on_all(requests, MPIX_Tide_startall);
}
/// All are completed, whatever goes wrong with one; the first error is thrown.
inline void wait_all(std::span<Request> requests) { Request::on_all(requests, MPIX_Tide_waitall); }
[[nodiscard]] inline bool test_all(std::span<Request> requests) {
  int flag = 0;
  Request::on_all(requests, [&](int count, MPIX_Tide_request* handles) {
    return MPIX_Tide_testall(count, handles, &flag);
  });
  return flag != 0;
}

}  // namespace cxx0
}  // namespace tide
