// Rules as devices need them: ops along lines, which can be done on parts of lines.
#include "heddle/op.h"
#include "heddle/parallel.h"
#include "ir/rule_builder.h"
#include "ir/scan.h"

namespace heddle {

std::optional<Line> line_of(const Program& program, const Op& op) {
  if (op.def->name == "stablehlo.reduce_window")
    if (const auto scan = scan_of(program, op))
      return Line{Line::Kind::scan, scan->dim, scan->backward};
  return {};
}

// ---- rules, each made once

std::shared_ptr<const IndexRule> RuleCache::elementwise(const Op& op) {
  std::vector<std::uint32_t> key{op.operand_count};
  for (ValueId v : program_.operands(op)) key.push_back(program_.value(v).type);
  for (std::size_t i = 0; i < op.result_count; ++i)
    key.push_back(program_.value(program_.result(op, i)).type);
  std::shared_ptr<const IndexRule>& shared = elementwise_[key];
  if (!shared) shared = std::make_shared<const IndexRule>(index_rule(program_, op));
  return shared;
}

const RuleCache::Entry& RuleCache::entry(OpId id) {
  if (rules_.size() <= id) rules_.resize(program_.op_count());
  Entry& entry = rules_[id];
  if (entry.rule) return entry;
  const Op& op = program_.op(id);
  if (op.def->index_rule == elementwise_index_rule && op.region_count == 0) {
    entry.rule = elementwise(op);
    return entry;
  }
  entry.line = line_of(program_, op);
  entry.rule = std::make_shared<const IndexRule>(entry.line ? scan_rule(program_, op)
                                                            : index_rule(program_, op));
  return entry;
}

}  // namespace heddle
