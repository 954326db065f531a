/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* Tide: the parameters of a model, sharded by rows over the ranks of an MPI communicator.

   A group is a list of parameters over one communicator.  The all-gather lands every rank's rows
   directly in each parameter's own storage.  The reduce-scatter reads the gradients where they
   are, adds them in fp32 (fp64 for fp64) and leaves each rank with the sums for its own rows.
   Neither packs, pads or copies out.

     MPIX_Tide_param list[2] = {{.rows = 4096, .row_elems = 1024, .dtype = MPIX_TIDE_BF16},
                                {.rows = 4096, .row_elems = 1,    .dtype = MPIX_TIDE_BF16}};
     MPIX_Tide_group group;
     void *full[2], *shard[2], *grad[2], *full_base, *shard_base, *grad_base;
     MPIX_Tide_group_create(MPI_COMM_WORLD, 2, list, MPI_INFO_NULL, &group);
     MPIX_Tide_group_alloc(group, MPIX_TIDE_FULL, 0, MPI_INFO_NULL, full, &full_base);
     MPIX_Tide_group_alloc(group, MPIX_TIDE_SHARD, 0, MPI_INFO_NULL, shard, &shard_base);
     MPIX_Tide_group_alloc(group, MPIX_TIDE_GRAD, 0, MPI_INFO_NULL, grad, &grad_base);
     ...
     MPIX_Tide_allgather(MPIX_TIDE_INPUTS(shard), full, group);
     ...                            full[p] holds all rows of p; backward has filled grad[p]
     MPIX_Tide_reduce_scatter(MPIX_TIDE_INPUTS(grad), shard, 0, MPIX_TIDE_AVG, 1.0, group);

   Terms used below
     N            the number of ranks of the communicator.  Ranks are ranks of that communicator,
                  on any node, in any order.
     parameter    rows x row_elems elements, contiguous: row-major, no stride, no gap.  A strided
                  or transposed tensor cannot be expressed.  Dimension 0 is sharded.
     shard        this rank's rows of a parameter, contiguous and unpadded.  Trailing ranks may
                  own no rows.
     addresses    any host memory, aligned to the element.  Addresses may differ from call to
                  call and from rank to rank.  Memory from MPIX_Tide_alloc is the fast path;
                  foreign memory works by a slower one.
     empty        a piece of no elements: its pointer may be NULL and is not looked at.
     collective   every rank of the communicator calls it; operations on groups of one
                  communicator start in the same order on all its ranks, as MPI's collectives do.
     local        concerns the calling process only and does not wait for another.
     copied       lists, descriptors, names and infos are copied before a call returns; data
                  buffers are not.

   Errors
     Every function but MPIX_Tide_error_message returns MPI_SUCCESS or an MPI error code, and
     calls the communicator's error handler first, as an MPI function does.  If the user freed
     the communicator that is the handler it had at creation; where no valid communicator exists
     it is MPI_COMM_SELF's.  MPI's default handler aborts: set MPI_ERRORS_RETURN to go on.  Output
     arguments are written on success only.  A code has an MPI class (ARG, COMM, COUNT, BUFFER,
     NO_MEM, REQUEST; below without MPI_ERR_; and MPI_ERR_IO) or one of the kinds MPIX_TIDE_ERR_*,
     which MPIX_Tide_error_kind tells.
     "All": every rank returns an error of that kind and the communicator stays usable.  A rank
     that is given wrong arguments still takes part with its status, so that no rank waits for
     it.  A collective call that differs between ranks is a MISMATCH, all, which names both calls;
     where some ranks wait in an operation on a group and others in another collective of the
     communicator (MPIX_Tide_norm2, say), the communicator is given up then, as after a timeout.
     "Local": the caller alone returns it, without entering (no valid handle means that
     there is nobody to tell).  PEER and NO_MEM can come from any collective.  Everywhere: ARG
     where an output that is needed is NULL; MPI_ERR_OTHER before MPI_Init and after MPI_Finalize.

   Progress: every blocking call, wait and test drives all active requests of the process and lets
   MPI get on.  MPI calls do not drive Tide: complete a request before blocking elsewhere, or create
   its group with info tide_progress = thread.

   Time limit: with info tide_timeout (or TIDE_TIMEOUT) a rank that does not come, or stops, is
   found within twice that and a second: every waiting rank returns MPIX_TIDE_ERR_TIMEOUT, which
   names it.  Then the communicator is given up: outputs are undefined and a rank that resumes may
   write to them until they are freed; free and query calls work and never block, everything else
   returns the error again.  Other communicators go on.

   Threads: with MPI_THREAD_MULTIPLE different threads may use different communicators.  One
   group used by two threads at once is refused (REQUEST, local).

   Devices: blocking, nonblocking and persistent calls take complete inputs: synchronise first.  The
   forms with a stream take what the stream has been given before them.  */
#ifndef MPIX_TIDE_H
#define MPIX_TIDE_H

#include <mpi.h>
#include <stddef.h>

#include "tide_version.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MPIX_TIDE_API __attribute__((visibility("default")))
#else
#define MPIX_TIDE_API
#endif

/* ---- Handles and constants ----------------------------------------------------------------- */

/* A parameter list sharded over one communicator; an operation in progress or a persistent one. */
typedef struct MPIX_Tide_group_s* MPIX_Tide_group;
typedef struct MPIX_Tide_request_s* MPIX_Tide_request;
#define MPIX_TIDE_GROUP_NULL ((MPIX_Tide_group)0)
#define MPIX_TIDE_REQUEST_NULL ((MPIX_Tide_request)0)

/* As `shards` of an all-gather: this rank's rows already stand at their place in params[p]. */
#define MPIX_TIDE_IN_PLACE ((const void* const*)MPI_IN_PLACE)
/* A void *[] list passed as input, without a warning in C. */
#define MPIX_TIDE_INPUTS(list) ((const void* const*)(list))

/* Element types.  bf16 and fp16 are 2 bytes in the machine's byte order; UINT8 is moved, never
   summed. */
enum {
  MPIX_TIDE_BF16 = 1,
  MPIX_TIDE_FP16,
  MPIX_TIDE_FP32,
  MPIX_TIDE_FP64,
  MPIX_TIDE_UINT8,
  MPIX_TIDE_NOGRAD = 0xff /* as a gradient type only: the parameter is frozen */
};

/* Reduction: one of SUM and AVG, with flags added by |. */
enum {
  MPIX_TIDE_SUM = 1,
  MPIX_TIDE_AVG = 2,             /* the sum divided by N */
  MPIX_TIDE_ACCUMULATE = 0x100,  /* add to what the output holds, instead of overwriting it */
  MPIX_TIDE_NULL_IS_ZERO = 0x200 /* a NULL gradient adds nothing (-0.0); AVG still divides by N */
};

/* MPIX_Tide_param.types from two element types: of the shard and of the gradient. */
#define MPIX_TIDE_TYPES(shard, grad) ((shard) | (grad) << 8)

/* One parameter.  Zero-initialise it: 0 is a valid default for block_rows and types. */
typedef struct MPIX_Tide_param {
  MPI_Count rows;       /* >= 0; dimension 0, the one that is sharded */
  MPI_Count row_elems;  /* >= 0; product of the other dimensions (1 for a vector) */
  MPI_Count block_rows; /* a shard boundary falls only on multiples of it; 0 or 1: on any row */
  int dtype;            /* of the gathered parameter */
  int types;            /* 0: shard and gradient have dtype too; else MPIX_TIDE_TYPES(...) */
} MPIX_Tide_param;
/* types, for example: fp32 master shards that are gathered as bf16 have dtype BF16 and types
   TYPES(FP32, BF16).  With the gradient type NOGRAD a parameter is never reduced and its entries
   in a reduce-scatter's lists are ignored. */

/* Sizes of a group on this rank, in bytes. */
typedef struct MPIX_Tide_sizes {
  MPI_Count full_bytes,                   /* all rows of all parameters, gathered type */
      shard_bytes,                        /* this rank's rows of all parameters, shard type */
      allgather_workspace_bytes,          /* of the communicator's workspace */
      reduce_scatter_workspace_bytes,     /* the same, as the group was created */
      reduce_scatter_workspace_min_bytes, /* the smallest tide_workspace_bytes that works */
      reserved[7];
} MPIX_Tide_sizes;

/* Where a communicator lives. */
typedef struct MPIX_Tide_topology {
  int nodes,      /* M: sets of ranks that can address each other's memory */
      local_size, /* ranks on this node */
      node,       /* this node, 0 .. M-1, in the order of each node's first rank */
      local_rank, /* this rank's position on its node, in rank order */
      uniform,    /* 1: every node has as many ranks */
      reserved[11];
} MPIX_Tide_topology;

/* What MPIX_Tide_group_offsets and MPIX_Tide_group_alloc lay out: all rows, this rank's rows, or
   all rows of gradients. */
enum { MPIX_TIDE_FULL = 1, MPIX_TIDE_SHARD, MPIX_TIDE_GRAD };

/* A training step's layers, gathered and reduced in order: see Training pipeline. */
typedef struct MPIX_Tide_pipeline_s* MPIX_Tide_pipeline;
#define MPIX_TIDE_PIPELINE_NULL ((MPIX_Tide_pipeline)0)

/* Flags of a layer, added by |; modes; flags of MPIX_Tide_pipeline_begin. */
enum {
  MPIX_TIDE_LAYER_KEEP = 1,  /* its parameters stay from its first visit to its last */
  MPIX_TIDE_LAYER_FROZEN = 2 /* gathered in backward visits, too, but it has no gradients */
};
enum { MPIX_TIDE_IN_PLACE_MODE = 1, MPIX_TIDE_SLOT_REUSE_MODE = 2 };
enum { MPIX_TIDE_NO_SYNC = 1 };

/* What a training step does: MPIX_Tide_pipeline_create.  Zero-initialise it. */
typedef struct MPIX_Tide_schedule {
  int nlayers;                   /* >= 1 */
  const MPIX_Tide_group* groups; /* [nlayers], all different, over one communicator */
  const int* layer_flags;        /* [nlayers] MPIX_TIDE_LAYER_*; NULL: none */
  int nforward;                  /* length of forward */
  const int* forward;            /* layers in the order of their visits; NULL: 0 .. nlayers-1 */
  int nbackward;                 /* length of backward; 0 (with a list): forward only */
  const int* backward;           /* the same; NULL: the forward visits in reverse */
  int mode;                      /* 0: MPIX_TIDE_IN_PLACE_MODE */
  int prefetch;                  /* visits that a gather is started ahead; 0: none */
  int reshard_after_forward;     /* 1: release lets parameters go; 0: all layers are kept */
  MPI_Count reserved[8];
} MPIX_Tide_schedule;

/* Kinds of error that MPI has no class for. */
enum {
  MPIX_TIDE_ERR_MISMATCH = 1, /* the ranks passed different things */
  MPIX_TIDE_ERR_TIMEOUT,      /* a peer stopped answering: tide_timeout */
  MPIX_TIDE_ERR_UNSUPPORTED,  /* valid, but not in this version or not on this machine */
  MPIX_TIDE_ERR_PEER,         /* a peer failed, or the group is broken by an earlier failure */
  MPIX_TIDE_ERR_DEVICE        /* a device reported an error */
};

/* ---- Groups -------------------------------------------------------------------------------- */

/* Creates a group with the chunk layout, the one of torch.chunk and FSDP2.  Collective over
   comm.
     comm     in   intracommunicator; it may be freed before the group
     nparams  in   length of params, >= 0
     params   in   the list, the same on all ranks
     info     in   tide_ keys (table below), the same on all ranks, or MPI_INFO_NULL; keys of
                   others are ignored
     group    out  free it with MPIX_Tide_group_free
   Layout, for each parameter by itself, with B = max(1, block_rows):
     R = ceil(ceil(rows / N) / B) * B
     rank r owns rows [min(r * R, rows), min((r + 1) * R, rows))
   So 10 rows on 8 ranks give 2,2,2,2,2,0,0,0.  There is no padding: the last non-empty shard is
   simply shorter.
   The workspace belongs to the communicator, is shared by its groups, and is reserved and
   touched here.
   Errors: COMM, local: comm is null or an intercommunicator.  ARG, all: bad dtype or types, an
     unknown tide_ key, a bad value, or tide_workspace_bytes below the smallest that works (the
     message names it).  COUNT, all: nparams, rows, row_elems or block_rows negative, or sizes
     whose bytes exceed 63 bits.  UNSUPPORTED, all: a value that this version has not.  MISMATCH,
     all: anything in list, layout or info differs between ranks; the message names the first
     rank that differs from rank 0, parameter, field and both values.  NO_MEM, all. */
MPIX_TIDE_API int MPIX_Tide_group_create(MPI_Comm comm, int nparams, const MPIX_Tide_param params[],
                                         MPI_Info info, MPIX_Tide_group* group);

/* Creates a group with a layout of the caller's (ragged).  Collective over comm.  As
   MPIX_Tide_group_create, with
     first_row  in  nparams * (N+1) rows: rank r owns rows [first_row[p*(N+1) + r],
                    first_row[p*(N+1) + r+1]) of parameter p.  Starts with 0, ends with the
                    parameter's rows, never decreases; the same on all ranks.
   Errors: also ARG, all: first_row breaks one of these rules, or a boundary is no multiple of
     block_rows. */
MPIX_TIDE_API int MPIX_Tide_group_create_explicit(MPI_Comm comm, int nparams,
                                                  const MPIX_Tide_param params[],
                                                  const MPI_Count first_row[], MPI_Info info,
                                                  MPIX_Tide_group* group);

/* Frees a group and sets *group to MPIX_TIDE_GROUP_NULL.  Local; put off while a request of the
   group is live.  It may come before or after the communicator's or the memory's end; a group
   never freed is cleaned up by MPI_Finalize.
   Errors: ARG, local: null or not a group. */
MPIX_TIDE_API int MPIX_Tide_group_free(MPIX_Tide_group* group);

/* Tells what a group was created with.  Local.  Any output may be NULL.
     comm     out  the creation handle, not to be freed; MPI_COMM_NULL once the user freed it
     nparams  out  length of the list
     params   out  [nparams]
   Errors: ARG, local: not a group. */
MPIX_TIDE_API int MPIX_Tide_group_get(MPIX_Tide_group group, MPI_Comm* comm, int* nparams,
                                      MPIX_Tide_param params[]);

/* Names the parameters in messages.  Local; call it with the same names on all
   ranks.
     prefix  in  put before every name; NULL: none
     names   in  [nparams] strings
   Errors: ARG, local: not a group, or names is NULL. */
MPIX_TIDE_API int MPIX_Tide_group_set_names(MPIX_Tide_group group, const char* prefix,
                                            const char* const names[]);

/* Tells which rows of a parameter a rank owns.  Local.
     param      in   0 .. nparams-1
     rank       in   0 .. N-1
     first_row  out  first row; of an empty shard the row where it would stand; may be NULL
     rows       out  how many, possibly 0; may be NULL
   Errors: ARG, local: param or rank out of range. */
MPIX_TIDE_API int MPIX_Tide_group_shard(MPIX_Tide_group group, int param, int rank,
                                        MPI_Count* first_row, MPI_Count* rows);

/* Tells how much storage and workspace a group takes on this rank, before any is allocated.
   Local.
   Errors: ARG, local: not a group. */
MPIX_TIDE_API int MPIX_Tide_group_sizes(MPIX_Tide_group group, MPIX_Tide_sizes* sizes);

/* Tells as JSON, for each collective, the path taken and why not a better one, rail, rounds,
   copies, bytes put on the rails, workspace, when gradients become free, and whether results are
   reproducible.  Local.
     json    out  at most size bytes with the final 0; cut where it does not fit; NULL to ask for
                  needed only
     size    in   bytes at json
     needed  out  bytes that the whole text takes, with the final 0; may be NULL
   Errors: ARG, local: not a group. */
MPIX_TIDE_API int MPIX_Tide_group_report(MPIX_Tide_group group, char* json, size_t size,
                                         size_t* needed);

/* Carves one flat buffer: where each parameter's piece begins.  Local.
     what         in   MPIX_TIDE_FULL, MPIX_TIDE_SHARD or MPIX_TIDE_GRAD
     dtype        in   element type of all pieces; 0: each one's own (gathered, shard or gradient
                       type)
     align        in   bytes, a power of two; every piece begins at a multiple of it and of its
                       element; 0: of its element only
     offsets      out  [nparams], bytes; may be NULL.  Padding stands between parameters only,
                       never between rows
     total_bytes  out  size of the buffer; may be NULL
   Errors: ARG, local: not a group, bad what or dtype, or align is no power of two. */
MPIX_TIDE_API int MPIX_Tide_group_offsets(MPIX_Tide_group group, int what, int dtype,
                                          MPI_Count align, MPI_Count offsets[],
                                          MPI_Count* total_bytes);

/* ---- Memory -------------------------------------------------------------------------------- */

/* Allocates memory that the ranks of a node address directly: zeroed, page-aligned, every page
   present.  Collective over comm.
     bytes    in   may differ by rank; 0 gives NULL
     info     in   "mpi_memory_alloc_kinds" = "system" (the default) or "cuda:device": memory of
                   this rank's device; "tide_share" = "none" (default) or "node": all ranks of a
                   node get the SAME pages, so that a gathered parameter exists once per node;
                   they must ask for the same size
     baseptr  out  address of a pointer, as in MPI_Alloc_mem
   The memory has no name in any file system and goes with its last process.  Unchanged memory
   costs a collective no set-up; memory that is freed and allocated again at the same address is
   another memory.
   Errors: COMM, local.  ARG, all: bytes negative, bad value in info.  MISMATCH, all: infos or,
     with "node", sizes differ.  NO_MEM, all.  UNSUPPORTED, all: device memory where a rank has no
     device, or in a build without CUDA.  DEVICE, all: the device failed. */
MPIX_TIDE_API int MPIX_Tide_alloc(MPI_Comm comm, MPI_Aint bytes, MPI_Info info, void* baseptr);

/* Frees memory of MPIX_Tide_alloc or MPIX_Tide_group_alloc.  Local: peers drop their mapping at
   their next call or at MPI_Finalize.  Not while a collective that uses it is in progress.
     comm  in  the communicator that it was allocated over, or MPI_COMM_NULL
     base  in  what the allocation returned; NULL does nothing
   Errors: ARG, local: base is not the start of such memory. */
MPIX_TIDE_API int MPIX_Tide_free(MPI_Comm comm, void* base);

/* Allocates one buffer over the group's communicator and carves it: MPIX_Tide_alloc and
   MPIX_Tide_group_offsets in one.  Collective over the group's communicator.
     what, dtype, info  in   as there; pieces begin at multiples of 64 bytes
     ptrs               out  [nparams] addresses of the pieces; NULL where a piece is empty
     base               out  for MPIX_Tide_free; NULL where there is nothing to allocate
   Errors: those of both. */
MPIX_TIDE_API int MPIX_Tide_group_alloc(MPIX_Tide_group group, int what, int dtype, MPI_Info info,
                                        void* ptrs[], void** base);

/* ---- Collectives --------------------------------------------------------------------------- */

/* Gathers all rows of every parameter on every rank, in the parameter's own storage.  Blocking;
   collective.
     shards  in   [nparams] this rank's rows of each parameter, shard type; or MPIX_TIDE_IN_PLACE
                  where they stand in params (shard type = gathered type only; each rank decides
                  for itself).  Passing the address of one's own rows in params[p] as shards[p]
                  means the same.
     params  out  [nparams] all rows of each parameter, gathered type; nothing is written past
                  them
     group   in
   Where shard and gathered type are equal the bits are moved: NaN payloads, -0 and subnormals
   arrive unchanged.  Where they differ (FP32 or FP64 shards gathered as BF16, FP16 or FP32) the
   owner rounds once, to nearest even: all ranks hold equal bits.
   With memory of tide_share = node as params on all ranks of a node each byte is written once
   per node, after all of them have entered, and none returns before all of it is written.
   Completion: on return params is complete, and no peer reads or writes any buffer of this rank.
   No byte is touched before its rank has entered.
   Errors: ARG, local: not a group.  BUFFER, all: NULL for a piece that is not empty, an address
     that is not aligned to the element, outputs that overlap each other, shards that overlap
     params otherwise than above, node-shared pages that overlap in part.  UNSUPPORTED, all: a
     pair of types not listed, or in place with two types.  MISMATCH, all: ranks called different
     operations or groups. */
MPIX_TIDE_API int MPIX_Tide_allgather(const void* const* shards, void* const params[],
                                      MPIX_Tide_group group);

/* Sums each parameter's gradients over the ranks and leaves every rank with the result for its
   own rows.  Blocking; collective.
     grads      in   [nparams] all rows of each gradient, gradient type; never written, never
                     read past.  NULL with MPIX_TIDE_NULL_IS_ZERO: this rank contributes nothing
                     to p
     shards     out  [nparams] this rank's rows of the result (in and out with
                     MPIX_TIDE_ACCUMULATE)
     out_dtype  in   0: each parameter's shard type; else FP32 (from BF16, FP16, FP32), FP64
                     (from FP32, FP64), or the gradient's own type.  No UINT8 gradients: use
                     NOGRAD
     op         in   MPIX_TIDE_SUM or MPIX_TIDE_AVG, | MPIX_TIDE_ACCUMULATE, |
                     MPIX_TIDE_NULL_IS_ZERO
     scale      in   factor, for example 1/(loss scale); 1.0 for none
     group      in
   out_dtype, op and scale are the same on all ranks.
   Arithmetic, for each element, in type T = fp32 (fp64 where gradient or output is fp64), with
   x_i the contributions:
     t = x_0 + x_1 + ...    starting from the first contribution, in the order below
     t = t / (T)N           with MPIX_TIDE_AVG
     t = t * (T)scale
     t = (T)old + t         with MPIX_TIDE_ACCUMULATE
     out = t                one rounding to the output type, to nearest even
   Each line is one IEEE operation: no fused multiply-add, subnormals kept whatever mode the
   caller's thread is in.  A sum of all -0 is -0 (scale > 0, no ACCUMULATE).  NaN and Inf stay in
   their element; a NaN's sign and payload are unspecified.  The same holds for N = 1.
   Order of additions: the ranks of one node in rank order give the node's partial; the partials
   are added in the order of each node's first rank.  So equal inputs on an equal communicator
   and node map give equal bits, whatever the timing, sizes, list position, alignment or path.
   A switch (tide_multicast) adds in an order of its own; the report then says so (reproducible).
   tide_order = rank adds in rank order on any node map, at the price of more rail traffic.
   Completion: on return this rank's shards are complete, its gradients may be overwritten or
   freed, and no peer reads them.
   Errors: ARG, local: not a group; all: bad op, flag or out_dtype, or scale is not finite.  BUFFER,
   all: NULL for a piece that is not empty (a gradient: without NULL_IS_ZERO), an address that is
   not aligned to the element, an output that overlaps another or a gradient, node-shared pages as
     gradient or output.  UNSUPPORTED, all: a pair of types not listed, MPIX_TIDE_IN_PLACE.
     MISMATCH, all: ranks differ in operation, group, op, scale or out_dtype. */
MPIX_TIDE_API int MPIX_Tide_reduce_scatter(const void* const* grads, void* const shards[],
                                           int out_dtype, int op, double scale,
                                           MPIX_Tide_group group);

/* ---- Nonblocking, persistent and stream-ordered forms ---------------------------------------
   Each takes the arguments of its blocking form; lists and info are copied.  All buffers belong to
   the operation until it completes, the inputs until MPIX_Tide_wait_inputs.  Starting is collective
   and in one order on all ranks, as of all operations on groups of one communicator; completing is
   local, in any order.  Two operations of a communicator run at a time, further ones are queued and
   read nothing before they run.  One active request per group; from its start until wait or test
   completes it the group takes no other operation.
   A request is completed by wait or test: a nonblocking one is then freed and set to
   MPIX_TIDE_REQUEST_NULL, with success or error; a persistent one becomes inactive.  wait, test and
   their _inputs forms on a null or inactive request succeed at once (flag = 1).
   Memory that an active request uses stays mapped, whatever is freed.
   Errors of the calls that start: ARG, local: not a group, request is NULL.  REQUEST, local: the
     group has an active operation.  Errors of the operation, as of its blocking form, come from the
     wait or test that completes it, on all ranks.

   On a stream (a cudaStream_t, or NULL for the default one): the enqueue forms return at once.  A
   call enters once its stream has done what it was given before, on every rank; what the stream is
   given afterwards sees the outputs and may overwrite the inputs.  The host may run ahead: a group
   takes any number of such calls, but no other until they are over.  In the communicator's order
   they stand where the host made them: on the same place on all ranks.
   In a stream that is being captured they become a part of the graph, which keeps what they need:
   nothing happens then, and each run of the graph makes them anew, with the lists of the capture.
   Their place in the communicator's order is where the stream comes to them, before calls whose
   streams have not come so far: what runs beside a graph on the same communicator must be ordered
   with it by the program, on all ranks alike.  Start and wait of a request belong to one capture
   (REQUEST, local: it was started outside, or in another), and the request stays inactive.  A
   graph's calls wait while the host has an operation of their group under way, and later ones of
   the graph with them.  No run begins after MPI_Finalize.
   Memory is not freed before the stream has passed.  A thread of Tide's drives the calls, as with
   tide_progress = thread, and keeps tide_timeout.  An error found later than here is told on all
   ranks by MPIX_Tide_group_async_error; the stream goes on, outputs are undefined.
   Errors of the enqueue forms: those of starting.  UNSUPPORTED, local: no device, or there are
     several nodes and MPI is without MPI_THREAD_MULTIPLE.  DEVICE, local: the device failed. */

/* Starts an all-gather or a reduce-scatter and returns.  Collective. */
MPIX_TIDE_API int MPIX_Tide_iallgather(const void* const* shards, void* const params[],
                                       MPIX_Tide_group group, MPIX_Tide_request* request);
MPIX_TIDE_API int MPIX_Tide_ireduce_scatter(const void* const* grads, void* const shards[],
                                            int out_dtype, int op, double scale,
                                            MPIX_Tide_group group, MPIX_Tide_request* request);

/* Makes an inactive request that can be started any number of times with the same buffers.  Call it
   on all ranks; it checks nothing yet and waits for nobody.  info is not used. */
MPIX_TIDE_API int MPIX_Tide_allgather_init(const void* const* shards, void* const params[],
                                           MPIX_Tide_group group, MPI_Info info,
                                           MPIX_Tide_request* request);
MPIX_TIDE_API int MPIX_Tide_reduce_scatter_init(const void* const* grads, void* const shards[],
                                                int out_dtype, int op, double scale,
                                                MPIX_Tide_group group, MPI_Info info,
                                                MPIX_Tide_request* request);

/* Puts the operation on a stream, as said above.  Collective. */
MPIX_TIDE_API int MPIX_Tide_allgather_enqueue(const void* const* shards, void* const params[],
                                              MPIX_Tide_group group, void* stream);
MPIX_TIDE_API int MPIX_Tide_reduce_scatter_enqueue(const void* const* grads, void* const shards[],
                                                   int out_dtype, int op, double scale,
                                                   MPIX_Tide_group group, void* stream);

/* Starts one or `count` inactive persistent requests.  Collective.  Errors: REQUEST, local:
   null, active or nonblocking. */
MPIX_TIDE_API int MPIX_Tide_start(MPIX_Tide_request* request);
MPIX_TIDE_API int MPIX_Tide_startall(int count, MPIX_Tide_request requests[]);

/* Drives all active requests of the process and sets *flag to 1 if this one (all `count`)
   completed, else 0.  Local. */
MPIX_TIDE_API int MPIX_Tide_test(MPIX_Tide_request* request, int* flag);
MPIX_TIDE_API int MPIX_Tide_testall(int count, MPIX_Tide_request requests[], int* flag);

/* Returns when the request (all `count`) has completed: no peer reads or writes this rank's
   buffers any more. */
MPIX_TIDE_API int MPIX_Tide_wait(MPIX_Tide_request* request);
MPIX_TIDE_API int MPIX_Tide_waitall(int count, MPIX_Tide_request requests[]);

/* Returns when (tells whether) the inputs have been read: they may be overwritten or freed, though
   outputs may not be ready.  In place the inputs are part of the outputs: that is at the end.  How
   early a reduce-scatter between nodes lets its gradients go depends on tide_workspace_bytes.
   Errors of the operation are told by wait or test, except that the communicator was given up. */
MPIX_TIDE_API int MPIX_Tide_wait_inputs(MPIX_Tide_request* request);
MPIX_TIDE_API int MPIX_Tide_test_inputs(MPIX_Tide_request* request, int* flag);

/* The same on a stream.  Starts an inactive persistent request in stream order.  Lets a stream wait
   until the inputs of a request, however it was started, have been read; or until it is over, which
   ends its active time for the host, too: a nonblocking one is freed and set to
   MPIX_TIDE_REQUEST_NULL.  A request that was started on a stream may also be completed by
   MPIX_Tide_wait.  Collective as starting and waiting are. */
MPIX_TIDE_API int MPIX_Tide_start_enqueue(MPIX_Tide_request* request, void* stream);
MPIX_TIDE_API int MPIX_Tide_wait_inputs_enqueue(MPIX_Tide_request* request, void* stream);
MPIX_TIDE_API int MPIX_Tide_wait_enqueue(MPIX_Tide_request* request, void* stream);

/* Changes op and scale of an inactive persistent reduce-scatter.  Local; the same on all ranks.
   Errors: REQUEST, local. */
MPIX_TIDE_API int MPIX_Tide_request_set(MPIX_Tide_request request, int op, double scale);

/* Frees a request and sets it to MPIX_TIDE_REQUEST_NULL.  Local; put off while it is active.
   Errors: REQUEST, local: null. */
MPIX_TIDE_API int MPIX_Tide_request_free(MPIX_Tide_request* request);

/* Gives an MPI request (a generalized one) that completes with this one, at once if it is inactive,
   for MPI_Wait, MPI_Waitall and the like; the request is still to be completed by wait or test, or
   freed.  Local.
   Errors: REQUEST, local: null.  UNSUPPORTED, local: the group was created without tide_progress =
     thread, or MPI without MPI_THREAD_MULTIPLE. */
MPIX_TIDE_API int MPIX_Tide_request_mpi(MPIX_Tide_request request, MPI_Request* mpi_request);

/* Tells the first failure of calls on a stream as an error code (MPIX_Tide_error_message then has
   its text), MPI_SUCCESS if there was none.  Local; sticky. */
MPIX_TIDE_API int MPIX_Tide_group_async_error(MPIX_Tide_group group, int* code);

/* ---- Training pipeline ---------------------------------------------------------------------
   Gathers, prefetches and reduces the layers of a model visit by visit, on memory that it plans
   before it takes it.  A layer is a group.  A visit is one use of a layer: the forward visits in
   order, then the backward ones; a layer that is used again (tied weights, recurrence) has several.
   Calls of a micro-batch, in this order:
     begin
     each forward visit:   gather, compute, release
     each backward visit:  gather, grads, compute, then release and reduce in any order; where the
                           layer is frozen as a forward visit
     finish                after the last visit; or after the last forward visit, which ends a
                           micro-batch without gradients (an evaluation)
   In a visit gather and grads may be repeated and give the same storage.  begin, gather, reduce and
   finish start or await operations: they are collective, in one order on all ranks, as are all
   operations on groups of one communicator.  While a micro-batch is under way the program starts
   no operation on the pipeline's groups itself.

   Lifetimes
     params[]       of gather: from its return until release of the last visit that shares them, for
                    reading.  Afterwards, and before, peers may be writing there.  Visits share a
                    gather where they follow each other at a distance of at most `prefetch` visits
                    (neighbours always), or the layer is kept.
     grads[]        of grads: from its return until reduce of the layer's last backward visit;
                    between visits they stay as they are.  ADD to them: they are zeroed before the
                    first visit, and hold what earlier visits and micro-batches of MPIX_TIDE_NO_SYNC
                    added.  After reduce peers read them: do not touch them.
     shards         of bind: read from begin to finish.  Change them between finish and begin.
     grad_shards    of bind: complete when finish has returned; until then not to be touched.
   Modes
     In-Place       a reduction reads gradients where they are, while the next visit computes and
                    the next gather is under way: two gradients live at a time.
     Slot-Reuse     gradients of a visit are written where parameters of the visit before were,
                    and the next gather goes where gradients were: it is queued at once, and enters
                    when they have been read.  One gradient less lives at a time; the gather begins
                    later.  No byte is copied.  Where shared slots would take over a sixteenth
                    more (gradients wider than parameters, very uneven layers) gradients have a
                    slot of their own, and grads waits until the last ones have been read.
   Slots of even layers of P bytes of parameters and G of gradients, with prefetch depth d:
     In-Place       (d + 1) P + 2 G
     Slot-Reuse     (d + 1) P + G
   Gathered values and sums are those of MPIX_Tide_allgather and MPIX_Tide_reduce_scatter, bit for
   bit.
   Errors.  Misuse (a call that is not due, another layer) is REQUEST, local; the message says what
   is expected, and nothing has happened.  An error of an operation comes, on all ranks, from the
   call that awaits it (gather, or finish for reductions); then the micro-batch is over: gather,
   release, grads and reduce return it again, finish completes what is under way and returns it once
   more, and the next begin starts afresh, without the gradients that had been accumulated.
   Streams.  With NULL a call waits, on the host, for what it says.  With a stream nothing waits but
   the stream: parameters may be read, and gradients added to, by what the stream is given after
   gather and grads; release and reduce come after what it was given before; after finish, what
   follows in the stream may use grad_shards and change the shards.  Errors of operations then come
   from MPIX_Tide_group_async_error.  Slots are device memory (mpi_memory_alloc_kinds = cuda:device
   in info), as are shards. Everywhere: ARG, local: not a pipeline, or layer out of range.
   UNSUPPORTED, local: a stream, and slots that are not device memory, or what
   MPIX_Tide_allgather_enqueue says.  REQUEST, local: used by another thread. */

/* Makes a pipeline and plans its memory, which the first MPIX_Tide_pipeline_begin takes.
   Collective over the groups' communicator.
     schedule  in   the same on all ranks, with its groups; copied.  The groups may be freed before
                    the pipeline
     info      in   keys of MPIX_Tide_alloc, for the slots.  tide_share = node: parameters exist
                    once per node, gradients on every rank (In-Place only)
     pipeline  out  free it with MPIX_Tide_pipeline_free
   Errors: ARG, all: a value that is not as said, or a bad info; local where the schedule names no
     group that lives and groups live over none or several communicators: nobody can be told.
     COUNT, all: a negative length.  MISMATCH, all: the message names the first field that differs
     from rank 0's. */
MPIX_TIDE_API int MPIX_Tide_pipeline_create(const MPIX_Tide_schedule* schedule, MPI_Info info,
                                            MPIX_Tide_pipeline* pipeline);

/* Tells the peak bytes of a pipeline on this rank, by kind, before they are taken.  Local.  Any
   output may be NULL.
     param_bytes      out  slots that hold parameters at a time
     grad_bytes       out  the other slots.  param_bytes + grad_bytes is what is allocated.  The
                           first begin with MPIX_TIDE_NO_SYNC plans anew, with gradients of all
                           layers that train
     workspace_bytes  out  of the communicator's workspace, reserved when its groups were created */
MPIX_TIDE_API int MPIX_Tide_pipeline_sizes(MPIX_Tide_pipeline pipeline, MPI_Count* param_bytes,
                                           MPI_Count* grad_bytes, MPI_Count* workspace_bytes);

/* Says where a layer's shards are.  Local; once for each layer, before the first begin.
     layer        in  0 .. nlayers-1
     shards       in  [nparams] this rank's rows, as of MPIX_Tide_allgather; the list is copied, the
                      data read by every gather
     grad_shards  in  [nparams] this rank's rows of the result, as of MPIX_Tide_reduce_scatter; NULL
                      where the layer is frozen
   Errors: ARG, local: a list is NULL, or MPIX_TIDE_IN_PLACE.  REQUEST, local: bound already.  Wrong
     pointers: BUFFER, from gather or finish, on all ranks. */
MPIX_TIDE_API int MPIX_Tide_pipeline_bind(MPIX_Tide_pipeline pipeline, int layer,
                                          const void* const* shards, void* const grad_shards[]);

/* Begins a micro-batch and starts the gathers of its first `prefetch` visits.  Collective; takes
   the memory when it is called first, and anew at the first MPIX_TIDE_NO_SYNC.
     flags   in  0, or MPIX_TIDE_NO_SYNC: nothing is reduced, gradients stay where they are and the
                 next micro-batch adds to them; the same on all ranks
     stream  in  NULL, or a stream
   Errors: ARG, local: flags.  REQUEST, local: a micro-batch is under way; all, where memory is
     taken: a layer is not bound.  MISMATCH, all: other flags on another rank, from begin where
     memory is taken, else from the first gather.  NO_MEM, all. */
MPIX_TIDE_API int MPIX_Tide_pipeline_begin(MPIX_Tide_pipeline pipeline, int flags, void* stream);

/* Starts the next prefetch, waits for a layer's parameters and tells where they are.  Collective;
   begins the next visit.
     layer   in   that of the next visit
     params  out  [nparams] all rows of each parameter, gathered type; NULL where it has no elements
     stream  in   NULL, or a stream */
MPIX_TIDE_API int MPIX_Tide_pipeline_gather(MPIX_Tide_pipeline pipeline, int layer, void* params[],
                                            void* stream);

/* Says that this visit reads the layer's parameters no more.  Local. */
MPIX_TIDE_API int MPIX_Tide_pipeline_release(MPIX_Tide_pipeline pipeline, int layer, void* stream);

/* Tells where to add a layer's gradients.  Local; may wait until peers have read those that stood
   there before.
     layer   in   that of this backward visit, not frozen
     grads   out  [nparams] all rows of each gradient, gradient type; NULL where it has no elements
                  or the parameter is NOGRAD
     stream  in   NULL, or a stream */
MPIX_TIDE_API int MPIX_Tide_pipeline_grads(MPIX_Tide_pipeline pipeline, int layer, void* grads[],
                                           void* stream);

/* Says that this visit's gradients are complete.  At the layer's last visit, and without
   MPIX_TIDE_NO_SYNC, it starts their reduction into grad_shards; else it does nothing more.
   Collective.
     layer                 in  that of this backward visit
     out_dtype, op, scale  in  as of MPIX_Tide_reduce_scatter; they may change from step to step
     stream                in  NULL, or a stream
   Errors: bad out_dtype, op or scale come from finish, on all ranks. */
MPIX_TIDE_API int MPIX_Tide_pipeline_reduce(MPIX_Tide_pipeline pipeline, int layer, int out_dtype,
                                            int op, double scale, void* stream);

/* Ends a micro-batch: waits for all that is under way.  Collective.  On return grad_shards are
   complete and peers touch no memory of this pipeline; with a stream, when it has come so far. */
MPIX_TIDE_API int MPIX_Tide_pipeline_finish(MPIX_Tide_pipeline pipeline, void* stream);

/* Frees a pipeline with its slots and sets *pipeline to MPIX_TIDE_PIPELINE_NULL.  Local, at any
   time on all ranks: operations that are under way go on and keep their memory until they end.
   Waits until the stream of the last finish has passed that.
   Errors: ARG, local: null or not a pipeline. */
MPIX_TIDE_API int MPIX_Tide_pipeline_free(MPIX_Tide_pipeline* pipeline);

/* ---- Replicas, norms, whole parameters, checkpoints ------------------------------------------ */

/* A list of lists of shards passed as input, without a warning in C. */
#define MPIX_TIDE_LISTS(lists) ((void* const* const*)(lists))

/* Sums this rank's shards over the replicas, in place: after a reduce-scatter over the shard
   communicator of MPIX_Tide_comm_grid, over its replica communicator.  Collective over replica.
     shards   in   [nparams] this rank's rows of each parameter, overwritten with the result;
                   entries of parameters with the gradient type NOGRAD are ignored
     dtype    in   BF16, FP16, FP32 or FP64: element type of all shards; 0: each parameter's
                   shard type
     op       in   MPIX_TIDE_SUM or MPIX_TIDE_AVG, without flags.  AVG divides by the ranks of
                   replica only
     scale    in   factor, 1.0 for none
     group    in   a group over another communicator; ranks of replica own the same rows of it
     replica  in   intracommunicator
   Arithmetic as of MPIX_Tide_reduce_scatter, in rank order of replica on any node map.  Each
   element is added up by one rank: all replicas hold equal bits.
   The first call with a group, replica and dtype sets up and waits for all ranks of replica, in
   the nonblocking form, too.  It keeps a buffer of the shards' size divided by the replicas until
   the group is freed.  Memory of MPIX_Tide_alloc over a communicator that holds the replicas of a
   node is the fast path.
   One operation for a group, replica and dtype is active at a time.  Shards belong to it until it
   completes; group may be used meanwhile.
   Errors: ARG, local: not a group, request is NULL.  COMM, local: replica is null or an
     intercommunicator.  REQUEST, local: such an operation is active.  ARG, all: bad op or dtype,
     scale is not finite.  BUFFER, all: NULL or not aligned for a piece that is not empty, or two
   pieces overlap.  UNSUPPORTED, all: a UINT8 shard.  MISMATCH, all: ranks of replica differ in
   group, rows, dtype, op or scale.  Here "all" is all ranks of replica.  BUFFER, all: shards in
   device memory where those of the first call were not, or the other way round. The form with a
   stream: as MPIX_Tide_allgather_enqueue; its set-up waits on the host. */
MPIX_TIDE_API int MPIX_Tide_replica_allreduce(void* const shards[], int dtype, int op, double scale,
                                              MPIX_Tide_group group, MPI_Comm replica);
MPIX_TIDE_API int MPIX_Tide_ireplica_allreduce(void* const shards[], int dtype, int op,
                                               double scale, MPIX_Tide_group group,
                                               MPI_Comm replica, MPIX_Tide_request* request);
MPIX_TIDE_API int MPIX_Tide_replica_allreduce_enqueue(void* const shards[], int dtype, int op,
                                                      double scale, MPIX_Tide_group group,
                                                      MPI_Comm replica, void* stream);

/* Tells the Euclidean norm (the square root of the sum of squares) of everything in the shards of
   some groups, for clipping gradients.  Collective over shard.
     shard    in   the communicator over which the groups are sharded
     ngroups  in   length of groups and shards, >= 0
     groups   in   the same on all ranks, in the same order
     shards   in   [ngroups] lists of this rank's shards; MPIX_TIDE_LISTS
     dtype    in   BF16, FP16, FP32 or FP64: element type of all shards; 0: each parameter's
                   shard type
     norm2    out  the same bits on all ranks
   Parameters with the gradient type NOGRAD are left out.  Squares are added in fp64, in a fixed
   order on each rank, then in rank order: equal shards give equal bits, whatever the timing.  NaN
   and Inf pass through.
   Errors: COMM, local: shard is null or an intercommunicator.  COUNT, all: ngroups negative.
     ARG, all: not a group, bad dtype.  BUFFER, all: a list is NULL, or a piece that is not empty
     is NULL or not aligned.  UNSUPPORTED, all: a UINT8 shard.  MISMATCH, all: ranks differ in
     groups or dtype. */
MPIX_TIDE_API int MPIX_Tide_norm2(MPI_Comm shard, int ngroups, const MPIX_Tide_group groups[],
                                  void* const* const shards[], int dtype, double* norm2);

/* Hands the rows of whole parameters, which one rank has, to their owners.  Blocking; collective.
     root    in   the rank that has them, the same on all ranks
     params  in   [nparams] all rows of each parameter, in the shard type; looked at on root only
     shards  out  [nparams] this rank's rows, in the shard type
     group   in
   Bits are moved, of every parameter and in any layout.  On root a shard may be its own rows in
   params.  For set-up: the rows travel in MPI messages, to one rank after the other.
   Errors: ARG, local: not a group; all: root is no rank.  BUFFER, all: NULL for a piece that is
     not empty.  MISMATCH, all: ranks differ in call, group or root.  REQUEST, all: the group has
     an active operation. */
MPIX_TIDE_API int MPIX_Tide_scatter(int root, const void* const* params, void* const shards[],
                                    MPIX_Tide_group group);

/* Brings all rows of every parameter to one rank, without taking memory for them elsewhere.
   Blocking; collective.
     root    in   the rank that gets them, the same on all ranks
     shards  in   [nparams] this rank's rows, in the shard type
     params  out  [nparams] all rows of each parameter, in the shard type; on root only
     group   in
   The rest as of MPIX_Tide_scatter.
   Errors: those of MPIX_Tide_scatter. */
MPIX_TIDE_API int MPIX_Tide_gather(int root, const void* const* shards, void* const params[],
                                   MPIX_Tide_group group);

/* One list of shards in a checkpoint. */
typedef struct MPIX_Tide_item {
  const char* kind;      /* "": parameters; else stands with a dot before the names: "adam.m" */
  MPIX_Tide_group group; /* MPIX_Tide_group_set_names has named its parameters */
  int dtype;             /* element type of all shards; 0: each parameter's shard type */
  void* const* shards;   /* [nparams] this rank's rows */
} MPIX_Tide_item;

/* Writes shards into one file in safetensors form: row-major, no gaps, tensors of rows x row_elems
   (of rows where row_elems is 1), for any number of ranks and for other programs.  Blocking;
   collective over comm.
     comm      in  every rank of every item's group is in it.  Where several hold the same rows (as
                   replicas do) the lowest writes
     path      in  the file, the same on all ranks, which share its file system; one that exists is
                   replaced, as is a symbolic link: it is not followed
     nitems    in  length of items, >= 0
     items     in  the same on all ranks but for the addresses.  An item whose kind is not "" leaves
                   parameters with the gradient type NOGRAD out
     metadata  in  JSON object of strings, the same on all ranks, or NULL: stored as __metadata__.
                   Keys that begin with "tide." are Tide's own
     info      in  hints for MPI_File_open, or MPI_INFO_NULL
   A file beside it (path.tide-...) takes the data, by MPI-IO; the header, with a CRC-32 of each
   tensor, comes last; then it is synchronised and renamed to path.  So path holds the old or the
   new checkpoint, whole; after an error the old one.  A kill may leave the other file behind, which
   MPIX_Tide_load refuses.  The bytes do not depend on the number of ranks.
   No operation may write the shards meanwhile.  MPI-IO does not watch tide_timeout.
   Errors: COMM, local.  COUNT, all: nitems negative.  ARG, all: path, items, a kind or a group is
     NULL or not live, bad dtype, a parameter without a name, two tensors of one name, metadata is
     no such object, or comm lacks ranks of a group.  BUFFER, all: NULL for a piece that is not
     empty.  MISMATCH, all: ranks differ in call, path, metadata or items.  MPI_ERR_IO, all: the
     file cannot be made or written; the message says which and why.  NO_MEM, all. */
MPIX_TIDE_API int MPIX_Tide_save(MPI_Comm comm, const char* path, int nitems,
                                 const MPIX_Tide_item items[], const char* metadata, MPI_Info info);

/* Reads shards from a file in safetensors form, of MPIX_Tide_save on any number of ranks, or of
   another program.  Blocking; collective over comm.
     comm, path, nitems, items, info  in  as there; further tensors of the file are left alone
     metadata  out  the file's, without Tide's own keys: a JSON object of strings; at most size
                    bytes with the final 0; may be NULL
     size      in   bytes at metadata
     needed    out  bytes that the whole text takes, with the final 0; may be NULL
   Header and, where the file has them, checksums are verified before any byte is written to the
   shards: the data is read twice.  A tensor may have any shape whose first dimension is rows and
   whose others multiply to row_elems.
   Errors: those of MPIX_Tide_save.  MPI_ERR_IO, all: also a file that is not of this form, is cut
     or has bytes too many, has a checksum that does not fit, or lacks a tensor or has it with
     another type or shape. */
MPIX_TIDE_API int MPIX_Tide_load(MPI_Comm comm, const char* path, int nitems,
                                 const MPIX_Tide_item items[], char* metadata, size_t size,
                                 size_t* needed, MPI_Info info);

/* ---- Where the communicator lives ---------------------------------------------------------- */
/* A node is a set of ranks that share memory (MPI_COMM_TYPE_SHARED, or TIDE_FAKE_NODES) and
   could attach each other's.  New communicators are the caller's, who frees them.
   Errors of all four: COMM, local: null or an intercommunicator. */

/* Tells nodes, this rank's node and its place there.  Collective over comm. */
MPIX_TIDE_API int MPIX_Tide_comm_topology(MPI_Comm comm, MPIX_Tide_topology* topology);

/* Makes a communicator of this node's ranks, in the order of comm.  Collective over comm. */
MPIX_TIDE_API int MPIX_Tide_comm_node(MPI_Comm comm, MPI_Comm* node);

/* Makes a communicator of the ranks with my local rank, in node order; on uneven nodes some are
   shorter.  Collective. */
MPIX_TIDE_API int MPIX_Tide_comm_rail(MPI_Comm comm, MPI_Comm* rail);

/* Makes the two communicators of hybrid sharding.  Collective over comm.
     shard_size  in   ranks to shard over; it must divide N.  0: one node (nodes of equal size
                      only)
     shard       out  shard_size consecutive ranks in node-major order: shard the parameters over
                      it
     replica     out  the ranks at my place in each shard communicator: average the reduced
                      gradients over it
   Errors: ARG, all: shard_size does not divide N, or is 0 on uneven nodes.  MISMATCH, all:
     shard_size differs. */
MPIX_TIDE_API int MPIX_Tide_comm_grid(MPI_Comm comm, int shard_size, MPI_Comm* shard,
                                      MPI_Comm* replica);

/* ---- Errors, log, version ------------------------------------------------------------------ */

/* Tells the kind of an error code: MPIX_TIDE_ERR_*, or 0 for a plain MPI class.  Local.  Errors:
   ARG, local: kind is NULL. */
MPIX_TIDE_API int MPIX_Tide_error_kind(int error_code, int* kind);

/* This thread's last error on one line: rank, parameter, field and what to do; "" if there was
   none.  Local.  The text is valid until this thread's next error.  MPI_Error_string of the
   returned code says the same (MPICH 4.0: for the MPIX_TIDE_ERR_ kinds only). */
MPIX_TIDE_API const char* MPIX_Tide_error_message(void);

/* Sends log lines to `sink` instead of the error output; NULL restores that.  Local, for the
   whole process.
     sink     in  called with a level (0 error, 1 warn, 2 info, 3 debug), a line without its end,
                  and context; from any thread
     context  in  passed on as it is */
MPIX_TIDE_API int MPIX_Tide_set_log(void (*sink)(int level, const char* line, void* context),
                                    void* context);

/* Tells the version of the library in use (the header's own is MPIX_TIDE_VERSION).  Local;
   before MPI_Init, too. */
MPIX_TIDE_API int MPIX_Tide_get_version(int* major, int* minor, int* patch);

/* Tells as text how the library was built: version, MPI, features, instruction sets.  Local;
   before MPI_Init, too.  text, size and needed as in MPIX_Tide_group_report. */
MPIX_TIDE_API int MPIX_Tide_get_config(char* text, size_t size, size_t* needed);

/* ---- Info keys and environment ----------------------------------------------------------------
   Each key tide_x has a variable TIDE_X; the info key wins, except over TIDE_FORCE=x=value,...
   `tide-info --env` lists all with their values.
   For MPIX_Tide_group_create:
     tide_order                node (default) or rank: the order of additions
     tide_rail                 auto, mpi, ucx or nccl: what carries bytes between nodes (nccl: those
                               of device memory; NCCL 2.31.2 or later, found at run time)
     tide_foreign              auto, cma or staged: how memory that Tide did not allocate is
                               reached inside a node
     tide_chunk_bytes          size of the pieces that a rail or a staging slot carries
     tide_eager_bytes          all-gathers of at most so many bytes (whole list, 0 to 8192) travel
                               between nodes with the entry of the call; default 8192
     tide_rail_inflight_bytes  cap of the bytes that a rank has on its rail at once
     tide_workspace_bytes      upper bound for the reduce-scatter (without tide_foreign=staged's
                               rows); below the smallest that works: ARG; 0 (default): Tide's
                               choice
     tide_timeout              seconds without any arrival after which a rank is missed (see Time
                               limit); 0 (default): wait for ever
     tide_progress             poll (default), or thread: a thread of the process drives requests
                               while the program computes.  It stays inside the CPUs of the thread
                               that created the group and sleeps while no request is active.
                               Between nodes UNSUPPORTED (all) without MPI_THREAD_MULTIPLE
     tide_multicast            off (default), auto, on or emulate.  auto, on: copies to the ranks of
                               a node, and sums over them, by NVSwitch multicast, which has not run
                               on hardware; for device memory, with TIDE_ALLOW_MULTICAST=1, in a
                               build with TIDE_WITH_MULTICAST=ON; where that cannot be, auto does
                               without and on is UNSUPPORTED (all).  It is memory's that is
                               allocated after such a group, or with the variable set.  emulate: the
                               same pieces by way of emulated addresses, of any memory, for tests.
                               With tide_order = rank no switch adds
     tide_rail_devices         NICs of local ranks 0, 1, ... and again from the first, for rails
                               that open them (not mpi): mlx5_0,mlx5_1; + joins up to four of a
                               rank.  Equal in all groups of a communicator.  Default: the nearest
     tide_sum_ctas             thread blocks of a sum on a device (default 16)
     tide_landing_ctas         thread blocks of a landing that a kernel makes: on one device, and of
                               many small pieces (64)
     tide_device               CUDA device of this rank on this communicator (default: the thread's
                               current one at first use)
     tide_landing_bytes_per_s  device memory: cap of what a rank's all-gathers on a communicator
                               store, in all ranks of its node, in bytes a second; 0 (default): none
   For MPIX_Tide_alloc and MPIX_Tide_group_alloc:
     mpi_memory_alloc_kinds    system (default); cuda:device
     tide_share                none (default), or node: all ranks of a node get the same pages
     tide_memory               auto or system, cuda: the default of mpi_memory_alloc_kinds
   Environment only:
     TIDE_LOG                  error, warn (default), info or debug
     TIDE_CHECK                0 (default), or 1: where addresses are new, and in every 64th call,
                               a call checks that the process has their memory (BUFFER, all)
     TIDE_FAKE_NODES           0,0,1,1,...: node of each rank of MPI_COMM_WORLD, for rehearsals
     TIDE_HWLOC_XML            file that lstopo wrote: a machine that stands for this one
     TIDE_FORCE                x=value,...: wins over info keys
     TIDE_ALLOW_MULTICAST      0 (default), or 1: tide_multicast may make multicast objects */

/* ---- Profiling interface ----------------------------------------------------------------------
   Every function also exists under the name PMPIX_Tide_...; MPIX_Tide_... is its weak alias, so
   that a tool can define MPIX_Tide_allgather, do its work and call PMPIX_Tide_allgather, as with
   MPI itself. */
MPIX_TIDE_API int PMPIX_Tide_group_create(MPI_Comm comm, int nparams,
                                          const MPIX_Tide_param params[], MPI_Info info,
                                          MPIX_Tide_group* group);
MPIX_TIDE_API int PMPIX_Tide_group_create_explicit(MPI_Comm comm, int nparams,
                                                   const MPIX_Tide_param params[],
                                                   const MPI_Count first_row[], MPI_Info info,
                                                   MPIX_Tide_group* group);
MPIX_TIDE_API int PMPIX_Tide_group_free(MPIX_Tide_group* group);
MPIX_TIDE_API int PMPIX_Tide_group_get(MPIX_Tide_group group, MPI_Comm* comm, int* nparams,
                                       MPIX_Tide_param params[]);
MPIX_TIDE_API int PMPIX_Tide_group_set_names(MPIX_Tide_group group, const char* prefix,
                                             const char* const names[]);
MPIX_TIDE_API int PMPIX_Tide_group_shard(MPIX_Tide_group group, int param, int rank,
                                         MPI_Count* first_row, MPI_Count* rows);
MPIX_TIDE_API int PMPIX_Tide_group_sizes(MPIX_Tide_group group, MPIX_Tide_sizes* sizes);
MPIX_TIDE_API int PMPIX_Tide_group_report(MPIX_Tide_group group, char* json, size_t size,
                                          size_t* needed);
MPIX_TIDE_API int PMPIX_Tide_group_offsets(MPIX_Tide_group group, int what, int dtype,
                                           MPI_Count align, MPI_Count offsets[],
                                           MPI_Count* total_bytes);
MPIX_TIDE_API int PMPIX_Tide_alloc(MPI_Comm comm, MPI_Aint bytes, MPI_Info info, void* baseptr);
MPIX_TIDE_API int PMPIX_Tide_free(MPI_Comm comm, void* base);
MPIX_TIDE_API int PMPIX_Tide_group_alloc(MPIX_Tide_group group, int what, int dtype, MPI_Info info,
                                         void* ptrs[], void** base);
MPIX_TIDE_API int PMPIX_Tide_allgather(const void* const* shards, void* const params[],
                                       MPIX_Tide_group group);
MPIX_TIDE_API int PMPIX_Tide_reduce_scatter(const void* const* grads, void* const shards[],
                                            int out_dtype, int op, double scale,
                                            MPIX_Tide_group group);
MPIX_TIDE_API int PMPIX_Tide_iallgather(const void* const* shards, void* const params[],
                                        MPIX_Tide_group group, MPIX_Tide_request* request);
MPIX_TIDE_API int PMPIX_Tide_ireduce_scatter(const void* const* grads, void* const shards[],
                                             int out_dtype, int op, double scale,
                                             MPIX_Tide_group group, MPIX_Tide_request* request);
MPIX_TIDE_API int PMPIX_Tide_allgather_init(const void* const* shards, void* const params[],
                                            MPIX_Tide_group group, MPI_Info info,
                                            MPIX_Tide_request* request);
MPIX_TIDE_API int PMPIX_Tide_reduce_scatter_init(const void* const* grads, void* const shards[],
                                                 int out_dtype, int op, double scale,
                                                 MPIX_Tide_group group, MPI_Info info,
                                                 MPIX_Tide_request* request);
MPIX_TIDE_API int PMPIX_Tide_allgather_enqueue(const void* const* shards, void* const params[],
                                               MPIX_Tide_group group, void* stream);
MPIX_TIDE_API int PMPIX_Tide_reduce_scatter_enqueue(const void* const* grads, void* const shards[],
                                                    int out_dtype, int op, double scale,
                                                    MPIX_Tide_group group, void* stream);
MPIX_TIDE_API int PMPIX_Tide_start(MPIX_Tide_request* request);
MPIX_TIDE_API int PMPIX_Tide_startall(int count, MPIX_Tide_request requests[]);
MPIX_TIDE_API int PMPIX_Tide_test(MPIX_Tide_request* request, int* flag);
MPIX_TIDE_API int PMPIX_Tide_testall(int count, MPIX_Tide_request requests[], int* flag);
MPIX_TIDE_API int PMPIX_Tide_wait(MPIX_Tide_request* request);
MPIX_TIDE_API int PMPIX_Tide_waitall(int count, MPIX_Tide_request requests[]);
MPIX_TIDE_API int PMPIX_Tide_wait_inputs(MPIX_Tide_request* request);
MPIX_TIDE_API int PMPIX_Tide_test_inputs(MPIX_Tide_request* request, int* flag);
MPIX_TIDE_API int PMPIX_Tide_start_enqueue(MPIX_Tide_request* request, void* stream);
MPIX_TIDE_API int PMPIX_Tide_wait_inputs_enqueue(MPIX_Tide_request* request, void* stream);
MPIX_TIDE_API int PMPIX_Tide_wait_enqueue(MPIX_Tide_request* request, void* stream);
MPIX_TIDE_API int PMPIX_Tide_request_set(MPIX_Tide_request request, int op, double scale);
MPIX_TIDE_API int PMPIX_Tide_request_free(MPIX_Tide_request* request);
MPIX_TIDE_API int PMPIX_Tide_request_mpi(MPIX_Tide_request request, MPI_Request* mpi_request);
MPIX_TIDE_API int PMPIX_Tide_group_async_error(MPIX_Tide_group group, int* code);
MPIX_TIDE_API int PMPIX_Tide_pipeline_create(const MPIX_Tide_schedule* schedule, MPI_Info info,
                                             MPIX_Tide_pipeline* pipeline);
MPIX_TIDE_API int PMPIX_Tide_pipeline_sizes(MPIX_Tide_pipeline pipeline, MPI_Count* param_bytes,
                                            MPI_Count* grad_bytes, MPI_Count* workspace_bytes);
MPIX_TIDE_API int PMPIX_Tide_pipeline_bind(MPIX_Tide_pipeline pipeline, int layer,
                                           const void* const* shards, void* const grad_shards[]);
MPIX_TIDE_API int PMPIX_Tide_pipeline_begin(MPIX_Tide_pipeline pipeline, int flags, void* stream);
MPIX_TIDE_API int PMPIX_Tide_pipeline_gather(MPIX_Tide_pipeline pipeline, int layer, void* params[],
                                             void* stream);
MPIX_TIDE_API int PMPIX_Tide_pipeline_release(MPIX_Tide_pipeline pipeline, int layer, void* stream);
MPIX_TIDE_API int PMPIX_Tide_pipeline_grads(MPIX_Tide_pipeline pipeline, int layer, void* grads[],
                                            void* stream);
MPIX_TIDE_API int PMPIX_Tide_pipeline_reduce(MPIX_Tide_pipeline pipeline, int layer, int out_dtype,
                                             int op, double scale, void* stream);
MPIX_TIDE_API int PMPIX_Tide_pipeline_finish(MPIX_Tide_pipeline pipeline, void* stream);
MPIX_TIDE_API int PMPIX_Tide_pipeline_free(MPIX_Tide_pipeline* pipeline);

MPIX_TIDE_API int PMPIX_Tide_replica_allreduce(void* const shards[], int dtype, int op,
                                               double scale, MPIX_Tide_group group,
                                               MPI_Comm replica);
MPIX_TIDE_API int PMPIX_Tide_ireplica_allreduce(void* const shards[], int dtype, int op,
                                                double scale, MPIX_Tide_group group,
                                                MPI_Comm replica, MPIX_Tide_request* request);
MPIX_TIDE_API int PMPIX_Tide_replica_allreduce_enqueue(void* const shards[], int dtype, int op,
                                                       double scale, MPIX_Tide_group group,
                                                       MPI_Comm replica, void* stream);
MPIX_TIDE_API int PMPIX_Tide_norm2(MPI_Comm shard, int ngroups, const MPIX_Tide_group groups[],
                                   void* const* const shards[], int dtype, double* norm2);
MPIX_TIDE_API int PMPIX_Tide_scatter(int root, const void* const* params, void* const shards[],
                                     MPIX_Tide_group group);
MPIX_TIDE_API int PMPIX_Tide_gather(int root, const void* const* shards, void* const params[],
                                    MPIX_Tide_group group);
MPIX_TIDE_API int PMPIX_Tide_save(MPI_Comm comm, const char* path, int nitems,
                                  const MPIX_Tide_item items[], const char* metadata,
                                  MPI_Info info);
MPIX_TIDE_API int PMPIX_Tide_load(MPI_Comm comm, const char* path, int nitems,
                                  const MPIX_Tide_item items[], char* metadata, size_t size,
                                  size_t* needed, MPI_Info info);
MPIX_TIDE_API int PMPIX_Tide_comm_topology(MPI_Comm comm, MPIX_Tide_topology* topology);
MPIX_TIDE_API int PMPIX_Tide_comm_node(MPI_Comm comm, MPI_Comm* node);
MPIX_TIDE_API int PMPIX_Tide_comm_rail(MPI_Comm comm, MPI_Comm* rail);
MPIX_TIDE_API int PMPIX_Tide_comm_grid(MPI_Comm comm, int shard_size, MPI_Comm* shard,
                                       MPI_Comm* replica);
MPIX_TIDE_API int PMPIX_Tide_error_kind(int error_code, int* kind);
MPIX_TIDE_API const char* PMPIX_Tide_error_message(void);
MPIX_TIDE_API int PMPIX_Tide_set_log(void (*sink)(int level, const char* line, void* context),
                                     void* context);
MPIX_TIDE_API int PMPIX_Tide_get_version(int* major, int* minor, int* patch);
MPIX_TIDE_API int PMPIX_Tide_get_config(char* text, size_t size, size_t* needed);

#ifdef __cplusplus
}
#endif
#endif
