// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mpix_tide.h>

#include <stdexcept>
#include <string>

// A static libtide has a namespace tide of its own in the same program: the inline namespace keeps
// symbols apart.
namespace tide {
inline namespace cxx0 {

/// A call failed.  what() is one line: rank, parameter, field and what to do.
class Error : public std::runtime_error {
 public:
  Error(int code, const std::string& message) : std::runtime_error(message), code_(code) {
    MPI_Error_class(code, &class_);
    MPIX_Tide_error_kind(code, &kind_);
  }

  /// The code that the call returned.
  int code() const noexcept { return code_; }
  /// MPI_ERR_ARG and so on.
  int error_class() const noexcept { return class_; }
  /// MPIX_TIDE_ERR_MISMATCH and so on; 0 for a plain MPI class.
  int kind() const noexcept { return kind_; }

 private:
  int code_, class_ = MPI_ERR_OTHER, kind_ = 0;
};

/// Throws where a function of mpix_tide.h failed.
inline void check(int code) {
  if (code != MPI_SUCCESS) throw Error(code, MPIX_Tide_error_message());
}

namespace detail {

// `wrong` was seen here, before the call, which was made without lists so that all ranks learn of
// it.
inline void check(int code, const std::string& wrong) {
  if (wrong.empty()) return cxx0::check(code);
  throw Error(code == MPI_SUCCESS ? MPI_ERR_BUFFER : code, wrong);
}

inline bool finalized() noexcept {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

}  // namespace detail
}  // namespace cxx0
}  // namespace tide
