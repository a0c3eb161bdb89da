// Lowered functions give what the interpreter gives, for any bits.
#include <gtest/gtest.h>

#include "choices.h"
#include "heddle/builder.h"
#include "heddle/interpreter.h"
#include "heddle/lower.h"
#include "ir/eval/check.h"
#include "ir/eval/scalar.h"

namespace heddle {
namespace {

template <typename T, typename Bits>
Array any_numbers(std::size_t n) {
  const auto bits = *rc::gen::container<std::vector<Bits>>(n, rc::gen::arbitrary<Bits>());
  std::vector<T> values;
  for (Bits b : bits) values.push_back(std::bit_cast<T>(b));
  // Arbitrary bits are mostly far out; half of the numbers lie where the functions have a shape.
  for (std::size_t i = 0; i < n; i += 2)
    values[i] = static_cast<T>(static_cast<double>(static_cast<std::int32_t>(bits[i])) * 0x1p-28);
  return make_array<T>(Shape{static_cast<std::int64_t>(n)}, values);
}

Program program_of(std::string_view name, const std::vector<Array>& operands) {
  Builder b;
  std::vector<Type> types;
  for (const Array& a : operands) types.push_back(a.type());
  b.function("main", types, [&](const Vars& in) -> Vars { return {b.op(name, in)}; });
  return b.finish().value();
}

void expect_close(std::string_view name, const std::vector<Array>& operands, std::uint64_t ulps) {
  const Program before = program_of(name, operands), after = lower_chlo(before).value();
  auto run = [&](const Program& p) { return interpret(p, p.functions[0], operands).value()[0]; };
  const Verdict same = compare_close(run(after), run(before), 0, ulps);
  if (!same) RC_FAIL(std::string(name) + ": " + same.reason());
}

HEDDLE_PROPERTY(Lower, FunctionsOfAnyFloat) {
  const std::string_view name =
      *rc::gen::element("chlo.acos", "chlo.acosh", "chlo.asin", "chlo.asinh", "chlo.atan",
                        "chlo.atanh", "chlo.bessel_i1e", "chlo.cosh", "chlo.digamma", "chlo.erf",
                        "chlo.erf_inv", "chlo.erfc", "chlo.lgamma", "chlo.sinh", "chlo.tan");
  expect_close(name, {any_numbers<float, std::uint32_t>(64)}, 1);
}

HEDDLE_PROPERTY(Lower, ZetaAndPolygammaOfAnyFloat) {
  const std::string_view name = *rc::gen::element("chlo.zeta", "chlo.polygamma");
  Array order = any_numbers<float, std::uint32_t>(16);
  for (std::size_t i = 0; i < 16; i += 3)
    order.as_mutable<float>()[i] = static_cast<float>(*rc::gen::inRange(0, 200));
  expect_close(name, {order, any_numbers<float, std::uint32_t>(16)}, 1);
}

HEDDLE_PROPERTY(Lower, NextAfterOfAnyBits) {
  expect_close("chlo.next_after",
               {any_numbers<float, std::uint32_t>(16), any_numbers<float, std::uint32_t>(16)}, 0);
  expect_close("chlo.next_after",
               {any_numbers<double, std::uint64_t>(16), any_numbers<double, std::uint64_t>(16)}, 0);
}

}  // namespace
}  // namespace heddle
