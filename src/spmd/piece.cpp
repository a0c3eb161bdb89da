// The op of a piece, whose operands may come from neighbours.
#include <algorithm>

#include "heddle/op.h"
#include "heddle/op_piece.h"
#include "parallel/edges.h"
#include "spmd/fetch.h"
#include "spmd/part.h"
#include "spmd/writers.h"

namespace heddle {

// By the piece of the first device: others take their operands from further on.
Verdict write_piece(Core& c, OpId id) {
  const Op& op = c.from.op(id);
  const Choice& choice = *c.decision(id).choice;
  std::vector<ValueId> operands = c.get_operands(id);
  neutralise(c, op, c.on.rules.of(id), choice, operands);
  const PieceRanges pieces = piece_ranges(c.on.rules.of(id), choice.axes);
  const auto& [rule, ranges] = pieces;
  std::vector<ValueId> begins(ranges.size(), kNone);
  for (std::size_t f = 0; f < ranges.size(); ++f)
    if (!choice.axes[f].empty())
      begins[f] = c.w.multiply(c.w.position(choice.axes[f]), ranges[f].size);
  HEDDLE_TRY(OpPiece piece, piece_of(c.from, op, rule, ranges));
  const std::vector<ValueId> given = operands;
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const Type& whole = c.type_of(c.from.operands(op)[i]);
    for (std::size_t d = 0; d < piece.operands[i].dims.size(); ++d) {
      const DimPiece& part = piece.operands[i].dims[d];
      const ValueId fill = fill_value(c, op, rule, i, given);
      const bool dealt_out = !c.split(choice.operands[i]).dims[d].whole();
      const DimPiece::Digit digit = part.digits.size() == 1 ? part.digits[0] : DimPiece::Digit{};
      const std::int64_t reach = span_of(part);
      const bool all = part.start == 0 && (part.digits.size() != 1 ||
                                           (digit.stride == 1 && digit.size == whole.shape[d]));
      HEDDLE_TRY(std::optional<Window> window, window_at(c.on, op, pieces, piece, choice, i, d));
      if (window) {
        window->fill = fill;
        operands[i] = fetch(c, operands[i], *window);
        operands[i] = c.w.slice(operands[i], d, 0, digit.size, digit.stride);
      } else if (!dealt_out && !all) {
        const std::int64_t low = std::max<std::int64_t>(-part.start, 0);
        const std::int64_t high = std::max<std::int64_t>(part.start + reach - whole.shape[d], 0);
        operands[i] =
            c.w.pad(operands[i], d, low, high, fill == kNone ? c.w.zero(whole.dtype) : fill);
        operands[i] = c.w.slice(operands[i], d, part.start + low, digit.size, digit.stride);
      }
      if (part.low_margin != 0 || part.high_margin != 0)
        operands[i] =
            c.w.pad(operands[i], d, part.low_margin, part.high_margin, c.w.zero(whole.dtype));
    }
  }
  for (ValueId v : captured_values(c.from, op)) operands.push_back(c.get(v, c.on.whole_id(v)));
  HEDDLE_TRY(std::vector<ValueId> results,
             emit_piece(c.out, c.w.at, c.from, op, rule, piece, operands, begins));
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const Type wanted = local_type(c.type_of(c.from.result(op, i)), c.split(choice.results[i]));
    HEDDLE_CHECK(c.out.type_of(results[i]) == wanted, "{}: a piece gives {} instead of {}",
                 op.def->name, c.out.type_of(results[i]).str(), wanted.str());
    c.define(c.from.result(op, i), choice.results[i], results[i]);
  }
  return yes();
}

}  // namespace heddle
