// select_and_scatter along split dimensions: which windows each device takes, and which devices run
// the same op.
#pragma once

#include "heddle/op_piece.h"
#include "heddle/price.h"
#include "parallel/window.h"

namespace heddle {

// Factors of a select_and_scatter for each of its dimensions, of which the first is the place.
inline constexpr std::size_t kScatterFactors = 3;

struct ScatterDim {
  std::size_t dim = 0;
  std::int64_t block = 0;   // of the result on one device
  std::int64_t period = 1;  // pieces that are so many devices apart are alike, but at the ends
  Window taken[2] = {};     // of the operand and of the source
  std::vector<std::int64_t> looked_at;  // positions at the ends, and some between
  std::vector<std::int64_t> kinds;      // a position of each kind
  // From `begin` on, by the remainder of the position: which kind.
  struct Run {
    std::int64_t begin = 0;
    std::vector<std::int64_t> kinds;
  };
  std::vector<Run> runs;
};

// Nothing where windows are not near, or of too many kinds.
std::optional<ScatterDim> scatter_dim(const Program& program, const Op& op, const IndexRule& rule,
                                      std::size_t dim, const SplitAxes& axes);
// Of all dimensions along which windows slide over parts.
std::vector<ScatterDim> scatter_dims(const Program& program, const Op& op, const IndexRule& rule,
                                     const Choice& choice);
// What the device at these positions along the dimensions computes.
Expected<OpPiece> scatter_piece(const Program& program, const Op& op, const IndexRule& rule,
                                const FactorAxes& axes, const std::vector<ScatterDim>& dims,
                                const std::vector<std::int64_t>& at);

}  // namespace heddle
