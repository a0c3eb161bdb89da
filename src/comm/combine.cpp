#include "comm/combine.h"

#include <bit>
#include <cstring>

#include "ir/eval/elementwise.h"

namespace heddle::comm {

namespace {

template <typename F, typename T>
void combine(std::byte* out, const std::byte* a, const std::byte* b, std::int64_t elements) {
  const F f;
  T* to = reinterpret_cast<T*>(out);
  const T* x = reinterpret_cast<const T*>(a);
  const T* y = reinterpret_cast<const T*>(b);
  for (std::int64_t i = 0; i < elements; ++i) to[i] = f(x[i], y[i]);
}

// Sums and products of bf16 are exact in float up to the one rounding, as they are in double, and
// these instructions come in vectors.
std::uint16_t rounded_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t even = (bits >> 16) & 1;
  const std::uint32_t up = (bits + 0x7fff + even) >> 16;
  const std::uint32_t nan = ((bits >> 16) & 0x8000) | 0x7fc0;
  return static_cast<std::uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? nan : up);
}

template <typename F>
void combine_bf16(std::byte* out, const std::byte* a, const std::byte* b, std::int64_t elements) {
  const F f;
  auto* to = reinterpret_cast<std::uint16_t*>(out);
  const auto* x = reinterpret_cast<const std::uint16_t*>(a);
  const auto* y = reinterpret_cast<const std::uint16_t*>(b);
  for (std::int64_t i = 0; i < elements; ++i)
    to[i] = rounded_bf16(f(std::bit_cast<float>(std::uint32_t{x[i]} << 16),
                           std::bit_cast<float>(std::uint32_t{y[i]} << 16)));
}

template <typename F>
Combine of(DType dtype) {
  return dispatch(dtype, [](auto tag) -> Combine {
    using T = typename decltype(tag)::type;
    if constexpr (std::invocable<F, T, T>)
      return combine<F, T>;
    else
      return nullptr;
  });
}

}  // namespace

Combine combine_function(ReduceOp op, DType dtype) {
  switch (op) {
    case ReduceOp::sum:
      return dtype == DType::bf16 ? combine_bf16<Add> : of<Add>(dtype);
    case ReduceOp::product:
      return dtype == DType::bf16 ? combine_bf16<Multiply> : of<Multiply>(dtype);
    case ReduceOp::min:
      return of<Extremum<false>>(dtype);
    case ReduceOp::max:
      return of<Extremum<true>>(dtype);
    case ReduceOp::logical_and:
      return of<And>(dtype);
    case ReduceOp::logical_or:
      return of<Or>(dtype);
  }
  return nullptr;
}

}  // namespace heddle::comm
