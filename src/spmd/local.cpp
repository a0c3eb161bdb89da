// The same op on parts.
#include "spmd/part.h"
#include "spmd/writers.h"

namespace heddle {

Verdict write_local(Core& c, OpId id) {
  const Op& op = c.from.op(id);
  const Choice& choice = *c.decision(id).choice;
  std::vector<ValueId> operands = c.get_operands(id);
  // Ops along lines have whole ones here.
  if (!choice.line) neutralise(c, op, c.on.rules.of(id), choice, operands);
  const OpId made = local_op(c, op, choice, operands);
  for (std::size_t i = 0; i < op.result_count; ++i)
    c.define(c.from.result(op, i), choice.results[i], c.out.result(c.out.op(made), i));
  return yes();
}

}  // namespace heddle
