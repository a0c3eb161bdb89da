// overlap: a line of ops, each of which takes what the one before it gives, is done in chunks, so
// that a collective of one chunk is under way while the next one is computed. The order in which
// they begin and are waited for is the schedule stage's matter (schedule.h).
#pragma once

#include "schedule/steps/edit.h"

namespace heddle {

struct ChunkHow {
  std::int64_t chunks = 2;
  std::optional<std::size_t> dim;  // of the last result; none: the one that copies least
};

// From `first` to `last`, one of which at least is a collective. Makes the last one's result.
Expected<Rewritten> overlap_chunks(const Program& program, std::uint32_t mesh, OpId first,
                                   OpId last, const ChunkHow& how);

}  // namespace heddle
