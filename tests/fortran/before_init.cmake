# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# A test: before MPI_Init a call without ierror ends the program with a message.
# cmake -DPROGRAM=... -P before_init.cmake
execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE rc OUTPUT_VARIABLE out ERROR_VARIABLE err)
if(NOT rc EQUAL 1 OR NOT out MATCHES "it returned" OR out MATCHES "it went on" OR
   NOT err MATCHES "tide: Tide is used before MPI_Init or after MPI_Finalize; call it in between")
  message(FATAL_ERROR "ended with ${rc}, printed:\n${out}${err}")
endif()
