// convert, bitcast_convert and reduce_precision.
#include <algorithm>

#include "ir/attr_access.h"
#include "ir/eval/elementwise.h"

namespace heddle {

namespace {

template <typename To>
struct Convert {
  template <typename From>
  To operator()(From x) const {
    return convert_scalar<To>(x);
  }
};

// A type that holds every value of T and from which a conversion gives what T itself would: 4 of
// them instead of 30 keep the number of loops down.
template <typename T>
struct WideOf {
  using type = double;
};
template <typename T>
  requires(BoolScalar<T> || IntScalar<T>)
struct WideOf<T> {
  using type = std::conditional_t<std::is_same_v<T, std::uint64_t>, std::uint64_t, std::int64_t>;
};
template <ComplexScalar T>
struct WideOf<T> {
  using type = C128;
};

template <typename Wide>
using Narrow = void (*)(std::span<const Wide> from, std::byte* to);
template <typename Wide>
Narrow<Wide> narrow_to(DType dtype) {
  return dispatch(dtype, [](auto tag) -> Narrow<Wide> {
    using To = typename decltype(tag)::type;
    return [](std::span<const Wide> from, std::byte* to) {
      for (const Wide& x : from) {
        const To narrow = convert_scalar<To>(x);
        std::memcpy(to, &narrow, sizeof(To));
        to += sizeof(To);
      }
    };
  });
}

}  // namespace

Array converted(const Array& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  const Type type = Type::tensor(dtype, x.shape());
  return dispatch(x.dtype(), [&](auto tag) -> Array {
    using From = typename decltype(tag)::type;
    using Wide = typename WideOf<From>::type;
    const Narrow<Wide> narrow = narrow_to<Wide>(type.dtype);
    const auto width = static_cast<std::size_t>(byte_size(type.dtype));
    if (x.is_splat()) {
      const Wide wide = convert_scalar<Wide>(read_element<From>(x, 0));
      std::array<std::byte, sizeof(C128)> element{};
      narrow({&wide, 1}, element.data());
      return Array::splat(type, std::span(element).first(width));
    }
    Array out(type);
    const auto from = x.as<From>();
    std::byte* to = out.mutable_bytes().data();
    std::array<Wide, 256> wide;
    for (std::size_t at = 0; at < from.size();) {
      const std::size_t count = std::min(wide.size(), from.size() - at);
      for (std::size_t i = 0; i < count; ++i) wide[i] = convert_scalar<Wide>(from[at + i]);
      narrow({wide.data(), count}, to + at * width);
      at += count;
    }
    return out;
  });
}

namespace {

Evaluated evaluate_convert(EvalContext& ctx) {
  return std::vector{converted(ctx.operands[0], ctx.result_type().dtype)};
}

// A stream of bits: elements in row-major order, the lowest bit of each first. An element of fewer
// than 8 bits has only those in the stream, but a byte in memory.
std::vector<std::byte> pack(std::span<const std::byte> values, std::size_t width) {
  std::vector<std::byte> packed((values.size() * width + 7) / 8);
  for (std::size_t at = 0; at < values.size() * width; ++at)
    packed[at / 8] |= ((values[at / width] >> (at % width)) & std::byte{1}) << (at % 8);
  return packed;
}

std::vector<std::byte> unpack(std::span<const std::byte> packed, std::size_t count,
                              std::size_t width) {
  std::vector<std::byte> values(count);
  for (std::size_t at = 0; at < count * width; ++at)
    values[at / width] |= ((packed[at / 8] >> (at % 8)) & std::byte{1}) << (at % width);
  return values;
}

Evaluated evaluate_bitcast_convert(EvalContext& ctx) {
  const Array& x = ctx.operands[0];
  const Type& to = ctx.result_type();
  const auto from_width = static_cast<std::size_t>(bits(x.dtype()));
  const auto to_width = static_cast<std::size_t>(bits(to.dtype));
  if (from_width >= 8 && to_width >= 8) return std::vector{x.reinterpreted(to)};
  const auto from = x.bytes();
  std::vector<std::byte> stream(from.begin(), from.end());
  if (from_width < 8) stream = pack(stream, from_width);
  if (to_width < 8) stream = unpack(stream, static_cast<std::size_t>(to.elements()), to_width);
  settle_elements(to.dtype, stream);
  return std::vector{Array(to, std::move(stream))};
}

// Formats with a NaN above the finite numbers, and the usual bias.
struct UsualFormat {
  int exponent_bits, mantissa_bits;
  bool has_infinity;
};

// Rounds the bits of a number to fewer mantissa bits (ties to even), then to the range of fewer
// exponent bits: too large is infinite, and what would be subnormal is zero.
std::uint64_t reduce_bits(std::uint64_t x, UsualFormat format, std::int64_t exponent_bits,
                          std::int64_t mantissa_bits) {
  const std::uint64_t one = 1;
  const std::uint64_t sign = x & (one << (format.exponent_bits + format.mantissa_bits));
  const std::uint64_t top = ((one << format.exponent_bits) - 1) << format.mantissa_bits;
  const std::uint64_t all_ones = top | ((one << format.mantissa_bits) - 1);
  const std::uint64_t overflow = format.has_infinity ? top : all_ones;
  std::uint64_t magnitude = x ^ sign;
  if (magnitude == overflow) return x;
  if (magnitude > overflow) return mantissa_bits > 0 ? x : sign | overflow;  // NaN

  if (mantissa_bits < format.mantissa_bits) {
    const auto dropped = format.mantissa_bits - mantissa_bits;
    magnitude += (one << (dropped - 1)) - 1 + ((magnitude >> dropped) & 1);
    magnitude &= ~((one << dropped) - 1);
  }
  if (exponent_bits < format.exponent_bits) {
    const std::uint64_t bias = (one << (format.exponent_bits - 1)) - 1;
    const std::uint64_t reduced_bias = (one << (exponent_bits - 1)) - 1;
    const std::uint64_t exponent = magnitude >> format.mantissa_bits;
    if (exponent > bias + reduced_bias) return sign | overflow;
    if (exponent <= bias - reduced_bias) return sign;
  }
  return sign | std::min(magnitude, overflow);
}

struct ReducePrecision {
  static constexpr bool asks_for_format = true;
  std::int64_t exponent_bits, mantissa_bits;

  template <FloatScalar T>
  T operator()(T x) const {
    if constexpr (std::is_same_v<T, double>) {
      return std::bit_cast<double>(reduced(std::bit_cast<std::uint64_t>(x), {11, 52, true}));
    } else if constexpr (std::is_same_v<T, float>) {
      const std::uint64_t bits = reduced(std::bit_cast<std::uint32_t>(x), {8, 23, true});
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    } else if constexpr (is_usual<T>()) {
      constexpr bool has_infinity = T::format.specials == Specials::infinities;
      const auto bits =
          reduced(x.bits, {T::format.exponent_bits, T::format.mantissa_bits, has_infinity});
      return T::from_bits(static_cast<typename T::bits_type>(bits));
    } else {
      // In double, where a range that the format does not exceed must not matter.
      const std::int64_t exponents = exponent_bits < T::format.exponent_bits ? exponent_bits : 11;
      return T(ReducePrecision{exponents, mantissa_bits}(static_cast<double>(x)));
    }
  }

 private:
  template <typename T>
  static constexpr bool is_usual() {
    const Specials specials = T::format.specials;
    return T::format.has_sign &&
           (specials == Specials::infinities || specials == Specials::one_nan);
  }
  std::uint64_t reduced(std::uint64_t x, UsualFormat format) const {
    return reduce_bits(x, format, exponent_bits, mantissa_bits);
  }
};

Evaluated evaluate_reduce_precision(EvalContext& ctx) {
  return map_unary(ctx, ReducePrecision{integer_or(ctx.attr("exponent_bits"), 1),
                                        integer_or(ctx.attr("mantissa_bits"), 0)});
}

}  // namespace

ScalarFunction conversion_scalar(DType from, DType to) {
  return dispatch(to, [&](auto tag) -> ScalarFunction {
    using To = typename decltype(tag)::type;
    if constexpr (is_kernel_type(dtype_of<To>())) return unary_scalar<Convert<To>>(from);
    return nullptr;
  });
}

Evaluate conversion_evaluation(std::string_view op) {
  if (op == "convert") return evaluate_convert;
  if (op == "bitcast_convert") return evaluate_bitcast_convert;
  if (op == "reduce_precision") return evaluate_reduce_precision;
  return nullptr;
}

}  // namespace heddle
