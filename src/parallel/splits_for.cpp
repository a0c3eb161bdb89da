// What the splits of an op's factors say of its operands and results.
#include <algorithm>

#include "heddle/op.h"
#include "parallel/legal.h"
#include "parallel/op_parts.h"

namespace heddle {

namespace {

Split split_of_dims(const std::vector<DimRule>& dims, const IndexRule& rule, const FactorAxes& axes,
                    const Type& type) {
  Split split;
  for (std::size_t d = 0; d < dims.size(); ++d)
    split.dims.push_back(dim_split(dims[d], rule.factors, axes, type.shape[d]));
  return split;
}

// Parts of which a device needs more than its neighbours have come as a whole.
void take_far_parts_whole(OnMesh& on, const Op& op, Choice& choice) {
  const int joined = joined_factor(on.program, op);
  if (joined < 0 || choice.axes[static_cast<std::size_t>(joined)].empty()) return;
  const auto d = static_cast<std::size_t>(joined);
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    if (reach_of(joined_window(on.program, op, choice.axes[d], i)).near) continue;
    Split split = on.splits[choice.operands[i]];
    split.dims[d].digits.clear();
    choice.operands[i] = on.split_id(std::move(split));
  }
}

}  // namespace

Choice splits_for(OnMesh& on, OpId id, const IndexRule& rule, FactorAxes axes) {
  const Op& op = on.program.op(id);
  Choice choice;
  choice.line = on.rules.line(id);
  choice.axes = std::move(axes);
  choice.whole =
      std::ranges::all_of(choice.axes, [](const SplitAxes& list) { return list.empty(); });
  for (std::size_t i = 0; i < op.operand_count; ++i)
    choice.operands.push_back(on.split_id(split_of_dims(rule.operands[i].dims, rule, choice.axes,
                                                        on.type_of(on.program.operands(op)[i]))));
  take_far_parts_whole(on, op, choice);
  take_all_of(on, op, rule, choice);
  SplitAxes pending;
  if (rule.combine.op) pending = summed_axes(rule, choice.axes);
  for (std::size_t i = 0; i < op.result_count; ++i) {
    Split split = split_of_dims(rule.results[i].dims, rule, choice.axes,
                                on.type_of(on.program.result(op, i)));
    split.pending = pending;
    if (rule.combine.op) split.reduce = *rule.combine.op;
    choice.results.push_back(on.split_id(std::move(split)));
  }
  return choice;
}

Expected<Choice> choice_for(OnMesh& on, OpId id, const FactorAxes& factors) {
  const Op& op = on.program.op(id);
  const IndexRule& rule = on.rules.of(id);
  if (factors.size() != rule.factors.size())
    return reason("{}: axes of {} factors came in, {} expected", op.def->name, factors.size(),
                  rule.factors.size());
  FactorAxes legal = factors;
  make_legal(on, id, rule, legal);
  for (std::size_t f = 0; f < legal.size(); ++f)
    if (legal[f] != factors[f])
      return reason("{}: factor {} of {} elements cannot be split over {} devices", op.def->name, f,
                    rule.factors[f].size, total(factors[f]));
  Choice choice = splits_for(on, id, rule, std::move(legal));
  choice.way = way_of(on.program, op, rule, choice);
  return choice;
}

}  // namespace heddle
