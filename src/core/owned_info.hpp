// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// An MPI_Info of Tide's own.
#pragma once
#include <mpi.h>

#include <string>

#include "core/error.hpp"

namespace tide {

class OwnedInfo {
 public:
  OwnedInfo() { check_mpi(MPI_Info_create(&info_), "MPI_Info_create"); }
  ~OwnedInfo() { MPI_Info_free(&info_); }
  OwnedInfo(const OwnedInfo&) = delete;
  OwnedInfo& operator=(const OwnedInfo&) = delete;
  void set(const char* key, const std::string& value) { MPI_Info_set(info_, key, value.c_str()); }
  operator MPI_Info() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

}  // namespace tide
