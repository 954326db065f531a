# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# A test: installs the build tree into an empty prefix, moves that, and links the examples against it, by find_package and
# by pkg-config.  cmake -DBUILD=... -DSOURCE=... -DGENERATOR=... -DMPICC=... -DLIBDIR=... -P check_install.cmake
set(work ${BUILD}/check_install)
set(prefix "${work}/moved prefix")
file(REMOVE_RECURSE ${work})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE rc OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(rc)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "${line}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/first)
file(RENAME ${work}/first "${prefix}")

run(${CMAKE_COMMAND} -S ${SOURCE}/share/doc/examples -B ${work}/cmake -G ${GENERATOR} "-DCMAKE_PREFIX_PATH=${prefix}")
if(out MATCHES "Warning")
  message(FATAL_ERROR "${out}")
endif()
run(${CMAKE_COMMAND} --build ${work}/cmake)
run(${CMAKE_CTEST_COMMAND} --test-dir ${work}/cmake --output-on-failure --no-tests=error)

find_program(pkgconfig NAMES pkgconf pkg-config REQUIRED)
set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
run(sh -c "eval ${MPICC} '${SOURCE}/share/doc/examples/first.c' $(${pkgconfig} --cflags --libs ${STATIC} tide) -o '${work}/by_pkg_config'")
message("${prefix}: linked by find_package and by pkg-config")
