# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
cmake_minimum_required(VERSION 3.25)
# cmake -DMPIEXEC=mpirun -DRANKS=n -DPROGRAM=killed_rank -DWHERE=call -P killed_rank.cmake
# The last rank is killed.  Each survivor must tell of TIMEOUT or PEER in time, naming that rank; the launcher's own exit
# status is of no interest.  Only a launcher that lets survivors live can be asked: Open MPI with --enable-recovery.
execute_process(COMMAND ${MPIEXEC} --enable-recovery -n ${RANKS} ${PROGRAM} ${WHERE} TIMEOUT 40 OUTPUT_VARIABLE out
                ERROR_VARIABLE err RESULT_VARIABLE code)
math(EXPR culprit "${RANKS} - 1")
math(EXPR last "${culprit} - 1")
foreach(rank RANGE ${last})
  if(NOT out MATCHES "survivor ${rank} of ${RANKS}: (TIMEOUT|PEER) in time: [^\n]*rank ${culprit}")
    message(SEND_ERROR "survivor ${rank} did not tell of rank ${culprit} in time")
  endif()
endforeach()
message(STATUS "launcher: ${code}\n${out}\n${err}")
