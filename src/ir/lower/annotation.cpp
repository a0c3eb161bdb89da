#include "ir/lower/annotation.h"

#include "ir/attr_access.h"
#include "ir/eval/control.h"
#include "ir/shape_rules.h"

namespace heddle {

Expected<bool> lower_annotation(Rewriter& r, const Op& op) {
  const Program& from = r.from;
  if (!is_annotation(text_or(from.attr(op, "call_target_name"), ""))) return false;
  if (op.operand_count != op.result_count) return false;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    // A type that changes is a matter between devices; a layout is a wish that is kept.
    const bool same = operand_type(from, op, i) == result_type(from, op, i);
    if (!same || from.value(from.result(op, i)).layout != kNone) return false;
  }
  r.define_results(op, r.operands(op));
  return true;
}

}  // namespace heddle
