#include "parallel/pending.h"

#include "heddle/op.h"
#include "ir/rules/scan.h"

namespace heddle {

std::vector<std::vector<std::size_t>> linear_operands(const Program& program, const Op& op,
                                                      const IndexRule& rule) {
  if (op.result_count != 1) return {};
  const Type& result = program.type_of(program.result(op, 0));
  // A reduction is where it adds, and every device may begin with what it is given.
  if (op.region_count > 0 && rule.combine.op != ReduceOp::sum) return {};
  for (std::size_t i = 0; i < op.operand_count; ++i)
    if (rule.operands[i].starts_results &&
        !is_neutral(program, program.operands(op)[i], ReduceOp::sum))
      return {};
  const bool real = is_float(result.dtype) || is_complex(result.dtype);
  switch (op.def->linear) {
    case LinearIn::none:
      return {};
    case LinearIn::first:
      return {{0}};
    case LinearIn::first_of_reals:
      if (!real) return {};
      return {{0}};
    case LinearIn::each:
      return {{0}, {1}};
    case LinearIn::both:
      return {{0, 1}};
    case LinearIn::choices:
      return {{1, 2}};
  }
  return {};
}

bool pend(OnMesh& on, const Op& op, const std::vector<std::size_t>& operands,
          const SplitAxes& pending, Choice& choice) {
  for (const SplitAxes& list : choice.axes)
    for (const SplitDigit& d : list)
      if (overlap(pending, d)) return false;
  const Program& program = on.program;
  auto bytes = [&](ValueId v, int split) {
    return local_type(on.type_of(v), on.splits[split]).bytes();
  };
  const std::size_t first = operands[0];
  if (bytes(program.result(op, 0), choice.results[0]) >
      bytes(program.operands(op)[first], choice.operands[first]))
    return false;
  Split result = on.splits[choice.results[0]];
  if (!result.pending.empty() && result.reduce != ReduceOp::sum) return false;
  result.reduce = ReduceOp::sum;
  result.pending.insert(result.pending.end(), pending.begin(), pending.end());
  for (std::size_t i : operands) {
    Split split = on.splits[choice.operands[i]];
    split.pending = pending;
    choice.operands[i] = on.split_id(std::move(split));
  }
  choice.results[0] = on.split_id(std::move(result));
  choice.whole = false;
  return true;
}

}  // namespace heddle
