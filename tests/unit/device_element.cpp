#include <gtest/gtest.h>

#include <cmath>

#include "device/cpu/element.h"
#include "ir/eval/scalar.h"

namespace heddle::cpu {

namespace {

template <typename From, typename To>
std::vector<To> packed(const std::vector<From>& from) {
  std::vector<To> to(from.size());
  pack(reinterpret_cast<const std::byte*>(from.data()), dtype_of<From>(),
       {{static_cast<std::int64_t>(from.size()), 1}}, reinterpret_cast<std::byte*>(to.data()),
       dtype_of<To>(), ThreadPool::shared());
  return to;
}

// Every number of the type.
template <typename T, typename Bits>
std::vector<T> all_of() {
  std::vector<T> all;
  for (std::uint32_t i = 0; i <= std::uint32_t{Bits(-1)}; ++i)
    all.push_back(std::bit_cast<T>(static_cast<Bits>(i)));
  return all;
}

bool is_same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

TEST(Elements, EveryShortFloatBecomesWhatItIs) {
  const auto expect = [](const auto& all) {
    using T = typename std::decay_t<decltype(all)>::value_type;
    const std::vector<float> got = packed<T, float>(all);
    for (std::size_t i = 0; i < all.size(); ++i)
      ASSERT_TRUE(is_same(got[i], static_cast<float>(static_cast<double>(all[i])))) << i;
  };
  expect(all_of<F16, std::uint16_t>());
  expect(all_of<BF16, std::uint16_t>());
  expect(all_of<F8E4M3FN, std::uint8_t>());
  expect(all_of<F8E5M2, std::uint8_t>());
}

// The numbers of f16, what lies half way between two of them, and what is next to both.
TEST(Elements, F16IsTheNearestTiesToEven) {
  std::vector<float> numbers = {0x1p-25F, 65520, 65519.996F, 1e30F, -INFINITY, NAN, 1e-40F};
  for (const F16 one : all_of<F16, std::uint16_t>()) {
    const auto value = static_cast<float>(static_cast<double>(one));
    if (!std::isfinite(value)) continue;
    const float next = static_cast<float>(static_cast<double>(
        std::bit_cast<F16>(static_cast<std::uint16_t>(std::bit_cast<std::uint16_t>(one) + 1))));
    for (const float x : {value, (value + next) / 2})
      for (const float near : {x, std::nextafterf(x, 1e9F), std::nextafterf(x, -1e9F)})
        numbers.push_back(near);
  }
  const std::vector<F16> got = packed<float, F16>(numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    ASSERT_TRUE(is_same(
        static_cast<float>(static_cast<double>(got[i])),
        static_cast<float>(static_cast<double>(static_cast<F16>(static_cast<double>(numbers[i]))))))
        << numbers[i];
}

}  // namespace

}  // namespace heddle::cpu
