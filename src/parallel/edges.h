// What devices fetch from their neighbours for the piece of an op: edges of dimensions that are
// dealt out.
#pragma once

#include "heddle/op_piece.h"
#include "heddle/price.h"
#include "parallel/window.h"

namespace heddle {

// What a piece is made by: a rule whose windows fill their pieces, and the first device's factors.
struct PieceRanges {
  IndexRule rule;
  std::vector<FactorRange> ranges;
};
// Positions from the first to the last that a piece has of a dimension.
std::int64_t span_of(const DimPiece& part);
PieceRanges piece_ranges(const IndexRule& rule, const FactorAxes& axes);

// Which elements of one dimension of an operand each device takes, where the operand is dealt out
// along that dimension and the piece takes others than the device has; none where it does not.
Expected<std::optional<Window>> window_at(OnMesh& on, const Op& op, const PieceRanges& pieces,
                                          const OpPiece& first, const Choice& choice,
                                          std::size_t operand, std::size_t dim);

// Seconds of all messages that bring such edges.
double edge_seconds(OnMesh& on, const Op& op, const IndexRule& rule, const Choice& choice);

}  // namespace heddle
