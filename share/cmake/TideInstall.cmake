# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` places, and how others find it: find_package(tide) gives tide::tide, pkg-config gives tide.
if(NOT TARGET tide)
  return()
endif()
include(CMakePackageConfigHelpers)
if(NOT TARGET tide::tide)
  add_library(tide::tide ALIAS tide)
endif()
set(tide_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tide)

install(TARGETS tide EXPORT tideTargets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES include/mpix_tide.h include/tide_bindings.h ${PROJECT_BINARY_DIR}/include/tide_version.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
foreach(app tide-info tide-perf tide-train)
  if(TARGET ${app})
    # An installed tool finds the library beside it, wherever the prefix is moved.
    file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
    set_target_properties(${app} PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
    install(TARGETS ${app} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

# What a C linker lacks to link a static libtide.
set(tide_cxx_libraries ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(REMOVE_ITEM tide_cxx_libraries ${CMAKE_C_IMPLICIT_LINK_LIBRARIES})
list(REMOVE_DUPLICATES tide_cxx_libraries)
list(TRANSFORM tide_cxx_libraries PREPEND -l OUTPUT_VARIABLE tide_cxx_link)
list(JOIN tide_cxx_link " " tide_cxx_link)

install(EXPORT tideTargets NAMESPACE tide:: DESTINATION ${tide_config_dir})
configure_package_config_file(share/cmake/tideConfig.cmake.in ${PROJECT_BINARY_DIR}/tideConfig.cmake
  INSTALL_DESTINATION ${tide_config_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tideConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tideConfig.cmake ${PROJECT_BINARY_DIR}/tideConfigVersion.cmake
  share/cmake/tideMpiHeader.cmake
  DESTINATION ${tide_config_dir})

# Below the prefix where it can be moved; GNUInstallDirs takes absolute folders, too.
foreach(folder BINDIR LIBDIR INCLUDEDIR DATADIR)
  file(RELATIVE_PATH TIDE_${folder} ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_${folder}})
endforeach()
file(RELATIVE_PATH tide_pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(share/cmake/tide.pc.in ${PROJECT_BINARY_DIR}/tide.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tide.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
foreach(language lua tcl)  # Lmod takes the first; environment-modules knows the second only
  configure_file(share/modulefiles/tide.${language}.in ${PROJECT_BINARY_DIR}/tide.${language} @ONLY)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/tide.lua DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/tide RENAME ${PROJECT_VERSION}.lua)
install(FILES ${PROJECT_BINARY_DIR}/tide.tcl DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/tide RENAME ${PROJECT_VERSION})
install(FILES share/reframe/README.md share/reframe/settings.py share/reframe/tide.py
  DESTINATION ${CMAKE_INSTALL_DATADIR}/tide/reframe)

# Sources to copy; fortran and guide are CMake projects of their own.
set(tide_examples ${CMAKE_INSTALL_DATADIR}/tide/examples)
install(DIRECTORY share/examples/c share/examples/cuda share/examples/cxx share/examples/fortran share/examples/kokkos DESTINATION ${tide_examples})
install(FILES share/examples/README.md share/examples/expected_2.txt share/examples/expected_4.txt DESTINATION ${tide_examples})
install(DIRECTORY share/doc/examples/ DESTINATION ${tide_examples}/guide)

if(TIDE_BUILD_TESTING AND NOT TIDE_SANITIZE AND NOT TIDE_HAVE_FUZZERS)
  add_test(NAME install_consumer COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR}
    -DGENERATOR=${CMAKE_GENERATOR} -DMPICC=${MPI_C_COMPILER} -DLIBDIR=${CMAKE_INSTALL_LIBDIR}
    -DSTATIC=$<IF:$<STREQUAL:$<TARGET_PROPERTY:tide,TYPE>,STATIC_LIBRARY>,--static,>
    -P ${PROJECT_SOURCE_DIR}/share/cmake/check_install.cmake)
  set_tests_properties(install_consumer PROPERTIES TIMEOUT 180 LABELS "mpi;install" RUN_SERIAL ON)
endif()
