# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# The tool verifies each result itself: a run that ends with 0 and says "verified" is a test.
function(tide_perf_test)
  tide_tool_test(TOOL tide-perf ${ARGN})
endfunction()

set(lists ${CMAKE_CURRENT_SOURCE_DIR}/tests)
tide_perf_test(NAME small RANKS 3 EXPECT "reduce-scatter .*a2a .*verified"
  ARGS --small --reps 3 --warmup 1 --json @JSON@)
tide_perf_test(NAME fake_nodes RANKS 4 EXPECT "4 ranks on 2 nodes of 2.*verified.*reduce-scatter.*verified"
  ARGS --mib 1 --model all --fake-nodes 2x2 --reps 2 --warmup 0 --json @JSON@)
tide_perf_test(NAME shared RANKS 2 EXPECT "share node.*verified"
  ARGS -c allgather --model wan14b --mib 2 --share node --first-calls --reps 2)
tide_perf_test(NAME foreign RANKS 3 EXPECT "memory malloc.*verified.*verified"
  ARGS --list ${lists}/mixed.txt --memory malloc --out-dtype own --reps 2)
tide_perf_test(NAME one_rank RANKS 1 EXPECT "verified.*verified" ARGS --small --reps 2)

tide_perf_test(NAME step_memory RANKS 0 ARGS --step-memory --model all
  EXPECT "llama70b.* 8 +3.000 +1.000 +2.000 +0.000 +1.000 +0.000.* 64 +3.000 .*wan14b.* 64 +3.017 ")
tide_perf_test(NAME broken_list WRONG RANKS 2 EXPECT "broken.txt:4: rows 'many' is not a whole number"
  ARGS --list ${lists}/broken.txt)
tide_perf_test(NAME missing_list WRONG RANKS 2 EXPECT "cannot read the list '/nowhere'" ARGS --list /nowhere)
tide_perf_test(NAME unknown_option WRONG RANKS 2 EXPECT "--mibs.*--help explains" ARGS --mibs 3)
tide_perf_test(NAME unknown_baseline WRONG RANKS 2 EXPECT "stok not in {.*--help explains" ARGS --baselines stok)
tide_perf_test(NAME wrong_nodes WRONG RANKS 2 EXPECT "names 4 ranks, but there are 2" ARGS --small --fake-nodes 2x2)
tide_perf_test(NAME wrong_output WRONG RANKS 2 EXPECT "bf16 gradients cannot be reduced to fp64"
  ARGS --small --out-dtype fp64)
tide_perf_test(NAME json_nowhere WRONG RANKS 2 EXPECT "cannot write '/nowhere/x'" ARGS --small --json /nowhere/x)

tide_perf_test(NAME skew RANKS 3 EXPECT "late by a random 0 to 3 ms.*total ms +last rank ms +surplus ms.*  stock +[1-9][.0-9]+ +[1-9][.0-9]+ .*Pass.*reduce-scatter.*Pass"
  ARGS --small --skew 3 -b stock,limit --reps 3 --warmup 1 --json @JSON@)
tide_perf_test(NAME too_large RANKS 1 EXPECT "note: --mib 9999 is more than the list has: run at its real size, 0.0625 MiB"
  ARGS --small --mib 9999 --reps 1 --baselines none)
tide_perf_test(NAME overlap RANKS 2 TIMEOUT 300
  EXPECT "tide test .*cache .*stream .*mpi test .*Pass.*wait_inputs.*65536 .*auto .*7 +[^\n]*tide_workspace_bytes.*Pass.*tide thread .*cache .*stream .*mpi .*Pass.*wait_inputs.*Pass"
  ARGS --model wan14b --mib 1 --overlap --workspace 64K,auto,7 --fake-nodes 2x1 --reps 2 --warmup 0 --json @JSON@)

tide_perf_test(NAME list_directory WRONG RANKS 2 EXPECT "'/' is a directory; --list takes a file" ARGS --list /)
foreach(number nan inf 0 -1 x)
  tide_perf_test(NAME mib_${number} WRONG RANKS 0 EXPECT "--mib: '${number}' is no finite number > 0.*--help explains"
    ARGS --mib=${number})
endforeach()
foreach(number nan inf -1 x)
  tide_perf_test(NAME skew_${number} WRONG RANKS 0 EXPECT "--skew: '${number}' is no finite number >= 0.*--help explains"
    ARGS --skew=${number})
endforeach()
tide_perf_test(NAME skew_0 RANKS 2 EXPECT "late by a random 0 to 0 ms.*total ms +last rank ms +surplus ms.*Pass"
  ARGS --small --skew 0 -b none --reps 2 --warmup 0)
tide_perf_test(NAME modes WRONG RANKS 0 EXPECT "--skew excludes --overlap|--overlap excludes --skew" ARGS --overlap --skew 3)
tide_perf_test(NAME workspace_alone WRONG RANKS 0 EXPECT "--workspace requires --overlap" ARGS --workspace 64K)
tide_perf_test(NAME workspace_word WRONG RANKS 0 EXPECT "--workspace 'huge' is neither bytes .* nor min or auto"
  ARGS --overlap --workspace huge)
tide_perf_test(NAME json_directory WRONG RANKS 2 EXPECT "'/' is a directory; check --json" ARGS --small --json /)

# --memory cuda, on an emulated device; what a GPU alone can show (NCCL, kernels, --beside, --trace) is left out with a word.
tide_perf_test(NAME memory_word WRONG RANKS 0 EXPECT "gpu is neither tide, malloc, cuda nor cuda:K" ARGS --small --memory gpu)
tide_perf_test(NAME beside_host WRONG RANKS 0 EXPECT "--beside needs --memory cuda" ARGS --small --beside gemm)
tide_perf_test(NAME beside_word WRONG RANKS 0 EXPECT "gemm:1x2 is neither gemm nor gemm:MxNxK" ARGS --small --beside gemm:1x2)
tide_perf_test(NAME rate_alone WRONG RANKS 0 EXPECT "--rate requires --beside" ARGS --small --rate 25)
foreach(rate 0 -1 nan x)
  tide_perf_test(NAME rate_${rate} WRONG RANKS 0 EXPECT "--rate: '${rate}' is no finite number > 0.*--help explains"
    ARGS --small --memory cuda --beside gemm --rate=25,${rate})
endforeach()
foreach(mode trace displaced)
  tide_perf_test(NAME ${mode}_host WRONG RANKS 0 EXPECT "--${mode} needs --memory cuda" ARGS --small --${mode})
  tide_perf_test(NAME ${mode}_beside WRONG RANKS 0 EXPECT "--${mode} excludes --beside|--beside excludes --${mode}"
    ARGS --small --memory cuda --beside gemm --${mode})
endforeach()
tide_perf_test(NAME in_process_host WRONG RANKS 0 EXPECT "--in-process needs --memory cuda" ARGS --small --in-process 4)
foreach(number 0 1 65 x)
  tide_perf_test(NAME in_process_${number} WRONG RANKS 0 EXPECT "--in-process: Value ${number} not in range 2 to 64"
    ARGS --small --memory cuda --in-process ${number})
endforeach()
tide_perf_test(NAME in_process_alone WRONG RANKS 0 EXPECT "--baselines resident needs --in-process" ARGS --small -b resident)
tide_perf_test(NAME device_baseline WRONG RANKS 0 EXPECT "--baselines nccl does not go with --memory tide"
  ARGS --small --baselines nccl)
if(NOT TIDE_HAVE_CUDA)
  tide_perf_test(NAME memory_cuda WRONG RANKS 0 EXPECT "--memory cuda: .* built without CUDA; configure it with -DTIDE_WITH_CUDA=ON"
    ARGS --small --memory cuda)
elseif(TIDE_WITH_CUDA STREQUAL "emulate")
  tide_perf_test(NAME cuda RANKS 2
    EXPECT "memory cuda.*rank 1: 0 emulated device.*stock +left out: .*-DTIDE_WITH_CUDA=ON.*stock-ce +left out.*nccl-ce +left out.*plain +left out.*path cuda-direct.*Pass.*reduce-scatter.*path cuda-direct.*Pass"
    ARGS --small --memory cuda --reps 2 --warmup 1 --json @JSON@)
  tide_perf_test(NAME cuda_devices RANKS 3 ENV TIDE_EMULATED_DEVICES=2
    EXPECT "rank 0: 0 emulated device, rank 1: 1 emulated device, rank 2: 0 emulated device.*Pass.*reduce-scatter.*Pass"
    ARGS --list ${lists}/mixed.txt --memory cuda:device --out-dtype own --fake-nodes 0,0,1 --reps 1 --warmup 0)
  tide_perf_test(NAME cuda_device_of_rank RANKS 1 ENV TIDE_EMULATED_DEVICES=2 TIDE_DEVICE=1
    EXPECT "rank 0: 1 emulated device.*Pass" ARGS --small -c allgather --memory cuda --reps 1 --baselines none)
  tide_perf_test(NAME cuda_device_of_all RANKS 2 ENV TIDE_EMULATED_DEVICES=2 TIDE_DEVICE=0
    EXPECT "rank 0: 1 emulated device, rank 1: 1 emulated device.*Pass"
    ARGS --small -c allgather --memory cuda:1 --reps 1 --baselines none)
  tide_perf_test(NAME in_process RANKS 1
    EXPECT "in-process: the plans of 5 ranks.*plain +left out.*path cuda-direct.*Pass.*stock-resident +left out.*resident +left out.*Pass"
    ARGS --list ${lists}/mixed.txt --memory cuda --in-process 5 --out-dtype own --reps 2 --warmup 1 --json @JSON@)
  tide_perf_test(NAME in_process_processes WRONG RANKS 2 EXPECT "--in-process 4 is for one process, but there are 2: start one"
    ARGS --small --memory cuda --in-process 4)
  tide_perf_test(NAME in_process_setting WRONG RANKS 1 ENV TIDE_SUM_CTAS=0 EXPECT "tide_sum_ctas: 0 is out of range; use 1 to 65535"
    ARGS --small --memory cuda --in-process 2 -c reduce-scatter)
  foreach(row nccl nccl-ce stock-ce)
    tide_perf_test(NAME in_process_${row} WRONG RANKS 0 EXPECT "--baselines ${row} does not go with --in-process; use plain"
      ARGS --small --memory cuda --in-process 4 -b ${row})
  endforeach()
  tide_perf_test(NAME in_process_skew WRONG RANKS 0 EXPECT "--skew is for ranks that are processes"
    ARGS --small --memory cuda --in-process 4 --skew 3)
  tide_perf_test(NAME in_process_share WRONG RANKS 0 EXPECT "--in-process has private parameters; use --share none"
    ARGS --small --memory cuda --in-process 4 --share node)
  tide_perf_test(NAME cuda_no_device WRONG RANKS 2 EXPECT "rank 0: --memory cuda:1 is no device; this process has 0 to 0"
    ARGS --small --memory cuda:1)
  tide_perf_test(NAME cuda_host_baseline WRONG RANKS 0 EXPECT "--baselines flat does not go with --memory cuda"
    ARGS --small --memory cuda --baselines flat)
  tide_perf_test(NAME cuda_overlap WRONG RANKS 0 EXPECT "--overlap computes on the host" ARGS --small --memory cuda --overlap)
  foreach(mode "beside gemm" trace displaced)
    string(REPLACE " " ";" words "--${mode}")
    string(REGEX REPLACE " .*" "" mode "${mode}")
    tide_perf_test(NAME cuda_${mode} WRONG RANKS 0 EXPECT "--${mode}: .* emulates its devices" ARGS --small --memory cuda ${words})
  endforeach()
endif()
