#include "stitch/group.h"

#include <algorithm>
#include <unordered_set>

#include "heddle/index_rule.h"
#include "heddle/op.h"

namespace heddle {

namespace {

// Everything that an op reads: its operands, and what its regions take from around it.
std::vector<ValueId> reads(const Program& program, const Op& op) {
  const auto operands = program.operands(op);
  std::vector<ValueId> all(operands.begin(), operands.end());
  if (op.region_count > 0)
    for (ValueId v : captured_values(program, op)) all.push_back(v);
  return all;
}

}  // namespace

StitchGroup make_group(const Program& program, RegionId region, std::vector<OpId> ops) {
  std::sort(ops.begin(), ops.end());
  StitchGroup group{.ops = std::move(ops), .inputs = {}, .outputs = {}};
  const std::unordered_set<OpId> members(group.ops.begin(), group.ops.end());
  std::unordered_set<ValueId> seen, used_outside;
  for (OpId id : group.ops)
    for (ValueId v : reads(program, program.op(id)))
      if (!members.contains(program.value(v).op) && seen.insert(v).second)
        group.inputs.push_back(v);
  for (OpId id : program.region(region).ops)
    if (!members.contains(id))
      for (ValueId v : reads(program, program.op(id)))
        if (members.contains(program.value(v).op)) used_outside.insert(v);
  for (OpId id : group.ops) {
    const Op& op = program.op(id);
    for (std::size_t i = 0; i < op.result_count; ++i)
      if (used_outside.contains(program.result(op, i)))
        group.outputs.push_back(program.result(op, i));
  }
  return group;
}

}  // namespace heddle
