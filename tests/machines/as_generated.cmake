# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# The XML files are what the script makes, and each has its expected tables beside it.
# cmake -DPYTHON=python3 -DMACHINES=share/machines -DWORK=directory -P as_generated.cmake
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
execute_process(COMMAND ${PYTHON} ${MACHINES}/make_machines.py ${WORK} RESULT_VARIABLE code)
file(GLOB made RELATIVE ${WORK} ${WORK}/*.xml)
file(GLOB there RELATIVE ${MACHINES} ${MACHINES}/*.xml)
if(NOT code EQUAL 0 OR NOT made STREQUAL there)
  message(FATAL_ERROR "make_machines.py ended with ${code} and made '${made}'; there are '${there}'")
endif()
foreach(file IN LISTS made)
  file(READ ${WORK}/${file} new)
  file(READ ${MACHINES}/${file} old)
  if(NOT new STREQUAL old)
    message(FATAL_ERROR "${file} is not what make_machines.py makes: run it again")
  endif()
  string(REPLACE .xml .rails rails ${file})
  if(NOT EXISTS ${MACHINES}/${rails})
    message(FATAL_ERROR "${file} has no ${rails}")
  endif()
endforeach()
