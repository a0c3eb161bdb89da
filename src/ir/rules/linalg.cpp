// Index rules of transforms, solvers, normalisation and random numbers.
#include "ir/attr_access.h"
#include "ir/lapack/call.h"
#include "ir/rules/index_rules.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

// The first `count` dimensions of all operands and results are batches.
void batches(RuleBuilder& rule, const Program& program, const Op& op, std::size_t count) {
  for (std::size_t d = 0; d < count; ++d) {
    const int factor = rule.parallel(operand_type(program, op, 0).shape[d]);
    for (std::size_t i = 0; i < op.operand_count; ++i) rule.operand(i, d, factor);
    for (std::size_t i = 0; i < op.result_count; ++i) rule.result(i, d, factor);
  }
}

}  // namespace

// Every frequency depends on every sample.
IndexRule fft_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const std::size_t transformed = integers_or(program.attr(op, "fft_length")).size();
  batches(rule, program, op, operand_type(program, op, 0).rank() - transformed);
  return rule.done();
}

// An element of the factor depends on a part of the triangle that is no sum of factors: its own
// row, and all before its column.
IndexRule cholesky_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  batches(rule, program, op, operand_type(program, op, 0).rank() - 2);
  return rule.done();
}

// Matrices of a batch have nothing to do with each other; of one, everything depends on all.
IndexRule lapack_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const lapack::Signature& signature =
      *lapack::find_signature(text_or(program.attr(op, "routine"), ""));
  const std::size_t inner = lapack::inner_ranks(signature.operands)[0];
  batches(rule, program, op, operand_type(program, op, 0).rank() - inner);
  return rule.done();
}

// Row i of x needs row i of b and all rows that were solved before it; each of these needs its row
// of the triangle. An upper triangle is solved from its last row on.
IndexRule triangular_solve_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Shape& b = operand_type(program, op, 1).shape;
  const std::size_t rank = b.size();
  batches(rule, program, op, rank - 2);
  const bool left = flag_or(program.attr(op, "left_side"), true);
  const bool unit = flag_or(program.attr(op, "unit_diagonal"), false);
  const bool swapped =
      (word_or(program.attr(op, "transpose_a"), "NO_TRANSPOSE") != "NO_TRANSPOSE") == left;
  const bool lower = flag_or(program.attr(op, "lower"), false) != swapped;
  const std::size_t solved = rank - (left ? 2 : 1), free = rank - (left ? 1 : 2);
  const std::int64_t n = b[solved];
  const int side = rule.parallel(b[free]);
  rule.operand(1, free, side);
  rule.result(0, free, side);

  const int row = rule.whole(n), back = rule.whole(n), later = rule.whole(n);
  const std::int64_t sign = lower ? 1 : -1, first = lower ? 0 : n - 1;
  const DimRule own{{{row, sign}}, first, 1};
  const DimRule before{{{row, sign}, {back, -sign}}, first - (unit ? sign : 0), 1};
  rule.operand(1, solved, own);
  rule.operand(0, swapped ? rank - 1 : rank - 2, own);
  rule.operand(0, swapped ? rank - 2 : rank - 1, before);
  rule.result(0, solved, DimRule{{{row, sign}, {later, sign}}, first, 1});
  return rule.done();
}

namespace {

enum class NormKind : std::uint8_t { inference, training, grad };

// Features are apart from each other. Elements of one are, too, where their mean is given.
IndexRule norm_index_rule(const Program& program, const Op& op, NormKind kind) {
  RuleBuilder rule(program, op);
  const Shape& shape = operand_type(program, op, 0).shape;
  const auto feature = static_cast<std::size_t>(integer_or(program.attr(op, "feature_index"), 0));
  const int factor = rule.parallel(shape[feature]);
  for (std::size_t i = 0; i < op.operand_count; ++i)
    rule.operand(i, operand_type(program, op, i).rank() == 1 ? 0 : feature, factor);
  for (std::size_t i = 0; i < op.result_count; ++i)
    rule.result(i, result_type(program, op, i).rank() == 1 ? 0 : feature, factor);
  for (std::size_t d = 0; kind == NormKind::inference && d < shape.size(); ++d) {
    if (d == feature) continue;
    const int element = rule.parallel(shape[d]);
    rule.operand(0, d, element);
    rule.result(0, d, element);
  }
  if (kind == NormKind::training)  // mean and variance depend on the operand alone
    for (std::size_t result : {1U, 2U})
      for (std::size_t operand : {1U, 2U}) rule.independent(result, operand);
  if (kind == NormKind::grad) {
    rule.independent(1, 1);  // the scale's gradient does not depend on the scale
    for (std::size_t operand : {0U, 1U, 2U, 3U}) rule.independent(2, operand);
  }
  return rule.done();
}

}  // namespace

IndexRule batch_norm_inference_index_rule(const Program& program, const Op& op) {
  return norm_index_rule(program, op, NormKind::inference);
}
IndexRule batch_norm_training_index_rule(const Program& program, const Op& op) {
  return norm_index_rule(program, op, NormKind::training);
}
IndexRule batch_norm_grad_index_rule(const Program& program, const Op& op) {
  return norm_index_rule(program, op, NormKind::grad);
}

// The shape operand can only be what the result's type says.
IndexRule rng_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Shape& shape = result_type(program, op).shape;
  for (std::size_t d = 0; d < shape.size(); ++d) rule.result(0, d, rule.parallel(shape[d]));
  rule.independent(0, 2);
  return rule.done();
}

// Word i of the new state comes from word i of the old one; but where a counter has two words, the
// second also takes the carry of the first.
IndexRule rng_bit_generator_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Type& output = result_type(program, op, 1);
  for (std::size_t d = 0; d < output.rank(); ++d) rule.result(1, d, rule.parallel(output.shape[d]));
  const std::int64_t words = operand_type(program, op, 0).shape[0];
  if (words == 3 && output.elements() > 0) {
    // For 0, 1, 2, 3: words 2, 1, 1, 0 of the old state, and words 2, 2, 1, 0 of the new one.
    const int pair = rule.whole(4);
    rule.operand(0, 0, DimRule{{{pair, -1}, {pair, 1, 2}}, 2, 1});
    rule.result(0, 0, DimRule{{{pair, -1, 2}, {pair, -1, 3}}, 2, 1});
  } else {
    const int word = rule.whole(words);
    rule.operand(0, 0, word);
    rule.result(0, 0, word);
  }
  return rule.done();
}

// Which bits an element gets depends on its place in the whole.
void edit_random_piece(PieceEdit& edit) { edit.piece.from_whole = true; }

}  // namespace heddle
