// Bodies that are written per device: the arguments are the operands as they lie outside.
#include "spmd/writers.h"

namespace heddle {

Verdict write_manual(Core& c, OpId id) {
  const Op& op = c.from.op(id);
  const Choice& choice = *c.decision(id).choice;
  const RegionId body = c.from.regions(op)[0];
  const std::size_t mark = c.mark();
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const ValueId local = c.get(c.from.operands(op)[i], choice.operands[i]);
    c.define(c.from.region(body).args[i], c.decision(id).inside[i], local);
  }
  HEDDLE_TRY_VOID(write_ops(c, body));
  const OpId end = c.from.region(body).ops.back();
  c.carry_out(end);
  const std::vector<ValueId> results = c.get_operands(end);
  c.forget_since(mark);
  for (std::size_t i = 0; i < op.result_count; ++i)
    c.define(c.from.result(op, i), choice.results[i], results[i]);
  return yes();
}

}  // namespace heddle
