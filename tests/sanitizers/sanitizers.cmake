# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# Which tests run under sanitizers (TIDE_SANITIZE), and with what environment.  Sanitized programs are slow: the everyday
# tests are those of two ranks on one node and of four on two; TIDE_TEST_NIGHTLY adds every other map.
set(here ${CMAKE_CURRENT_LIST_DIR})
if(TIDE_SANITIZE MATCHES "thread")
  # It sees one process.  The simulator's ranks are threads of one; over a real MPI only what a rank's own threads share.
  set(TIDE_SANITIZED_DIRS unit simulator mpi)
  set(TIDE_SANITIZED_PROGRAMS threads request_threads progress_thread)
  set(TIDE_SANITIZED_RUNS 1:one 2:one 2:singleton)
  set(TIDE_SANITIZE_ENV "TSAN_OPTIONS=suppressions=${here}/tsan.supp:ignore_noninstrumented_modules=1:history_size=4"
    UCX_MEM_EVENTS=no)  # its hook of madvise runs in a thread of which the sanitizer has let go already, and crashes
else()
  set(TIDE_SANITIZED_DIRS unit mpi gpu cxx faults)
  # Not those that count memory or take it away (an address sanitizer has its own), and not the test of the test main.
  set(TIDE_SANITIZED_PROGRAMS allgather reduce_scatter cases group mismatch errors memory communicators report progress threads
    interpose unsupported finalize c request request_lifetime nonblocking overlap inputs progress_thread request_threads check
    timeout timeout_setup request_finalize killed_rank forged stranger fork cxx device multicast nccl stream stream_graph stream_timeout stream_pipeline
    pipeline replica_sum norm root checkpoint)
  set(TIDE_SANITIZED_RUNS 2:one 4:block2)
  # gcc 12's runtime guesses where glibc 2.36 keeps the thread-local variables of libraries that were opened late; where it guesses
  # wrong its search for leaks crashes ("Tracer caught signal 11").
  set(TIDE_SANITIZE_ENV "ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=0:intercept_tls_get_addr=0" "LSAN_OPTIONS=suppressions=${here}/lsan.supp:print_suppressions=0"
    "UBSAN_OPTIONS=print_stacktrace=1")
endif()
if(TIDE_TEST_NIGHTLY)
  list(APPEND TIDE_SANITIZED_DIRS plan simulator)
  list(REMOVE_DUPLICATES TIDE_SANITIZED_DIRS)
  list(APPEND TIDE_SANITIZED_PROGRAMS long_list)
endif()

# Does this run of an MPI test take place?
function(tide_sanitized_run out program run)
  set(${out} TRUE PARENT_SCOPE)
  if(TIDE_SANITIZE AND NOT program IN_LIST TIDE_SANITIZED_PROGRAMS)
    set(${out} FALSE PARENT_SCOPE)
  elseif(TIDE_SANITIZE AND NOT TIDE_TEST_NIGHTLY AND NOT run IN_LIST TIDE_SANITIZED_RUNS)
    set(${out} FALSE PARENT_SCOPE)
  endif()
endfunction()

# The build is long, too: programs that no test runs are left out of it.
function(tide_build_what_runs)
  get_property(used GLOBAL PROPERTY TIDE_TEST_PROGRAMS)
  foreach(dir IN LISTS ARGN)
    get_property(targets DIRECTORY ${dir} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      if(target MATCHES "^mpi_" AND NOT target IN_LIST used)
        set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
      endif()
    endforeach()
  endforeach()
endfunction()
