// triangular_solve and cholesky, over batches of matrices.
#include "ir/eval/linalg.h"
#include "ir/eval/reduce_common.h"

namespace heddle {

using namespace reduction;

namespace {

double conjugate(double x) { return x; }
Complex conjugate(Complex x) { return std::conj(x); }
double real_part(double x) { return x; }
double real_part(Complex x) { return x.real(); }

// Calls visit(Tag<Wide>{}) with double or complex<double>; only the result is rounded.
template <typename Visit>
Expected<std::vector<Array>> in_double(DType dtype, Visit&& visit) {
  return is_complex(dtype) ? visit(Tag<Complex>{}) : visit(Tag<double>{});
}

Verdict float_or_complex(const Op& op, std::string_view label, const Type& type) {
  if (is_float(type.dtype) || is_complex(type.dtype)) return yes();
  return broken(op, label, "{}: expected floating-point or complex elements", type.str());
}

// The two last dimensions are equal, and there are at least two.
Verdict square(const Op& op, std::string_view rank_label, std::string_view label,
               const Type& type) {
  if (type.rank() < 2)
    return broken(op, rank_label, "{}: expected a rank of at least 2", type.str());
  if (type.shape[type.rank() - 1] != type.shape[type.rank() - 2])
    return broken(op, label, "{}: expected square matrices", type.str());
  return yes();
}

// The matrix that is solved for, as a lower or an upper triangle of a x = b.
template <typename Wide>
struct Triangle {
  const Wide* data;
  std::int64_t n;
  bool swapped, conjugated, lower, unit;

  Wide operator()(std::int64_t i, std::int64_t j) const {
    if (i == j && unit) return Wide{1};
    const Wide value = swapped ? data[j * n + i] : data[i * n + j];
    return conjugated ? conjugate(value) : value;
  }
};

// Solves in place for one right-hand side whose elements lie `step` apart.
template <typename Wide>
void substitute(const Triangle<Wide>& a, Wide* x, std::int64_t step) {
  for (std::int64_t row = 0; row < a.n; ++row) {
    const std::int64_t i = a.lower ? row : a.n - 1 - row;
    Wide sum = x[i * step];
    for (std::int64_t before = 0; before < row; ++before) {
      const std::int64_t j = a.lower ? before : a.n - 1 - before;
      sum -= product(a(i, j), x[j * step]);
    }
    x[i * step] = a.unit ? sum : sum / a(i, i);
  }
}

}  // namespace

Expected<ResultTypes> triangular_solve_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  const OpAttrs attrs{program, op};
  const Type& a = operand_type(program, op, 0);
  const Type& b = operand_type(program, op, 1);
  HEDDLE_TRY_VOID(float_or_complex(op, "I1", a));
  if (a.dtype != b.dtype)
    return broken(op, "C1", "a is {} and b is {}: their element types differ", a.str(), b.str());
  if (a.rank() != b.rank())
    return broken(op, "C2", "a is {} and b is {}: their ranks differ", a.str(), b.str());
  HEDDLE_TRY_VOID(square(op, "C2", "C3", a));
  HEDDLE_TRY(bool left, attrs.flag_or("left_side", true));
  HEDDLE_TRY_VOID(attrs.flag_or("lower", false));
  HEDDLE_TRY_VOID(attrs.flag_or("unit_diagonal", false));
  HEDDLE_TRY_VOID(
      attrs.word_or("transpose_a", "NO_TRANSPOSE", {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}));
  for (std::size_t i = 0; i + 2 < a.rank(); ++i)
    if (a.shape[i] != b.shape[i])
      return broken(op, "C3", "a is {} and b is {}: dimension {} differs", a.str(), b.str(), i);
  const std::size_t shared = b.rank() - (left ? 2 : 1);
  if (b.shape[shared] != a.shape.back())
    return broken(op, "C3", "a is {} and b is {}: dimension {} of b must be {}", a.str(), b.str(),
                  shared, a.shape.back());
  return like_operand(program, op, 1, "C4");
}

Expected<std::vector<Array>> evaluate_triangular_solve(EvalContext& ctx) {
  const Array &a = ctx.operands[0], &b = ctx.operands[1];
  const bool left = flag_or(ctx.attr("left_side"), true);
  const std::string_view transpose = word_or(ctx.attr("transpose_a"), "NO_TRANSPOSE");
  // x a = b is the transpose of aᵀ xᵀ = bᵀ.
  const bool swapped = (transpose != "NO_TRANSPOSE") != !left;
  const bool lower = flag_or(ctx.attr("lower"), false) != swapped;
  const bool unit = flag_or(ctx.attr("unit_diagonal"), false);
  const std::size_t rank = b.shape().size();
  const std::int64_t rows = b.shape()[rank - 2], columns = b.shape()[rank - 1];
  const std::int64_t n = left ? rows : columns;
  if (b.elements() == 0) return std::vector<Array>{b};
  if (static_cast<double>(b.elements()) * static_cast<double>(n) > kMostSteps)
    return reason("{} solving {} is too much for the reference interpreter", bracketed(ctx.op),
                  b.type().str());
  const bool conjugated = transpose == "ADJOINT";
  return in_double(a.dtype(), [&](auto tag) {
    using Wide = typename decltype(tag)::type;
    const std::vector<Wide> matrices = widened<Wide>(a);
    std::vector<Wide> x = widened<Wide>(b);
    for (std::int64_t batch = 0; batch < b.elements() / (rows * columns); ++batch) {
      const Wide* matrix = matrices.data() + batch * n * n;
      const Triangle<Wide> triangle{matrix, n, swapped, conjugated, lower, unit};
      Wide* block = x.data() + batch * rows * columns;
      for (std::int64_t side = 0; side < (left ? columns : rows); ++side)
        substitute(triangle, block + side * (left ? 1 : columns), left ? columns : 1);
    }
    return std::vector<Array>{narrowed<Wide>(ctx.result_type(), x)};
  });
}

Expected<ResultTypes> cholesky_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  const Type& a = operand_type(program, op, 0);
  HEDDLE_TRY_VOID(float_or_complex(op, "I1", a));
  HEDDLE_TRY_VOID(square(op, "C2", "C3", a));
  HEDDLE_TRY_VOID(OpAttrs({program, op}).flag_or("lower", false));
  return like_operand(program, op, 0, "C1");
}

namespace {

// Writes the factor of one matrix; the other triangle stays zero. A matrix that is not positive
// definite gives NaNs.
template <typename Wide>
void factorise(const Wide* a, Wide* factor, std::int64_t n, bool lower) {
  // Always thinks of the lower factor; the upper one is its conjugate transpose.
  auto given = [&](std::int64_t i, std::int64_t j) {
    return lower ? a[i * n + j] : conjugate(a[j * n + i]);
  };
  auto get = [&](std::int64_t i, std::int64_t j) {
    return lower ? factor[i * n + j] : conjugate(factor[j * n + i]);
  };
  auto put = [&](std::int64_t i, std::int64_t j, Wide value) {
    factor[lower ? i * n + j : j * n + i] = lower ? value : conjugate(value);
  };
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) {
      Wide sum = given(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= product(get(i, k), conjugate(get(j, k)));
      if (i == j)
        factor[j * n + j] = Wide(std::sqrt(real_part(sum)));
      else
        put(i, j, sum / get(j, j));
    }
  }
}

}  // namespace

Expected<std::vector<Array>> evaluate_cholesky(EvalContext& ctx) {
  const Array& a = ctx.operands[0];
  const bool lower = flag_or(ctx.attr("lower"), false);
  if (a.elements() == 0) return std::vector<Array>{a};
  const std::int64_t n = a.shape().back();
  if (static_cast<double>(a.elements()) * static_cast<double>(n) > kMostSteps)
    return reason("{} factorising {} is too much for the reference interpreter", bracketed(ctx.op),
                  a.type().str());
  return in_double(a.dtype(), [&](auto tag) {
    using Wide = typename decltype(tag)::type;
    const std::vector<Wide> matrices = widened<Wide>(a);
    std::vector<Wide> factors(matrices.size());
    for (std::int64_t at = 0; at < a.elements(); at += n * n)
      factorise(matrices.data() + at, factors.data() + at, n, lower);
    return std::vector<Array>{narrowed<Wide>(ctx.result_type(), factors)};
  });
}

}  // namespace heddle
