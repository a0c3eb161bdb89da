// One stage as CUDA text: which points which thread does.
#pragma once

#include "kernel/cuda_tile.h"
#include "kernel/emit_cuda.h"
#include "kernel/indented_text.h"
#include "kernel/round.h"

namespace heddle {

// Neighbouring positions of the last loop that one thread has together, and which loads (by node)
// and stores (by statement) are then one access.
struct CudaVectors {
  int count = 1;
  std::int64_t tail = 0;  // positions that are left at the end of the loop, less than `count`
  std::vector<bool> loads, stores;
  std::vector<bool> alike;  // by node: a truth that neighbours have together
};
// `wanted`: so many, where they divide the last loop; 0: as many as fill an access.
CudaVectors cuda_vectors(const Kernel& kernel, const Phase& phase, const Stage& stage,
                         int wanted = 0);

// Of the loops that are chosen, or of the others, as planned: the last block of an outer loop may
// be short.
std::int64_t points_of(const Stage& stage, const std::vector<bool>& chosen, bool which);

// How the threads of a block share a stage.
struct CudaMapping {
  std::vector<bool> shared;  // by loop: whether threads have positions of their own
  // Of [points, others]: points of the shared loops, and positions of the others. Several threads
  // of a point deal out the other loops and put together what they have accumulated; one does them
  // in order. Points of one thread that are under way at the same time have their loads so.
  Round round;
  CudaVectors vectors;
  // A thread has a small tile of two loops, and turns what it reads.
  std::optional<CudaTurn> turn;
  // All threads of the block take part in one running sum along the last loop.
  bool is_scan = false;
  std::vector<bool> accumulated;  // by statement: an update that is kept in registers meanwhile

  static constexpr std::size_t kPoints = 0, kOthers = 1;  // dimensions of the round
};
CudaMapping cuda_mapping(const Kernel& kernel, const Phase& phase, const Stage& stage, int threads);

// What the blocks of a cluster do of a stage that they have together.
enum class CudaShare : std::uint8_t {
  all,     // each does all of it, for itself
  points,  // points are dealt out: they are written to memory
  others,  // the other loops are; what was accumulated is put together, and all of them have it
};
// Blocks that do every block of a phase together, so that few large blocks fill the device; 1 where
// it cannot be.
int cuda_cluster(const Kernel& kernel, const Phase& phase, const CudaLimits& limits);
CudaShare cuda_share(const Kernel& kernel, const Phase& phase, const Stage& stage, int threads);

// How many turns a loop of a stage has in a block, which may be a short last one.
std::string cuda_loop_size(const Phase& phase, const StageLoop& loop);
// `staged`: inputs of which the block has a tile in its shared memory.
void emit_cuda_stage(const Kernel& kernel, const Phase& phase, const Stage& stage, int threads,
                     int cluster, const std::vector<CudaStaged>& staged, IndentedText& text);
// The same where threads can stay with columns; false: they cannot, and nothing was written.
bool emit_cuda_columns(const Kernel& kernel, const Phase& phase, const Stage& stage, int threads,
                       int cluster, IndentedText& text);
// The same for running sums along the last loop, of which `mapping` says that it is one.
void emit_cuda_row_scan(const Kernel& kernel, const Stage& stage, int threads,
                        const CudaMapping& mapping, IndentedText& text);
// The same for running sums along another loop than the last.
bool is_column_scan(const Kernel& kernel, const Phase& phase, const Stage& stage, int threads);
bool emit_cuda_column_scan(const Kernel& kernel, const Phase& phase, const Stage& stage,
                           int threads, int cluster, IndentedText& text);
// Brings a tile there; all threads wait for it.
void emit_cuda_tile(const Kernel& kernel, const CudaStaged& tile, int threads, IndentedText& text);

}  // namespace heddle
