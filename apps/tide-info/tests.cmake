# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
function(tide_info_test)
  tide_tool_test(TOOL tide-info TIMEOUT 60 ${ARGN})
endfunction()

tide_info_test(NAME all RANKS 2 EXPECT "2 ranks on 1 node.*Paths.*path +host.*Configuration")
tide_info_test(NAME nodes RANKS 3 ENV TIDE_FAKE_NODES=0,1,0 ARGS --topology
  EXPECT "3 ranks on 2 nodes, with unequal.*node 0 +ranks 0,2 .*node 1 +ranks 1 .*rail 0 +ranks 0-1.*rail 1 +ranks 2")
tide_info_test(NAME env RANKS 1 ENV "TIDE_LOG=debug;TIDE_LGO=1" ARGS --env
  EXPECT "TIDE_LOG\\* .*debug .*environment only.*TIDE_LGO! .*refused: not a variable.*misspelt")
tide_info_test(NAME bad_values RANKS 1 ENV "TIDE_ORDER=rnak;TIDE_FORCE=rail=ucx;TIDE_CHUNK_BYTES=7" ARGS --env
  EXPECT "TIDE_RAIL .*not in this version: ucx, nccl.*TIDE_ORDER! .*rnak .*refused: tide_order: 'rnak'.*TIDE_CHUNK_BYTES! .*refused:.*out of range.*TIDE_FORCE! .*refused: tide_rail = ucx")
tide_info_test(NAME good_values RANKS 1 ENV "TIDE_ORDER=rank;TIDE_FORCE=rail=mpi" ARGS --env
  EXPECT "TIDE_ORDER\\* .*TIDE_FORCE\\* ")
tide_info_test(NAME version RANKS 1 ARGS --version EXPECT "tide-info ${PROJECT_VERSION}")
tide_info_test(NAME wrong_option WRONG RANKS 2 ARGS --evn EXPECT "--evn.*--help explains")
