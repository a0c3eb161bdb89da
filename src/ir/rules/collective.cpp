// Index rules of the ops between devices. They say what any device's result depends on of any
// device's operand: which device an element comes from is a whole factor of its index.
#include "ir/attr_access.h"
#include "ir/rules/index_rules.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

std::size_t dimension(const Program& program, const Op& op, std::string_view name) {
  return static_cast<std::size_t>(integer_or(program.attr(op, name), 0));
}

std::int64_t times(std::int64_t large, std::int64_t small) {
  return small == 0 ? 1 : large / small;
}

// Result i depends on operand i alone.
void apart(RuleBuilder& rule, const Op& op) {
  for (std::size_t i = 0; i < op.result_count; ++i)
    for (std::size_t other = 0; other < op.result_count; ++other)
      if (other != i) rule.independent(i, other);
}

}  // namespace

// One piece from each member, one after the other.
IndexRule all_gather_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const std::size_t dim = dimension(program, op, "all_gather_dim");
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const Shape &from = operand_type(program, op, i).shape, &to = result_type(program, op, i).shape;
    for (std::size_t d = 0; d < from.size(); ++d) {
      const int factor = rule.parallel(from[d]);
      rule.operand(i, d, factor);
      rule.result(
          i, d, d == dim ? pair(rule.whole(times(to[d], from[d])), factor, from[d]) : just(factor));
    }
  }
  apart(rule, op);
  return rule.done();
}

IndexRule reduce_scatter_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const std::size_t dim = dimension(program, op, "scatter_dimension");
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const Shape &from = operand_type(program, op, i).shape, &to = result_type(program, op, i).shape;
    for (std::size_t d = 0; d < from.size(); ++d) {
      const int factor = rule.parallel(to[d]);
      rule.operand(
          i, d, d == dim ? pair(rule.whole(times(from[d], to[d])), factor, to[d]) : just(factor));
      rule.result(i, d, factor);
    }
  }
  apart(rule, op);
  return rule.done();
}

// The operand's pieces are by receiver, the result's by sender.
IndexRule all_to_all_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const std::size_t split = dimension(program, op, "split_dimension");
  const std::size_t concat = dimension(program, op, "concat_dimension");
  const std::int64_t count = integer_or(program.attr(op, "split_count"), 1);
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const Shape& from = operand_type(program, op, i).shape;
    for (std::size_t d = 0; d < from.size(); ++d) {
      const std::int64_t size = d == split ? from[d] / count : from[d];
      const int factor = rule.parallel(size);
      rule.operand(i, d, d == split ? pair(rule.whole(count), factor, size) : just(factor));
      rule.result(i, d, d == concat ? pair(rule.whole(count), factor, size) : just(factor));
    }
  }
  apart(rule, op);
  return rule.done();
}

}  // namespace heddle
