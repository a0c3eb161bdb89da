#include "spmd/part.h"

#include "heddle/op.h"
#include "heddle/op_piece.h"
#include "ir/clone.h"
#include "ir/rules/scan.h"
#include "parallel/op_parts.h"

namespace heddle {

OpId local_op(Core& c, const Op& op, const Choice& choice, const std::vector<ValueId>& operands) {
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < op.result_count; ++i)
    types.push_back(
        c.out.intern(local_type(c.type_of(c.from.result(op, i)), c.split(choice.results[i]))));
  const std::vector<RegionId> regions = c.cloned_regions(op);
  return c.out.add_op(c.w.at, *op.def, operands, types, copied_attrs(c.from, op), regions, c.w.loc);
}

ValueId fill_value(Core& c, const Op& op, const IndexRule& rule, std::size_t operand,
                   const std::vector<ValueId>& operands) {
  const OperandRule& part = rule.operands[operand];
  const DType dtype = c.type_of(c.from.operands(op)[operand]).dtype;
  const Type scalar = Type::tensor(dtype, {});
  if (part.outside == Outside::zero) return c.w.zero(dtype);
  if (part.outside == Outside::neutral && rule.combine.op)
    return c.w.constant(neutral_array(*rule.combine.op, scalar));
  if ((part.outside == Outside::scalar || part.outside == Outside::neutral) && part.scalar >= 0) {
    const auto from = static_cast<std::size_t>(part.scalar);
    return operands[from];
  }
  return kNone;
}

void neutralise(Core& c, const Op& op, const IndexRule& rule, const Choice& choice,
                std::vector<ValueId>& operands) {
  const SplitAxes axes = summed_axes(rule, choice.axes);
  if (axes.empty()) return;
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const OperandRule& part = rule.operands[i];
    const Type type = c.w.type(operands[i]);
    if (part.starts_results && rule.combine.op) {
      const Array neutral = neutral_array(*rule.combine.op, Type::tensor(type.dtype, {}));
      if (!is_neutral(c.from, c.from.operands(op)[i], *rule.combine.op))
        operands[i] = c.w.select(c.w.over(c.w.is_first(axes), Type::tensor(DType::i1, type.shape)),
                                 operands[i], c.w.over(c.w.constant(neutral), type));
      continue;
    }
    if ((part.outside != Outside::zero && part.outside != Outside::neutral) ||
        op.def->parts == Parts::lookup)
      continue;
    for (std::size_t d = 0; d < part.dims.size(); ++d) {
      const std::int64_t size = c.type_of(c.from.operands(op)[i]).shape[d];
      if (!is_plain(part.dims[d], rule.factors, size)) continue;
      for (const IndexTerm& term : part.dims[d].terms) {
        const auto f = static_cast<std::size_t>(term.factor);
        if (!gives_partial(rule.factors[f].kind) || choice.axes[f].empty() ||
            rule.factors[f].size % total(choice.axes[f]) == 0)
          continue;
        const ValueId begin = c.w.multiply(c.w.position(choice.axes[f]),
                                           piece_size(rule, choice.axes, f) * term.stride);
        operands[i] = c.w.masked(operands[i], d, begin, size, fill_value(c, op, rule, i, operands));
      }
    }
  }
}

}  // namespace heddle
