// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <tide/cxx20.hpp>

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
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    if (begun) MPI_Finalized(&ended);
    if (!begun || ended) return;  // MPI asks for no class then
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
// it: as BUFFER, or ARG for a layout.
inline void check(int code, const std::string& wrong) {
  if (code == MPI_SUCCESS) return;
  const Error said(code, MPIX_Tide_error_message());
  const bool ours = said.error_class() == MPI_ERR_BUFFER || said.error_class() == MPI_ERR_ARG;
  if (wrong.empty() || !ours) throw said;
  throw Error(code, wrong);
}

// Of a function of MPI.
inline void check_mpi(int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(code, text);
}

inline bool finalized() noexcept {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

}  // namespace detail
}  // namespace cxx0
}  // namespace tide
