// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The border of the library: nothing is thrown across it.  A function checks its handles, makes one
// call inward, and what is thrown becomes an MPI error code that the communicator's error handler
// has seen.
#pragma once
#include <functional>
#include <memory>

#include "api/handles.hpp"
#include "core/error.hpp"
#include "core/request.hpp"
#include "mpix_tide.h"

struct MPIX_Tide_group_s {};  // names; what they name is looked up
struct MPIX_Tide_request_s {};
struct MPIX_Tide_pipeline_s {};

namespace tide {

Handles<MPIX_Tide_group, Group>& groups();
Handles<MPIX_Tide_request, Request>& requests();

// Code of an error; its text reaches MPI_Error_string and MPIX_Tide_error_message.
int error_code(Kind kind, const std::string& message);
// Of an earlier error that is returned now, in this thread.
void restore_message(const std::string& message);

int guard(MPI_Comm comm,
          const std::function<void()>& act);  // raised on comm, or MPI_COMM_SELF where it is null
int guard(Group& group, const std::function<void()>& act);  // the same
int guard(MPIX_Tide_group group,
          const std::function<void(Group&)>& act);  // raised on the group's communicator
int guard(MPIX_Tide_request request,
          const std::function<void(Request&)>& act);  // raised on its group's communicator
int guard_local(const std::function<void()>& act);    // no communicator: MPI_COMM_SELF

int check_pointer(const MPIX_Tide_request* request);  // is not NULL

// Text to a user's buffer, C string; needed: bytes with the final null.
void give_text(const std::string& text, char* to, size_t size, size_t* needed);

}  // namespace tide

// PMPIX_ is strong, MPIX_ its weak alias, so that a tool can put itself between.
#define TIDE_ALIAS(name)                                                \
  extern "C" MPIX_TIDE_API decltype(PMPIX_Tide_##name) MPIX_Tide_##name \
      __attribute__((weak, alias("PMPIX_Tide_" #name)));
