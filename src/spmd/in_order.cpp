#include "spmd/in_order.h"

#include <utility>

#include "heddle/op.h"

namespace heddle {

namespace {

// Compares the last of the values, in which all up to `least` count as equal.
RegionId order_of_places(Core& c, const std::vector<ValueId>& values, std::int64_t least) {
  const RegionId region = c.out.add_region();
  std::vector<ValueId> args;
  for (ValueId v : values)
    for (int side = 0; side < 2; ++side)
      args.push_back(c.out.add_arg(region, c.out.intern(Type::tensor(c.w.type(v).dtype, {}))));
  const RegionId back = std::exchange(c.w.at, region);
  ValueId sides[2] = {args[args.size() - 2], args.back()};
  const Type scalar = c.w.type(sides[0]);
  for (ValueId& side : sides)
    if (least > 0)
      side =
          c.w.op("stablehlo.maximum", {side, c.w.convert(c.w.number(least), scalar.dtype)}, scalar);
  const ValueId before = c.w.compare(sides[0], sides[1], "LT");
  c.out.add_op(region, *find_op("stablehlo.return"), {&before, 1}, {}, {}, {}, c.w.loc);
  c.w.at = back;
  return region;
}

}  // namespace

std::vector<ValueId> in_order(Core& c, const SplitSort& sort, std::vector<ValueId> values,
                              bool places_first) {
  if (places_first) values = c.w.sort(values, sort.dim, order_of_places(c, values, 0));
  const RegionId order = c.cloned_regions(sort.op)[0];
  if (values.size() > sort.op.operand_count)
    for (int side = 0; side < 2; ++side)
      c.out.add_arg(order, c.out.intern(Type::tensor(c.w.type(values.back()).dtype, {})));
  values = c.w.sort(values, sort.dim, order);
  if (sort.uneven()) values = c.w.sort(values, sort.dim, order_of_places(c, values, sort.size - 1));
  return values;
}

ValueId places_here(Core& c, const SplitSort& sort) {
  return c.w.places(sort.lines, sort.dim, c.w.multiply(c.w.position(sort.axes), sort.block));
}

}  // namespace heddle
