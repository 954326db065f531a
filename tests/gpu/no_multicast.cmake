# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# LIBRARY, which finds CUDA's and NCCL's functions by name, has no name of NVLink multicast.
file(STRINGS ${LIBRARY} puts REGEX "^ncclPutSignal$")
if(NOT puts)
  message(FATAL_ERROR "${LIBRARY}: no name of NCCL's at all; this test looks at the wrong thing")
endif()
file(STRINGS ${LIBRARY} found REGEX "cuMulticast|[Mm]ultimem|ncclDevComm|multimem\\.")
if(found)
  message(FATAL_ERROR "${LIBRARY} names ${found}")
endif()
