#include "device/cpu/element.h"

#include <algorithm>
#include <cstring>

#include "base/wide_vectors.h"
#include "cost/sharing.h"
#include "ir/eval/scalar.h"

namespace heddle::cpu {

namespace {

bool is_usual_float(DType type) {
  return type == DType::f16 || type == DType::bf16 || type == DType::f32 || type == DType::f64;
}
bool is_short_float(DType type) { return is_float(type) && bits(type) == 8; }

bool is_whole(DType type) { return is_integer(type) && bits(type) >= 8; }

float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

// To the nearest, ties to even; NaN stays NaN.
std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

// One run of elements.
using Run = void (*)(const std::byte* from, std::int64_t step, std::byte* to, std::int64_t count);

template <typename From, typename To, auto kConvert>
HEDDLE_INLINE void convert_all(const From* __restrict in, std::int64_t step, To* __restrict out,
                               std::int64_t count) {
  if (step == 1)
    for (std::int64_t i = 0; i < count; ++i) out[i] = kConvert(in[i]);
  else
    for (std::int64_t i = 0; i < count; ++i) out[i] = kConvert(in[i * step]);
}
template <typename From, typename To, auto kConvert>
HEDDLE_WIDE void wide_convert_all(const From* in, std::int64_t step, To* out, std::int64_t count) {
  convert_all<From, To, kConvert>(in, step, out, count);
}

template <typename From, typename To, auto kConvert>
void run_of(const std::byte* from, std::int64_t step, std::byte* to, std::int64_t count) {
  if constexpr (std::is_same_v<From, To>)
    if (step == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(To));
      return;
    }
  const auto* in = reinterpret_cast<const From*>(from);
  auto* out = reinterpret_cast<To*>(to);
  // Short floats are made of integers, a vector at a time.
  constexpr bool kIsShort =
      std::is_same_v<From, std::uint16_t> || std::is_same_v<To, std::uint16_t>;
  if constexpr (kIsShort)
    if (has_wide_vectors()) return wide_convert_all<From, To, kConvert>(in, step, out, count);
  convert_all<From, To, kConvert>(in, step, out, count);
}

template <typename From, typename To>
To cast(From value) {
  return static_cast<To>(value);
}
// Exponents of f16 begin 112 below those of f32; a subnormal number becomes normal by a
// subtraction.
float from_f16(std::uint16_t value) {
  constexpr std::uint32_t kUp = 112U << 23, kLast = 31U << 23;
  const std::uint32_t plain = (value & 0x7fffU) << 13, exponent = plain & kLast;
  const float small = std::bit_cast<float>(plain + kUp + (1U << 23)) - 0x1p-14F;
  const std::uint32_t large = plain + kUp + (exponent == kLast ? kUp : 0U);
  const std::uint32_t magnitude = exponent == 0 ? std::bit_cast<std::uint32_t>(small) : large;
  return std::bit_cast<float>(magnitude | (value & 0x8000U) << 16);
}
// To the nearest, ties to even: for subnormal numbers by an addition that leaves no more bits.
std::uint16_t to_f16(float value) {
  const auto all = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = all & 0x80000000U, plain = all ^ sign;
  const std::uint32_t small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(plain) + 0.5F) -
                              std::bit_cast<std::uint32_t>(0.5F);
  const std::uint32_t normal = (plain - (112U << 23) + 0xfffU + (plain >> 13 & 1U)) >> 13;
  const std::uint32_t vast = plain > 0x7f800000U ? 0x7e00U : 0x7c00U;
  const std::uint32_t bits = plain >= 143U << 23 ? vast : plain < 113U << 23 ? small : normal;
  return static_cast<std::uint16_t>(bits | sign >> 16);
}
double wide_f16(F16 value) { return static_cast<double>(value); }
double wide_bf16(std::uint16_t value) { return from_bf16(value); }
// What is left of a whole number of any size.
template <typename From, typename To>
To whole(From value) {
  return static_cast<To>(static_cast<std::int64_t>(value));
}

// Of eight bits there are few enough for a table.
template <typename From>
void from_short_float(const std::byte* from, std::int64_t step, std::byte* to, std::int64_t count) {
  static const std::array<float, 256> values = [] {
    std::array<float, 256> all{};
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<float>(
          static_cast<double>(std::bit_cast<From>(static_cast<std::uint8_t>(i))));
    return all;
  }();
  auto* out = reinterpret_cast<float*>(to);
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = values[static_cast<std::uint8_t>(from[i * step])];
}
template <typename To>
void to_short_float(const std::byte* from, std::int64_t step, std::byte* to, std::int64_t count) {
  const auto* in = reinterpret_cast<const float*>(from);
  auto* out = reinterpret_cast<To*>(to);
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = static_cast<To>(static_cast<double>(in[i * step]));
}

Run of_short_float(DType type, bool is_from) {
  return dispatch(type, [&](auto tag) -> Run {
    using T = typename decltype(tag)::type;
    if constexpr (sizeof(T) == 1 && FloatScalar<T>)
      return is_from ? from_short_float<T> : to_short_float<T>;
    return nullptr;
  });
}

template <typename From>
Run to_integer(DType to) {
  switch (byte_size(to)) {
    case 1:
      return run_of<From, std::uint8_t, whole<From, std::uint8_t>>;
    case 2:
      return run_of<From, std::uint16_t, whole<From, std::uint16_t>>;
    case 4:
      return run_of<From, std::uint32_t, whole<From, std::uint32_t>>;
    default:
      return run_of<From, std::uint64_t, whole<From, std::uint64_t>>;
  }
}
template <typename From>
Run of_integer(DType to) {
  if (to == DType::f32) return run_of<From, float, cast<From, float>>;
  if (to == DType::f64) return run_of<From, double, cast<From, double>>;
  return to_integer<From>(to);
}

Run of_integers(DType from, DType to) {
  switch (from) {
    case DType::i8:
      return of_integer<std::int8_t>(to);
    case DType::i16:
      return of_integer<std::int16_t>(to);
    case DType::i32:
      return of_integer<std::int32_t>(to);
    case DType::i64:
      return of_integer<std::int64_t>(to);
    case DType::ui8:
      return of_integer<std::uint8_t>(to);
    case DType::ui16:
      return of_integer<std::uint16_t>(to);
    case DType::ui32:
      return of_integer<std::uint32_t>(to);
    default:
      return of_integer<std::uint64_t>(to);
  }
}

Run of_same(DType type) {
  switch (byte_size(type)) {
    case 1:
      return run_of<std::uint8_t, std::uint8_t, cast<std::uint8_t, std::uint8_t>>;
    case 2:
      return run_of<std::uint16_t, std::uint16_t, cast<std::uint16_t, std::uint16_t>>;
    case 4:
      return run_of<std::uint32_t, std::uint32_t, cast<std::uint32_t, std::uint32_t>>;
    case 8:
      return run_of<std::uint64_t, std::uint64_t, cast<std::uint64_t, std::uint64_t>>;
    default:
      return run_of<C128, C128, cast<C128, C128>>;
  }
}

Run run_for(DType from, DType to) {
  if (from == to) return of_same(to);
  if (is_integer(from)) return of_integers(from, to);
  if (is_integer(to)) return from == DType::f64 ? to_integer<double>(to) : to_integer<float>(to);
  if (is_short_float(from)) return of_short_float(from, true);
  if (is_short_float(to)) return of_short_float(to, false);
  if (from == DType::bf16)
    return to == DType::f64 ? run_of<std::uint16_t, double, wide_bf16>
                            : run_of<std::uint16_t, float, from_bf16>;
  if (from == DType::f16)
    return to == DType::f64 ? run_of<F16, double, wide_f16>
                            : run_of<std::uint16_t, float, from_f16>;
  if (to == DType::bf16) return run_of<float, std::uint16_t, to_bf16>;
  if (to == DType::f16) return run_of<float, std::uint16_t, to_f16>;
  if (to == DType::c128) return run_of<C64, C128, cast<C64, C128>>;
  if (to == DType::c64) return run_of<C128, C64, cast<C128, C64>>;
  if (to == DType::f64) return run_of<float, double, cast<float, double>>;
  return run_of<double, float, cast<double, float>>;
}

}  // namespace

std::optional<DType> product_dtype(DType lhs, DType rhs, DType result, std::int64_t terms) {
  const auto all = [&](auto test) { return test(lhs) && test(rhs) && test(result); };
  const auto is_narrow = [](DType type) {
    return is_short_float(type) || (is_usual_float(type) && type != DType::f64);
  };
  if (all(is_narrow)) return DType::f32;
  if (all(is_usual_float)) {
    const bool wide = lhs == DType::f64 || rhs == DType::f64 || result == DType::f64;
    // Rounding twice, by way of f32, is left to the reference evaluation.
    if (wide && byte_size(result) < 4) return {};
    return wide ? DType::f64 : DType::f32;
  }
  if (all(is_whole)) {
    const int each = bits(lhs) + bits(rhs);  // of a product, without its sign
    const double most =
        static_cast<double>(terms) * static_cast<double>(std::uint64_t{1} << std::min(each, 62));
    if (each <= 32 && most <= 0x1p24) return DType::f32;
    if (each <= 32 && most <= 0x1p53) return DType::f64;
    return result;
  }
  if (all(is_complex)) return lhs == rhs && rhs == result ? std::optional(result) : std::nullopt;
  return {};
}

void pack(const std::byte* from, DType from_type, const std::vector<Stride>& dims, std::byte* to,
          DType to_type, ThreadPool& pool) {
  std::vector<Stride> walk = join_strides(dims);
  if (walk.empty()) walk.push_back({1, 1});
  const Run run = run_for(from_type, to_type);
  const Stride line = walk.back();
  std::int64_t lines = 1;
  for (std::size_t d = 0; d + 1 < walk.size(); ++d) lines *= walk[d].size;
  if (lines == 0 || line.size == 0) return;
  // A long line is cut; short ones are taken together.
  const std::int64_t cuts = std::max<std::int64_t>(1, line.size / cost::kConvertPart);
  const std::int64_t group = std::max<std::int64_t>(1, cost::kConvertPart / line.size);
  const std::int64_t groups = (lines + group - 1) / group;
  const auto one = [&](std::int64_t part, int) {
    const std::int64_t first = part / cuts * group, cut = part % cuts;
    const std::int64_t begin = line.size * cut / cuts, end = line.size * (cut + 1) / cuts;
    for (std::int64_t l = first; l < std::min(lines, first + group); ++l) {
      std::int64_t rest = l, at = 0;
      for (std::size_t d = walk.size() - 1; d-- > 0;) {
        at += rest % walk[d].size * walk[d].step;
        rest /= walk[d].size;
      }
      run(from + (at + begin * line.step) * byte_size(from_type), line.step,
          to + (l * line.size + begin) * byte_size(to_type), end - begin);
    }
  };
  if (groups * cuts <= 1)
    one(0, 0);
  else
    pool.parallel_for(groups * cuts, one);
}

KernelWork packed_work(const std::vector<Stride>& dims, bool converts) {
  const std::vector<Stride> walk = join_strides(dims);
  if (walk.empty()) return {};
  double elements = 1;
  for (const Stride& stride : walk) elements *= static_cast<double>(stride.size);
  KernelWork work;
  work.runs = elements / std::max(1.0, static_cast<double>(walk.back().size));
  const bool one_by_one = walk.back().step != 1;
  (converts ? work.converted : one_by_one ? work.lanes : work.light) += elements;
  return work;
}

}  // namespace heddle::cpu
