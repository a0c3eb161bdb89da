// Groups of ops that one kernel computes.
#pragma once

#include "heddle/stitch.h"
#include "stitch/fold_moves.h"

namespace heddle {

// Whether there is anything to do: constants are data, and a terminator only names results.
bool is_work(const Op& op);

// Whether it needs loops of its own: reductions, scans, small products, scatters of many windows.
bool is_reducer(const Program& program, const Op& op);

// Whether a consumer takes its operand somewhere else than at the index of its own result, so that
// two such consumers compute it twice.
bool takes_elsewhere(const Op& consumer);

// Everything that an op reads: its operands, and what its regions take from around it.
std::vector<ValueId> values_read(const Program& program, const Op& op);

// The same, with moves that products do folded away.
std::vector<ValueId> values_read(const Program& program, const Op& op, OpId id,
                                 const FoldedMoves& moves);

// Who reads a value, of all ops of a region. Made once for a region.
struct Readers {
  Readers(const Program& program, RegionId region, const FoldedMoves& moves = {});
  std::vector<std::vector<OpId>> of;  // by value; the terminator among them
};

// The group of these ops, with what goes in and what comes out.
StitchGroup make_group(const Program& program, const Readers& readers, std::vector<OpId> ops);

}  // namespace heddle
