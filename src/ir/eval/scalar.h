// Scalars of every element type: C++ types, exact conversions, and dispatch from a DType to them.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/array.h"
#include "ir/eval/small_scalar.h"

namespace heddle {

// An i1. A type of its own so that it is not taken for ui8.
struct Bool {
  std::uint8_t bits = 0;
  Bool() = default;
  explicit Bool(bool value) : bits(value ? 1 : 0) {}
  explicit operator bool() const { return bits != 0; }
  friend bool operator==(Bool a, Bool b) { return (a.bits != 0) == (b.bits != 0); }
};

using C64 = std::complex<float>;
using C128 = std::complex<double>;

template <typename T>
concept BoolScalar = std::is_same_v<T, Bool>;
template <typename T>
concept IntScalar = std::is_integral_v<T> || is_small_int_v<T>;
template <typename T>
concept FloatScalar = std::is_floating_point_v<T> || is_small_float_v<T>;
template <typename T>
concept ComplexScalar = std::is_same_v<T, C64> || std::is_same_v<T, C128>;

// What a visitor of dispatch() gets: `typename decltype(tag)::type` is the C++ type.
template <typename T>
struct Tag {
  using type = T;
};

template <typename T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, Bool>) return DType::i1;
  if constexpr (std::is_same_v<T, I2>) return DType::i2;
  if constexpr (std::is_same_v<T, I4>) return DType::i4;
  if constexpr (std::is_same_v<T, std::int8_t>) return DType::i8;
  if constexpr (std::is_same_v<T, std::int16_t>) return DType::i16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
  if constexpr (std::is_same_v<T, UI2>) return DType::ui2;
  if constexpr (std::is_same_v<T, UI4>) return DType::ui4;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::ui8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return DType::ui16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return DType::ui32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return DType::ui64;
  if constexpr (std::is_same_v<T, F4E2M1FN>) return DType::f4e2m1fn;
  if constexpr (std::is_same_v<T, F6E2M3FN>) return DType::f6e2m3fn;
  if constexpr (std::is_same_v<T, F6E3M2FN>) return DType::f6e3m2fn;
  if constexpr (std::is_same_v<T, F8E3M4>) return DType::f8e3m4;
  if constexpr (std::is_same_v<T, F8E4M3>) return DType::f8e4m3;
  if constexpr (std::is_same_v<T, F8E4M3B11FNUZ>) return DType::f8e4m3b11fnuz;
  if constexpr (std::is_same_v<T, F8E4M3FN>) return DType::f8e4m3fn;
  if constexpr (std::is_same_v<T, F8E4M3FNUZ>) return DType::f8e4m3fnuz;
  if constexpr (std::is_same_v<T, F8E5M2>) return DType::f8e5m2;
  if constexpr (std::is_same_v<T, F8E5M2FNUZ>) return DType::f8e5m2fnuz;
  if constexpr (std::is_same_v<T, F8E8M0FNU>) return DType::f8e8m0fnu;
  if constexpr (std::is_same_v<T, F16>) return DType::f16;
  if constexpr (std::is_same_v<T, BF16>) return DType::bf16;
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  if constexpr (std::is_same_v<T, C64>) return DType::c64;
  if constexpr (std::is_same_v<T, C128>) return DType::c128;
}

// Calls visit(Tag<T>{}) with the C++ type of the element type.
template <typename Visit>
decltype(auto) dispatch(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::i1:
      return visit(Tag<Bool>{});
    case DType::i2:
      return visit(Tag<I2>{});
    case DType::i4:
      return visit(Tag<I4>{});
    case DType::i8:
      return visit(Tag<std::int8_t>{});
    case DType::i16:
      return visit(Tag<std::int16_t>{});
    case DType::i32:
      return visit(Tag<std::int32_t>{});
    case DType::i64:
      return visit(Tag<std::int64_t>{});
    case DType::ui2:
      return visit(Tag<UI2>{});
    case DType::ui4:
      return visit(Tag<UI4>{});
    case DType::ui8:
      return visit(Tag<std::uint8_t>{});
    case DType::ui16:
      return visit(Tag<std::uint16_t>{});
    case DType::ui32:
      return visit(Tag<std::uint32_t>{});
    case DType::ui64:
      return visit(Tag<std::uint64_t>{});
    case DType::f4e2m1fn:
      return visit(Tag<F4E2M1FN>{});
    case DType::f6e2m3fn:
      return visit(Tag<F6E2M3FN>{});
    case DType::f6e3m2fn:
      return visit(Tag<F6E3M2FN>{});
    case DType::f8e3m4:
      return visit(Tag<F8E3M4>{});
    case DType::f8e4m3:
      return visit(Tag<F8E4M3>{});
    case DType::f8e4m3b11fnuz:
      return visit(Tag<F8E4M3B11FNUZ>{});
    case DType::f8e4m3fn:
      return visit(Tag<F8E4M3FN>{});
    case DType::f8e4m3fnuz:
      return visit(Tag<F8E4M3FNUZ>{});
    case DType::f8e5m2:
      return visit(Tag<F8E5M2>{});
    case DType::f8e5m2fnuz:
      return visit(Tag<F8E5M2FNUZ>{});
    case DType::f8e8m0fnu:
      return visit(Tag<F8E8M0FNU>{});
    case DType::f16:
      return visit(Tag<F16>{});
    case DType::bf16:
      return visit(Tag<BF16>{});
    case DType::f32:
      return visit(Tag<float>{});
    case DType::f64:
      return visit(Tag<double>{});
    case DType::c64:
      return visit(Tag<C64>{});
    case DType::c128:
      break;
  }
  return visit(Tag<C128>{});
}

// ---- conversion of one scalar, as stablehlo.convert defines it

// The nearest float; exact ties go to even. Wide integers keep a sticky bit so that rounding to
// double first does no harm.
template <FloatScalar To, IntScalar From>
To float_from_int(From value) {
  if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else {
    const bool negative = value < 0;
    auto magnitude = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    if (negative) magnitude = 0 - magnitude;
    if (magnitude >> 53) {
      const bool sticky = (magnitude & 0x7ff) != 0;
      magnitude = (magnitude & ~std::uint64_t{0x7ff}) | (sticky ? 0x800 : 0);
    }
    const auto wide = static_cast<double>(magnitude);
    return To(negative ? -wide : wide);
  }
}

// Towards zero; what does not fit becomes the nearest that does, and NaN becomes 0.
template <IntScalar To>
To int_from_double(double value) {
  if (std::isnan(value)) return 0;
  using Whole = std::conditional_t<is_small_int_v<To>, int, To>;
  const double whole = std::trunc(value);
  // 2^digits is exact in double, while max() itself may not be.
  const double above = std::ldexp(1.0, std::numeric_limits<To>::digits);
  if (whole >= above) return std::numeric_limits<To>::max();
  if (whole < static_cast<double>(std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  return static_cast<To>(static_cast<Whole>(whole));
}

template <typename To, typename From>
To convert_scalar(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (ComplexScalar<From> && ComplexScalar<To>) {
    using R = typename To::value_type;
    return To(static_cast<R>(x.real()), static_cast<R>(x.imag()));
  } else if constexpr (ComplexScalar<From>) {
    return convert_scalar<To>(x.real());  // the imaginary part is dropped, for i1 too
  } else if constexpr (ComplexScalar<To>) {
    return To(convert_scalar<typename To::value_type>(x), 0);
  } else if constexpr (BoolScalar<From>) {
    return convert_scalar<To>(static_cast<std::uint8_t>(bool(x) ? 1 : 0));
  } else if constexpr (BoolScalar<To> && IntScalar<From>) {
    return Bool(x != 0);
  } else if constexpr (BoolScalar<To>) {
    return Bool(static_cast<double>(x) != 0);
  } else if constexpr (IntScalar<To> && IntScalar<From>) {
    return static_cast<To>(x);  // sign-extends or truncates
  } else if constexpr (IntScalar<To>) {
    return int_from_double<To>(static_cast<double>(x));
  } else if constexpr (IntScalar<From>) {
    return float_from_int<To>(x);
  } else {
    return static_cast<To>(static_cast<double>(x));
  }
}

// ---- arrays

// An array in another element type.
Array converted(const Array& array, DType dtype);

// An array of the values, which must be as many as the type has elements.
template <typename T>
Array make_array(Type type, const std::vector<T>& values) {
  HEDDLE_CHECK(
      type.dtype == dtype_of<T>() && type.elements() == static_cast<std::int64_t>(values.size()),
      "{} values for {}", values.size(), type.str());
  Array array(std::move(type));
  if (!values.empty())
    std::memcpy(array.as_mutable<T>().data(), values.data(), values.size() * sizeof(T));
  return array;
}
template <typename T>
Array make_array(Shape shape, const std::vector<T>& values) {
  return make_array<T>(Type::tensor(dtype_of<T>(), std::move(shape)), values);
}
template <typename T>
Array scalar_array(T value) {
  return make_array<T>(Shape{}, {value});
}
// A splat of one value over a type of T's element type.
template <typename T>
Array filled_array(Type type, T value) {
  return Array::splat(std::move(type), std::as_bytes(std::span<const T>(&value, 1)));
}

// One element, by its flat index; a splat is not written out.
template <typename T>
T read_element(const Array& array, std::int64_t flat) {
  T value;
  std::memcpy(&value, array.element(flat).data(), sizeof(T));
  return value;
}

// Bytes from outside, element by element: bits beyond the width of an i1, i4, f6E2M3FN, … become
// what this program writes there, so that equal elements have equal bytes.
void settle_elements(DType dtype, std::span<std::byte> bytes);

// One element of any element type: of complex ones the real part; 0 or 1 for i1.
double to_double(const Array& array, std::int64_t flat = 0);
// Floats as int_from_double; ui64 values above the largest i64 become that.
std::int64_t to_int64(const Array& array, std::int64_t flat = 0);
bool to_bool(const Array& array, std::int64_t flat = 0);
// For messages: 1.5, -3, true, (1,2), nan.
std::string element_text(const Array& array, std::int64_t flat);
// A scalar array of one of the elements.
Array element_array(const Array& array, std::int64_t flat);

}  // namespace heddle
