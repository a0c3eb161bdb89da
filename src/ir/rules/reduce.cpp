// Index rules of reductions and products.
#include <map>

#include "ir/attr_access.h"
#include "ir/eval/einsum.h"
#include "ir/eval/index_space.h"
#include "ir/rules/index_rules.h"
#include "ir/shape_rules.h"

namespace heddle {

IndexRule reduce_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const std::size_t inputs = op.result_count;
  const Shape& shape = operand_type(program, op, 0).shape;
  const Index dims = integers_or(program.attr(op, "dimensions"));
  std::size_t kept = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool reduced = std::count(dims.begin(), dims.end(), d) != 0;
    const int factor = reduced ? rule.reduce(shape[d]) : rule.parallel(shape[d]);
    for (std::size_t i = 0; i < inputs; ++i) {
      rule.operand(i, d, factor);
      if (!reduced) rule.result(i, kept, factor);
    }
    kept += reduced ? 0 : 1;
  }
  for (std::size_t i = 0; i < inputs; ++i) {
    rule.operand(i).outside = Outside::neutral;
    rule.operand(i).scalar = static_cast<int>(inputs + i);
    rule.operand(inputs + i).starts_results = true;
  }
  rule.combine(known_reduction(program, program.regions(op)[0]));
  return rule.done();
}

IndexRule dot_general_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Shape* shapes[2] = {&operand_type(program, op, 0).shape,
                            &operand_type(program, op, 1).shape};
  const Attr* numbers = program.attr(op, "dot_dimension_numbers");
  const Index batch[2] = {integers_or(field(numbers, "lhs_batching_dimensions")),
                          integers_or(field(numbers, "rhs_batching_dimensions"))};
  const Index summed[2] = {integers_or(field(numbers, "lhs_contracting_dimensions")),
                           integers_or(field(numbers, "rhs_contracting_dimensions"))};
  std::size_t out = 0;
  for (std::size_t i = 0; i < batch[0].size(); ++i) {
    const int factor = rule.parallel((*shapes[0])[static_cast<std::size_t>(batch[0][i])]);
    for (std::size_t s = 0; s < 2; ++s)
      rule.operand(s, static_cast<std::size_t>(batch[s][i]), factor);
    rule.result(0, out++, factor);
  }
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t d = 0; d < shapes[s]->size(); ++d)
      if (std::count(batch[s].begin(), batch[s].end(), d) == 0 &&
          std::count(summed[s].begin(), summed[s].end(), d) == 0) {
        const int factor = rule.parallel((*shapes[s])[d]);
        rule.operand(s, d, factor);
        rule.result(0, out++, factor);
      }
  for (std::size_t i = 0; i < summed[0].size(); ++i) {
    const int factor = rule.reduce((*shapes[0])[static_cast<std::size_t>(summed[0][i])]);
    for (std::size_t s = 0; s < 2; ++s)
      rule.operand(s, static_cast<std::size_t>(summed[s][i]), factor);
  }
  for (std::size_t s = 0; s < 2; ++s) rule.operand(s).outside = Outside::zero;
  rule.combine(ReduceOp::sum);
  return rule.done();
}

IndexRule dot_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Shape &lhs = operand_type(program, op, 0).shape, &rhs = operand_type(program, op, 1).shape;
  std::size_t out = 0;
  const int summed = rule.reduce(rhs[0]);
  for (std::size_t d = 0; d + 1 < lhs.size(); ++d) {
    const int factor = rule.parallel(lhs[d]);
    rule.operand(0, d, factor);
    rule.result(0, out++, factor);
  }
  rule.operand(0, lhs.size() - 1, summed);
  rule.operand(1, 0, summed);
  for (std::size_t d = 1; d < rhs.size(); ++d) {
    const int factor = rule.parallel(rhs[d]);
    rule.operand(1, d, factor);
    rule.result(0, out++, factor);
  }
  for (std::size_t i = 0; i < 2; ++i) rule.operand(i).outside = Outside::zero;
  rule.combine(ReduceOp::sum);
  return rule.done();
}

IndexRule einsum_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Equation equation = read_equation(program, op).value();
  std::map<char, int> factors;
  for (std::size_t i = 0; i < op.operand_count; ++i)
    for (std::size_t d = 0; d < equation.operands[i].size(); ++d) {
      const char letter = equation.operands[i][d];
      const std::int64_t size = operand_type(program, op, i).shape[d];
      if (factors.count(letter) == 0)
        factors[letter] = equation.result.find(letter) == std::string::npos ? rule.reduce(size)
                                                                            : rule.parallel(size);
      rule.operand(i, d, factors[letter]);
      rule.operand(i).outside = Outside::zero;
    }
  for (std::size_t d = 0; d < equation.result.size(); ++d)
    rule.result(0, d, factors[equation.result[d]]);
  rule.combine(ReduceOp::sum);
  return rule.done();
}

}  // namespace heddle
