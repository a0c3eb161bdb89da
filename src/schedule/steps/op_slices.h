// How an op is computed slice by slice: which parts of its operands give which part of its results.
// All of it follows from the op's index rule.
#pragma once

#include "heddle/index_rule.h"
#include "heddle/op_piece.h"

namespace heddle {

// Slices of a value along one dimension: the first has its elements [0, block), the next one those
// behind. Together they may reach beyond the end.
struct SlicedDim {
  std::size_t dim = 0;
  std::int64_t size = 0, block = 0;
  friend bool operator==(const SlicedDim&, const SlicedDim&) = default;
};

struct OpSlices {
  IndexRule rule;
  std::size_t factor = 0;
  std::int64_t block = 0;  // of the factor
  // By operand, those of regions behind them, and by result; none: all of it.
  std::vector<std::optional<SlicedDim>> operands, results;
  bool partial = false;  // results are to be combined by rule.combine
};

// The op on parts of its operands that are those of `ranges`; `begins` as emit_piece has it.
Expected<std::vector<ValueId>> emit_slice(Program& out, RegionId at, const Program& program,
                                          const Op& op, const IndexRule& rule,
                                          std::span<const FactorRange> ranges,
                                          std::span<const ValueId> operands,
                                          std::span<const ValueId> begins = {});

// A factor that counts blocks of a dimension: f * inner + what is inside of a block.
struct LeadingFactor {
  std::size_t factor = 0;
  std::int64_t inner = 1;
};
std::optional<LeadingFactor> leading_factor(const DimRule& dim, const IndexRule& rule);

// The op with the factor cut into blocks; a reason where it cannot be cut there.
Expected<OpSlices> slices_by_factor(const Program& program, const Op& op, IndexRule rule,
                                    std::size_t factor, std::int64_t block);
// Where operand `operand` comes in these slices, or result `result` is wanted in them.
Expected<OpSlices> slices_of_operand(const Program& program, const Op& op, std::size_t operand,
                                     const SlicedDim& sliced);
Expected<OpSlices> slices_of_result(const Program& program, const Op& op, std::size_t result,
                                    const SlicedDim& sliced);

}  // namespace heddle
