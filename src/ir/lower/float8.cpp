#include "ir/lower/float8.h"

#include <bit>
#include <cmath>
#include <optional>

#include "heddle/op.h"
#include "ir/eval/scalar.h"
#include "ir/eval/scalar_function.h"

namespace heddle {

namespace {

constexpr int kMantissa = 23, kBias = 127;  // of f32
constexpr double kSize = 0x7fffffff, kInfinity = 0x7f800000;

// Of a float of 8 bits with a sign and with infinities or one NaN.
std::optional<FloatFormat> format_of(DType type) {
  return dispatch(type, [](auto tag) -> std::optional<FloatFormat> {
    using T = typename decltype(tag)::type;
    if constexpr (is_small_float_v<T>) {
      constexpr FloatFormat format = T::format;
      const bool has_ends =
          format.specials == Specials::infinities || format.specials == Specials::one_nan;
      if (format.width() == 7 && format.has_sign && has_ends) return format;
    }
    return {};
  });
}

Var shifted(Builder& b, std::string_view direction, Var x, int by) {
  return b.op(direction, {x, b.full_like(x, by)});
}
Var masked(Builder& b, Var x, double mask) { return b.op("and", {x, b.full_like(x, mask)}); }

// Rounded to nearest even.
Var encoded(Builder& b, Var x, const FloatFormat& format) {
  const int dropped = kMantissa - format.mantissa_bits;
  const Var bits = b.bitcast(x, DType::ui32), size = masked(b, bits, kSize);
  const Var odd = masked(b, shifted(b, "shift_right_logical", size, dropped), 1);
  const Var up = size + odd + b.full_like(size, (1 << (dropped - 1)) - 1);
  const Var normal = shifted(b, "shift_right_logical", up, dropped) -
                     b.full_like(size, (kBias - format.bias) << format.mantissa_bits);
  // A number whose last digit counts the smallest steps: adding it rounds.
  const double large = std::ldexp(1.0, kMantissa + 1 - format.bias - format.mantissa_bits);
  const Var counted = b.bitcast(b.bitcast(size, DType::f32) + large, DType::ui32);
  const Var small =
      counted - b.full_like(size, std::bit_cast<std::uint32_t>(static_cast<float>(large)));
  const Var least = b.full_like(
      size, std::bit_cast<std::uint32_t>(static_cast<float>(std::ldexp(1.0, 1 - format.bias))));
  Var field = b.select(b.compare("LT", size, least), small, normal);
  field = b.select(b.compare("GT", field, b.full_like(field, format.largest())),
                   b.full_like(field, format.largest() + 1), field);
  if (format.specials == Specials::infinities) {
    const double nan = format.infinity() | (1u << (format.mantissa_bits - 1));
    field = b.select(b.compare("GT", size, b.full_like(size, kInfinity)), b.full_like(field, nan),
                     field);
  }
  const Var sign = masked(b, shifted(b, "shift_right_logical", bits, 24), format.sign());
  return b.convert(b.op("or", {field, sign}), DType::ui8);
}

// As f32, which holds all of them.
Var decoded(Builder& b, Var code, const FloatFormat& format) {
  const Var bits = b.convert(code, DType::ui32);
  const Var size = masked(b, bits, format.sign() - 1);
  const Var placed = shifted(b, "shift_left", size, kMantissa - format.mantissa_bits);
  const Var number = b.bitcast(placed, DType::f32) * std::ldexp(1.0, kBias - format.bias);
  // What is beyond the largest: infinity, or no number.
  Var all = b.bitcast(number, DType::ui32);
  all = b.select(b.compare("GT", size, b.full_like(size, format.largest())),
                 b.full_like(all, format.specials == Specials::infinities ? kInfinity : 0x7fc00000),
                 all);
  if (format.specials == Specials::infinities)
    all = b.select(b.compare("GT", size, b.full_like(size, format.infinity())),
                   b.full_like(all, 0x7fc00000), all);
  const Var sign = shifted(b, "shift_left", masked(b, bits, format.sign()), 24);
  return b.bitcast(b.op("or", {all, sign}), DType::f32);
}

}  // namespace

Expected<bool> lower_float8(Rewriter& r, const Op& op) {
  if (op.def->scalar != ScalarOp::convert) return false;
  const DType from = r.from.type_of(r.from.operands(op)[0]).dtype;
  const DType to = r.from.type_of(r.from.result(op, 0)).dtype;
  const auto in = format_of(from), out = format_of(to);
  // f32 holds all f16 and bf16: rounded once.
  const bool is_narrow = from == DType::f32 || from == DType::f16 || from == DType::bf16;
  if (!in && !(out && is_narrow)) return false;
  if (in && !out && !is_kernel_type(to)) return false;
  Var x = r.operands(op)[0];
  x = in ? decoded(r.to, r.to.bitcast(x, DType::ui8), *in) : r.to.convert(x, DType::f32);
  r.define_results(op, {out ? r.to.bitcast(encoded(r.to, x, *out), to) : r.to.convert(x, to)});
  return true;
}

}  // namespace heddle
