// Concatenate along a dimension that is dealt out: each device takes what lies in its part.
#include "parallel/op_parts.h"
#include "spmd/fetch.h"
#include "spmd/placed.h"
#include "spmd/writers.h"

namespace heddle {

ValueId placed(Core& c, ValueId part, const Window& place, std::int64_t begin, ValueId under) {
  const ValueId first =
      c.w.add(c.w.multiply(c.w.position(place.axes), -place.step), c.w.number(begin));
  const ValueId all = c.w.between(c.w.type(part).shape, place.dim, first, kNone);
  return c.w.select(all, part, under);
}

// Each device takes from every operand what would lie in its piece, and keeps what does.
Verdict write_concatenated(Core& c, OpId id) {
  const Op& op = c.from.op(id);
  const Choice& choice = *c.decision(id).choice;
  const std::vector<ValueId> operands = c.get_operands(id);
  const auto dim = static_cast<std::size_t>(joined_factor(c.from, op));
  const SplitAxes& axes = choice.axes[dim];
  ValueId result = kNone;
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const Window window = joined_window(c.from, op, axes, i);
    if (window.size == 0) continue;
    const ValueId begin =
        c.w.add(c.w.multiply(c.w.position(axes), window.step), c.w.number(window.begin));
    ValueId part = operands[i];
    if (c.split(choice.operands[i]).dims[dim].whole()) {
      // Room for pieces that begin before the operand, reach beyond it, or miss it.
      const ValueId room =
          c.w.pad(part, dim, window.count, window.count, c.w.zero(c.w.type(part).dtype));
      const Type scalar = Type::tensor(DType::i64, {});
      const ValueId held = c.w.op(
          "stablehlo.clamp", {c.w.number(-window.count), begin, c.w.number(window.size)}, scalar);
      part = c.w.dynamic_slice(room, dim, c.w.add(held, c.w.number(window.count)), window.count);
    } else {
      part = fetch(c, part, window);
    }
    if (result == kNone) {
      result = part;
      continue;
    }
    result = placed(c, part, window, -window.begin, result);
  }
  c.define(c.from.result(op, 0), choice.results[0], result);
  return yes();
}

}  // namespace heddle
