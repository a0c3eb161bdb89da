// Ops along lines that are dealt out: every device does its part, and learns what came before it.
#include <algorithm>

#include "ir/attr_access.h"
#include "ir/clone.h"
#include "spmd/partitioner.h"

namespace heddle {

// One message to a partner along the slowest of the axes.
double Partitioner::link_seconds(const AxisList& axes, std::int64_t bytes) const {
  return message_seconds(hops_of(axes), static_cast<double>(bytes));
}

// One element of every line from each device.
const Route& Partitioner::totals_route(const Type& totals, std::size_t dim, const AxisList& axes) {
  Split from = Split::whole(totals);
  from.dims[dim] = DimSplit::blocks(total(axes), axes);
  Split to = from;
  to.dims[dim] = {total(axes), {}};
  return routes_.find(split_id(std::move(from)), split_id(std::move(to)), bits(totals.dtype));
}

// What the op takes beside reading its operands and writing its results once.
double Partitioner::line_seconds(const Op& op, const Choice& choice) {
  const std::size_t dim = choice.line->dim;
  const AxisList& axes = choice.axes[dim];
  if (choice.line->kind == Line::Kind::sort) return split_sort(op, choice).seconds;
  if (axes.empty()) return 0;
  Type totals = local_type(type_of(from_.result(op, 0)), splits_[choice.results[0]]);
  totals.shape[dim] = 1;
  return totals_route(totals, dim, axes).seconds;
}

void Partitioner::tell(MoveKind kind, const AxisList& axes, const Type& sent, std::int64_t bytes,
                       double seconds) {
  result_.communications.push_back(
      {kind, axes_text(axes, mesh_.mesh), bytes, seconds, current_, sent.str(), depth_});
}

Verdict Partitioner::write_line(const Op& op, const IndexRule& rule, const Choice& choice,
                                std::vector<ValueId> operands) {
  if (choice.axes[choice.line->dim].empty()) return write_plain(op, choice, operands);
  if (choice.line->kind == Line::Kind::sort) return write_sort(op, choice, std::move(operands));
  return write_scan(op, *rule.combine.op, choice, std::move(operands));
}

// ---- scans

// The same scan, of as much as there is.
ValueId Partitioner::local_scan(const Op& op, const Line& line, std::vector<ValueId> operands) {
  const Type type = w_.type(operands[0]);
  const std::int64_t length = type.shape[line.dim];
  Attr::Integers window(type.rank(), 1);
  window[line.dim] = length;
  Array padding(Type::tensor(DType::i64, {static_cast<std::int64_t>(type.rank()), 2}));
  padding.as_mutable<std::int64_t>()[2 * line.dim + (line.backward ? 1 : 0)] = length - 1;
  AttrDict attrs = copied_attrs(from_, op);
  for (NamedAttr& attr : attrs) {
    if (attr.name == "window_dimensions") attr.value = Attr{window};
    if (attr.name == "padding") attr.value = Attr{padding};
  }
  return w_.op(op.def->name, std::move(operands), type, std::move(attrs), cloned_regions(op));
}

// Each device scans its part; only the totals of the parts travel. Those of the parts before this
// one are combined with every element of it.
Verdict Partitioner::write_scan(const Op& op, ReduceOp combine, const Choice& choice,
                                std::vector<ValueId> operands) {
  const Line& line = *choice.line;
  const AxisList& axes = choice.axes[line.dim];
  const std::int64_t size = type_of(from_.result(op, 0)).shape[line.dim];
  const Type type = w_.type(operands[0]), scalar = Type::tensor(type.dtype, {});
  const std::int64_t block = type.shape[line.dim], parts = total(axes);
  const ValueId neutral = w_.constant(neutral_array(combine, scalar));
  // Backwards, what lies beyond the end comes first.
  if (line.backward && size % parts != 0)
    operands[0] =
        w_.masked(operands[0], line.dim, w_.multiply(w_.position(axes), block), size, neutral);
  const ValueId local = local_scan(op, line, operands);
  const ValueId last = w_.slice(local, line.dim, line.backward ? 0 : block - 1, 1);
  const Type totals = w_.type(last);
  tell(MoveKind::all_gather, axes, totals, (parts - 1) * totals.bytes(),
       totals_route(totals, line.dim, axes).seconds);
  const ValueId all = w_.all_gather(last, line.dim, axes);
  // Part i counts where i + shift lies in [0, parts).
  const ValueId here = w_.position(axes);
  const ValueId shift = line.backward ? w_.add(w_.multiply(here, -1), w_.number(-1))
                                      : w_.add(w_.multiply(here, -1), w_.number(parts));
  const ValueId before =
      w_.reduce(w_.masked(all, line.dim, shift, parts, neutral), line.dim, combine);
  define(from_.result(op, 0), choice.results[0],
         w_.op(combining_op(combine), {w_.spread(before, type, line.dim), local}, type));
  return yes();
}

}  // namespace heddle
