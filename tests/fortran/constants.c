/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* What mpix_tide.h says, for layout.f90 to compare. */
#include <mpix_tide.h>
#include <string.h>

void tide_c_types(int constants[24], int sizes[5], MPIX_Tide_param* param, MPIX_Tide_sizes* bytes,
                  MPIX_Tide_topology* topology);

void tide_c_types(int constants[24], int sizes[5], MPIX_Tide_param* param, MPIX_Tide_sizes* bytes,
                  MPIX_Tide_topology* topology) {
  const int values[24] = {MPIX_TIDE_BF16,
                          MPIX_TIDE_FP16,
                          MPIX_TIDE_FP32,
                          MPIX_TIDE_FP64,
                          MPIX_TIDE_UINT8,
                          MPIX_TIDE_NOGRAD,
                          MPIX_TIDE_SUM,
                          MPIX_TIDE_AVG,
                          MPIX_TIDE_ACCUMULATE,
                          MPIX_TIDE_NULL_IS_ZERO,
                          MPIX_TIDE_FULL,
                          MPIX_TIDE_SHARD,
                          MPIX_TIDE_GRAD,
                          MPIX_TIDE_ERR_MISMATCH,
                          MPIX_TIDE_ERR_TIMEOUT,
                          MPIX_TIDE_ERR_UNSUPPORTED,
                          MPIX_TIDE_ERR_PEER,
                          MPIX_TIDE_ERR_DEVICE,
                          MPIX_TIDE_TYPES(MPIX_TIDE_FP32, MPIX_TIDE_BF16),
                          MPIX_TIDE_LAYER_KEEP,
                          MPIX_TIDE_LAYER_FROZEN,
                          MPIX_TIDE_IN_PLACE_MODE,
                          MPIX_TIDE_SLOT_REUSE_MODE,
                          MPIX_TIDE_NO_SYNC};
  const int bytes_each[5] = {sizeof(MPIX_Tide_param), sizeof(MPIX_Tide_sizes),
                             sizeof(MPIX_Tide_topology), sizeof(MPIX_Tide_group),
                             sizeof(MPIX_Tide_request)};
  memcpy(constants, values, sizeof(values));
  memcpy(sizes, bytes_each, sizeof(bytes_each));
  *param = (MPIX_Tide_param){1, 2, 3, 4, 5};
  *bytes = (MPIX_Tide_sizes){1, 2, 3, 4, 5, {6}};
  *topology = (MPIX_Tide_topology){1, 2, 3, 4, 5, {6}};
}
