// Ops appended to a region, for the emission of pieces.
#pragma once

#include "heddle/op_piece.h"

namespace heddle {

struct Emitter {
  Program& out;
  RegionId at;

  ValueId op(std::string_view name, std::vector<ValueId> operands, const Type& result,
             AttrDict attrs = {}, std::vector<RegionId> regions = {});
  ValueId constant(Array value);
};

// The regions of a piece: copies, or for loops and branches whose values are split, what the body
// does on a piece of them.
Expected<std::vector<RegionId>> piece_regions(Program& out, const Program& program, const Op& op,
                                              const IndexRule& rule, const OpPiece& piece,
                                              std::span<const ValueId> operands);

}  // namespace heddle
