// Reductions by a computation of which nothing is known.
#include "parallel/messages.h"
#include "parallel/op_parts.h"
#include "spmd/part.h"
#include "spmd/writers.h"

namespace heddle {

// argmax and its kind: every device reduces its part, and all reduce what the others have.
Verdict write_reduced_again(Core& c, OpId id) {
  const Op& op = c.from.op(id);
  const Choice& choice = *c.decision(id).choice;
  const IndexRule& rule = c.on.rules.of(id);
  const SplitAxes axes = summed_axes(rule, choice.axes);
  std::vector<ValueId> operands = c.get_operands(id);
  neutralise(c, op, rule, choice, operands);
  const OpId partial = local_op(c, op, choice, operands);
  std::vector<ValueId> again;
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId part = c.out.result(c.out.op(partial), i);
    const Type type = c.w.type(part);
    types.push_back(c.out.intern(type));
    Shape row = type.shape;
    row.insert(row.begin(), 1);
    again.push_back(c.w.all_gather(c.w.reshape(part, row), 0, axes));
    c.tell(MoveKind::all_gather, axes, type, type.bytes() * (total(axes) - 1),
           gather_seconds(c.mesh.mesh, axes, static_cast<double>(type.bytes())));
  }
  again.insert(again.end(), operands.begin() + op.result_count, operands.end());
  const OpId made = c.out.add_op(c.w.at, *op.def, again, types, {{"dimensions", integer_list({0})}},
                                 c.cloned_regions(op), c.w.loc);
  for (std::size_t i = 0; i < op.result_count; ++i)
    c.define(c.from.result(op, i), choice.results[i], c.out.result(c.out.op(made), i));
  return yes();
}

}  // namespace heddle
