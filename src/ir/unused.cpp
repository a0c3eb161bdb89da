#include "ir/unused.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/rewrite.h"

namespace heddle {

namespace {

bool has_effects(const Op& op) {
  if (op.def->collective == CollectiveKind::partition_id) return false;
  switch (op.def->cls) {
    case OpClass::communicate:
    case OpClass::control:
    case OpClass::opaque:
      return true;
    default:
      return op.result_count == 0 || op.region_count > 0;
  }
}

}  // namespace

std::vector<int> use_counts(const Program& program) {
  std::vector<int> uses(program.value_count(), 0);
  for (OpId id = 0; id < program.op_count(); ++id)
    for (ValueId v : program.operands(program.op(id))) ++uses[v];
  return uses;
}

std::vector<bool> unused_ops(const Program& program) {
  std::vector<int> uses = use_counts(program);
  std::vector<bool> unused(program.op_count(), false);
  for (OpId id = static_cast<OpId>(program.op_count()); id-- > 0;) {
    const Op& op = program.op(id);
    bool used = has_effects(op);
    for (std::size_t i = 0; i < op.result_count; ++i)
      used = used || uses[program.result(op, i)] > 0;
    if (used) continue;
    unused[id] = true;
    for (ValueId v : program.operands(op)) --uses[v];
  }
  return unused;
}

Expected<Program> without_unused(const Program& program) {
  const std::vector<bool> unused = unused_ops(program);
  if (std::ranges::find(unused, true) == unused.end()) return program;
  Rewriter rewriter(program, [&](Rewriter&, const Op& op) -> Expected<bool> {
    return op.result_count > 0 && unused[program.value(program.result(op, 0)).op];
  });
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  return rewriter.unverified();
}

}  // namespace heddle
