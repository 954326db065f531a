# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# A test: the line of the guide, MPI's own compiler and pkg-config, against the install tree.
# cmake -DMPIFC=... -DPREFIX=... -DLIBDIR=... -DSOURCE=... -DWORK=... -DSTATIC=... -DLAUNCH=... -P fortran_by_hand.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE rc OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(rc)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "${line}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

find_program(pkgconfig NAMES pkgconf pkg-config REQUIRED)
set(ENV{PKG_CONFIG_PATH} ${PREFIX}/${LIBDIR}/pkgconfig)
file(MAKE_DIRECTORY ${WORK})
run(sh -c "eval '${MPIFC}' '${SOURCE}' $(${pkgconfig} --cflags --libs ${STATIC} tide-fortran) -Wl,-rpath,'${PREFIX}/${LIBDIR}' -o '${WORK}/by_hand'")
run(${LAUNCH} ${WORK}/by_hand)
if(LAUNCH AND NOT out MATCHES "gathered rows: 1.0 1.0 2.0 2.0.*sum of gradients: 3.0")
  message(FATAL_ERROR "${out}")
endif()
file(GLOB modules ${PREFIX}/include/tide/fortran/*/mpix_tide.mod)
message("linked by pkg-config with ${modules}")
