# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# A test: configures, builds and installs Tide as the other kind of library and links programs against it.
set(static "")
if(NOT SHARED)
  set(static -DSTATIC=--static)
endif()
foreach(command
    "-S;${SOURCE};-B;${OTHER};-G;${GENERATOR};-DBUILD_SHARED_LIBS=${SHARED};-DMPI_EXECUTABLE_SUFFIX=${SUFFIX};-DTIDE_BUILD_TESTING=OFF;-DTIDE_BUILD_APPS=OFF;-DCMAKE_UNITY_BUILD=ON"
    "--build;${OTHER};--parallel;2"
    "-DBUILD=${OTHER};-DSOURCE=${SOURCE};-DGENERATOR=${GENERATOR};-DMPICC=${MPICC};-DLIBDIR=${LIBDIR};${static};-P;${SOURCE}/share/cmake/check_install.cmake")
  execute_process(COMMAND ${CMAKE_COMMAND} ${command} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
