/* What Heddle needs of MPI, as a table of functions. A module with this table is built against
   every MPI that is found, and loaded when a run wants it: so one build serves machines with and
   without MPI, and several of them. */
#ifndef HEDDLE_COMM_MPI_SHIM_H
#define HEDDLE_COMM_MPI_SHIM_H

#ifdef __cplusplus
extern "C" {
#endif

enum { HEDDLE_MPI_ABI = 1 };

/* NOLINTBEGIN(modernize-redundant-void-arg): this is C, too */
/* Statuses are 0 or an error of MPI. Requests are small numbers. */
struct HeddleMpi {
  int abi;
  const char* (*library)(void); /* its name and version */
  int (*start)(void);
  void (*finish)(void);
  void (*abort)(int status);
  int (*rank)(void);
  int (*size)(void);
  /* 1 for each rank of this machine, else 0. */
  int (*neighbours)(int* flags);
  /* Blocking, among the ranks of this machine. */
  int (*broadcast_near)(void* data, int bytes);
  int (*barrier_near)(void);
  int (*send)(const void* data, long bytes, int to, int tag, int* request);
  int (*receive)(void* data, long bytes, int from, int tag, int* request);
  /* Makes progress; a request that is done is given back. */
  int (*test)(int request, int* done);
  const char* (*error_text)(int status);
};

typedef const struct HeddleMpi* (*HeddleMpiTable)(void);
/* NOLINTEND(modernize-redundant-void-arg) */
#define HEDDLE_MPI_ENTRY "heddle_mpi_table"

#ifdef __cplusplus
}
#endif

#endif
