// A slice along a split dimension: every device gives what it has of it, and the sum is the slice.
#include "spmd/writers.h"

namespace heddle {

// What this device has of a slice, and zeros elsewhere.
Verdict write_rows(Core& c, OpId id) {
  const Op& op = c.from.op(id);
  const Choice& choice = *c.decision(id).choice;
  ValueId operand = c.get_operands(id)[0];
  const auto cut = static_cast<std::size_t>(choice.rows);
  const Type scalar = Type::tensor(DType::i64, {});
  const auto& starts = *c.from.attr(op, "start_indices")->get<Attr::Integers>();
  const Attr* given = c.from.attr(op, "strides");
  const Shape& wanted = c.type_of(c.from.result(op, 0)).shape;
  const Attr::Integers strides = given != nullptr && given->get<Attr::Integers>() != nullptr
                                     ? *given->get<Attr::Integers>()
                                     : Attr::Integers(wanted.size(), 1);
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    if (d == cut || c.split(choice.operands[0]).dims[d].whole() == false) continue;
    operand = c.w.slice(operand, d, starts[d], wanted[d], strides[d]);
  }
  const SplitAxes axes = c.split(choice.operands[0]).dims[cut].axes();
  const std::int64_t block = c.w.type(operand).shape[cut];
  const std::int64_t reach = (wanted[cut] - 1) * strides[cut] + 1;
  const ValueId room = c.w.pad(operand, cut, reach, reach, c.w.zero(c.w.type(operand).dtype));
  ValueId begin =
      c.w.add(c.w.multiply(c.w.position(axes), -block), c.w.number(starts[cut] + reach));
  begin = c.w.op("stablehlo.clamp", {c.w.number(0), begin, c.w.number(block + reach)}, scalar);
  const ValueId window = c.w.dynamic_slice(room, cut, begin, reach);
  c.define(c.from.result(op, 0), choice.results[0],
           c.w.slice(window, cut, 0, wanted[cut], strides[cut]));
  return yes();
}

}  // namespace heddle
