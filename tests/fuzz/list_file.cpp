// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// tide-perf's lists of parameters, as a file of any bytes.
#include <mpi.h>

#include <stdexcept>
#include <string>

#include "dtypes.hpp"
#include "input.hpp"
#include "param_list.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  using fuzz::require;
  const std::string text(data, data + bytes);
  try {
    const perf::ParamList list = perf::parse_list("list", text, MPIX_TIDE_BF16);
    require(!list.params.empty(), "a list that is accepted has a parameter");
    for (const perf::Param& p : list.params) {
      require(p.rows >= 0 && p.row_elems >= 0 && p.block_rows >= 0, "counts are not negative");
      require(perf::elem_bytes(p.dtype) != 0 && !p.name.empty(), "a type and a name");
    }
    require(list.full_bytes() >= 0, "bytes in all");
  } catch (const std::invalid_argument& error) {
    require(std::string(error.what()).rfind("list:", 0) == 0, "the error names the place");
  }
  return 0;
}
