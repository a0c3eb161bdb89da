// Index rules of the client dialect's ops.
#include "ir/eval/chlo.h"

#include <algorithm>

#include "ir/rules/index_rules.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

using Dims = std::vector<std::int64_t>;

bool holds(const Dims& dims, std::size_t d) {
  return std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(d)) != dims.end();
}

}  // namespace

// A dimension of size 1 is repeated along the result's.
IndexRule chlo_broadcast_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Shape& to = result_type(program, op).shape;
  std::vector<int> factors;
  for (std::size_t d = 0; d < to.size(); ++d) {
    factors.push_back(rule.parallel(to[d]));
    rule.result(0, d, factors[d]);
  }
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const Shape& from = operand_type(program, op, i).shape;
    const Dims dims = *chlo::broadcast_dims(program, op, i);
    for (std::size_t d = 0; d < from.size(); ++d) {
      const auto goes_to = static_cast<std::size_t>(dims[d]);
      rule.operand(i, d, from[d] == to[goes_to] ? just(factors[goes_to]) : only_element());
    }
  }
  return rule.done();
}

IndexRule top_k_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Shape& shape = operand_type(program, op, 0).shape;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) {
    const int factor = rule.parallel(shape[d]);
    rule.operand(0, d, factor);
    for (std::size_t i : {0U, 1U}) rule.result(i, d, factor);
  }
  if (shape.back() <= 1) rule.independent(1, 0);  // the index is 0, whatever the element
  return rule.done();
}

namespace {

// Dimensions of ragged_dot in the order of its result. What lies along the ragged dimension is in
// the group that its place says, so it stays whole; each row by itself, though.
class RaggedRule {
 public:
  RaggedRule(const Program& program, const Op& op)
      : rule_(program, op),
        dims_(*chlo::ragged_dims(program, op)),
        lhs_(operand_type(program, op, 0).shape),
        rhs_(operand_type(program, op, 1).shape),
        groups_(operand_type(program, op, 2).shape) {}

  IndexRule run() {
    if (holds(dims_.lhs_sum, ragged())) group_per_result();
    for (std::size_t i = 0; i < dims_.lhs_batch.size(); ++i) {
      const auto l = static_cast<std::size_t>(dims_.lhs_batch[i]);
      const int factor = kept(l);
      rule_.operand(1, static_cast<std::size_t>(dims_.rhs_batch[i]), factor);
    }
    for (std::size_t d = 0; d < lhs_.size(); ++d)
      if (!holds(dims_.lhs_batch, d) && !holds(dims_.lhs_sum, d)) kept(d);
    for (std::size_t d = 0; d < rhs_.size(); ++d)
      if (!holds(dims_.rhs_batch, d) && !holds(dims_.rhs_sum, d) && !holds(dims_.rhs_group, d)) {
        const int factor = rule_.parallel(rhs_[d]);
        rule_.operand(1, d, factor);
        rule_.result(0, out_++, factor);
      }
    for (std::size_t i = 0; i < dims_.lhs_sum.size(); ++i) {
      const auto l = static_cast<std::size_t>(dims_.lhs_sum[i]);
      const int factor = l == ragged() ? rule_.whole(lhs_[l]) : rule_.reduce(lhs_[l]);
      rule_.operand(0, l, factor);
      rule_.operand(1, static_cast<std::size_t>(dims_.rhs_sum[i]), factor);
    }
    for (std::size_t i : {0U, 1U}) rule_.operand(i).outside = Outside::zero;
    rule_.combine(ReduceOp::sum);
    return rule_.done();
  }

 private:
  std::size_t ragged() const { return static_cast<std::size_t>(dims_.lhs_ragged[0]); }

  // A group lies where the sizes of those up to it put it.
  void group_per_result() {
    const std::int64_t count = groups_.back();
    const int group = rule_.whole(count), later = rule_.whole(count);
    rule_.operand(2, groups_.size() - 1, group);
    rule_.result(0, out_++, DimRule{{{group}, {later}}, 0, 1});
  }

  // A dimension of the left operand that the result has, too.
  int kept(std::size_t d) {
    const int factor = d == ragged() ? rule_.whole(lhs_[d]) : rule_.parallel(lhs_[d]);
    rule_.operand(0, d, factor);
    rule_.result(0, out_++, factor);
    return factor;
  }

  RuleBuilder rule_;
  chlo::RaggedDims dims_;
  const Shape &lhs_, &rhs_, &groups_;
  std::size_t out_ = 0;
};

}  // namespace

IndexRule ragged_dot_index_rule(const Program& program, const Op& op) {
  return RaggedRule(program, op).run();
}

}  // namespace heddle
