// Rules as devices need them: ops along lines, which can be done on parts of lines.
#include "heddle/op.h"
#include "heddle/parallel.h"
#include "ir/attr_access.h"
#include "ir/rules/rule_builder.h"
#include "ir/rules/scan.h"

namespace heddle {

std::optional<Line> line_of(const Program& program, const Op& op) {
  if (op.def->parts == Parts::windows)
    if (const auto scan = scan_of(program, op))
      return Line{Line::Kind::scan, scan->dim, scan->backward};
  if (op.def->parts == Parts::sort) {
    const Shape& shape = program.type_of(program.operands(op)[0]).shape;
    std::int64_t dim = integer_or(program.attr(op, "dimension"), -1);
    if (dim < 0) dim += static_cast<std::int64_t>(shape.size());
    if (dim < 0 || shape[at(dim)] <= 1) return {};
    return Line{Line::Kind::sort, at(dim), false};
  }
  if (op.def->parts == Parts::transform) {
    const Type &from = program.type_of(program.operands(op)[0]),
               &to = program.type_of(program.result(op, 0));
    const bool one = integers_or(program.attr(op, "fft_length")).size() == 1;
    if (one && from.rank() > 0 && from.shape == to.shape)
      return Line{Line::Kind::transform, from.rank() - 1, false};
  }
  return {};
}

namespace {

// Every operand and result element by element; what a comparison takes from around is whole.
IndexRule line_rule(const Program& program, const Op& op) {
  IndexRule rule = index_rule(program, op);
  const Shape& shape = program.type_of(program.result(op, 0)).shape;
  std::vector<DimRule> dims;
  rule.factors.clear();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    rule.factors.push_back({shape[d], FactorKind::parallel});
    dims.push_back(just(static_cast<int>(d)));
  }
  for (std::size_t i = 0; i < rule.operands.size(); ++i) {
    if (i < op.operand_count)
      rule.operands[i].dims = dims;
    else
      rule.operands[i].dims.assign(rule.operands[i].dims.size(), only_element());
  }
  for (ResultRule& result : rule.results) result.dims = dims;
  return rule;
}

IndexRule device_rule(const Program& program, const Op& op, const std::optional<Line>& line) {
  if (!line) return index_rule(program, op);
  return line->kind == Line::Kind::scan ? scan_rule(program, op) : line_rule(program, op);
}

}  // namespace

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
  entry.rule = std::make_shared<const IndexRule>(device_rule(program_, op, entry.line));
  return entry;
}

}  // namespace heddle
