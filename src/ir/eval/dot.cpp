// dot_general, dot and einsum: sums of products over pairs of strided axes.
#include <map>

#include "ir/eval/einsum.h"
#include "ir/eval/reduce.h"
#include "ir/eval/reduce_common.h"

namespace heddle {

using namespace reduction;

namespace {

// result[o] = sum over k of lhs[out_lhs(o) + sum_lhs(k)] * rhs[out_rhs(o) + sum_rhs(k)].
struct Contraction {
  Axes out_lhs, out_rhs, sum_lhs, sum_rhs;
};

// An operand in the order in which it is read: one contiguous run of the sum per own position.
template <typename Wide>
struct Packed {
  std::vector<Wide> values;
  Axes out;  // of the result, with strides into the values

  Packed(const Array& array, const Axes& result, const Axes& sum) {
    const std::vector<Wide> all = widened<Wide>(array);
    Axes own;
    for (std::size_t i = 0; i < result.sizes.size(); ++i)
      if (result.strides[i] != 0) own.add(result.sizes[i], result.strides[i]);
    const Integers run = sum.offsets();
    values.reserve(static_cast<std::size_t>(own.count()) * run.size());
    for (std::int64_t at = 0; at < own.count(); ++at)
      for (std::int64_t base = own.offset(at); std::int64_t k : run)
        values.push_back(all[static_cast<std::size_t>(base + k)]);
    const Integers steps = strides_of(own.sizes);
    std::size_t next = 0;
    for (std::size_t i = 0; i < result.sizes.size(); ++i)
      out.add(result.sizes[i],
              result.strides[i] == 0 ? 0 : steps[next++] * static_cast<std::int64_t>(run.size()));
  }
};

template <typename Wide>
std::vector<Wide> contract(const Contraction& c, const Array& lhs, const Array& rhs) {
  const std::int64_t count = c.out_lhs.count();
  if (count == 0) return {};  // the sum may then be over any number of elements
  const Packed<Wide> left(lhs, c.out_lhs, c.sum_lhs), right(rhs, c.out_rhs, c.sum_rhs);
  const std::int64_t length = c.sum_lhs.count();
  std::vector<Wide> result;
  result.reserve(static_cast<std::size_t>(count));
  for (std::int64_t o = 0; o < count; ++o) {
    const Wide* a = left.values.data() + left.out.offset(o);
    const Wide* b = right.values.data() + right.out.offset(o);
    Wide sum{};
    for (std::int64_t k = 0; k < length; ++k) sum = add_product(sum, a[k], b[k]);
    result.push_back(sum);
  }
  return result;
}

Expected<std::vector<Array>> evaluate_contraction(EvalContext& ctx, const Contraction& c,
                                                  const Array& lhs, const Array& rhs) {
  const Type& type = ctx.result_type();
  const double steps = c.out_lhs.steps() * c.sum_lhs.steps();
  if (steps > kMostSteps)
    return reason("{} {} products are too much for the reference interpreter", bracketed(ctx.op),
                  steps);
  return dispatch_sum({lhs.dtype(), rhs.dtype(), type.dtype}, [&](auto tag) {
    using Wide = typename decltype(tag)::type;
    return std::vector<Array>{narrowed<Wide>(type, contract<Wide>(c, lhs, rhs))};
  });
}

void append(Axes& axes, const Axes& more) {
  axes.sizes.insert(axes.sizes.end(), more.sizes.begin(), more.sizes.end());
  axes.strides.insert(axes.strides.end(), more.strides.begin(), more.strides.end());
}

// The same sizes with no steps: axes that only the other operand has.
Axes standing(const Axes& axes) { return {axes.sizes, Integers(axes.sizes.size(), 0)}; }

Contraction dot_contraction(const Shape& lhs, const Shape& rhs, const Integers& lhs_batch,
                            const Integers& rhs_batch, const Integers& lhs_sum,
                            const Integers& rhs_sum) {
  const Axes lhs_free = axes_of(lhs, other_dimensions(lhs.size(), lhs_batch, lhs_sum));
  const Axes rhs_free = axes_of(rhs, other_dimensions(rhs.size(), rhs_batch, rhs_sum));
  Contraction c;
  c.out_lhs = axes_of(lhs, lhs_batch);
  c.out_rhs = axes_of(rhs, rhs_batch);
  append(c.out_lhs, lhs_free);
  append(c.out_rhs, standing(lhs_free));
  append(c.out_lhs, standing(rhs_free));
  append(c.out_rhs, rhs_free);
  c.sum_lhs = axes_of(lhs, lhs_sum);
  c.sum_rhs = axes_of(rhs, rhs_sum);
  return c;
}

struct DotNumbers {
  Integers lhs_batch, rhs_batch, lhs_sum, rhs_sum;
};

Expected<DotNumbers> read_dot_dims(const Program& program, const Op& op) {
  constexpr std::string_view kName = "dot_dimension_numbers";
  const OpAttrs attrs{program, op};
  DotNumbers dims;
  HEDDLE_TRY(dims.lhs_batch, attrs.field_integers(kName, "lhs_batching_dimensions"));
  HEDDLE_TRY(dims.rhs_batch, attrs.field_integers(kName, "rhs_batching_dimensions"));
  HEDDLE_TRY(dims.lhs_sum, attrs.field_integers(kName, "lhs_contracting_dimensions"));
  HEDDLE_TRY(dims.rhs_sum, attrs.field_integers(kName, "rhs_contracting_dimensions"));
  return dims;
}

// Paired dimensions of the two operands must have the same sizes.
Verdict same_sizes(const Op& op, std::string_view label, std::string_view what, const Type& lhs,
                   const Type& rhs, const Integers& lhs_dims, const Integers& rhs_dims) {
  for (std::size_t i = 0; i < lhs_dims.size(); ++i) {
    const std::int64_t a = lhs.shape[static_cast<std::size_t>(lhs_dims[i])];
    const std::int64_t b = rhs.shape[static_cast<std::size_t>(rhs_dims[i])];
    if (a != b)
      return broken(op, label,
                    "{} dimensions differ: {} (dimension {} of the left operand, {}) and {} "
                    "(dimension {} of the right operand, {})",
                    what, a, lhs_dims[i], lhs.str(), b, rhs_dims[i], rhs.str());
  }
  return yes();
}

Verdict dot_dims_rule(const Op& op, const Type& lhs, const Type& rhs, const DotNumbers& dims) {
  if (dims.lhs_batch.size() != dims.rhs_batch.size())
    return broken(op, "C1", "batching dimensions {} of the left operand and {} of the right one",
                  list_text(dims.lhs_batch), list_text(dims.rhs_batch));
  if (dims.lhs_sum.size() != dims.rhs_sum.size())
    return broken(op, "C2", "contracting dimensions {} of the left operand and {} of the right one",
                  list_text(dims.lhs_sum), list_text(dims.rhs_sum));
  Integers of_lhs = dims.lhs_batch, of_rhs = dims.rhs_batch;
  of_lhs.insert(of_lhs.end(), dims.lhs_sum.begin(), dims.lhs_sum.end());
  of_rhs.insert(of_rhs.end(), dims.rhs_sum.begin(), dims.rhs_sum.end());
  HEDDLE_TRY_VOID(dimensions_unique(op, "C3", "the left operand's list of dimensions", of_lhs));
  HEDDLE_TRY_VOID(dimensions_unique(op, "C4", "the right operand's list of dimensions", of_rhs));
  HEDDLE_TRY_VOID(
      dimensions_in_range(op, "C5", "lhs_batching_dimensions", dims.lhs_batch, lhs.rank()));
  HEDDLE_TRY_VOID(
      dimensions_in_range(op, "C6", "lhs_contracting_dimensions", dims.lhs_sum, lhs.rank()));
  HEDDLE_TRY_VOID(
      dimensions_in_range(op, "C7", "rhs_batching_dimensions", dims.rhs_batch, rhs.rank()));
  HEDDLE_TRY_VOID(
      dimensions_in_range(op, "C8", "rhs_contracting_dimensions", dims.rhs_sum, rhs.rank()));
  HEDDLE_TRY_VOID(same_sizes(op, "C9", "batching", lhs, rhs, dims.lhs_batch, dims.rhs_batch));
  return same_sizes(op, "C10", "contracting", lhs, rhs, dims.lhs_sum, dims.rhs_sum);
}

}  // namespace

Expected<ResultTypes> dot_general_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  const Type& lhs = operand_type(program, op, 0);
  const Type& rhs = operand_type(program, op, 1);
  HEDDLE_TRY(auto dims, read_dot_dims(program, op));
  HEDDLE_TRY_VOID(dot_dims_rule(op, lhs, rhs, dims));
  HEDDLE_TRY_VOID(precision_size(program, op, "C11"));
  HEDDLE_TRY_VOID(product_types(program, op, "C13"));
  Shape shape = dot_contraction(lhs.shape, rhs.shape, dims.lhs_batch, dims.rhs_batch, dims.lhs_sum,
                                dims.rhs_sum)
                    .out_lhs.sizes;
  return typed(Type::tensor(product_dtype(program, op), std::move(shape)), "C13", "C12");
}

Expected<std::vector<Array>> evaluate_dot_general(EvalContext& ctx) {
  HEDDLE_TRY(auto dims, read_dot_dims(ctx.program, ctx.op));
  const Array &lhs = ctx.operands[0], &rhs = ctx.operands[1];
  return evaluate_contraction(ctx,
                              dot_contraction(lhs.shape(), rhs.shape(), dims.lhs_batch,
                                              dims.rhs_batch, dims.lhs_sum, dims.rhs_sum),
                              lhs, rhs);
}

// dot: the last dimension of the left operand with the first one of the right operand.
Expected<ResultTypes> dot_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  const Type& lhs = operand_type(program, op, 0);
  const Type& rhs = operand_type(program, op, 1);
  for (const Type* type : {&lhs, &rhs})
    if (type->rank() < 1 || type->rank() > 2)
      return reason("{} an operand is {}, expected a vector or a matrix", bracketed(op),
                    type->str());
  if (lhs.shape.back() != rhs.shape.front())
    return reason("{} the last dimension of {} is {}, but the first one of {} is {}", bracketed(op),
                  lhs.str(), lhs.shape.back(), rhs.str(), rhs.shape.front());
  Shape expected(lhs.shape.begin(), lhs.shape.end() - 1);
  expected.insert(expected.end(), rhs.shape.begin() + 1, rhs.shape.end());
  HEDDLE_TRY_VOID(product_types(program, op, "C13"));
  return typed(Type::tensor(product_dtype(program, op), std::move(expected)), "", "");
}

Expected<std::vector<Array>> evaluate_dot(EvalContext& ctx) {
  const Array &lhs = ctx.operands[0], &rhs = ctx.operands[1];
  const auto last = static_cast<std::int64_t>(lhs.shape().size()) - 1;
  return evaluate_contraction(ctx, dot_contraction(lhs.shape(), rhs.shape(), {}, {}, {last}, {0}),
                              lhs, rhs);
}

Expected<Equation> read_equation(const Program& program, const Op& op) {
  const std::string_view all = text_or(program.attr(op, "einsum_config"), "");
  std::string text;
  for (char c : all)
    if (c != ' ') text += c;
  const std::size_t arrow = text.find("->");
  if (arrow == std::string::npos)
    return reason("{} einsum_config = \"{}\", expected one such as \"ab,bc->ac\"", bracketed(op),
                  all);
  Equation equation;
  equation.result = text.substr(arrow + 2);
  std::string inputs = text.substr(0, arrow);
  for (std::size_t comma = inputs.find(','); comma != std::string::npos; comma = inputs.find(',')) {
    equation.operands.push_back(inputs.substr(0, comma));
    inputs.erase(0, comma + 1);
  }
  equation.operands.push_back(inputs);
  if (equation.operands.size() != op.operand_count)
    return reason("{} einsum_config = \"{}\" is for {} operands, not {}", bracketed(op), all,
                  equation.operands.size(), op.operand_count);
  for (char c : inputs + equation.operands[0] + equation.result)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
      return reason("{} einsum_config = \"{}\" has '{}', expected only letters", bracketed(op), all,
                    c);
  return equation;
}

namespace {

// A letter's stride is the sum over the dimensions that it names, so that "aa" is a diagonal.
using LetterStrides = std::map<char, std::int64_t>;

LetterStrides letter_strides(const std::string& letters, const Shape& shape) {
  const Integers strides = strides_of(shape);
  LetterStrides by_letter;
  for (std::size_t i = 0; i < letters.size(); ++i) by_letter[letters[i]] += strides[i];
  return by_letter;
}

Expected<std::map<char, std::int64_t>> letter_sizes(const Op& op, const Equation& equation,
                                                    std::span<const Type* const> types) {
  std::map<char, std::int64_t> sizes;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string& letters = equation.operands[i];
    if (letters.size() != types[i]->rank())
      return reason("{} \"{}\" does not fit the rank of operand {}, {}", bracketed(op), letters, i,
                    types[i]->str());
    for (std::size_t d = 0; d < letters.size(); ++d) {
      auto [at, fresh] = sizes.emplace(letters[d], types[i]->shape[d]);
      if (!fresh && at->second != types[i]->shape[d])
        return reason("{} '{}' is {} and also {} (dimension {} of {})", bracketed(op), letters[d],
                      at->second, types[i]->shape[d], d, types[i]->str());
    }
  }
  return sizes;
}

}  // namespace

Expected<ResultTypes> einsum_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  HEDDLE_TRY(auto equation, read_equation(program, op));
  std::vector<const Type*> types;
  for (std::size_t i = 0; i < op.operand_count; ++i) types.push_back(&operand_type(program, op, i));
  HEDDLE_TRY(auto sizes, letter_sizes(op, equation, types));
  Shape expected;
  for (std::size_t i = 0; i < equation.result.size(); ++i) {
    const auto size = sizes.find(equation.result[i]);
    if (size == sizes.end() || equation.result.find(equation.result[i]) != i)
      return reason("{} the result's letters \"{}\" must be different ones of the operands",
                    bracketed(op), equation.result);
    expected.push_back(size->second);
  }
  if (op.operand_count == 2) HEDDLE_TRY_VOID(product_types(program, op, "C13"));
  return typed(Type::tensor(product_dtype(program, op), std::move(expected)), "", "");
}

Expected<std::vector<Array>> evaluate_einsum(EvalContext& ctx) {
  HEDDLE_TRY(auto equation, read_equation(ctx.program, ctx.op));
  const Array& lhs = ctx.operands[0];
  // One operand is multiplied by a one that stands still.
  const bool unary = ctx.operands.size() == 1;
  const Array rhs = unary ? converted(scalar_array<std::int32_t>(1), lhs.dtype()) : ctx.operands[1];
  std::vector<const Type*> types{&lhs.type()};
  if (!unary) types.push_back(&rhs.type());
  HEDDLE_TRY(auto sizes, letter_sizes(ctx.op, equation, types));
  LetterStrides of_lhs = letter_strides(equation.operands[0], lhs.shape());
  LetterStrides of_rhs =
      unary ? LetterStrides{} : letter_strides(equation.operands[1], rhs.shape());
  Contraction c;
  for (char letter : equation.result) {
    c.out_lhs.add(sizes[letter], of_lhs[letter]);
    c.out_rhs.add(sizes[letter], of_rhs[letter]);
  }
  for (const auto& [letter, size] : sizes) {
    if (equation.result.find(letter) != std::string::npos) continue;
    c.sum_lhs.add(size, of_lhs[letter]);
    c.sum_rhs.add(size, of_rhs[letter]);
  }
  return evaluate_contraction(ctx, c, lhs, rhs);
}

}  // namespace heddle
