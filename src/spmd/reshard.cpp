// Ops that leave a value as it is and say where it is to lie.
#include "spmd/writers.h"

namespace heddle {

Verdict write_reshard(Core& c, OpId id) {
  const Op& op = c.from.op(id);
  const Choice& choice = *c.decision(id).choice;
  const ValueId source = c.from.operands(op)[0], result = c.from.result(op, 0);
  c.define(result, choice.results[0], c.get(source, choice.operands[0]));
  if (choice.results == choice.operands) return yes();
  // Every copy is a contribution to a sum; these are no form of the result for anyone else.
  for (const Fetch& fetch : c.decision(id).fetches)
    if (fetch.value == result) c.get(result, fetch.to);
  c.withdraw(result, choice.results[0]);
  return yes();
}

}  // namespace heddle
