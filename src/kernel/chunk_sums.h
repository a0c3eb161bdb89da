// Sums of a chunk program that a kernel takes by itself: what a lane would receive and add up for a
// `finish`, which loads the parts of all ranks instead.
#pragma once

#include <optional>
#include <vector>

#include "heddle/kernel.h"
#include "heddle/layout.h"
#include "schedule/chunks/chunk_program.h"

namespace heddle {

struct ChunkSums {
  std::vector<int> order;  // of the ranks whose parts are summed
  // Of a lane: which of its ops are gone, and which messages a `finish` takes when it is done.
  struct Message {
    std::uint32_t channel = kNone;
    std::int64_t number = 0;
  };
  struct LaneSums {
    std::vector<bool> gone;                      // by op
    std::vector<std::vector<Message>> messages;  // by op
  };
  std::vector<LaneSums> lanes;
};

// None where sums are needed elsewhere, parts lie in slots, or ranks sum in different orders; and
// where messages that are taken later than before would keep somebody waiting for ever.
std::optional<ChunkSums> chunk_sums(const chunks::ChunkProgram& program);

// The kernel with `parts` buffers more, at the end, whose sum it uses where it has loaded buffer
// `sum`. None where bits could differ from those of sums that are kept: numbers of 16 bits.
std::optional<Kernel> with_sum_inside(const Kernel& kernel, std::uint32_t sum, int parts,
                                      ReduceOp op);

}  // namespace heddle
