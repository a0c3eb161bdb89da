// Scans along lines that are dealt out: every device does its part, and learns what came before it.
#include "heddle/op.h"
#include "heddle/op_piece.h"
#include "ir/clone.h"
#include "parallel/price.h"
#include "spmd/writers.h"

namespace heddle {

namespace {

// The same scan, of as much as there is.
ValueId local_scan(Core& c, const Op& op, const Line& line, std::vector<ValueId> operands) {
  const Type type = c.w.type(operands[0]);
  const std::int64_t length = type.shape[line.dim];
  Attr::Integers window(type.rank(), 1);
  window[line.dim] = length;
  Array padding(Type::tensor(DType::i64, {static_cast<std::int64_t>(type.rank()), 2}));
  padding.as_mutable<std::int64_t>()[2 * line.dim + (line.backward ? 1 : 0)] = length - 1;
  AttrDict attrs = copied_attrs(c.from, op);
  for (NamedAttr& attr : attrs) {
    if (attr.name == "window_dimensions") attr.value = Attr{window};
    if (attr.name == "padding") attr.value = Attr{padding};
  }
  return c.w.op(op.def->name, std::move(operands), type, std::move(attrs), c.cloned_regions(op));
}

}  // namespace

// Each device scans its part; only the totals of the parts travel. Those of the parts before this
// one are combined with every element of it.
Verdict write_scan_line(Core& c, OpId id) {
  const Op& op = c.from.op(id);
  const Choice& choice = *c.decision(id).choice;
  const ReduceOp combine = *c.on.rules.of(id).combine.op;
  std::vector<ValueId> operands = c.get_operands(id);
  const Line& line = *choice.line;
  const SplitAxes& axes = choice.axes[line.dim];
  const std::int64_t size = c.type_of(c.from.result(op, 0)).shape[line.dim];
  const Type type = c.w.type(operands[0]), scalar = Type::tensor(type.dtype, {});
  const std::int64_t block = type.shape[line.dim], parts = total(axes);
  const ValueId neutral = c.w.constant(neutral_array(combine, scalar));
  // Backwards, what lies beyond the end comes first.
  if (line.backward && size % parts != 0)
    operands[0] =
        c.w.masked(operands[0], line.dim, c.w.multiply(c.w.position(axes), block), size, neutral);
  const ValueId local = local_scan(c, op, line, operands);
  const ValueId last = c.w.slice(local, line.dim, line.backward ? 0 : block - 1, 1);
  const Type totals = c.w.type(last);
  c.tell(MoveKind::all_gather, axes, totals, (parts - 1) * totals.bytes(),
         totals_route(c.on, totals, line.dim, axes).seconds);
  const ValueId all = c.w.all_gather(last, line.dim, axes);
  // Part i counts where i + shift lies in [0, parts).
  const ValueId here = c.w.position(axes);
  const ValueId shift = line.backward ? c.w.add(c.w.multiply(here, -1), c.w.number(-1))
                                      : c.w.add(c.w.multiply(here, -1), c.w.number(parts));
  const ValueId before =
      c.w.reduce(c.w.masked(all, line.dim, shift, parts, neutral), line.dim, combine);
  c.define(c.from.result(op, 0), choice.results[0],
           c.w.op(combining_op(combine), {c.w.spread(before, type, line.dim), local}, type));
  return yes();
}

}  // namespace heddle
