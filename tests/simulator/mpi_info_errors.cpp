// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "world.hpp"

using namespace simulator;

simulated_errhandler simulated_errors_are_fatal, simulated_errors_return;

namespace {

struct Code {
  int error_class;
  std::string text;
};
std::mutex codes_mutex;
std::vector<Code> codes;  // from MPI_ERR_LASTCODE + 1 on

Code* find(int code) {
  const int at = code - MPI_ERR_LASTCODE - 1;
  return at >= 0 && static_cast<size_t>(at) < codes.size() ? &codes[static_cast<size_t>(at)]
                                                           : nullptr;
}

int add(int error_class) {
  const int code = MPI_ERR_LASTCODE + 1 + static_cast<int>(codes.size());
  codes.push_back({error_class < 0 ? code : error_class, ""});
  return code;
}

void copy_text(const std::string& text, char* to, int* length) {
  const std::string cut = text.substr(0, MPI_MAX_ERROR_STRING - 1);
  std::memcpy(to, cut.c_str(), cut.size() + 1);
  *length = static_cast<int>(cut.size());
}

bool predefined(MPI_Errhandler e) { return e == MPI_ERRORS_ARE_FATAL || e == MPI_ERRORS_RETURN; }

std::pair<std::string, std::string>* find(MPI_Info info, const char* key) {
  for (auto& pair : info->pairs)
    if (pair.first == key) return &pair;
  return nullptr;
}

}  // namespace

extern "C" {

int MPI_Error_class(int code, int* error_class) {
  const std::lock_guard lock(codes_mutex);
  const Code* known = find(code);
  *error_class = known ? known->error_class : code;
  return MPI_SUCCESS;
}
int MPI_Error_string(int code, char* text, int* length) {
  const std::lock_guard lock(codes_mutex);
  const Code* known = find(code);
  copy_text(known ? known->text : "MPI error " + std::to_string(code), text, length);
  return MPI_SUCCESS;
}
int MPI_Add_error_class(int* error_class) {
  const std::lock_guard lock(codes_mutex);
  *error_class = add(-1);
  return MPI_SUCCESS;
}
int MPI_Add_error_code(int error_class, int* code) {
  const std::lock_guard lock(codes_mutex);
  *code = add(error_class);
  return MPI_SUCCESS;
}
int MPI_Add_error_string(int code, const char* text) {
  const std::lock_guard lock(codes_mutex);
  Code* known = find(code);
  if (!known || std::strlen(text) >= MPI_MAX_ERROR_STRING) return MPI_ERR_ARG;
  known->text = text;
  return MPI_SUCCESS;
}

int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* made) {
  *made = new simulated_errhandler{function};
  return MPI_SUCCESS;
}
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  comm->errhandler = errhandler;
  return MPI_SUCCESS;
}
int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  me().errhandlers++;
  *errhandler = comm->errhandler;
  return MPI_SUCCESS;
}
// The handle that MPI_Comm_get_errhandler gave; one that a program made stays until the end.
int MPI_Errhandler_free(MPI_Errhandler* errhandler) {
  me().errhandlers--;
  *errhandler = nullptr;
  return MPI_SUCCESS;
}
int MPI_Comm_call_errhandler(MPI_Comm comm, int code) {
  if (!comm) misuse("MPI_Comm_call_errhandler on no communicator");
  if (comm->errhandler == MPI_ERRORS_ARE_FATAL) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    schedule()->fail(std::string("a fatal error: ") + text);
  }
  if (!predefined(comm->errhandler)) comm->errhandler->function(&comm, &code);
  return MPI_SUCCESS;
}

int MPI_Info_create(MPI_Info* info) {
  *info = new simulated_info;
  me().infos++;
  return MPI_SUCCESS;
}
int MPI_Info_dup(MPI_Info info, MPI_Info* made) {
  *made = new simulated_info(*info);
  me().infos++;
  return MPI_SUCCESS;
}
int MPI_Info_free(MPI_Info* info) {
  delete *info;
  *info = nullptr;
  me().infos--;
  return MPI_SUCCESS;
}
int MPI_Info_set(MPI_Info info, const char* key, const char* value) {
  if (auto* known = find(info, key))
    known->second = value;
  else
    info->pairs.emplace_back(key, value);
  return MPI_SUCCESS;
}
int MPI_Info_get(MPI_Info info, const char* key, int length, char* value, int* flag) {
  const auto* known = find(info, key);
  *flag = known != nullptr;
  if (known) {
    std::strncpy(value, known->second.c_str(), static_cast<size_t>(length));
    value[length] = '\0';
  }
  return MPI_SUCCESS;
}
int MPI_Info_get_valuelen(MPI_Info info, const char* key, int* length, int* flag) {
  const auto* known = find(info, key);
  *flag = known != nullptr;
  if (known) *length = static_cast<int>(known->second.size());
  return MPI_SUCCESS;
}
int MPI_Info_get_nkeys(MPI_Info info, int* count) {
  *count = static_cast<int>(info->pairs.size());
  return MPI_SUCCESS;
}
int MPI_Info_get_nthkey(MPI_Info info, int n, char* key) {
  std::strcpy(key, info->pairs[static_cast<size_t>(n)].first.c_str());
  return MPI_SUCCESS;
}
}
