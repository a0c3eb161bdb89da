// What the rules and evaluations of chlo's structured ops share.
#pragma once

#include "ir/eval/eval.h"

namespace heddle::chlo {

// How a broadcast_* op lines up an operand's dimensions with the result's.
Expected<std::vector<std::int64_t>> broadcast_dims(const Program& program, const Op& op,
                                                   std::size_t operand);

struct RaggedDims {
  std::vector<std::int64_t> lhs_batch, rhs_batch, lhs_sum, rhs_sum, lhs_ragged, rhs_group;
};
Expected<RaggedDims> ragged_dims(const Program& program, const Op& op);

// The operands of a scan: inputs to walk along, then the first carries.
struct ScanParts {
  std::size_t inputs = 0, carries = 0, outputs = 0;
  std::int64_t dimension = 0;
  bool reverse = false;
};
Expected<ScanParts> scan_parts(const Program& program, const Op& op);

Expected<ResultTypes> broadcast_rule(const Program& program, const Op& op);
Expected<ResultTypes> top_k_rule(const Program& program, const Op& op);
Expected<ResultTypes> ragged_dot_rule(const Program& program, const Op& op);
Expected<ResultTypes> scan_rule(const Program& program, const Op& op);
Expected<ResultTypes> infinity_rule(const Program& program, const Op& op);

}  // namespace heddle::chlo
