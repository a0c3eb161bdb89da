// The chunk programs of collectives: one generator for all of them. Slice k of the data has a tree
// of ranks with rank k at its root: sums go up, results go down. A ring is a tree that is a line, a
// direct exchange one of leaves only.
#pragma once

#include "heddle/collective_kind.h"
#include "schedule/chunks/chunk_program.h"

namespace heddle::chunks {

enum class Algorithm : std::uint8_t {
  direct,  // everybody sends to the owner, which sums in the order of the ranks
  ring,    // from the rank behind the owner once around
  tree,    // over the edges of one binary tree, seen from the owner
};
std::string_view name(Algorithm algorithm);

struct ChunkedCollective {
  CollectiveKind kind = CollectiveKind::all_reduce;  // or reduce_scatter, all_gather, send
  Algorithm algorithm = Algorithm::direct;
  Protocol protocol = Protocol::direct;
  int ranks = 2;
  std::int64_t elements = 0;                         // of the whole, all slices together
  std::int64_t element_bytes = 4, result_bytes = 4;  // of an element; of one of `out`
  int chunks = 1;                                    // of a slice; the last ones may be smaller
  std::int64_t grain = 1;  // chunks begin at multiples of it, counted from the start of their slice
  int channels = 1;        // lanes of a rank, which share the chunks
  int slots = 2;           // of a channel
  // In which `direct` sums; none: by number.
  std::vector<int> order = {};
  // Fused computation. `finish` of an all_gather: on the own slice, before it is handed on. `norm`:
  // finish needs a number that all sums together give.
  bool produce = false, finish = false, norm = false, consume = false;
  std::int64_t number_bytes = 4;  // that a rank gives for the norm
};

// Buffers: `in` and `out` of all elements (all_gather: `in` is the own slice; reduce_scatter: `out`
// is), `sum` for sums that are on their way or still to be finished, `numbers` of a norm, one per
// rank, and their `total`, `used` for what is consumed. A send goes from the first rank to the
// last. A reason where the sizes make no sense.
Expected<ChunkProgram> collective_chunks(const ChunkedCollective& wanted);

}  // namespace heddle::chunks
