// Sorts of which only the first elements are wanted, as by top_k: each device sorts its part, the
// first ones of all parts are gathered and sorted once more. No device has a whole line.
#include <algorithm>

#include "parallel/messages.h"
#include "spmd/in_order.h"
#include "spmd/writers.h"

namespace heddle {

Verdict write_first_of_sort(Core& c, OpId id) {
  const Op& op = c.from.op(id);
  const Decision& decision = c.decision(id);
  const Choice& choice = *decision.choice;
  const SplitSort sort = parts_to_sort(c.from, op, choice.line->dim, c.split(choice.operands[0]));
  auto count_of = [&](OpId slice) {
    return c.type_of(c.from.result(c.from.op(slice), 0)).shape[sort.dim];
  };
  std::int64_t first = 0;
  for (OpId slice : decision.gives) first = std::max(first, count_of(slice));
  std::vector<ValueId> values = c.get_operands(id);
  if (sort.uneven()) values.push_back(places_here(c, sort));
  values = in_order(c, sort, std::move(values), false);
  for (ValueId& v : values) {
    v = c.w.slice(v, sort.dim, 0, first);
    const Type type = c.w.type(v);
    c.tell(MoveKind::all_gather, sort.axes, type, type.bytes() * (total(sort.axes) - 1),
           gather_seconds(c.mesh.mesh, sort.axes, static_cast<double>(type.bytes())));
    v = c.w.all_gather(v, sort.dim, sort.axes);
  }
  // Parts come in their order, so that equal elements keep theirs.
  values = in_order(c, sort, std::move(values), false);
  for (std::size_t k = 0; k < decision.gives.size(); ++k) {
    const Op& slice = c.from.op(decision.gives[k]);
    const std::size_t i = c.from.value(c.from.operands(slice)[0]).index;
    c.define(c.from.result(slice, 0), choice.results[k],
             c.w.slice(values[i], sort.dim, 0, count_of(decision.gives[k])));
  }
  return yes();
}

}  // namespace heddle
