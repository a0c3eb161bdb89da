#include "ir/eval/plain_reducer.h"

#include "heddle/op.h"
#include "ir/rules/rule_builder.h"

namespace heddle {

std::optional<PlainReducer> PlainReducer::of(const Program& program, RegionId region) {
  const auto body = one_op_body(program, region);
  if (!body) return std::nullopt;
  const DType from = program.type_of(program.operands(*body->op)[0]).dtype;
  const DType to = program.type_of(program.result(*body->op, 0)).dtype;
  if (from != to) return std::nullopt;
  const ScalarFunction function = scalar_function(body->op->def->scalar, from, to);
  if (function == nullptr) return std::nullopt;
  return PlainReducer(function, body->turned);
}

}  // namespace heddle
