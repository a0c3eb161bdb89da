// Arrays held against each other, and in a few figures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heddle/array.h"

namespace heddle {

struct Tolerance {
  std::optional<double> rtol, atol;  // none: by the element type
};

// How far a result lies from what was recorded.
struct Comparison {
  std::int64_t outside = 0, elements = 0;
  double largest = 0;  // difference
  double rtol = 0, atol = 0;
  std::string complaint;  // of the worst element; empty where all agree
};
Comparison compare_arrays(const Array& actual, const Array& expected, const Tolerance& tolerance);

struct Summary {
  double least = 0, most = 0, mean = 0;
  std::uint64_t checksum = 0;
  std::string value;  // of a scalar, or the elements of a small array: "[[1, 2], [3, 4]]"
};
// So many elements are shown one by one.
inline constexpr std::int64_t kFewElements = 8;
Summary summarize(const Array& array);

}  // namespace heddle
