// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Inside the library errors are thrown as Error; guard() in src/api turns them into MPI codes.  A
// message is one line and names the rank, the parameter, the field and the remedy, as far as they
// apply.
#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace tide {

enum class Kind : int {
  none = 0,
  mismatch,
  timeout,
  unsupported,
  peer,
  device,  // MPIX_TIDE_ERR_*, same values
  arg = 16,
  comm,
  count,
  buffer,
  no_mem,
  request,
  intern,
  io,
  other  // plain MPI classes
};

class Error : public std::runtime_error {
 public:
  Error(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  template <class... A>
  Error(Kind kind, fmt::format_string<A...> format, A&&... a)
      : Error(kind, fmt::format(format, std::forward<A>(a)...)) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

// MPI's own calls on our communicators return codes.
inline void check_mpi(int code, const char* what) {
  if (code != 0)
    throw Error(Kind::peer, "{} failed (MPI error {}); a peer may be gone: end the job", what,
                code);
}

}  // namespace tide
