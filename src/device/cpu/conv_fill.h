// Lays out what the window of a convolution sees, as a matrix for products. What lies side by side
// in the input is copied as one run.
#pragma once

#include <algorithm>
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
    const std::int64_t count = depth.input_end - depth.input, width = plan_.last_window;
    const bool whole = depth.window % width == 0 && depth.window_end % width == 0;
    const std::int64_t from_line = depth.window / width, to_line = depth.window_end / width;
    for (std::int64_t row = first; row < last; ++row) {
      const auto [image, place] = plan_.split(row);
      const std::int64_t* outer = plan_.outer_sources(place);
      const std::int64_t* inner = plan_.last_sources(place);
      const auto& run = plan_.window_lines[static_cast<std::size_t>(place % plan_.last_place)];
      const T* base = input + image * plan_.in_batch + depth.input;
      if (whole && run.even && (run.step == count || run.end - run.begin <= 1)) {
        for (std::int64_t l = from_line; l < to_line; ++l, seen += width * count)
          one_run(base, outer[l], run, count, seen);
        continue;
      }
      for (std::int64_t w = depth.window; w < depth.window_end; ++w, seen += count) {
        const std::int64_t a = outer[w / width], b = inner[w % width];
        if (a < 0 || b < 0)
          std::fill_n(seen, count, T{});
        else
          copy(base + a + b, count, seen);
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

  // A line of the window of which one run is there.
  void one_run(const T* base, std::int64_t outer, const ConvPlan::Line& run, std::int64_t count,
               T* seen) const {
    if (outer < 0 || run.begin == run.end) {
      std::fill_n(seen, plan_.last_window * count, T{});
      return;
    }
    if (run.begin > 0) std::fill_n(seen, run.begin * count, T{});
    copy(base + outer + run.from, (run.end - run.begin) * count, seen + run.begin * count);
    if (run.end < plan_.last_window)
      std::fill_n(seen + run.end * count, (plan_.last_window - run.end) * count, T{});
  }

  void find_runs(std::int64_t first, std::int64_t last, std::int64_t w,
                 std::vector<Run>& runs) const {
    runs.clear();
    const std::int64_t outer = w / plan_.last_window, inner = w % plan_.last_window;
    const ConvPlan::Line& line = plan_.place_lines[static_cast<std::size_t>(inner)];
    for (std::int64_t row = first; row < last;) {
      const auto [image, place] = plan_.split(row);
      if (line.even && !plan_.batch_inside) {
        row += add_line(image, place, last - row, outer, line, runs);
        continue;
      }
      // With images inside, all of a place's images follow one another.
      const std::int64_t count = plan_.batch_inside ? std::min(plan_.batch - image, last - row) : 1;
      const std::int64_t a = plan_.outer_sources(place)[outer];
      const std::int64_t b = plan_.last_sources(place)[inner];
      add_run({a < 0 || b < 0 ? -1 : a + b + image * plan_.in_batch, count, 1}, runs);
      row += count;
    }
  }

  // The rest of a line of places; gives how many rows that were.
  std::int64_t add_line(std::int64_t image, std::int64_t place, std::int64_t most,
                        std::int64_t outer, const ConvPlan::Line& line,
                        std::vector<Run>& runs) const {
    const std::int64_t begin = place % plan_.last_place;
    const std::int64_t end = std::min(plan_.last_place, begin + most);
    const std::int64_t from = plan_.outer_sources(place)[outer];
    const std::int64_t there = std::clamp(line.begin, begin, end);
    const std::int64_t gone = from < 0 ? there : std::clamp(line.end, there, end);
    const std::int64_t offset =
        from + image * plan_.in_batch + line.from + (there - line.begin) * line.step;
    if (there > begin) runs.push_back({-1, there - begin, 0});
    if (gone > there) runs.push_back({offset, gone - there, line.step});
    if (end > gone) runs.push_back({-1, end - gone, 0});
    return end - begin;
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
