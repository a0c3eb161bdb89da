#include "device/cpu/conv_depthwise.h"

#include <algorithm>

namespace heddle::cpu {

namespace {

constexpr std::int64_t kAtOnce = 64;  // features

template <typename T>
class Depthwise {
 public:
  Depthwise(const ConvPlan& plan, const T* input, const T* weights, T* result)
      : plan_(plan), input_(input), weights_(weights), result_(result) {}

  void row(std::int64_t row) {
    auto [image, place] = plan_.split(row);
    find_taps(place);
    const T* input = input_ + image * plan_.in_batch;
    T* out = result_ + image * plan_.out_batch;
    for (std::size_t s = plan_.places.size(); s-- > 0; place /= plan_.places[s])
      out += place % plan_.places[s] * plan_.out_spatial[s];
    for (std::int64_t f = 0; f < plan_.groups; f += kAtOnce)
      features(input + f, weights_ + f, std::min(kAtOnce, plan_.groups - f), out + f);
  }

 private:
  struct Tap {
    std::int64_t from, weight;
  };

  // Elements of the window that are there.
  void find_taps(std::int64_t place) {
    taps_.clear();
    const std::int64_t* outer = plan_.outer_sources(place);
    const std::int64_t* inner = plan_.last_sources(place);
    for (std::int64_t a = 0; a < plan_.outer_window; ++a)
      for (std::int64_t b = 0; b < plan_.last_window; ++b)
        if (outer[a] >= 0 && inner[b] >= 0)
          taps_.push_back({outer[a] + inner[b], (a * plan_.last_window + b) * plan_.groups});
  }

  void features(const T* input, const T* weights, std::int64_t count, T* out) const {
    T sums[kAtOnce] = {};
    for (const Tap& tap : taps_) {
      const T* x = input + tap.from;
      const T* w = weights + tap.weight;
      for (std::int64_t f = 0; f < count; ++f) sums[f] += x[f] * w[f];
    }
    std::copy_n(sums, count, out);
  }

  const ConvPlan& plan_;
  const T* input_;
  const T* weights_;
  T* result_;
  std::vector<Tap> taps_;
};

}  // namespace

void run_depthwise(const ConvPlan& plan, DType dtype, const std::byte* input,
                   const std::byte* weights, std::byte* result, std::int64_t first,
                   std::int64_t last) {
  const auto run = [&](auto tag) {
    using T = decltype(tag);
    Depthwise<T> call(plan, reinterpret_cast<const T*>(input), reinterpret_cast<const T*>(weights),
                      reinterpret_cast<T*>(result));
    for (std::int64_t row = first; row < last; ++row) call.row(row);
  };
  if (dtype == DType::f64) return run(double{});
  run(float{});
}

}  // namespace heddle::cpu
