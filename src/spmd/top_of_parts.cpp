// top_k of lines that no device has a whole one of: the greatest elements of every part, with their
// places, are gathered, and the greatest of these are the line's.
#include "heddle/op.h"
#include "parallel/messages.h"
#include "spmd/in_order.h"
#include "spmd/writers.h"

namespace heddle {

namespace {

// What comes after everything else: of floats the negative NaN with all bits set.
Array least(DType dtype) {
  const Type scalar = Type::tensor(dtype, {});
  const auto size = static_cast<std::size_t>(byte_size(dtype));
  if (!is_float(dtype)) return neutral_array(ReduceOp::max, scalar);
  return Array(scalar, std::vector<std::byte>(size, std::byte{0xff}));
}

// Greater elements first, floats by their total order; of each element its value and its place.
RegionId greatest_first(Core& c, DType value, DType place) {
  const RegionId region = c.out.add_region();
  std::vector<ValueId> args;
  for (DType dtype : {value, value, place, place})
    args.push_back(c.out.add_arg(region, c.out.intern(Type::tensor(dtype, {}))));
  AttrDict attrs{{"comparison_direction", Attr{Attr::Enum{"comparison_direction", "GT"}}}};
  if (is_float(value))
    attrs.push_back({"compare_type", Attr{Attr::Enum{"comparison_type", "TOTALORDER"}}});
  const RegionId back = std::exchange(c.w.at, region);
  const ValueId before =
      c.w.op("stablehlo.compare", {args[0], args[1]}, Type::tensor(DType::i1, {}), attrs);
  c.out.add_op(region, *find_op("stablehlo.return"), {&before, 1}, {}, {}, {}, c.w.loc);
  c.w.at = back;
  return region;
}

}  // namespace

Verdict write_top_of_parts(Core& c, OpId id) {
  const Op& op = c.from.op(id);
  const Choice& choice = *c.decision(id).choice;
  const SplitSort lines = parts_to_sort(c.from, op, choice.line->dim, c.split(choice.operands[0]));
  const std::size_t dim = lines.dim;
  const ValueId begin = c.w.multiply(c.w.position(lines.axes), lines.block);
  ValueId part = c.get_operands(id)[0];
  Type values = c.w.type(part), places = c.type_of(c.from.result(op, 1));
  if (lines.uneven())
    part = c.w.masked(part, dim, begin, lines.size, c.w.constant(least(values.dtype)));
  const std::int64_t first = places.shape[dim];
  values.shape[dim] = first;
  places.shape = values.shape;
  const TypeId types[] = {c.out.intern(values), c.out.intern(places)};
  const OpId made =
      c.out.add_op(c.w.at, *op.def, {&part, 1}, types, c.from.attrs_of(op), {}, c.w.loc);
  std::vector<ValueId> found = {c.out.result(c.out.op(made), 0), c.out.result(c.out.op(made), 1)};
  found[1] = c.w.add(found[1], c.w.over(c.w.convert(begin, places.dtype), places));
  for (ValueId& v : found) {
    const Type type = c.w.type(v);
    c.tell(MoveKind::all_gather, lines.axes, type, type.bytes() * (total(lines.axes) - 1),
           gather_seconds(c.mesh.mesh, lines.axes, static_cast<double>(type.bytes())));
    v = c.w.all_gather(v, dim, lines.axes);
  }
  // Parts come in their order, so that of equal elements the first comes first.
  found = c.w.sort(found, dim, greatest_first(c, values.dtype, places.dtype));
  for (std::size_t i = 0; i < op.result_count; ++i)
    c.define(c.from.result(op, i), choice.results[i], c.w.slice(found[i], dim, 0, first));
  return yes();
}

}  // namespace heddle
