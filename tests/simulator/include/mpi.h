/* SPDX-FileCopyrightText: 2026 the Tide authors
   SPDX-License-Identifier: BSD-3-Clause */
/* The part of MPI that Tide and its tests use, for ranks that are threads of one process.  A rank's
   handles are its own: MPI_COMM_WORLD and MPI_COMM_SELF are what they are for the calling rank. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION 3
#define MPI_SUBVERSION 1
#define TIDE_SIMULATED_MPI 1

typedef struct simulated_comm* MPI_Comm;
typedef struct simulated_request* MPI_Request;
typedef struct simulated_message* MPI_Message;
typedef struct simulated_info* MPI_Info;
typedef struct simulated_errhandler* MPI_Errhandler;
typedef int MPI_Datatype;
typedef int MPI_Op;
typedef intptr_t MPI_Aint;
typedef long long MPI_Count;
typedef struct MPI_Status {
  int MPI_SOURCE, MPI_TAG, MPI_ERROR, cancelled;
  size_t bytes;
} MPI_Status;

MPI_Comm simulated_comm_world(void);
MPI_Comm simulated_comm_self(void);
extern struct simulated_errhandler simulated_errors_are_fatal, simulated_errors_return;

#define MPI_COMM_NULL ((MPI_Comm)0)
#define MPI_COMM_WORLD (simulated_comm_world())
#define MPI_COMM_SELF (simulated_comm_self())
#define MPI_REQUEST_NULL ((MPI_Request)0)
#define MPI_MESSAGE_NULL ((MPI_Message)0)
#define MPI_INFO_NULL ((MPI_Info)0)
#define MPI_ERRHANDLER_NULL ((MPI_Errhandler)0)
#define MPI_ERRORS_ARE_FATAL (&simulated_errors_are_fatal)
#define MPI_ERRORS_RETURN (&simulated_errors_return)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
#define MPI_IN_PLACE ((void*)-1)
#define MPI_KEYVAL_INVALID (-1)

enum { MPI_BYTE = 1, MPI_CHAR, MPI_UNSIGNED_CHAR, MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_LONG_LONG };
enum { MPI_INT32_T = 16, MPI_UINT32_T, MPI_INT64_T, MPI_UINT64_T, MPI_UINT8_T, MPI_UINT16_T };
enum { MPI_FLOAT = 32, MPI_DOUBLE, MPI_C_BOOL, MPI_CXX_BOOL };
enum { MPI_SUM = 1, MPI_MIN, MPI_MAX, MPI_LAND, MPI_LOR, MPI_BAND, MPI_BOR };
enum { MPI_ANY_SOURCE = -1, MPI_ANY_TAG = -2, MPI_PROC_NULL = -3, MPI_UNDEFINED = -32766 };
enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
enum { MPI_COMM_TYPE_SHARED = 1 };
enum { MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR, MPI_UNEQUAL };
enum { MPI_MAX_ERROR_STRING = 512, MPI_MAX_INFO_KEY = 255, MPI_MAX_INFO_VAL = 1024 };
enum { MPI_MAX_LIBRARY_VERSION_STRING = 256, MPI_MAX_PROCESSOR_NAME = 256 };
enum {
  MPI_SUCCESS = 0,
  MPI_ERR_BUFFER,
  MPI_ERR_COUNT,
  MPI_ERR_TYPE,
  MPI_ERR_TAG,
  MPI_ERR_COMM,
  MPI_ERR_RANK,
  MPI_ERR_REQUEST,
  MPI_ERR_ROOT,
  MPI_ERR_OP,
  MPI_ERR_ARG,
  MPI_ERR_TRUNCATE,
  MPI_ERR_OTHER,
  MPI_ERR_INTERN,
  MPI_ERR_NO_MEM,
  MPI_ERR_INFO,
  MPI_ERR_KEYVAL,
  MPI_ERR_PENDING,
  MPI_ERR_IN_STATUS,
  MPI_ERR_UNKNOWN,
  MPI_ERR_IO,
  MPI_ERR_LASTCODE = 63
};

typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void*, void*, void*, int*);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void*, void*);
typedef void MPI_Comm_errhandler_function(MPI_Comm*, int*, ...);
typedef int MPI_Grequest_query_function(void*, MPI_Status*);
typedef int MPI_Grequest_free_function(void*);
typedef int MPI_Grequest_cancel_function(void*, int);
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function*)0)
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function*)0)
int simulated_copy_attribute(MPI_Comm, int, void*, void*, void*, int*);
#define MPI_COMM_DUP_FN simulated_copy_attribute

/* Start and end */
int MPI_Init(int* argc, char*** argv);
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int MPI_Initialized(int* flag);
int MPI_Finalized(int* flag);
int MPI_Finalize(void);
int MPI_Query_thread(int* provided);
int MPI_Is_thread_main(int* flag);
int MPI_Abort(MPI_Comm comm, int code);
double MPI_Wtime(void);
int MPI_Get_library_version(char* text, int* length);
int MPI_Get_version(int* version, int* subversion);
int MPI_Get_processor_name(char* name, int* length);

/* Communicators */
int MPI_Comm_rank(MPI_Comm comm, int* rank);
int MPI_Comm_size(MPI_Comm comm, int* size);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made);
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made);
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made);
int MPI_Comm_free(MPI_Comm* comm);
int MPI_Comm_test_inter(MPI_Comm comm, int* flag);
int MPI_Comm_compare(MPI_Comm a, MPI_Comm b, int* result);
int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* drop,
                           int* keyval, void* extra);
int MPI_Comm_free_keyval(int* keyval);
int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value);
int MPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag);
int MPI_Comm_delete_attr(MPI_Comm comm, int keyval);

/* Errors */
int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* made);
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler);
int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler);
int MPI_Comm_call_errhandler(MPI_Comm comm, int code);
int MPI_Errhandler_free(MPI_Errhandler* errhandler);
int MPI_Error_class(int code, int* error_class);
int MPI_Error_string(int code, char* text, int* length);
int MPI_Add_error_class(int* error_class);
int MPI_Add_error_code(int error_class, int* code);
int MPI_Add_error_string(int code, const char* text);

/* Info */
int MPI_Info_create(MPI_Info* info);
int MPI_Info_dup(MPI_Info info, MPI_Info* made);
int MPI_Info_free(MPI_Info* info);
int MPI_Info_set(MPI_Info info, const char* key, const char* value);
int MPI_Info_get(MPI_Info info, const char* key, int length, char* value, int* flag);
int MPI_Info_get_valuelen(MPI_Info info, const char* key, int* length, int* flag);
int MPI_Info_get_nkeys(MPI_Info info, int* count);
int MPI_Info_get_nthkey(MPI_Info info, int n, char* key);

/* Messages and requests */
int MPI_Isend(const void* from, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request* request);
int MPI_Irecv(void* to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request* request);
int MPI_Send(const void* from, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
int MPI_Recv(void* to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status* status);
int MPI_Sendrecv(const void* from, int count, MPI_Datatype type, int dest, int tag, void* to,
                 int room, MPI_Datatype to_type, int source, int to_tag, MPI_Comm comm,
                 MPI_Status* status);
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                MPI_Status* status);
int MPI_Imrecv(void* to, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request);
int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count);
int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status);
int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]);
int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status);
int MPI_Wait(MPI_Request* request, MPI_Status* status);
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]);
int MPI_Cancel(MPI_Request* request);
int MPI_Test_cancelled(const MPI_Status* status, int* flag);
int MPI_Request_free(MPI_Request* request);
int MPI_Grequest_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* drop,
                       MPI_Grequest_cancel_function* cancel, void* extra, MPI_Request* request);
int MPI_Grequest_complete(MPI_Request request);
int MPI_Status_set_elements(MPI_Status* status, MPI_Datatype type, int count);
int MPI_Status_set_cancelled(MPI_Status* status, int flag);

/* Collectives */
int MPI_Barrier(MPI_Comm comm);
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Gather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
               MPI_Datatype to_type, int root, MPI_Comm comm);
int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                  MPI_Datatype to_type, MPI_Comm comm);
int MPI_Allgatherv(const void* from, int count, MPI_Datatype type, void* to, const int counts[],
                   const int offsets[], MPI_Datatype to_type, MPI_Comm comm);
int MPI_Alltoall(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                 MPI_Datatype to_type, MPI_Comm comm);
int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm);
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm);
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request);
int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request);
int MPI_Iallgather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                   MPI_Datatype to_type, MPI_Comm comm, MPI_Request* request);
int MPI_Iallgatherv(const void* from, int count, MPI_Datatype type, void* to, const int counts[],
                    const int offsets[], MPI_Datatype to_type, MPI_Comm comm, MPI_Request* request);
int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request* request);

#ifdef __cplusplus
}
#endif
