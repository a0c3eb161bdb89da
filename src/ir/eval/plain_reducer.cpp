#include "ir/eval/plain_reducer.h"

#include "heddle/op.h"

namespace heddle {

std::optional<PlainReducer> PlainReducer::of(const Program& program, RegionId region) {
  const Region& body = program.region(region);
  if (body.args.size() != 2 || body.ops.size() != 2) return std::nullopt;
  const Op& step = program.op(body.ops[0]);
  const Op& end = program.op(body.ops[1]);
  if (step.operand_count != 2 || step.result_count != 1 || end.operand_count != 1 ||
      program.operands(end)[0] != program.result(step, 0))
    return std::nullopt;
  const auto operands = program.operands(step);
  const bool in_order = operands[0] == body.args[0] && operands[1] == body.args[1];
  const bool turned = operands[0] == body.args[1] && operands[1] == body.args[0];
  const DType type = program.type_of(operands[0]).dtype;
  if ((!in_order && !turned) || program.type_of(program.result(step, 0)).dtype != type)
    return std::nullopt;
  const ScalarFunction function = scalar_function(step.def->scalar, type, type);
  if (function == nullptr) return std::nullopt;
  return PlainReducer(function, turned);
}

}  // namespace heddle
