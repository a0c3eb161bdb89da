// Functions of the client dialect as formulas in f64. The elementary ones are here, for real and
// for complex numbers; the special ones are those of special_formulas.h.
#include "ir/eval/special_formulas.h"
#include "ir/lower/chlo.h"
#include "ir/lower/traced.h"

namespace heddle::chlo {

namespace {

using special::Traced;
using special::Tracing;

// ---- elementary functions of real numbers

Traced legs(Traced x) { return sqrt((1 - x) * (1 + x)); }

Traced acos(Traced x) { return atan2(legs(x), x); }
Traced asin(Traced x) { return atan2(x, legs(x)); }
Traced atan(Traced x) { return atan2(x, like(x, 1)); }

// An odd function by its value at size_of(x); tiny numbers, and -0 among them, are their own.
constexpr long double kTiny = 1e-10L;
Traced odd(Traced x, Traced of_size) {
  return select(less(abs(x), kTiny), x, special::with_sign_of(x, of_size));
}
// |x|, but for tiny numbers, at whose values nobody looks: subnormal ones take longer than others.
Traced size_of(Traced x) { return select(less(abs(x), kTiny), like(x, kTiny), abs(x)); }

constexpr long double kFar = 22;      // from here on exp(-x) is nothing beside exp(x)
constexpr long double kLarge = 1e9L;  // from here on 1 is nothing beside x^2
constexpr long double kLog2 = std::numbers::ln2_v<long double>;

// exp(x) / 2 that overflows only where its double does.
Traced half_exp(Traced x) {
  const Traced root = exp(x / 2);
  return root / 2 * root;
}
Traced sinh(Traced x) {
  const Traced size = size_of(x), e = expm1(size);
  return odd(x, select(less(size, kFar), (e + e / (e + 1)) / 2, half_exp(size)));
}
Traced cosh(Traced x) {
  const Traced size = abs(x), e = exp(size);
  return select(less(size, kFar), (e + 1 / e) / 2, half_exp(size));
}
Traced asinh(Traced x) {
  const Traced size = size_of(x), squared = size * size;
  const Traced near = log1p(size + squared / (1 + sqrt(squared + 1)));
  return odd(x, select(less(size, kLarge), near, log(size) + kLog2));
}
Traced acosh(Traced x) {
  const Traced above = x - 1;
  const Traced near = log1p(above + sqrt(above * (above + 2)));
  const Traced value = select(less(kLarge, x), log(x) + kLog2, near);
  return select(less(x, 1), like(x, special::kNan), value);
}
Traced atanh(Traced x) {
  const Traced size = size_of(x);
  return odd(x, log1p(size / (1 - size) * 2) / 2);
}

// ---- and of complex numbers, after W. Kahan's "Branch cuts for complex elementary functions"

struct Pair {
  Traced re, im;
};

Pair root(Pair z) {
  Builder& b = z.re.in->to;
  const Var sqrt = b.op("sqrt", {b.op("complex", {z.re.value, z.im.value})});
  return {{z.re.in, b.op("real", {sqrt})}, {z.re.in, b.op("imag", {sqrt})}};
}

Pair acos(Pair z) {
  const Pair a = root({1 - z.re, -z.im}), b = root({1 + z.re, z.im});
  return {2 * atan2(a.re, b.re), asinh(b.re * a.im - b.im * a.re)};
}
Pair asin(Pair z) {
  const Pair a = root({1 - z.re, -z.im}), b = root({1 + z.re, z.im});
  return {atan2(z.re, a.re * b.re - a.im * b.im), asinh(a.re * b.im - a.im * b.re)};
}
Pair acosh(Pair z) {
  const Pair a = root({z.re - 1, z.im}), b = root({z.re + 1, z.im});
  return {asinh(a.re * b.re + a.im * b.im), 2 * atan2(a.im, b.re)};
}
// Numbers whose squares are no longer finite are as far away as others whose squares are.
Traced within_squares(Traced size) {
  constexpr long double kMost = 1e150L;
  return select(less(kMost, size), like(size, kMost), size);
}
// By the size of the real part: on the other side of zero the logarithm would be of what a
// difference leaves.
Pair atanh(Pair z) {
  const Traced size = within_squares(abs(z.re));
  const Traced im = special::with_sign_of(z.im, within_squares(abs(z.im)));
  const Traced side = 1 - size, high = im * im;
  return {special::with_sign_of(z.re, log1p(4 * size / (side * side + high)) / 4),
          atan2(2 * im, side * (1 + size) - high) / 2};
}
// f(z) of the hyperbolic functions is -i g(iz) of the circular ones, and the other way round.
template <Pair (*kFunction)(Pair)>
Pair turned(Pair z) {
  const Pair w = kFunction({-z.im, z.re});
  return {w.im, -w.re};
}
Pair asinh(Pair z) { return turned<asin>(z); }
Pair atan(Pair z) { return turned<atanh>(z); }
// Real numbers stay real, at infinity too.
Traced unless_real(Pair z, Traced im) { return select(equal(z.im, 0), z.im, im); }
Pair sinh(Pair z) { return {sinh(z.re) * cos(z.im), unless_real(z, cosh(z.re) * sin(z.im))}; }
Pair cosh(Pair z) { return {cosh(z.re) * cos(z.im), unless_real(z, sinh(z.re) * sin(z.im))}; }

// ---- from ops and back

// What is lost when the result is rounded: a small part of the last place of its elements.
long double precision_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::c128:
      return 0x1p-58L;
    case DType::f32:
    case DType::c64:
      return 0x1p-30L;
    default:
      return 0x1p-18L;
  }
}

Tracing tracing(Rewriter& r, const Type& type) {
  return {r.to, type.shape, precision_of(type.dtype)};
}
Traced traced(Tracing& in, Var x) { return {&in, in.to.convert(x, DType::f64)}; }

using Real = Traced (*)(Traced);
using Real2 = Traced (*)(Traced, Traced);
using Complex = Pair (*)(Pair);

Expected<bool> finish(Rewriter& r, const Op& op, Var result) {
  r.define_results(op, {result});
  return true;
}

template <Real kReal>
Expected<bool> real_function(Rewriter& r, const Op& op) {
  const Var x = r.operands(op)[0];
  Tracing in = tracing(r, x.type());
  return finish(r, op, r.to.convert(kReal(traced(in, x)).value, x.type().dtype));
}

template <Real2 kReal>
Expected<bool> real_function(Rewriter& r, const Op& op) {
  const Var x = r.operands(op)[0], y = r.operands(op)[1];
  Tracing in = tracing(r, x.type());
  const Traced result = kReal(traced(in, x), traced(in, y));
  return finish(r, op, r.to.convert(result.value, x.type().dtype));
}

template <Real kReal, Complex kComplex>
Expected<bool> function(Rewriter& r, const Op& op) {
  const Var x = r.operands(op)[0];
  if (!is_complex(x.type().dtype)) return real_function<kReal>(r, op);
  Tracing in = tracing(r, x.type());
  const Pair z{traced(in, r.to.op("real", {x})), traced(in, r.to.op("imag", {x}))};
  const Pair result = kComplex(z);
  const DType part = x.type().dtype == DType::c64 ? DType::f32 : DType::f64;
  return finish(r, op,
                r.to.op("complex", {r.to.convert(result.re.value, part),
                                    r.to.convert(result.im.value, part)}));
}

}  // namespace

Lower function_lowering(std::string_view op) {
  if (op == "acos") return function<acos, acos>;
  if (op == "acosh") return function<acosh, acosh>;
  if (op == "asin") return function<asin, asin>;
  if (op == "asinh") return function<asinh, asinh>;
  if (op == "atan") return function<atan, atan>;
  if (op == "atanh") return function<atanh, atanh>;
  if (op == "cosh") return function<cosh, cosh>;
  if (op == "sinh") return function<sinh, sinh>;
  if (op == "bessel_i1e") return real_function<special::bessel_i1e<Traced>>;
  if (op == "digamma") return real_function<special::digamma<Traced>>;
  if (op == "erf") return real_function<special::erf<Traced>>;
  if (op == "erf_inv") return real_function<special::inverse_erf<Traced>>;
  if (op == "erfc") return real_function<special::erfc<Traced>>;
  if (op == "lgamma") return real_function<special::log_gamma<Traced>>;
  if (op == "polygamma") return real_function<special::polygamma<Traced>>;
  if (op == "zeta") return real_function<special::hurwitz_zeta<Traced>>;
  return nullptr;
}

}  // namespace heddle::chlo
