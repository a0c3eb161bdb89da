/* MPI's own collectives, to measure ours against. Compiled with that MPI's own wrapper and loaded
   beside Heddle's module: both use the same MPI. */
#include "raw_mpi.h"

#include <mpi.h>

static int count_of(long bytes) { return (int)(bytes / (long)sizeof(float)); }

static int size(void) {
  int value = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &value);
  return value;
}

static void run(int kind, const void* in, void* out, long bytes) {
  const int all = count_of(bytes), each = all / size();
  switch (kind) {
    case RAW_ALL_REDUCE:
      MPI_Allreduce(in, out, all, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      break;
    case RAW_ALL_GATHER:
      MPI_Allgather(in, each, MPI_FLOAT, out, each, MPI_FLOAT, MPI_COMM_WORLD);
      break;
    case RAW_REDUCE_SCATTER:
      MPI_Reduce_scatter_block(in, out, each, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      break;
    case RAW_ALL_TO_ALL:
      MPI_Alltoall(in, each, MPI_FLOAT, out, each, MPI_FLOAT, MPI_COMM_WORLD);
      break;
  }
}

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

static double slowest(double seconds) {
  double all = 0;
  MPI_Allreduce(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

const struct RawMpi* raw_mpi(void) {
  static const struct RawMpi table = {run, barrier, slowest};
  return &table;
}
