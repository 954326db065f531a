// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstring>
#include <map>
#include <mutex>

#include "api/guard.hpp"
#include "core/log.hpp"

namespace tide {
namespace {

thread_local std::string last_message;

// Codes of one kind, used in turn: MPI keeps one text per code.
struct Ring {
  std::array<int, 8> codes{};
  size_t next = 0;
  bool made = false, custom = false;
};

std::mutex mutex;
std::map<Kind, Ring> rings;
std::map<int, int> kind_of_code;

int plain_class(Kind kind) {
  switch (kind) {
    case Kind::arg:
      return MPI_ERR_ARG;
    case Kind::comm:
      return MPI_ERR_COMM;
    case Kind::count:
      return MPI_ERR_COUNT;
    case Kind::buffer:
      return MPI_ERR_BUFFER;
    case Kind::no_mem:
      return MPI_ERR_NO_MEM;
    case Kind::request:
      return MPI_ERR_REQUEST;
    case Kind::intern:
      return MPI_ERR_INTERN;
    case Kind::io:
      return MPI_ERR_IO;
    default:
      return MPI_ERR_OTHER;
  }
}

const char* class_name(Kind kind) {
  switch (kind) {
    case Kind::mismatch:
      return "MPIX_TIDE_ERR_MISMATCH: the ranks of a communicator made different calls";
    case Kind::timeout:
      return "MPIX_TIDE_ERR_TIMEOUT: a peer does not answer";
    case Kind::unsupported:
      return "MPIX_TIDE_ERR_UNSUPPORTED: not in this version or not on this machine";
    case Kind::peer:
      return "MPIX_TIDE_ERR_PEER: a peer or its memory cannot be reached";
    default:
      return "MPIX_TIDE_ERR_DEVICE: a device failed";
  }
}

// Does the code belong to the class, and does MPI give back the text that it was given?  Where a
// code joins a predefined class, MPICH 4.0 does not (its own tables answer): then the plain class
// is the code.
bool works(int code, int error_class) {
  const char* probe = "Tide: a text of its own";
  char text[MPI_MAX_ERROR_STRING] = {};
  int seen = 0, length = 0;
  return MPI_Error_class(code, &seen) == MPI_SUCCESS && seen == error_class &&
         MPI_Add_error_string(code, probe) == MPI_SUCCESS &&
         MPI_Error_string(code, text, &length) == MPI_SUCCESS && std::strcmp(text, probe) == 0;
}

void make(Ring& ring, Kind kind) {
  ring.made = true;
  const bool own_class = kind <= Kind::device;
  int error_class = plain_class(kind);
  if (own_class) {
    if (MPI_Add_error_class(&error_class) != MPI_SUCCESS) return;
    MPI_Add_error_string(error_class, class_name(kind));
    kind_of_code[error_class] = static_cast<int>(kind);
  }
  for (int& code : ring.codes) {
    if (MPI_Add_error_code(error_class, &code) != MPI_SUCCESS || !works(code, error_class)) return;
    kind_of_code[code] = own_class ? static_cast<int>(kind) : 0;
  }
  ring.custom = true;
}

}  // namespace

int error_code(Kind kind, const std::string& message) {
  last_message = message;
  log(Level::debug, message);
  if (!Process::usable()) return plain_class(kind);
  const std::lock_guard lock(mutex);
  Ring& ring = rings[kind];
  if (!ring.made) make(ring, kind);
  if (!ring.custom) return plain_class(kind);
  const int code = ring.codes[ring.next++ % ring.codes.size()];
  MPI_Add_error_string(code, ("Tide: " + message).substr(0, MPI_MAX_ERROR_STRING - 1).c_str());
  return code;
}

void restore_message(const std::string& message) { last_message = message; }

// A handler that aborts the job prints a cut text, or none, and no log sink hears of it.
static void say_detail(MPI_Errhandler set) {
  if (set == MPI_ERRORS_ARE_FATAL) log(Level::error, last_message);
}

static void tell_before_abort(MPI_Comm comm) {
  MPI_Errhandler set = MPI_ERRHANDLER_NULL;
  if (MPI_Comm_get_errhandler(comm, &set) != MPI_SUCCESS) return;
  say_detail(set);
  if (set != MPI_ERRHANDLER_NULL) MPI_Errhandler_free(&set);
}

static void raise_on(MPI_Comm comm, int code) {
  if (!Process::usable()) return;
  if (comm == MPI_COMM_NULL) comm = MPI_COMM_SELF;
  tell_before_abort(comm);
  MPI_Comm_call_errhandler(comm, code);
}

// The code of what `act` throws; MPI_SUCCESS if nothing.
static int code_of(const std::function<void()>& act) {
  try {
    act();
    return MPI_SUCCESS;
  } catch (const Error& e) {
    return error_code(e.kind(), e.what());
  } catch (const std::bad_alloc&) {
    return error_code(Kind::no_mem,
                      "out of memory on this rank; use fewer or smaller parameters per group");
  } catch (const std::exception& e) {
    return error_code(Kind::intern, e.what());
  }
}

static void check_usable() {
  if (!Process::usable())
    throw Error(Kind::other,
                "Tide is used before MPI_Init or after MPI_Finalize; call it in between");
}

int guard(MPI_Comm comm, const std::function<void()>& act) {
  const int code = code_of([&] {
    check_usable();
    act();
  });
  if (code != MPI_SUCCESS) raise_on(comm, code);
  return code;
}

int guard_local(const std::function<void()>& act) {
  const int code = code_of(act);
  if (code != MPI_SUCCESS) raise_on(MPI_COMM_NULL, code);
  return code;
}

Handles<MPIX_Tide_group, Group>& groups() {
  static auto& live = *new Handles<MPIX_Tide_group, Group>;  // a static destructor may free a group
  return live;
}

Handles<MPIX_Tide_request, Request>& requests() {
  static auto& live = *new Handles<MPIX_Tide_request, Request>;
  return live;
}

// Raised on the group's communicator.
int guard(Group& group, const std::function<void()>& act) {
  const int code = code_of([&] {
    check_usable();
    act();
  });
  if (code != MPI_SUCCESS) {
    Context& context = group.context();
    if (Process::usable() && context.user() != MPI_COMM_NULL)
      tell_before_abort(context.user());
    else if (Process::usable())
      say_detail(context.errhandler());
    context.raise(code);
  }
  return code;
}

int guard(MPIX_Tide_group handle, const std::function<void(Group&)>& act) {
  const auto keep = groups().find(handle);  // an error handler may free the handle
  if (!keep)
    return guard_local([] {
      throw Error(Kind::arg,
                  "group: not a live group (null, or freed); pass one from MPIX_Tide_group_create");
    });
  return guard(*keep, [&] { act(*keep); });
}

int guard(MPIX_Tide_request handle, const std::function<void(Request&)>& act) {
  const auto keep = requests().find(handle);
  if (!keep)
    return guard_local([] {
      throw Error(Kind::request,
                  "request: not a live request (null, freed, or completed); pass one from an i... "
                  "or ..._init call");
    });
  return guard(keep->group(), [&] { act(*keep); });
}

void give_text(const std::string& text, char* to, size_t size, size_t* needed) {
  if (!to && !needed) throw Error(Kind::arg, "text and needed are both NULL; pass one of them");
  if (to && size) {
    const size_t bytes = std::min(size - 1, text.size());
    std::memcpy(to, text.data(), bytes);
    to[bytes] = '\0';
  }
  if (needed) *needed = text.size() + 1;
}

}  // namespace tide

using namespace tide;

extern "C" {

int PMPIX_Tide_error_kind(int error_code_, int* kind) {
  return guard_local([&] {
    if (!kind) throw Error(Kind::arg, "kind is NULL; pass the address of an int");
    const std::lock_guard lock(mutex);
    const auto known = kind_of_code.find(error_code_);
    *kind = known == kind_of_code.end() ? 0 : known->second;
  });
}

const char* PMPIX_Tide_error_message(void) { return last_message.c_str(); }

int PMPIX_Tide_set_log(void (*sink)(int, const char*, void*), void* context) {
  set_log_sink(sink, context);
  return MPI_SUCCESS;
}
}

TIDE_ALIAS(error_kind)
TIDE_ALIAS(error_message)
TIDE_ALIAS(set_log)
