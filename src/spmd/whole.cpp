// The op as it is, on every device.
#include "ir/clone.h"
#include "spmd/part.h"
#include "spmd/writers.h"

namespace heddle {

Verdict write_whole(Core& c, OpId id) {
  const Op& op = c.from.op(id);
  const Choice& choice = *c.decision(id).choice;
  const OpId made = local_op(c, op, choice, c.get_operands(id));
  for (std::size_t i = 0; i < op.result_count; ++i)
    c.define(c.from.result(op, i), choice.results[i], c.out.result(c.out.op(made), i));
  return yes();
}

}  // namespace heddle
