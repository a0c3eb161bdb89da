// Writes index rules down: factors first, then the dimensions that they index.
#pragma once

#include "heddle/index_rule.h"
#include "heddle/op.h"

namespace heddle {

// A dimension's number as an index into a list.
inline std::size_t at(std::int64_t dim) { return static_cast<std::size_t>(dim); }

// The index is just this factor.
inline DimRule just(int factor) { return {{{factor}}, 0, 1}; }
// The index is always 0: a dimension of size 1 that is broadcast.
inline DimRule only_element() { return {}; }
// major * size of minor + minor
inline DimRule pair(int major, int minor, std::int64_t minor_size) {
  return {{{major, minor_size}, {minor}}, 0, 1};
}

class RuleBuilder {
 public:
  RuleBuilder(const Program& program, const Op& op);

  int parallel(std::int64_t size) { return add(size, FactorKind::parallel); }
  int reduce(std::int64_t size) { return add(size, FactorKind::reduce); }
  int window(std::int64_t size) { return add(size, FactorKind::window); }
  int whole(std::int64_t size) { return add(size, FactorKind::whole); }

  void operand(std::size_t i, std::size_t dim, DimRule rule);
  void result(std::size_t i, std::size_t dim, DimRule rule);
  void operand(std::size_t i, std::size_t dim, int factor) { operand(i, dim, just(factor)); }
  void result(std::size_t i, std::size_t dim, int factor) { result(i, dim, just(factor)); }
  OperandRule& operand(std::size_t i) { return rule_.operands[i]; }
  ResultRule& result(std::size_t i) { return rule_.results[i]; }
  void combine(std::optional<ReduceOp> op) { rule_.combine.op = op; }
  // The result does not depend on the operand.
  void independent(std::size_t result, std::size_t operand) {
    rule_.results[result].independent_of.push_back(static_cast<int>(operand));
  }

  // Dimensions of which nothing was said become whole, each by itself.
  IndexRule done();

 private:
  int add(std::int64_t size, FactorKind kind);

  IndexRule rule_;
  std::vector<std::vector<bool>> operands_set_, results_set_;
  std::vector<Shape> operand_shapes_, result_shapes_;
};

// Every result has the shape of the operands; operands of rank 0 are for all elements.
IndexRule elementwise_index_rule(const Program& program, const Op& op);
// Operand i goes with result i alone, element by element; operands without a result go with all.
IndexRule pairwise_index_rule(const Program& program, const Op& op);

// A region of two arguments that does one op on both and gives its result.
struct OneOpBody {
  const Op* op;
  bool turned;  // the second argument comes first
};
std::optional<OneOpBody> one_op_body(const Program& program, RegionId region);

// The operation that a region of two scalars does, where it is one that we know: sum for
// (a, b) -> a + b. Nothing for all others, and for regions over several values.
std::optional<ReduceOp> known_reduction(const Program& program, RegionId region);

}  // namespace heddle
