#include "heddle/index_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/rules/rule_builder.h"

namespace heddle {

std::string_view name(FactorKind kind) {
  static constexpr std::string_view names[] = {"parallel", "reduce", "window", "whole"};
  return names[static_cast<int>(kind)];
}

std::string factor_name(int factor) {
  std::string text(1, static_cast<char>('a' + factor % 26));
  return factor < 26 ? text : text + std::to_string(factor / 26);
}

namespace {

std::string term_text(const IndexTerm& term) {
  std::string text = factor_name(term.factor);
  if (term.divide != 1) text += fmt::format("/{}", term.divide);
  if (term.modulo != 0) text += fmt::format("%{}", term.modulo);
  const bool digit = term.divide != 1 || term.modulo != 0;
  const std::int64_t stride = std::abs(term.stride);
  if (digit && stride != 1) text = "(" + text + ")";
  return stride == 1 ? text : fmt::format("{}*{}", stride, text);
}

std::string dim_text(const DimRule& dim) {
  std::string text;
  for (const IndexTerm& term : dim.terms) {
    if (term.stride < 0)
      text += "-";
    else if (!text.empty())
      text += "+";
    text += term_text(term);
  }
  if (text.empty())
    text = std::to_string(dim.offset);
  else if (dim.offset != 0)
    text += fmt::format("{:+}", dim.offset);
  return dim.dilation == 1 ? text : fmt::format("({})/{}", text, dim.dilation);
}

std::string dims_text(const std::vector<DimRule>& dims) {
  std::string text;
  for (const DimRule& dim : dims) text += (text.empty() ? "" : " ") + dim_text(dim);
  return "[" + text + "]";
}

// "; parallel a=3 c=5"
std::string factors_text(const IndexRule& rule, FactorKind kind) {
  std::string text;
  for (std::size_t i = 0; i < rule.factors.size(); ++i)
    if (rule.factors[i].kind == kind)
      text += fmt::format(" {}={}", factor_name(static_cast<int>(i)), rule.factors[i].size);
  if (text.empty()) return "";
  std::string_view how;
  if (kind == FactorKind::reduce || kind == FactorKind::window)
    how = rule.combine.op ? name(*rule.combine.op) : "the op's body";
  return fmt::format("; {}{}{}", name(kind), how.empty() ? "" : fmt::format(" by {}:", how), text);
}

}  // namespace

std::string IndexRule::str() const {
  std::string text;
  for (const OperandRule& operand : operands) text += dims_text(operand.dims) + " ";
  text += "->";
  for (const ResultRule& result : results) text += " " + dims_text(result.dims);
  for (FactorKind kind :
       {FactorKind::parallel, FactorKind::reduce, FactorKind::window, FactorKind::whole})
    text += factors_text(*this, kind);
  for (std::size_t i = 0; i < results.size(); ++i)
    if (const std::vector<int>& free = results[i].independent_of; !free.empty())
      text += fmt::format("; result {} not from operand {}", i, fmt::join(free, ", "));
  return text;
}

RuleBuilder::RuleBuilder(const Program& program, const Op& op) {
  auto shape_of = [&](ValueId v) {
    const Type& type = program.type_of(v);
    return type.is_tensor() ? type.shape : Shape{};
  };
  for (ValueId v : program.operands(op)) operand_shapes_.push_back(shape_of(v));
  for (ValueId v : captured_values(program, op)) operand_shapes_.push_back(shape_of(v));
  for (std::size_t i = 0; i < op.result_count; ++i)
    result_shapes_.push_back(shape_of(program.result(op, i)));
  for (const Shape& shape : operand_shapes_) {
    rule_.operands.emplace_back().dims.resize(shape.size());
    operands_set_.emplace_back(shape.size(), false);
  }
  for (const Shape& shape : result_shapes_) {
    rule_.results.emplace_back().dims.resize(shape.size());
    results_set_.emplace_back(shape.size(), false);
  }
}

int RuleBuilder::add(std::int64_t size, FactorKind kind) {
  rule_.factors.push_back({size, kind});
  return static_cast<int>(rule_.factors.size()) - 1;
}

void RuleBuilder::operand(std::size_t i, std::size_t dim, DimRule rule) {
  rule_.operands[i].dims[dim] = std::move(rule);
  operands_set_[i][dim] = true;
}

void RuleBuilder::result(std::size_t i, std::size_t dim, DimRule rule) {
  rule_.results[i].dims[dim] = std::move(rule);
  results_set_[i][dim] = true;
}

IndexRule RuleBuilder::done() {
  for (std::size_t i = 0; i < operand_shapes_.size(); ++i)
    for (std::size_t d = 0; d < operand_shapes_[i].size(); ++d)
      if (!operands_set_[i][d]) operand(i, d, whole(operand_shapes_[i][d]));
  for (std::size_t i = 0; i < result_shapes_.size(); ++i)
    for (std::size_t d = 0; d < result_shapes_[i].size(); ++d)
      if (!results_set_[i][d]) result(i, d, whole(result_shapes_[i][d]));
  return std::move(rule_);
}

IndexRule elementwise_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const std::size_t rank = program.type_of(program.result(op, 0)).rank();
  for (std::size_t d = 0; d < rank; ++d) {
    const int factor = rule.parallel(program.type_of(program.result(op, 0)).shape[d]);
    for (std::size_t i = 0; i < op.operand_count; ++i)
      if (program.type_of(program.operands(op)[i]).rank() == rank) rule.operand(i, d, factor);
    for (std::size_t i = 0; i < op.result_count; ++i) rule.result(i, d, factor);
  }
  return rule.done();
}

IndexRule pairwise_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const Type& type = program.type_of(program.result(op, i));
    for (std::size_t d = 0; type.is_tensor() && d < type.rank(); ++d) {
      const int factor = rule.parallel(type.shape[d]);
      rule.operand(i, d, factor);
      rule.result(i, d, factor);
    }
    for (std::size_t other = 0; other < op.result_count; ++other)
      if (other != i) rule.independent(i, other);
  }
  return rule.done();
}

IndexRule index_rule(const Program& program, const Op& op) {
  if (op.def->index_rule != nullptr) return op.def->index_rule(program, op);
  return RuleBuilder(program, op).done();
}

namespace {

void find_captured(const Program& program, RegionId region, std::unordered_set<ValueId>& known,
                   std::vector<ValueId>& captured) {
  for (ValueId v : program.region(region).args) known.insert(v);
  for (OpId id : program.region(region).ops) {
    const Op& op = program.op(id);
    for (ValueId v : program.operands(op))
      if (known.insert(v).second) captured.push_back(v);
    for (RegionId inner : program.regions(op)) find_captured(program, inner, known, captured);
    for (std::size_t i = 0; i < op.result_count; ++i) known.insert(program.result(op, i));
  }
}

}  // namespace

std::vector<ValueId> captured_values(const Program& program, const Op& op) {
  std::vector<ValueId> captured;
  std::unordered_set<ValueId> known;
  for (RegionId region : program.regions(op)) find_captured(program, region, known, captured);
  return captured;
}

std::optional<OneOpBody> one_op_body(const Program& program, RegionId region) {
  const Region& body = program.region(region);
  if (body.args.size() != 2 || body.ops.size() != 2) return std::nullopt;
  const Op& step = program.op(body.ops[0]);
  const Op& end = program.op(body.ops[1]);
  if (step.operand_count != 2 || end.operand_count != 1 || step.result_count != 1 ||
      program.operands(end)[0] != program.result(step, 0))
    return std::nullopt;
  const auto operands = program.operands(step);
  const bool in_order = operands[0] == body.args[0] && operands[1] == body.args[1];
  const bool turned = operands[0] == body.args[1] && operands[1] == body.args[0];
  if (!in_order && !turned) return std::nullopt;
  return OneOpBody{&step, turned};
}

std::optional<ReduceOp> known_reduction(const Program& program, RegionId region) {
  const auto body = one_op_body(program, region);
  return body ? body->op->def->combines : std::nullopt;
}

}  // namespace heddle
