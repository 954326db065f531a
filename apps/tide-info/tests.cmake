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
tide_info_test(NAME bad_values RANKS 1 ENV "TIDE_ORDER=rnak;TIDE_FORCE=multicast=maybe;TIDE_CHUNK_BYTES=7" ARGS --env
  EXPECT "TIDE_ORDER! .*rnak .*refused: tide_order: 'rnak'.*TIDE_CHUNK_BYTES! .*refused:.*out of range.*TIDE_FORCE! .*refused: tide_multicast: 'maybe'")
if(NOT TIDE_HAVE_MULTICAST)
  tide_info_test(NAME multicast_not_built RANKS 1 ENV TIDE_MULTICAST=on ARGS --env EXPECT "TIDE_MULTICAST! .*refused: tide_multicast = on: .*TIDE_WITH_MULTICAST=ON")
endif()
tide_info_test(NAME good_values RANKS 1 ENV "TIDE_ORDER=rank;TIDE_FORCE=rail=mpi" ARGS --env
  EXPECT "TIDE_RAIL  +auto  +mpi  +by TIDE_FORCE.*TIDE_ORDER\\* .*TIDE_FORCE\\* ")
tide_info_test(NAME version RANKS 1 ARGS --version EXPECT "tide-info ${PROJECT_VERSION}")
tide_info_test(NAME wrong_option WRONG RANKS 2 ARGS --evn EXPECT "--evn.*--help explains")

if(NOT TIDE_HAVE_CUDA)
  tide_info_test(NAME memory_without_cuda RANKS 1 ARGS --env EXPECT "TIDE_MEMORY .*not in this build: cuda .*-DTIDE_WITH_CUDA=ON")
endif()
if(NOT TIDE_WITH_CUDA OR (NOT TIDE_TEST_GPU AND NOT EXISTS /dev/nvidiactl))
  tide_info_test(NAME engines_nowhere WRONG RANKS 0 ARGS --engines EXPECT "--engines: .*(built without CUDA|driver|device)")
endif()
tide_info_test(NAME engines_beside WRONG RANKS 0 ARGS --engines --env EXPECT "--engines is a probe of its own.*--help explains")

set(machines ${PROJECT_SOURCE_DIR}/share/machines)
if(TIDE_HAVE_HWLOC)
  tide_info_test(NAME rails RANKS 3 ENV "TIDE_FAKE_NODES=0,1,0;TIDE_HWLOC_XML=${machines}/cpu2.xml" ARGS --rails
    EXPECT "cpu2.xml, node 0,1.*eno1 .*ethernet, no rail: others have verbs.*rail 0  mlx5_0  round robin.$")
  tide_info_test(NAME rails_given RANKS 2 ENV "TIDE_RAIL_DEVICES=eth7+eth8,eth9;TIDE_HWLOC_XML=${machines}/cpu2.xml"
    ARGS --rails EXPECT "rail 0  eth7\\+eth8  TIDE_RAIL_DEVICES. hwloc sees no eth7.*rail 1  eth9  TIDE_RAIL_DEVICES. hwloc sees no eth9")
  tide_info_test(NAME rails_ucx RANKS 0 ENV UCX_NET_DEVICES=mlx5_5:1 ARGS --machine ${machines}/cpu2.xml EXPECT "over UCX: UCX_NET_DEVICES=mlx5_5:1 wins")
  tide_info_test(NAME rails_machine RANKS 0 ARGS --machine ${machines}/dgx_h100.xml
    EXPECT "8 ranks near gpu.*mlx5_7 .*no rail: others are beside a GPU.*rail 7  mlx5_11  nearest to GPU 7 .same PCIe switch..$")
  tide_info_test(NAME rails_forced RANKS 0 ENV "TIDE_RAIL_DEVICES=eth1;TIDE_FORCE=order=rank,rail_devices=eth7+eth8" ARGS --machine ${machines}/cpu2.xml
    EXPECT "rail 0  eth7\\+eth8  TIDE_RAIL_DEVICES")
  tide_info_test(NAME rails_supposed RANKS 0 ARGS --machine ${machines}/slingshot4.xml --ranks 2 --near numa --devices 2
    EXPECT "2 ranks near numa.*rail 0  hsn3\\+hsn0  same NUMA node.*rail 1  hsn1\\+hsn2  same NUMA node.$")
  tide_info_test(NAME rails_json RANKS 0 ARGS --machine ${machines}/permuted4.xml --ranks 1 --json
    EXPECT "devices.: [^a-z]*mlx5_2[^a-z]*rail.: 0,[^a-z]*reason.: .nearest to GPU 0 .same NUMA node.")
  tide_info_test(NAME no_such_machine WRONG RANKS 0 ARGS --machine ${machines}/none.xml
    EXPECT "--machine: cannot read '${machines}/none.xml': No such file.*lstopo FILE.xml")
  tide_info_test(NAME no_machine WRONG RANKS 0 ARGS --machine ${machines}/README.md EXPECT "--machine: .*not a machine")
  tide_info_test(NAME no_gpu WRONG RANKS 0 ARGS --machine ${machines}/cpu2.xml --near gpu EXPECT "the machine has no GPU; use numa")
  tide_info_test(NAME bad_xml_variable WRONG RANKS 2 ENV TIDE_HWLOC_XML=/none.xml ARGS --rails
    EXPECT "TIDE_HWLOC_XML: cannot read '/none.xml'")
else()
  tide_info_test(NAME rails RANKS 2 ARGS --rails EXPECT "the transport chooses: this build has no hwloc")
  tide_info_test(NAME no_machine WRONG RANKS 0 ARGS --machine ${machines}/cpu2.xml EXPECT "--machine: this build has no hwloc.*TIDE_WITH_HWLOC=ON")
  tide_info_test(NAME bad_xml_variable RANKS 1 ENV TIDE_HWLOC_XML=/none.xml ARGS --env EXPECT "TIDE_HWLOC_XML! .*refused:.*no hwloc")
endif()
tide_info_test(NAME rails_near_wrong WRONG RANKS 0 ARGS --near core EXPECT "--near: core not in")
tide_info_test(NAME rails_alone WRONG RANKS 0 ARGS --ranks 2 --paths EXPECT "ask for --rails alone")
tide_info_test(NAME bad_devices WRONG RANKS 2 ENV "TIDE_RAIL_DEVICES=mlx5_0,,mlx5_1" ARGS --rails
  EXPECT "TIDE_RAIL_DEVICES.: item 2 of 'mlx5_0,,mlx5_1', '', is empty; write the devices")
tide_info_test(NAME bad_nodes_env RANKS 1 ENV TIDE_FAKE_NODES=0,x ARGS --env EXPECT "TIDE_FAKE_NODES! .*refused:.*'x' is not a node number")
tide_info_test(NAME bad_devices_env RANKS 1 ENV "TIDE_RAIL_DEVICES=a b" ARGS --env EXPECT "TIDE_RAIL_DEVICES! .*refused:.*character")
