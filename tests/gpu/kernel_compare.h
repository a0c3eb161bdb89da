// What a kernel gives on the GPU, held against the kernel interpreter.
#pragma once

#include <cmath>

#include "../property/random_kernel.h"
#include "gpu_device.h"

namespace heddle::gpu {

// How far apart two numbers are, in units of the last place of the larger; NaNs are equal.
template <typename T>
double units_apart(T a, T b) {
  if constexpr (FloatScalar<T>) {
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
    if (!std::isfinite(x) || !std::isfinite(y)) return HUGE_VAL;
    const int digits = [] {
      if constexpr (is_small_float_v<T>)
        return T::format.mantissa_bits;
      else
        return std::numeric_limits<T>::digits - 1;
    }();
    const double larger = std::max(std::fabs(x), std::fabs(y));
    return std::fabs(x - y) / std::max(std::ldexp(1.0, std::ilogb(larger) - digits), 1e-320);
  } else {
    return a == b ? 0 : HUGE_VAL;
  }
}

// Runs both; what differs by more than so many units of the last place, in words.
inline std::string difference(const Kernel& kernel, const KernelData& inputs, Device& device,
                              double units) {
  KernelData expected = inputs, got = inputs;
  if (const Verdict ran = expected.run(kernel); !ran) return ran.reason();
  std::vector<std::span<std::byte>> spans(got.bytes.begin(), got.bytes.end());
  if (const Verdict ran = run_kernel(device, kernel, spans); !ran) return ran.reason();
  for (std::uint32_t b = 0; b < kernel.buffers.size(); ++b) {
    if (kernel.buffers[b].reach != Reach::output) continue;
    std::string found = dispatch(kernel.buffers[b].dtype, [&](auto tag) -> std::string {
      using T = typename decltype(tag)::type;
      const auto want = expected.get<T>(b), have = got.get<T>(b);
      for (std::size_t i = 0; i < want.size(); ++i)
        if (units_apart(want[i], have[i]) > units) {
          const Type scalar = Type::tensor(kernel.buffers[b].dtype, {});
          return fmt::format("buffer {} element {}: {} on the device, {} expected", b, i,
                             element_text(make_array<T>(scalar, {have[i]}), 0),
                             element_text(make_array<T>(scalar, {want[i]}), 0));
        }
      return "";
    });
    if (!found.empty()) return found + "\n" + print(kernel);
  }
  return "";
}

inline KernelData with_inputs(const Kernel& kernel, std::uint64_t seed) {
  KernelData data(kernel);
  property::Dice dice(seed);
  property::fill_inputs(kernel, data, dice);
  return data;
}

}  // namespace heddle::gpu
