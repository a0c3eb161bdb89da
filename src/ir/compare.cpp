#include "heddle/compare.h"

#include <fmt/format.h>

#include <cmath>

#include "heddle/hash.h"
#include "ir/eval/check.h"
#include "ir/eval/scalar.h"

namespace heddle {

namespace {

double default_tolerance(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::c128:
      return 1e-9;
    case DType::f32:
    case DType::c64:
      return 1e-4;
    case DType::f16:
    case DType::bf16:
      return 1e-2;
    default:
      // Floats of a few bits; integers and truth values must be equal.
      return is_float(dtype) ? 1e-1 : 0;
  }
}

// What was allowed, and who said so.
std::string tolerance_text(DType dtype, const Comparison& c, const Tolerance& asked) {
  const std::string type(name(dtype));
  if (!is_float(dtype) && !is_complex(dtype)) return type + " has to be equal";
  const auto default_mark = [](bool given) { return given ? "" : " by default"; };
  return fmt::format("{} may differ by atol + rtol * |expected|, with atol {:g}{} and rtol {:g}{}",
                     type, c.atol, default_mark(asked.atol.has_value()), c.rtol,
                     default_mark(asked.rtol.has_value()));
}

// How two elements differ: by how much, and whether it is too much.
struct Difference {
  double size;
  bool outside;
};

Difference float_difference(double a, double b, double rtol, double atol) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return {0, false};
  const double size = std::abs(a - b);
  if (!std::isfinite(a) || !std::isfinite(b)) return {INFINITY, true};
  return {size, !(size <= atol + rtol * std::abs(b))};
}

template <typename T>
Difference difference(T a, T b, double rtol, double atol) {
  if constexpr (ComplexScalar<T>) {
    const Difference real = float_difference(a.real(), b.real(), 0, INFINITY);
    const Difference imag = float_difference(a.imag(), b.imag(), 0, INFINITY);
    if (real.outside || imag.outside) return {INFINITY, true};
    const double size = std::hypot(real.size, imag.size);
    return {size, !(size <= atol + rtol * std::abs(b)) && size != 0};
  } else if constexpr (FloatScalar<T>) {
    return float_difference(static_cast<double>(a), static_cast<double>(b), rtol, atol);
  } else if constexpr (BoolScalar<T>) {
    return {a == b ? 0.0 : 1.0, !(a == b)};
  } else {
    const double size = std::abs(static_cast<double>(a) - static_cast<double>(b));
    return {a == b ? 0 : std::max(size, 1.0), a != b};
  }
}

// "[0,4]"; nothing for a scalar.
std::string place(const Shape& shape, std::int64_t flat) {
  std::string text;
  for (std::size_t d = shape.size(); d-- > 0;) {
    text = fmt::format("{}{}{}", flat % shape[d], text.empty() ? "" : ",", text);
    flat /= shape[d];
  }
  return text.empty() ? "" : " at [" + text + "]";
}

template <typename T>
Summary summary_of(const Array& array) {
  Summary s;
  const auto values = array.as<T>();
  bool first = true;
  double sum = 0;
  for (const T v : values) {
    double x = 0;
    if constexpr (BoolScalar<T>)
      x = bool(v) ? 1 : 0;
    else if constexpr (ComplexScalar<T>)
      x = std::abs(C128(v));
    else
      x = static_cast<double>(v);
    if (std::isnan(x)) x = NAN;  // without a sign
    s.least = first || x < s.least || std::isnan(x) ? x : s.least;
    s.most = first || x > s.most || std::isnan(x) ? x : s.most;
    sum += x;
    first = false;
  }
  s.mean = values.empty() ? 0 : sum / static_cast<double>(values.size());
  if (std::isnan(s.mean)) s.mean = NAN;
  return s;
}

}  // namespace

Comparison compare_arrays(const Array& actual, const Array& expected, const Tolerance& tolerance) {
  Comparison c;
  c.elements = actual.elements();
  if (actual.type() != expected.type()) {
    c.outside = c.elements;
    c.complaint = fmt::format("{} instead of {}", actual.type().str(), expected.type().str());
    return c;
  }
  const double rtol = c.rtol = tolerance.rtol.value_or(default_tolerance(actual.dtype()));
  const double atol = c.atol = tolerance.atol.value_or(default_tolerance(actual.dtype()));
  std::int64_t worst = -1;
  double worst_size = -1;
  dispatch(actual.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto a = actual.as<T>();
    const auto b = expected.as<T>();
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Difference d = difference(a[i], b[i], rtol, atol);
      c.largest = std::max(c.largest, d.size);
      if (!d.outside) continue;
      ++c.outside;
      if (d.size > worst_size) worst = static_cast<std::int64_t>(i), worst_size = d.size;
    }
  });
  if (worst < 0) return c;
  c.complaint = fmt::format("{} instead of {}{}", element_text(actual, worst),
                            element_text(expected, worst), place(actual.shape(), worst));
  if (!actual.shape().empty())
    c.complaint += fmt::format("; {} of {} elements are outside", c.outside, c.elements);
  c.complaint += "\n  " + tolerance_text(actual.dtype(), c, tolerance);
  return c;
}

Summary summarize(const Array& array) {
  Summary s = dispatch(array.dtype(),
                       [&](auto tag) { return summary_of<typename decltype(tag)::type>(array); });
  const auto bytes = array.bytes();
  s.checksum =
      hash_combine(0, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  if (array.elements() > 0 && array.elements() <= kFewElements) s.value = array_text(array);
  return s;
}

}  // namespace heddle
