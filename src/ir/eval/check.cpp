#include "ir/eval/check.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "ir/attr_access.h"
#include "ir/eval/index_space.h"
#include "ir/eval/scalar.h"

namespace heddle {

namespace {

// How far apart a test found two elements, and the worst place so far.
class Worst {
 public:
  void add(std::int64_t flat, double badness) {
    ++count_;
    if (count_ > 1 && !(badness > badness_)) return;
    badness_ = badness;
    flat_ = flat;
  }

  Verdict verdict(const Array& actual, const Array& expected, std::string_view rule) const {
    if (count_ == 0) return yes();
    return reason("{} of {} elements are not {}; the furthest is at {}: {} came out, {} expected",
                  count_, actual.elements(), rule, place(actual.shape()),
                  element_text(actual, flat_), element_text(expected, flat_));
  }

 private:
  std::string place(const Shape& shape) const {
    Index index(shape.size());
    std::int64_t rest = flat_;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
    return list_text(index);
  }

  std::int64_t count_ = 0, flat_ = 0;
  double badness_ = 0;
};

Verdict same_types(const Array& actual, const Array& expected) {
  if (actual.type() == expected.type()) return yes();
  return reason("{} came out, {} expected", actual.type().str(), expected.type().str());
}

template <typename T>
bool not_a_number(T x) {
  if constexpr (FloatScalar<T>) return std::isnan(static_cast<double>(x));
  return false;
}

template <typename T>
auto bytes_of(T x) {
  return std::bit_cast<std::array<std::byte, sizeof(T)>>(x);
}

template <typename T>
bool same_scalar(T a, T b) {
  if constexpr (ComplexScalar<T>)
    return same_scalar(a.real(), b.real()) && same_scalar(a.imag(), b.imag());
  else if constexpr (BoolScalar<T>)
    return a == b;
  else
    return bytes_of(a) == bytes_of(b) || (not_a_number(a) && not_a_number(b));
}

// For ranking only. What is no number, or infinite on one side, is as far as can be.
template <typename T>
double distance(T a, T b) {
  if constexpr (ComplexScalar<T>) {
    return std::max(distance(a.real(), b.real()), distance(a.imag(), b.imag()));
  } else {
    const double x = convert_scalar<double>(a), y = convert_scalar<double>(b);
    if (same_scalar(a, b)) return 0;
    const double d = std::abs(x - y);
    return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
  }
}

template <typename T>
bool almost(T a, T b, double tolerance) {
  if constexpr (ComplexScalar<T>) {
    return almost(a.real(), b.real(), tolerance) && almost(a.imag(), b.imag(), tolerance);
  } else {
    const double x = convert_scalar<double>(a), y = convert_scalar<double>(b);
    if (x == y || (std::isnan(x) && std::isnan(y))) return true;
    if (!std::isfinite(x) || !std::isfinite(y)) return false;
    return std::abs(x - y) <= tolerance * std::max({1.0, std::abs(x), std::abs(y)});
  }
}

// The bits without the sign: the number of representable values between 0 and |x|.
template <FloatScalar T>
std::uint64_t magnitude(T x) {
  if constexpr (is_small_float_v<T>) return x.bits & ~T::format.sign();
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof(T));  // the machine's order is little-endian
  return bits & ~(std::uint64_t{1} << (8 * sizeof(T) - 1));
}

template <typename T>
std::uint64_t ulps(T a, T b) {
  if constexpr (ComplexScalar<T>) {
    return std::max(ulps(a.real(), b.real()), ulps(a.imag(), b.imag()));
  } else if constexpr (FloatScalar<T>) {
    if (same_scalar(a, b)) return 0;
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    if (!std::isfinite(x) || !std::isfinite(y)) return std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t m = magnitude(a), n = magnitude(b);
    if (std::signbit(x) != std::signbit(y)) return m + n;
    return m > n ? m - n : n - m;
  } else {
    return same_scalar(a, b) ? 0 : std::numeric_limits<std::uint64_t>::max();
  }
}

// Adds every element for which badness(a, b) is not negative.
template <typename Badness>
Verdict compare(const Array& actual, const Array& expected, std::string_view rule,
                Badness badness) {
  HEDDLE_TRY_VOID(same_types(actual, expected));
  if (!actual.type().is_tensor()) return yes();
  Worst worst;
  dispatch(actual.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    // One value everywhere is looked at once and never written out.
    const bool once = actual.is_splat() && expected.is_splat() && actual.elements() > 0;
    const std::int64_t count = once ? 1 : actual.elements();
    for (std::int64_t i = 0; i < count; ++i) {
      const double bad = badness(read_element<T>(actual, i), read_element<T>(expected, i));
      if (bad >= 0) worst.add(i, bad);
    }
  });
  return worst.verdict(actual, expected, rule);
}

}  // namespace

Verdict compare_equal(const Array& actual, const Array& expected) {
  if (actual == expected) return yes();
  return compare(actual, expected, "equal",
                 [](auto a, auto b) { return same_scalar(a, b) ? -1.0 : distance(a, b); });
}

Verdict compare_almost_equal(const Array& actual, const Array& expected, double tolerance) {
  return compare(actual, expected, fmt::format("equal within {}", tolerance),
                 [&](auto a, auto b) { return almost(a, b, tolerance) ? -1.0 : distance(a, b); });
}

Verdict compare_close(const Array& actual, const Array& expected, std::uint64_t least_ulps,
                      std::uint64_t most_ulps) {
  return compare(actual, expected, fmt::format("{} to {} ulp apart", least_ulps, most_ulps),
                 [&](auto a, auto b) {
                   const std::uint64_t apart = ulps(a, b);
                   const bool close = apart >= least_ulps && apart <= most_ulps;
                   return close ? -1.0 : static_cast<double>(apart);
                 });
}

Results run_check(std::string_view name, const Array& actual, const Array& expected,
                  const AttrDict& attrs) {
  Verdict verdict = yes();
  if (name.starts_with("check.expect_eq"))
    verdict = compare_equal(actual, expected);
  else if (name.starts_with("check.expect_almost_eq"))
    verdict =
        compare_almost_equal(actual, expected, number_or(find_attr(attrs, "tolerance"), 1e-3));
  else
    verdict = compare_close(
        actual, expected,
        static_cast<std::uint64_t>(integer_or(find_attr(attrs, "min_ulp_difference"), 0)),
        static_cast<std::uint64_t>(integer_or(find_attr(attrs, "max_ulp_difference"), 3)));
  if (!verdict) return verdict.why();
  return std::vector<Array>{};
}

Results eval_expect(EvalContext& ctx) {
  return run_check(ctx.op.def->name, ctx.operands[0], ctx.operands[1],
                   ctx.program.attrs_of(ctx.op));
}

Results eval_expect_const(EvalContext& ctx) {
  return run_check(ctx.op.def->name, ctx.operands[0], *ctx.attr("value")->get<Array>(),
                   ctx.program.attrs_of(ctx.op));
}

Results eval_probe(EvalContext& ctx) {
  ctx.machine->probes()[std::string(text_or(ctx.attr("probe_id"), ""))].push_back(ctx.operands[0]);
  return std::vector<Array>{ctx.operands[0]};
}

Results eval_expect_serialized(EvalContext& ctx) {
  const std::string_view id = text_or(ctx.attr("probe_id"), "");
  const auto& probes = ctx.machine->probes();
  auto it = probes.find(id);
  const std::int64_t nth = integer_or(ctx.attr("iter"), 0);
  const std::size_t seen = it == probes.end() ? 0 : it->second.size();
  if (nth < 0 || static_cast<std::size_t>(nth) >= seen)
    return reason("probe \"{}\" has {} values; there is none at {}", id, seen, nth);
  HEDDLE_TRY_VOID(compare_equal(it->second[static_cast<std::size_t>(nth)], ctx.operands[0]));
  return std::vector<Array>{};
}

namespace {

void append_text(const Array& array, std::size_t d, std::int64_t& flat, std::string& text) {
  if (d == array.shape().size()) {
    text += element_text(array, flat++);
    return;
  }
  text += '[';
  for (std::int64_t i = 0; i < array.shape()[d]; ++i) {
    if (i > 0) text += ", ";
    append_text(array, d + 1, flat, text);
  }
  text += ']';
}

}  // namespace

std::string array_text(const Array& array) {
  std::string text;
  std::int64_t flat = 0;
  if (array.type().is_tensor()) append_text(array, 0, flat, text);
  return text;
}

Results eval_print(EvalContext& ctx) {
  std::string text;
  for (const Array& array : ctx.operands)
    text += fmt::format("{} {{ {} }}\n", array.type().str(), array_text(array));
  ctx.machine->print(text);
  return std::vector<Array>{};
}

}  // namespace heddle
