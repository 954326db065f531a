# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
# cmake -DCASE=... -P cases.cmake: runs tide-train as a user would and looks at what it leaves.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
execute_process(COMMAND ${MAKE_GRID} ${WORK}/grid.nc COMMAND_ERROR_IS_FATAL ANY)
set(shape --data grid.nc --width 24 --depth 2 --batch 128 --no-plot)
set(small ${shape} --vars WARM,PACKED)

# train(RANKS args...): sets out and code in the caller
function(train ranks)
  execute_process(COMMAND ${MPIEXEC} ${NUMPROC} ${ranks} ${TRAIN} ${ARGN}
    WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE code TIMEOUT 120)
  set(out "${out}${err}" PARENT_SCOPE)
  set(code "${code}" PARENT_SCOPE)
endfunction()

function(expect_success)
  if(NOT code STREQUAL "0")
    message(FATAL_ERROR "exit ${code}:\n${out}")
  endif()
endfunction()

function(expect_same a b)
  file(SHA256 ${WORK}/${a} hash_a)
  file(SHA256 ${WORK}/${b} hash_b)
  if(NOT hash_a STREQUAL hash_b)
    message(FATAL_ERROR "${a} and ${b} differ in ${WORK}")
  endif()
endfunction()

function(expect_differ a b)
  file(SHA256 ${WORK}/${a} hash_a)
  file(SHA256 ${WORK}/${b} hash_b)
  if(hash_a STREQUAL hash_b)
    message(FATAL_ERROR "${a} and ${b} are the same in ${WORK}")
  endif()
endfunction()

function(expect_text text)
  if(NOT out MATCHES "${text}")
    message(FATAL_ERROR "'${text}' expected (exit ${code}) in:\n${out}")
  endif()
endfunction()

# A part of the time is never more than all of it.
function(expect_shares)
  string(REGEX MATCHALL "[0-9]+ % of it communication" shares "${out}")
  if(NOT shares)
    message(FATAL_ERROR "no share of communication in:\n${out}")
  endif()
  foreach(share IN LISTS shares)
    string(REGEX MATCH "[0-9]+" share "${share}")
    if(share GREATER 100)
      message(FATAL_ERROR "${share} % of the time is communication:\n${out}")
    endif()
  endforeach()
endfunction()

# Both models learn, and end within 2 %.
function(case_compare)
  foreach(extra "" --node-shared)
    train(3 ${small} --epochs 12 --tolerance 2 ${extra})
    expect_success()
    expect_text("sharded against reference")
  endforeach()
  file(STRINGS ${WORK}/tide-train.csv lines)
  list(GET lines 1 first)
  list(GET lines -1 last)
  string(REPLACE "," ";" first "${first}")
  string(REPLACE "," ";" last "${last}")
  list(GET first 3 before)
  list(GET last 3 after)
  if(NOT after LESS 0.1 OR NOT after LESS before)
    message(FATAL_ERROR "no learning: validation loss ${before} -> ${after}")
  endif()
  train(1 ${shape} --vars STILL --epochs 1 --activation gelu)  # no time axis, one rank, one field
  expect_success()
  train(3 ${small} --steps 5 --batch 2 --activation tanh)  # a rank without a sample
  expect_success()
  train(3 ${small} --steps 1 --batch 2)  # the gradients that are compared before cost as much as the training
  expect_success()
  expect_shares()
endfunction()

# Stopping after some epochs and going on changes no bit; another number of ranks may go on too.
function(case_resume)
  train(3 ${small} --epochs 6 --checkpoint whole.ckpt --out whole)
  expect_success()
  train(3 ${small} --epochs 6 --checkpoint cut.ckpt --out cut --stop-after 2)
  expect_success()
  expect_text("stopped after 2 epochs")
  file(COPY_FILE ${WORK}/cut.ckpt ${WORK}/fewer.ckpt)
  train(3 ${small} --epochs 6 --checkpoint cut.ckpt --out cut)
  expect_success()
  expect_text("continued from cut.ckpt: epoch 2")
  expect_same(whole.csv cut.csv)
  expect_same(whole.ckpt cut.ckpt)
  train(2 ${small} --epochs 6 --checkpoint fewer.ckpt --out fewer --tolerance 2)
  expect_success()
  expect_text("continued from fewer.ckpt: epoch 2")
  train(3 ${small} --epochs 6 --seed 2 --checkpoint cut.ckpt)
  expect_text("--seed is 1 there but 2 here")
  file(WRITE ${WORK}/other.ckpt "not a checkpoint at all")
  train(3 ${small} --checkpoint other.ckpt)
  expect_text("not a checkpoint of tide-train")
endfunction()

# Modes, prefetch and shared memory move bits and change none; replicas and clipping learn what the reference learns.
function(case_modes)
  set(run ${small} --epochs 3 --sharded)
  train(3 ${run} --prefetch 0 --out plain)
  expect_success()
  expect_text("pipeline: in-place, prefetch 0, replicas 1")
  foreach(text "a step: median" "computation  " "exposed communication  " "planned [0-9.]+ MiB, measured [0-9.]+ MiB"
      "gathered parameters +#* +[0-9.]+ MiB")
    expect_text("${text}")
  endforeach()
  train(3 ${run} --mode slot-reuse --prefetch 1 --out reuse)
  expect_success()
  expect_same(plain.csv reuse.csv)
  train(3 ${run} --prefetch 3 --node-shared --out ahead)
  expect_success()
  expect_same(plain.csv ahead.csv)
  train(${RANKS} ${small} --epochs 6 --replicas 2 --tolerance 2 --checkpoint replicas.ckpt --stop-after 3)
  expect_success()
  expect_text("replicas 2")
  train(3 ${small} --epochs 6 --mode slot-reuse --tolerance 2 --checkpoint replicas.ckpt)
  expect_success()
  expect_text("continued from replicas.ckpt: epoch 3")
  train(3 ${small} --epochs 3 --clip 0.3 --tolerance 2 --out clipped)
  expect_success()
  train(3 ${small} --epochs 3 --out free)
  expect_success()
  expect_differ(clipped.csv free.csv)
  file(STRINGS ${WORK}/replicas.ckpt tensors REGEX "\"adam.v.layer0.weight\"" LIMIT_COUNT 1)
  if(NOT tensors MATCHES "\"layer0.weight\"" OR NOT tensors MATCHES "\"adam.m.reference.layer2.bias\"")
    message(FATAL_ERROR "no safetensors header with the tensors' names: ${tensors}")
  endif()
endfunction()

# The baseline of stock collectives, and the loss of every step.
function(case_stock)
  train(3 ${small} --epochs 3 --collectives stock --tolerance 2 --step-log --out stock)
  expect_success()
  expect_text("sharded by stock collectives")
  file(STRINGS ${WORK}/stock.steps.csv lines)
  list(GET lines 0 head)
  list(LENGTH lines count)
  if(NOT head STREQUAL "step,sharded_loss,reference_loss" OR count LESS 10)
    message(FATAL_ERROR "${count} lines of steps, the first is: ${head}")
  endif()
  list(GET lines -1 last)
  if(NOT last MATCHES "^[0-9]+,(0\\.[0-9]+),(0\\.[0-9]+)$")
    message(FATAL_ERROR "no loss: ${last}")
  endif()
endfunction()

# A signal to one rank, amid an epoch: all ranks save and exit 0; going on changes no bit.
function(case_signal)
  set(run ${small} --epochs 12 --batch 64 --checkpoint-every 1)
  train(3 ${run} --checkpoint whole.ckpt --out whole)
  expect_success()
  file(WRITE ${WORK}/signalled.sh [=[
"$@" &
pid=$!
if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then
  while [ ! -e cut.ckpt ] && kill -0 $pid; do sleep 0.05; done
  kill -USR1 $pid
fi
wait $pid
code=$?
# a trapped signal may end the wait early
while kill -0 $pid 2>/dev/null; do wait $pid; code=$?; done
echo "[exit $code]"
exit $code
]=])
  execute_process(COMMAND ${MPIEXEC} ${NUMPROC} 3 sh signalled.sh ${TRAIN} ${run}
    --checkpoint cut.ckpt --out cut
    WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE code TIMEOUT 120)
  set(out "${out}${err}")
  expect_success()
  expect_text("stopped by a signal")
  train(3 ${run} --checkpoint cut.ckpt --out cut)
  expect_success()
  expect_text("continued from cut.ckpt")
  expect_same(whole.csv cut.csv)
  expect_same(whole.ckpt cut.ckpt)
endfunction()

# refuse(text args...): every rank leaves with code 2, and one line says why.
function(refuse text)
  execute_process(COMMAND ${MPIEXEC} ${NUMPROC} 3
    sh -c "\"$@\"; echo \"[exit $?]\"" sh ${TRAIN} ${ARGN}
    WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE code TIMEOUT 60)
  set(out "${out}${err}")
  expect_text("${text}")
  string(REGEX MATCHALL "exit 2" exits "${out}")
  list(LENGTH exits count)
  if(NOT count EQUAL 3)
    message(FATAL_ERROR "${count} of 3 ranks left with exit code 2:\n${out}")
  endif()
  string(REGEX MATCHALL "(^|\n)tide-train: " said "${err}")
  list(LENGTH said count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "said why ${count} times instead of once:\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

# What refuse() saw must not hold it: nothing was trained.
function(expect_no_text text)
  if(out MATCHES "${text}")
    message(FATAL_ERROR "'${text}' not expected in:\n${out}")
  endif()
endfunction()

function(case_refused)
  refuse("none.nc: cannot open the data.*No such file" --data none.nc)
  file(WRITE ${WORK}/text.nc "no data")
  refuse("text.nc: cannot open" --data text.nc)
  refuse("no variable 'COLD'; the file has: .*WARM" ${shape} --vars WARM,COLD)
  refuse("dimension 'depth' .length 5. of variable 'DEEP'" ${shape} --vars DEEP)
  refuse("dimension 'row' .length 4. of variable 'BARE'" ${shape} --vars BARE)
  refuse("different dimensions" ${shape} --vars WARM,STILL)
  refuse("--nonsense" ${small} --nonsense)
  refuse("--batch" ${small} --batch 0)
  refuse("cannot write 'none/x.csv'.*check --out" ${small} --epochs 1 --out none/x)
  expect_no_text("epoch")
  refuse("cannot write 'none/x'.*check --checkpoint" ${small} --epochs 1 --checkpoint none/x)
  expect_no_text("epoch")
  file(MAKE_DIRECTORY ${WORK}/here)
  refuse("'here' is a directory; check --checkpoint" ${small} --epochs 1 --checkpoint here)
  refuse("--node-shared works with --mode in-place only" ${small} --node-shared --mode slot-reuse)
  refuse("--collectives stock has no --mode, --replicas" ${small} --collectives stock --replicas 3)
  refuse("--replicas 2 does not divide the 3 ranks" ${small} --replicas 2)
  foreach(number nan inf -1 0 1e 1e999)
    refuse("--lr.*finite number > 0" ${small} --lr ${number})
  endforeach()
  refuse("--weight-decay.*finite number >= 0" ${small} --weight-decay nan)
  refuse("--tolerance.*finite number >= 0" ${small} --tolerance nan)
endfunction()

cmake_language(CALL case_${CASE})
