#include "schedule/ahead.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "ir/lower/simplify.h"

namespace heddle {

namespace {

bool is_light_work(const Program& program, const Op& op) {
  const OpClass cls = op.def->cls;
  return (cls == OpClass::light || cls == OpClass::heavy || cls == OpClass::move ||
          cls == OpClass::reduce) &&
         is_pure(program, op);
}

// Bytes of what the chosen ops give and others use.
std::int64_t bytes_kept(const Program& program, std::span<const OpId> next,
                        const std::unordered_set<OpId>& chosen) {
  std::unordered_set<ValueId> kept;
  for (OpId id : next)
    if (!chosen.contains(id) && program.op(id).def->cls != OpClass::communicate)
      for (ValueId v : program.operands(program.op(id)))
        if (chosen.contains(program.value(v).op)) kept.insert(v);
  std::int64_t bytes = 0;
  for (ValueId v : kept)
    if (const Type& type = program.type_of(v); type.is_tensor()) bytes += type.bytes();
  return bytes;
}

}  // namespace

std::vector<OpId> work_to_join(const Program& program, std::span<const OpId> next,
                               const AheadQuestions& ask, std::int64_t most_bytes) {
  std::unordered_set<OpId> possible, chosen;
  const auto can_have = [&](ValueId v) {
    return ask.is_there(v) || possible.contains(program.value(v).op);
  };
  std::vector<OpId> open;
  for (OpId id : next) {
    const Op& op = program.op(id);
    if (ask.is_done(id) || !std::ranges::all_of(program.operands(op), can_have)) continue;
    if (ask.joins(id))
      for (ValueId v : program.operands(op)) open.push_back(program.value(v).op);
    else if (is_light_work(program, op))
      possible.insert(id);
  }
  while (!open.empty()) {
    const OpId id = open.back();
    open.pop_back();
    if (!possible.contains(id) || !chosen.insert(id).second) continue;
    for (ValueId v : program.operands(program.op(id))) open.push_back(program.value(v).op);
  }
  if (chosen.empty() || bytes_kept(program, next, chosen) > most_bytes) return {};
  std::vector<OpId> work;
  for (OpId id : next)
    if (chosen.contains(id)) work.push_back(id);
  return work;
}

std::vector<bool> values_that_leave(const Program& program) {
  std::vector<bool> leaves(program.value_count(), true);
  // Users stand behind what they use.
  for (OpId id = static_cast<OpId>(program.op_count()); id-- > 0;) {
    const Op& op = program.op(id);
    if (op.def->form == Form::terminator) continue;
    const bool is_sum = op.def->collective == CollectiveKind::all_reduce;
    bool goes_on =
        op.result_count > 0 && op.def->cls != OpClass::control && (is_sum || is_pure(program, op));
    for (std::size_t i = 0; i < op.result_count; ++i)
      goes_on = goes_on && leaves[program.result(op, i)];
    if (goes_on) continue;
    for (ValueId v : program.operands(op)) leaves[v] = false;
    if (op.region_count > 0)
      for (ValueId v : captured_values(program, op)) leaves[v] = false;
  }
  return leaves;
}

}  // namespace heddle
