// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "group.hpp"

#include "agreement.hpp"

namespace perf {
namespace {

// ARG and UNSUPPORTED come to all ranks alike.
bool refuses_value(int code) {
  int error_class = MPI_SUCCESS, kind = 0;
  MPI_Error_class(code, &error_class);
  MPIX_Tide_error_kind(code, &kind);
  return error_class == MPI_ERR_ARG || kind == MPIX_TIDE_ERR_UNSUPPORTED;
}

}  // namespace

Group make_group(MPI_Comm comm, const ParamList& list, const Keys& keys, std::string* refused) {
  std::vector<MPIX_Tide_param> params;
  std::vector<const char*> names;
  for (const Param& p : list.params) {
    params.push_back({p.rows, p.row_elems, p.block_rows, p.dtype, 0});
    names.push_back(p.name.c_str());
  }
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [key, value] : keys) MPI_Info_set(info, key.c_str(), value.c_str());
  MPIX_Tide_group group = MPIX_TIDE_GROUP_NULL;
  int code =
      MPIX_Tide_group_create(comm, static_cast<int>(params.size()), params.data(), info, &group);
  MPI_Info_free(&info);
  if (refused != nullptr && code != MPI_SUCCESS && refuses_value(code)) {
    *refused = MPIX_Tide_error_message();
    return nullptr;
  }
  tools::agree(comm, tools::tide_problem(code, "MPIX_Tide_group_create"));
  Group owner(group, [](MPIX_Tide_group g) { MPIX_Tide_group_free(&g); });
  code = MPIX_Tide_group_set_names(group, nullptr, names.data());
  tools::agree(comm, tools::tide_problem(code, "MPIX_Tide_group_set_names"));
  return owner;
}

}  // namespace perf
