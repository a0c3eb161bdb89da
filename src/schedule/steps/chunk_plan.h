// How a line of ops is cut into chunks, all along one dimension that they share.
#pragma once

#include "schedule/steps/op_slices.h"

namespace heddle {

// A dimension as outer x length x inner elements, of which chunks cut the length. Behind an
// all_gather the devices are the outer ones.
struct Chunked {
  std::size_t dim = 0;
  std::int64_t outer = 1, length = 1, inner = 1;
};

struct ChunkedOp {
  OpId id = kNone;
  int from = -1;  // the operand that the op before it gives; -1: the first op
  std::vector<std::optional<Chunked>> operands;
  std::optional<Chunked> result;  // none: partial results, which are combined
  // Of ops that are no collectives: which factor is cut, and its values per unit of the length.
  IndexRule rule;
  std::size_t factor = 0;
  std::int64_t unit = 1;
};

using ChunkPlan = std::vector<ChunkedOp>;

// The line of ops from one to another: each result goes to the next op alone.
Expected<std::vector<OpId>> line_between(const Program& program, OpId first, OpId last);

// The plan with the fewest copies, or that along a dimension of the last result.
Expected<ChunkPlan> chunk_plan(const Program& program, const std::vector<OpId>& line,
                               std::int64_t chunks, std::optional<std::size_t> dim);

}  // namespace heddle
