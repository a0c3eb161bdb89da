#include "stitch/group.h"

#include <algorithm>
#include <unordered_set>

#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "stitch/scatter.h"

namespace heddle {

bool is_work(const Op& op) {
  return op.def->form != Form::constant && op.def->form != Form::terminator;
}

bool is_reducer(const Program& program, const Op& op) {
  return op.def->emission == Emission::reduce || op.def->emission == Emission::contract ||
         (op.def->emission == Emission::scatter && !is_single_update(program, op));
}

bool takes_elsewhere(const Op& consumer) {
  switch (consumer.def->emission) {
    case Emission::copy:
    case Emission::join:
    case Emission::dynamic_slice:
    case Emission::dynamic_update_slice:
    case Emission::gather:
    case Emission::scatter:
      return true;
    default:
      return false;
  }
}

std::vector<ValueId> values_read(const Program& program, const Op& op) {
  const auto operands = program.operands(op);
  std::vector<ValueId> all(operands.begin(), operands.end());
  if (op.region_count > 0)
    for (ValueId v : captured_values(program, op)) all.push_back(v);
  return all;
}

std::vector<ValueId> values_read(const Program& program, const Op& op, OpId id,
                                 const FoldedMoves& moves) {
  const auto it = moves.products.find(id);
  if (it == moves.products.end()) return values_read(program, op);
  std::vector<ValueId> all{it->second.lhs.value, it->second.rhs.value};
  const auto operands = program.operands(op);
  all.insert(all.end(), operands.begin() + 2, operands.end());
  return all;
}

Readers::Readers(const Program& program, RegionId region, const FoldedMoves& moves)
    : of(program.value_count()) {
  for (OpId id : program.region(region).ops) {
    if (moves.dropped.contains(id)) continue;
    for (ValueId v : values_read(program, program.op(id), id, moves)) of[v].push_back(id);
  }
}

StitchGroup make_group(const Program& program, const Readers& readers, std::vector<OpId> ops) {
  std::sort(ops.begin(), ops.end());
  StitchGroup group{.ops = std::move(ops), .inputs = {}, .outputs = {}};
  auto is_member = [&](OpId id) {
    return std::binary_search(group.ops.begin(), group.ops.end(), id);
  };
  std::unordered_set<ValueId> seen;
  for (OpId id : group.ops) {
    const Op& op = program.op(id);
    for (ValueId v : values_read(program, op))
      if (!is_member(program.value(v).op) && seen.insert(v).second) group.inputs.push_back(v);
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId v = program.result(op, i);
      if (std::any_of(readers.of[v].begin(), readers.of[v].end(),
                      [&](OpId reader) { return !is_member(reader); }))
        group.outputs.push_back(v);
    }
  }
  return group;
}

}  // namespace heddle
