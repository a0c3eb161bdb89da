/* MPI's own collectives behind a table, so that the benchmark needs no MPI to be built. */
#ifndef HEDDLE_BENCH_RAW_MPI_H
#define HEDDLE_BENCH_RAW_MPI_H

#ifdef __cplusplus
extern "C" {
#endif

enum { RAW_ALL_REDUCE, RAW_ALL_GATHER, RAW_REDUCE_SCATTER, RAW_ALL_TO_ALL };

struct RawMpi {
  /* `bytes` of floats: of the whole on one rank, which a gather gets and the others begin with. */
  void (*run)(int kind, const void* in, void* out, long bytes);
  void (*barrier)(void);
  double (*slowest)(double seconds);
};

const struct RawMpi* raw_mpi(void);

#ifdef __cplusplus
}
#endif

#endif
