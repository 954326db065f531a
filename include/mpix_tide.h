/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
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

typedef struct MPIX_Tide_group_s *MPIX_Tide_group;
typedef struct MPIX_Tide_request_s *MPIX_Tide_request;
#define MPIX_TIDE_GROUP_NULL ((MPIX_Tide_group)0)
#define MPIX_TIDE_REQUEST_NULL ((MPIX_Tide_request)0)
#define MPIX_TIDE_IN_PLACE ((const void *const *)MPI_IN_PLACE)
#define MPIX_TIDE_INPUTS(list) ((const void *const *)(list))

enum {
  MPIX_TIDE_BF16 = 1,
  MPIX_TIDE_FP16,
  MPIX_TIDE_FP32,
  MPIX_TIDE_FP64,
  MPIX_TIDE_UINT8,
  MPIX_TIDE_NOGRAD = 0xff
};
enum {
  MPIX_TIDE_SUM = 1,
  MPIX_TIDE_AVG = 2,
  MPIX_TIDE_ACCUMULATE = 0x100,
  MPIX_TIDE_NULL_IS_ZERO = 0x200
};
#define MPIX_TIDE_TYPES(shard, grad) ((shard) | (grad) << 8)

typedef struct MPIX_Tide_param {
  MPI_Count rows;
  MPI_Count row_elems;
  MPI_Count block_rows;
  int dtype;
  int types;
} MPIX_Tide_param;

typedef struct MPIX_Tide_sizes {
  MPI_Count full_bytes, shard_bytes, allgather_workspace_bytes, reduce_scatter_workspace_bytes,
      reduce_scatter_workspace_min_bytes, reserved[7];
} MPIX_Tide_sizes;

typedef struct MPIX_Tide_topology {
  int nodes, local_size, node, local_rank, uniform, reserved[11];
} MPIX_Tide_topology;

enum { MPIX_TIDE_FULL = 1, MPIX_TIDE_SHARD, MPIX_TIDE_GRAD };
enum {
  MPIX_TIDE_ERR_MISMATCH = 1,
  MPIX_TIDE_ERR_TIMEOUT,
  MPIX_TIDE_ERR_UNSUPPORTED,
  MPIX_TIDE_ERR_PEER,
  MPIX_TIDE_ERR_DEVICE
};

MPIX_TIDE_API int MPIX_Tide_group_create(MPI_Comm comm, int nparams, const MPIX_Tide_param params[],
    MPI_Info info, MPIX_Tide_group *group);
MPIX_TIDE_API int MPIX_Tide_group_create_explicit(MPI_Comm comm, int nparams, const MPIX_Tide_param
    params[], const MPI_Count first_row[], MPI_Info info, MPIX_Tide_group *group);
MPIX_TIDE_API int MPIX_Tide_group_free(MPIX_Tide_group *group);
MPIX_TIDE_API int MPIX_Tide_group_get(MPIX_Tide_group group, MPI_Comm *comm, int *nparams,
    MPIX_Tide_param params[]);
MPIX_TIDE_API int MPIX_Tide_group_set_names(MPIX_Tide_group group, const char *prefix, const char
    *const names[]);
MPIX_TIDE_API int MPIX_Tide_group_shard(MPIX_Tide_group group, int param, int rank, MPI_Count
    *first_row, MPI_Count *rows);
MPIX_TIDE_API int MPIX_Tide_group_sizes(MPIX_Tide_group group, MPIX_Tide_sizes *sizes);
MPIX_TIDE_API int MPIX_Tide_group_report(MPIX_Tide_group group, char *json, size_t size, size_t
    *needed);
MPIX_TIDE_API int MPIX_Tide_group_offsets(MPIX_Tide_group group, int what, int dtype, MPI_Count
    align, MPI_Count offsets[], MPI_Count *total_bytes);
MPIX_TIDE_API int MPIX_Tide_alloc(MPI_Comm comm, MPI_Aint bytes, MPI_Info info, void *baseptr);
MPIX_TIDE_API int MPIX_Tide_free(MPI_Comm comm, void *base);
MPIX_TIDE_API int MPIX_Tide_group_alloc(MPIX_Tide_group group, int what, int dtype, MPI_Info info,
    void *ptrs[], void **base);
MPIX_TIDE_API int MPIX_Tide_allgather(const void *const *shards, void *const params[],
    MPIX_Tide_group group);
MPIX_TIDE_API int MPIX_Tide_reduce_scatter(const void *const *grads, void *const shards[], int
    out_dtype, int op, double scale, MPIX_Tide_group group);
MPIX_TIDE_API int MPIX_Tide_iallgather(const void *const *shards, void *const params[],
    MPIX_Tide_group group, MPIX_Tide_request *request);
MPIX_TIDE_API int MPIX_Tide_ireduce_scatter(const void *const *grads, void *const shards[], int
    out_dtype, int op, double scale, MPIX_Tide_group group, MPIX_Tide_request *request);
MPIX_TIDE_API int MPIX_Tide_allgather_init(const void *const *shards, void *const params[],
    MPIX_Tide_group group, MPI_Info info, MPIX_Tide_request *request);
MPIX_TIDE_API int MPIX_Tide_reduce_scatter_init(const void *const *grads, void *const shards[], int
    out_dtype, int op, double scale, MPIX_Tide_group group, MPI_Info info, MPIX_Tide_request
    *request);
MPIX_TIDE_API int MPIX_Tide_allgather_enqueue(const void *const *shards, void *const params[],
    MPIX_Tide_group group, void *stream);
MPIX_TIDE_API int MPIX_Tide_reduce_scatter_enqueue(const void *const *grads, void *const shards[],
    int out_dtype, int op, double scale, MPIX_Tide_group group, void *stream);
MPIX_TIDE_API int MPIX_Tide_start(MPIX_Tide_request *request);
MPIX_TIDE_API int MPIX_Tide_startall(int count, MPIX_Tide_request requests[]);
MPIX_TIDE_API int MPIX_Tide_test(MPIX_Tide_request *request, int *flag);
MPIX_TIDE_API int MPIX_Tide_testall(int count, MPIX_Tide_request requests[], int *flag);
MPIX_TIDE_API int MPIX_Tide_wait(MPIX_Tide_request *request);
MPIX_TIDE_API int MPIX_Tide_waitall(int count, MPIX_Tide_request requests[]);
MPIX_TIDE_API int MPIX_Tide_wait_inputs(MPIX_Tide_request *request);
MPIX_TIDE_API int MPIX_Tide_test_inputs(MPIX_Tide_request *request, int *flag);
MPIX_TIDE_API int MPIX_Tide_start_enqueue(MPIX_Tide_request *request, void *stream);
MPIX_TIDE_API int MPIX_Tide_wait_inputs_enqueue(MPIX_Tide_request *request, void *stream);
MPIX_TIDE_API int MPIX_Tide_wait_enqueue(MPIX_Tide_request *request, void *stream);
MPIX_TIDE_API int MPIX_Tide_request_set(MPIX_Tide_request request, int op, double scale);
MPIX_TIDE_API int MPIX_Tide_request_free(MPIX_Tide_request *request);
MPIX_TIDE_API int MPIX_Tide_request_mpi(MPIX_Tide_request request, MPI_Request *mpi_request);
MPIX_TIDE_API int MPIX_Tide_group_async_error(MPIX_Tide_group group, int *code);
MPIX_TIDE_API int MPIX_Tide_comm_topology(MPI_Comm comm, MPIX_Tide_topology *topology);
MPIX_TIDE_API int MPIX_Tide_comm_node(MPI_Comm comm, MPI_Comm *node);
MPIX_TIDE_API int MPIX_Tide_comm_rail(MPI_Comm comm, MPI_Comm *rail);
MPIX_TIDE_API int MPIX_Tide_comm_grid(MPI_Comm comm, int shard_size, MPI_Comm *shard, MPI_Comm
    *replica);
MPIX_TIDE_API int MPIX_Tide_error_kind(int error_code, int *kind);
MPIX_TIDE_API const char *MPIX_Tide_error_message(void);
MPIX_TIDE_API int MPIX_Tide_set_log(void (*sink)(int level, const char *line, void *context), void
    *context);
MPIX_TIDE_API int MPIX_Tide_get_version(int *major, int *minor, int *patch);
MPIX_TIDE_API int MPIX_Tide_get_config(char *text, size_t size, size_t *needed);

MPIX_TIDE_API int PMPIX_Tide_group_create(MPI_Comm comm, int nparams, const MPIX_Tide_param
    params[], MPI_Info info, MPIX_Tide_group *group);
MPIX_TIDE_API int PMPIX_Tide_group_create_explicit(MPI_Comm comm, int nparams, const MPIX_Tide_param
    params[], const MPI_Count first_row[], MPI_Info info, MPIX_Tide_group *group);
MPIX_TIDE_API int PMPIX_Tide_group_free(MPIX_Tide_group *group);
MPIX_TIDE_API int PMPIX_Tide_group_get(MPIX_Tide_group group, MPI_Comm *comm, int *nparams,
    MPIX_Tide_param params[]);
MPIX_TIDE_API int PMPIX_Tide_group_set_names(MPIX_Tide_group group, const char *prefix, const char
    *const names[]);
MPIX_TIDE_API int PMPIX_Tide_group_shard(MPIX_Tide_group group, int param, int rank, MPI_Count
    *first_row, MPI_Count *rows);
MPIX_TIDE_API int PMPIX_Tide_group_sizes(MPIX_Tide_group group, MPIX_Tide_sizes *sizes);
MPIX_TIDE_API int PMPIX_Tide_group_report(MPIX_Tide_group group, char *json, size_t size, size_t
    *needed);
MPIX_TIDE_API int PMPIX_Tide_group_offsets(MPIX_Tide_group group, int what, int dtype, MPI_Count
    align, MPI_Count offsets[], MPI_Count *total_bytes);
MPIX_TIDE_API int PMPIX_Tide_alloc(MPI_Comm comm, MPI_Aint bytes, MPI_Info info, void *baseptr);
MPIX_TIDE_API int PMPIX_Tide_free(MPI_Comm comm, void *base);
MPIX_TIDE_API int PMPIX_Tide_group_alloc(MPIX_Tide_group group, int what, int dtype, MPI_Info info,
    void *ptrs[], void **base);
MPIX_TIDE_API int PMPIX_Tide_allgather(const void *const *shards, void *const params[],
    MPIX_Tide_group group);
MPIX_TIDE_API int PMPIX_Tide_reduce_scatter(const void *const *grads, void *const shards[], int
    out_dtype, int op, double scale, MPIX_Tide_group group);
MPIX_TIDE_API int PMPIX_Tide_iallgather(const void *const *shards, void *const params[],
    MPIX_Tide_group group, MPIX_Tide_request *request);
MPIX_TIDE_API int PMPIX_Tide_ireduce_scatter(const void *const *grads, void *const shards[], int
    out_dtype, int op, double scale, MPIX_Tide_group group, MPIX_Tide_request *request);
MPIX_TIDE_API int PMPIX_Tide_allgather_init(const void *const *shards, void *const params[],
    MPIX_Tide_group group, MPI_Info info, MPIX_Tide_request *request);
MPIX_TIDE_API int PMPIX_Tide_reduce_scatter_init(const void *const *grads, void *const shards[], int
    out_dtype, int op, double scale, MPIX_Tide_group group, MPI_Info info, MPIX_Tide_request
    *request);
MPIX_TIDE_API int PMPIX_Tide_allgather_enqueue(const void *const *shards, void *const params[],
    MPIX_Tide_group group, void *stream);
MPIX_TIDE_API int PMPIX_Tide_reduce_scatter_enqueue(const void *const *grads, void *const shards[],
    int out_dtype, int op, double scale, MPIX_Tide_group group, void *stream);
MPIX_TIDE_API int PMPIX_Tide_start(MPIX_Tide_request *request);
MPIX_TIDE_API int PMPIX_Tide_startall(int count, MPIX_Tide_request requests[]);
MPIX_TIDE_API int PMPIX_Tide_test(MPIX_Tide_request *request, int *flag);
MPIX_TIDE_API int PMPIX_Tide_testall(int count, MPIX_Tide_request requests[], int *flag);
MPIX_TIDE_API int PMPIX_Tide_wait(MPIX_Tide_request *request);
MPIX_TIDE_API int PMPIX_Tide_waitall(int count, MPIX_Tide_request requests[]);
MPIX_TIDE_API int PMPIX_Tide_wait_inputs(MPIX_Tide_request *request);
MPIX_TIDE_API int PMPIX_Tide_test_inputs(MPIX_Tide_request *request, int *flag);
MPIX_TIDE_API int PMPIX_Tide_start_enqueue(MPIX_Tide_request *request, void *stream);
MPIX_TIDE_API int PMPIX_Tide_wait_inputs_enqueue(MPIX_Tide_request *request, void *stream);
MPIX_TIDE_API int PMPIX_Tide_wait_enqueue(MPIX_Tide_request *request, void *stream);
MPIX_TIDE_API int PMPIX_Tide_request_set(MPIX_Tide_request request, int op, double scale);
MPIX_TIDE_API int PMPIX_Tide_request_free(MPIX_Tide_request *request);
MPIX_TIDE_API int PMPIX_Tide_request_mpi(MPIX_Tide_request request, MPI_Request *mpi_request);
MPIX_TIDE_API int PMPIX_Tide_group_async_error(MPIX_Tide_group group, int *code);
MPIX_TIDE_API int PMPIX_Tide_comm_topology(MPI_Comm comm, MPIX_Tide_topology *topology);
MPIX_TIDE_API int PMPIX_Tide_comm_node(MPI_Comm comm, MPI_Comm *node);
MPIX_TIDE_API int PMPIX_Tide_comm_rail(MPI_Comm comm, MPI_Comm *rail);
MPIX_TIDE_API int PMPIX_Tide_comm_grid(MPI_Comm comm, int shard_size, MPI_Comm *shard, MPI_Comm
    *replica);
MPIX_TIDE_API int PMPIX_Tide_error_kind(int error_code, int *kind);
MPIX_TIDE_API const char *PMPIX_Tide_error_message(void);
MPIX_TIDE_API int PMPIX_Tide_set_log(void (*sink)(int level, const char *line, void *context), void
    *context);
MPIX_TIDE_API int PMPIX_Tide_get_version(int *major, int *minor, int *patch);
MPIX_TIDE_API int PMPIX_Tide_get_config(char *text, size_t size, size_t *needed);

#ifdef __cplusplus
}
#endif
#endif
