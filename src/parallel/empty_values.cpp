// What has no elements needs nothing, and adds nothing to what it is put together with: nobody has
// to send anything for it.
#include <algorithm>

#include "heddle/op.h"
#include "ir/clone.h"
#include "ir/lower/simplify.h"
#include "ir/rewrite.h"
#include "parallel/prepare.h"

namespace heddle {

namespace {

bool gives_nothing(const Program& program, const Op& op) {
  if (op.result_count != 1 || op.operand_count == 0 || op.def->form == Form::terminator)
    return false;
  const ValueId v = program.result(op, 0);
  const Type& type = program.type_of(v);
  return type.is_tensor() && type.elements() == 0 && program.layout_of(v) == nullptr &&
         op.def->cls != OpClass::control && is_pure(program, op);
}

bool is_empty(const Program& program, ValueId v) { return program.type_of(v).elements() == 0; }

// Puts values together of which some are empty.
bool joins_nothing(const Program& program, const Op& op) {
  if (op.def->parts != Parts::join || program.layout_of(program.result(op, 0)) != nullptr)
    return false;
  const auto operands = program.operands(op);
  return !is_empty(program, program.result(op, 0)) &&
         std::ranges::any_of(operands, [&](ValueId v) { return is_empty(program, v); });
}

Expected<bool> without_nothing(Rewriter& r, const Op& op) {
  if (op.result_count == 0) return false;
  const ValueId v = r.from.result(op, 0);
  if (gives_nothing(r.from, op)) {
    r.define(v, r.to.constant(Array(r.from.type_of(v))));
    return true;
  }
  if (!joins_nothing(r.from, op)) return false;
  Vars kept;
  for (ValueId operand : r.from.operands(op))
    if (!is_empty(r.from, operand)) kept.push_back(r.value(operand));
  r.to.at(r.location(op.loc));
  if (kept.size() > 1)
    kept = r.to.ops(op.def->name, kept, {r.from.type_of(v)}, copied_attrs(r.from, op));
  r.define(v, kept[0]);
  return true;
}

}  // namespace

Expected<Program> without_empty_values(const Program& program) {
  bool any = false;
  for (OpId id = 0; id < program.op_count() && !any; ++id)
    any = gives_nothing(program, program.op(id));
  if (!any) return program;
  Rewriter rewriter(program, without_nothing);
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  return rewriter.finish();
}

}  // namespace heddle
