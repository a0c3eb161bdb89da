/* The table of shim.h over one MPI. Compiled with that MPI's own compiler wrapper. */
#include "shim.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Messages of more bytes than an int holds go as blocks. */
enum { kBlock = 1 << 16 };

static MPI_Comm world = MPI_COMM_NULL, near = MPI_COMM_NULL;
static MPI_Request* requests = NULL;
static int *free_requests = NULL, free_count = 0, request_count = 0;
static int started_here = 0;

static const char* library(void) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int size = 0;
  MPI_Get_library_version(text, &size);
  char* end = strpbrk(text, ",\n");
  if (end != NULL) *end = 0;
  return text;
}

static int start(void) {
  int already = 0, level = 0, status = MPI_Initialized(&already);
  if (status != MPI_SUCCESS) return status;
  if (!already) {
    status = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    if (status != MPI_SUCCESS) return status;
    started_here = 1;
  }
  status = MPI_Comm_dup(MPI_COMM_WORLD, &world);
  if (status != MPI_SUCCESS) return status;
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  status = MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
  if (status == MPI_SUCCESS) MPI_Comm_set_errhandler(near, MPI_ERRORS_RETURN);
  return status;
}

static void finish(void) {
  int finished = 0;
  MPI_Finalized(&finished);
  if (finished || !started_here) return;
  MPI_Comm_free(&near);
  MPI_Comm_free(&world);
  MPI_Finalize();
}

static void end_all(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

static int rank(void) {
  int value = 0;
  MPI_Comm_rank(world, &value);
  return value;
}

static int size(void) {
  int value = 0;
  MPI_Comm_size(world, &value);
  return value;
}

static int neighbours(int* flags) {
  MPI_Group all, some;
  int count = 0, i = 0;
  memset(flags, 0, sizeof(int) * (size_t)size());
  MPI_Comm_group(world, &all);
  MPI_Comm_group(near, &some);
  MPI_Group_size(some, &count);
  for (i = 0; i < count; ++i) {
    int in_world = 0;
    MPI_Group_translate_ranks(some, 1, &i, all, &in_world);
    flags[in_world] = 1;
  }
  MPI_Group_free(&all);
  MPI_Group_free(&some);
  return MPI_SUCCESS;
}

static int broadcast_near(void* data, int bytes) {
  return MPI_Bcast(data, bytes, MPI_BYTE, 0, near);
}

static int barrier_near(void) { return MPI_Barrier(near); }

static int new_request(void) {
  if (free_count == 0) {
    const int more = request_count == 0 ? 64 : request_count;
    int i = 0;
    requests = realloc(requests, sizeof(MPI_Request) * (size_t)(request_count + more));
    free_requests = realloc(free_requests, sizeof(int) * (size_t)(request_count + more));
    if (requests == NULL || free_requests == NULL) abort();
    for (i = 0; i < more; ++i) free_requests[free_count++] = request_count + more - 1 - i;
    request_count += more;
  }
  return free_requests[--free_count];
}

/* The type and number of elements that make up so many bytes. */
static int shape_of(long bytes, MPI_Datatype* type, int* count) {
  int status = MPI_SUCCESS;
  *type = MPI_BYTE;
  *count = (int)bytes;
  if (bytes <= 0x40000000) return status;
  const int blocks = (int)(bytes / kBlock), rest = (int)(bytes % kBlock);
  MPI_Datatype block, parts[2] = {MPI_DATATYPE_NULL, MPI_BYTE};
  int lengths[2] = {1, rest};
  MPI_Aint places[2] = {0, (MPI_Aint)blocks * kBlock};
  status = MPI_Type_contiguous(kBlock, MPI_BYTE, &block);
  if (status == MPI_SUCCESS) status = MPI_Type_contiguous(blocks, block, &parts[0]);
  if (status == MPI_SUCCESS)
    status = MPI_Type_create_struct(rest > 0 ? 2 : 1, lengths, places, parts, type);
  if (status == MPI_SUCCESS) status = MPI_Type_commit(type);
  *count = 1;
  MPI_Type_free(&block);
  MPI_Type_free(&parts[0]);
  return status;
}

static int send_bytes(const void* data, long bytes, int to, int tag, int* request) {
  MPI_Datatype type;
  int count = 0, status = shape_of(bytes, &type, &count);
  if (status != MPI_SUCCESS) return status;
  *request = new_request();
  status = MPI_Isend(data, count, type, to, tag, world, &requests[*request]);
  if (type != MPI_BYTE) MPI_Type_free(&type);
  return status;
}

static int receive_bytes(void* data, long bytes, int from, int tag, int* request) {
  MPI_Datatype type;
  int count = 0, status = shape_of(bytes, &type, &count);
  if (status != MPI_SUCCESS) return status;
  *request = new_request();
  status = MPI_Irecv(data, count, type, from, tag, world, &requests[*request]);
  if (type != MPI_BYTE) MPI_Type_free(&type);
  return status;
}

static int test(int request, int* done) {
  const int status = MPI_Test(&requests[request], done, MPI_STATUS_IGNORE);
  if (*done || status != MPI_SUCCESS) free_requests[free_count++] = request;
  return status;
}

static const char* error_text(int status) {
  static char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  return text;
}

const struct HeddleMpi* heddle_mpi_table(void);
const struct HeddleMpi* heddle_mpi_table(void) {
  static const struct HeddleMpi table = {
      HEDDLE_MPI_ABI, library,        start,        finish,     end_all,       rank, size,
      neighbours,     broadcast_near, barrier_near, send_bytes, receive_bytes, test, error_text};
  return &table;
}
