# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# Checkpoints: the interface, a full disk, and the safetensors package from PyPI.
target_sources(mpi_checkpoint PRIVATE checkpoint_errors_test.cpp checkpoint_refused_test.cpp)
set_target_properties(mpi_checkpoint PROPERTIES UNITY_BUILD OFF ENABLE_EXPORTS ON)  # its fallocate
tide_add_mpi_runs(checkpoint RUNS 1:one 2:one 3:one- 4:block2 5:one)
if(TIDE_TEST_NO_MPIEXEC OR TIDE_SANITIZE)
  return()
endif()
set(launched "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1;OMPI_MCA_mpi_yield_when_idle=1")
add_test(NAME mpi.checkpoint.small_disk COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/small_disk.sh ${MPIEXEC_EXECUTABLE}
  ${MPIEXEC_NUMPROC_FLAG} 2 $<TARGET_FILE:mpi_checkpoint> --deadline=50 --gtest_filter=Disk.*)
set_tests_properties(mpi.checkpoint.small_disk PROPERTIES TIMEOUT 60 PROCESSORS 2 SKIP_RETURN_CODE 77
  LABELS "mpi;ranks_2" ENVIRONMENT "${launched}")

add_executable(mpi_safetensors safetensors.cpp)
target_link_libraries(mpi_safetensors PRIVATE tide::tide MPI::MPI_C tide_options)
set(python ${PROJECT_SOURCE_DIR}/build/venv/bin/python3)  # share/setup/packages.sh makes it
execute_process(COMMAND ${python} -c "import safetensors" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
if(missing)
  message(STATUS "The test mpi.checkpoint.safetensors is left out: no safetensors in build/venv (share/setup/packages.sh)")
  return()
endif()
add_test(NAME mpi.checkpoint.safetensors COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${python}
  ${CMAKE_CURRENT_SOURCE_DIR}/safetensors_test.py ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} $<TARGET_FILE:mpi_safetensors>)
set_tests_properties(mpi.checkpoint.safetensors PROPERTIES TIMEOUT 120 PROCESSORS 2 LABELS "mpi;ranks_2" ENVIRONMENT "${launched}")
