// Chunk programs with a kernel inside, for ranks that share one GPU.
#pragma once

#include <mutex>

#include "device/cuda/queue.h"
#include "device/cuda/text_call.h"
#include "heddle/chunk_launch.h"
#include "kernel/emit_cuda_chunks.h"

namespace heddle::cuda {

// Launches whose blocks wait for each other take turns: two of them that are partly there would
// keep each other out of the GPU for ever.
struct ChunkTurns {
  std::mutex mutex;
  Event last;  // after which the last one is over
};

struct ChunkText {
  CudaChunks chunks;
  std::string text;
  // Ranks whose parts the kernel adds up by itself, in this order; none: it is given sums.
  std::vector<int> parts;
};
// `sum`: the buffer of the kernel that has sums. A reason where it cannot be done by parts of its
// elements.
Expected<ChunkText> chunk_text(const ChunkWork& work, const Kernel& kernel, std::uint32_t sum,
                               int blocks);

// How many blocks of a function the GPU has room for at once.
Expected<std::int64_t> blocks_at_once(const Context& context, Handle function, int threads);
// A reason where some of them would spin for what has no room.
Verdict check_room(std::int64_t blocks, std::int64_t room);

Expected<std::unique_ptr<ChunkLaunch>> prepare_chunks(const std::shared_ptr<Context>& context,
                                                      const std::shared_ptr<ChunkTurns>& turns,
                                                      const FunctionLoader& load,
                                                      const ChunkWork& work,
                                                      const LaunchKernel& finish);

}  // namespace heddle::cuda
