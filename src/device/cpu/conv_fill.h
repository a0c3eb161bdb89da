// Lays out what the window of a convolution sees, as a matrix for products. What lies side by side
// in the input is copied as one run.
#pragma once

#include <cstring>

#include "device/cpu/conv_plan.h"

namespace heddle::cpu {

// What of the sum a tile covers: whole windows with all inputs, or some inputs of one element.
struct Depth {
  std::int64_t window = 0, window_end = 0, input = 0, input_end = 0;
  std::int64_t size() const { return (window_end - window) * (input_end - input); }
};

template <typename T>
class WindowFill {
 public:
  explicit WindowFill(const ConvPlan& plan) : plan_(plan) {}

  // One line per row, for input features that lie side by side.
  void by_rows(const T* input, std::int64_t first, std::int64_t last, const Depth& depth,
               T* seen) const {
    const std::int64_t count = depth.input_end - depth.input;
    for (std::int64_t row = first; row < last; ++row) {
      const auto [image, place] = plan_.split(row);
      const std::int64_t* outer = plan_.outer_sources(place);
      const std::int64_t* lines = plan_.last_sources(place);
      const T* base = input + image * plan_.in_batch + depth.input;
      for (std::int64_t w = depth.window; w < depth.window_end;) {
        const std::int64_t begin = w % plan_.last_window;
        const std::int64_t end = std::min(plan_.last_window, begin + depth.window_end - w);
        const std::int64_t from = outer[w / plan_.last_window];
        if (from < 0)
          std::fill_n(seen, (end - begin) * count, T{});
        else
          line(base + from, lines, begin, end, count, seen);
        seen += (end - begin) * count;
        w += end - begin;
      }
    }
  }

  // One line of all rows per element of the window and input feature.
  void by_columns(const T* input, std::int64_t first, std::int64_t last, const Depth& depth,
                  T* seen) const {
    std::vector<Run> runs;
    for (std::int64_t w = depth.window; w < depth.window_end; ++w) {
      find_runs(first, last, w, runs);
      for (std::int64_t i = depth.input; i < depth.input_end; ++i) {
        const T* base = input + i * plan_.in_feature;
        for (const Run& run : runs) {
          if (run.from < 0)
            std::fill_n(seen, run.count, T{});
          else if (run.step == 1)
            copy(base + run.from, run.count, seen);
          else
            for (std::int64_t r = 0; r < run.count; ++r) seen[r] = base[run.from + r * run.step];
          seen += run.count;
        }
      }
    }
  }

 private:
  // Rows one after the other that read at even steps; from < 0: padding.
  struct Run {
    std::int64_t from = -1, count = 0, step = 0;
  };

  // A call for a few elements would cost more than they do.
  static void copy(const T* from, std::int64_t count, T* to) {
    constexpr std::size_t kPiece = 16;
    auto bytes = static_cast<std::size_t>(count) * sizeof(T);
    const auto* source = reinterpret_cast<const std::byte*>(from);
    auto* target = reinterpret_cast<std::byte*>(to);
    if (bytes >= 16 * kPiece) {
      std::memcpy(target, source, bytes);
      return;
    }
    for (; bytes >= kPiece; bytes -= kPiece, source += kPiece, target += kPiece)
      std::memcpy(target, source, kPiece);
    for (; bytes > 0; bytes -= sizeof(T), source += sizeof(T), target += sizeof(T))
      std::memcpy(target, source, sizeof(T));
  }

  // Elements begin … end - 1 of the window along the last dimension, `count` features each.
  static void line(const T* base, const std::int64_t* sources, std::int64_t begin, std::int64_t end,
                   std::int64_t count, T* seen) {
    while (begin < end) {
      std::int64_t next = begin + 1;
      if (sources[begin] < 0) {
        std::fill_n(seen, count, T{});
      } else {
        while (next < end && sources[next] == sources[next - 1] + count) ++next;
        copy(base + sources[begin], (next - begin) * count, seen);
      }
      seen += (next - begin) * count;
      begin = next;
    }
  }

  void find_runs(std::int64_t first, std::int64_t last, std::int64_t w,
                 std::vector<Run>& runs) const {
    runs.clear();
    const std::int64_t outer = w / plan_.last_window, inner = w % plan_.last_window;
    for (std::int64_t row = first; row < last;) {
      const auto [image, place] = plan_.split(row);
      // With images inside, all of a place's images follow one another.
      const std::int64_t count = plan_.batch_inside ? std::min(plan_.batch - image, last - row) : 1;
      const std::int64_t a = plan_.outer_sources(place)[outer];
      const std::int64_t b = plan_.last_sources(place)[inner];
      add_run({a < 0 || b < 0 ? -1 : a + b + image * plan_.in_batch, count, 1}, runs);
      row += count;
    }
  }

  static void add_run(const Run& next, std::vector<Run>& runs) {
    if (!runs.empty()) {
      Run& run = runs.back();
      const std::int64_t step = run.count == 1 && next.count == 1 ? next.from - run.from : run.step;
      const bool both_empty = run.from < 0 && next.from < 0;
      const bool goes_on = run.from >= 0 && next.from >= 0 && step > 0 &&
                           (next.count == 1 || step == 1) &&
                           next.from == run.from + run.count * step;
      if (both_empty || goes_on) {
        if (goes_on) run.step = step;
        run.count += next.count;
        return;
      }
    }
    runs.push_back(next);
  }

  const ConvPlan& plan_;
};

}  // namespace heddle::cpu
