#include "ir/lower/power.h"

#include <cmath>
#include <limits>
#include <optional>

#include "heddle/op.h"
#include "ir/eval/scalar.h"
#include "ir/lower/simplify.h"

namespace heddle {

namespace {

// The number that a value is everywhere; repeated or not.
std::optional<double> number_of(const Program& program, ValueId v) {
  const OpId maker = program.value(v).op;
  if (maker != kNone && program.op(maker).def->rearranges == Rearrange::broadcast)
    return number_of(program, program.operands(program.op(maker))[0]);
  const Array* array = constant_of(program, v);
  if (array == nullptr || array->elements() == 0 || (!array->is_splat() && array->elements() != 1))
    return {};
  return dispatch(array->dtype(), [&](auto tag) -> std::optional<double> {
    using T = typename decltype(tag)::type;
    if constexpr (FloatScalar<T>) {
      T x;
      std::memcpy(&x, array->element(0).data(), sizeof(T));
      return static_cast<double>(x);
    }
    return {};
  });
}

bool is_small_half(double exponent) {
  const double twice = 2 * std::abs(exponent);
  return twice >= 1 && twice <= 8 && twice == std::floor(twice);
}

// In f64, where none of the products overflows or loses what f32 could hold.
Var power_of(Builder& b, Var x, double exponent) {
  const auto whole = static_cast<int>(std::abs(exponent));
  std::optional<Var> product;
  for (int i = 0; i < whole; ++i) product = product ? *product * x : x;
  if (std::abs(exponent) != whole) {
    // -0 and -inf have powers like 0 and inf; their roots are other ones.
    const Var zero = b.full_like(x, 0);
    const Var infinity = b.full_like(x, std::numeric_limits<double>::infinity());
    const Var size = b.select(b.compare("EQ", x, -infinity), infinity, x + zero);
    const Var root = b.op("sqrt", {size});
    product = product ? b.op("abs", {*product}) * root : root;
  }
  return exponent < 0 ? 1.0 / *product : *product;
}

}  // namespace

Expected<bool> lower_power(Rewriter& r, const Op& op) {
  const Type& type = r.from.type_of(r.from.result(op, 0));
  if (type.dtype != DType::f32 && type.dtype != DType::f16 && type.dtype != DType::bf16)
    return false;
  const auto exponent = number_of(r.from, r.from.operands(op)[1]);
  if (!exponent || !is_small_half(*exponent)) return false;
  const Var x = r.to.convert(r.operands(op)[0], DType::f64);
  r.define_results(op, {r.to.convert(power_of(r.to, x, *exponent), type.dtype)});
  return true;
}

}  // namespace heddle
