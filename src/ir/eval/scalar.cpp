#include "ir/eval/scalar.h"

#include <algorithm>

namespace heddle {

namespace {

std::uint32_t nan_of(FloatFormat format, std::uint32_t sign) {
  switch (format.specials) {
    case Specials::infinities:
      return sign | format.infinity() | 1u << (format.mantissa_bits - 1);
    case Specials::one_nan:
      return sign | (format.largest() + 1);
    default:
      return format.sign();
  }
}

std::uint32_t too_large(FloatFormat format, std::uint32_t sign) {
  if (format.specials == Specials::infinities) return sign | format.infinity();
  if (format.specials == Specials::none) return sign | format.largest();
  return nan_of(format, sign);
}

bool is_nan(std::uint32_t bits, FloatFormat format) {
  const std::uint32_t magnitude = bits & ~format.sign();
  switch (format.specials) {
    case Specials::infinities:
      return magnitude > format.infinity();
    case Specials::one_nan:
      return magnitude > format.largest();
    case Specials::zero_nan:
      return bits == format.sign();
    default:
      return false;
  }
}

}  // namespace

std::uint32_t encode_small_float(double value, FloatFormat format) {
  const std::uint32_t sign = std::signbit(value) ? format.sign() : 0;
  // Without a sign there is no zero: it becomes NaN, as in ml_dtypes and XLA, and so does what is
  // zero as f32.
  const bool has_none = !format.has_sign && static_cast<float>(value) <= 0;
  if (std::isnan(value) || has_none) return nan_of(format, sign);
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return too_large(format, sign);

  // In units of the last place, where numbers below the smallest normal share one unit.
  const int least = 1 - format.bias;
  const int exponent = magnitude == 0 ? least : std::max(std::ilogb(magnitude), least);
  const double units = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  // A carry out of the mantissa lands in the exponent, where it belongs. Units of a normal number
  // hold the leading one, which the exponent field must not count twice.
  const double field =
      std::ldexp(static_cast<double>(exponent + format.bias - 1), format.mantissa_bits) + units;
  if (field > static_cast<double>(format.largest())) return too_large(format, sign);
  if (field <= 0) return format.specials == Specials::zero_nan ? 0 : sign;
  return sign | static_cast<std::uint32_t>(field);
}

double decode_small_float(std::uint32_t bits, FloatFormat format) {
  const std::uint32_t mantissa = bits & ((1u << format.mantissa_bits) - 1);
  const std::uint32_t field = (bits >> format.mantissa_bits) & ((1u << format.exponent_bits) - 1);
  const bool subnormal = field == 0 && format.has_sign;
  const int exponent = static_cast<int>(subnormal ? 1 : field) - format.bias;
  double magnitude;
  if (is_nan(bits, format))
    magnitude = std::numeric_limits<double>::quiet_NaN();
  else if (format.specials == Specials::infinities && (bits & ~format.sign()) == format.infinity())
    magnitude = std::numeric_limits<double>::infinity();
  else
    magnitude =
        std::ldexp(static_cast<double>(mantissa + (subnormal ? 0 : 1u << format.mantissa_bits)),
                   exponent - format.mantissa_bits);
  return (bits & format.sign()) != 0 ? -magnitude : magnitude;
}

void settle_elements(DType dtype, std::span<std::byte> bytes) {
  if (bits(dtype) >= 8) return;
  dispatch(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::byte& b : bytes) {
      const auto raw = std::to_integer<std::uint8_t>(b);
      if constexpr (BoolScalar<T>)
        b = std::byte{raw != 0};
      else if constexpr (is_small_int_v<T>)
        b = std::byte{T(raw).bits};
      else if constexpr (is_small_float_v<T>)
        b &= static_cast<std::byte>(T::format.sign() | T::format.largest());
    }
  });
}

double to_double(const Array& array, std::int64_t flat) {
  return dispatch(array.dtype(), [&](auto tag) {
    return convert_scalar<double>(read_element<typename decltype(tag)::type>(array, flat));
  });
}

std::int64_t to_int64(const Array& array, std::int64_t flat) {
  return dispatch(array.dtype(), [&](auto tag) -> std::int64_t {
    using T = typename decltype(tag)::type;
    const T value = read_element<T>(array, flat);
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      const std::uint64_t most = std::numeric_limits<std::int64_t>::max();
      return static_cast<std::int64_t>(std::min(value, most));
    } else {
      return convert_scalar<std::int64_t>(value);
    }
  });
}

bool to_bool(const Array& array, std::int64_t flat) {
  return dispatch(array.dtype(), [&](auto tag) {
    return bool(convert_scalar<Bool>(read_element<typename decltype(tag)::type>(array, flat)));
  });
}

std::string element_text(const Array& array, std::int64_t flat) {
  return dispatch(array.dtype(), [&](auto tag) -> std::string {
    using T = typename decltype(tag)::type;
    const T value = read_element<T>(array, flat);
    if constexpr (BoolScalar<T>)
      return bool(value) ? "true" : "false";
    else if constexpr (ComplexScalar<T>)
      return fmt::format("({},{})", value.real(), value.imag());
    else if constexpr (is_small_float_v<T>)
      return fmt::format("{}", float(value));
    else if constexpr (is_small_int_v<T>)
      return fmt::format("{}", int(value));
    else
      return fmt::format("{}", value);
  });
}

Array element_array(const Array& array, std::int64_t flat) {
  auto bytes = array.element(flat);
  return Array(Type::tensor(array.dtype(), {}), std::vector<std::byte>(bytes.begin(), bytes.end()));
}

}  // namespace heddle
