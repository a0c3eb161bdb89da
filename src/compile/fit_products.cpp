#include <algorithm>
#include <array>

#include "compile/calibrate_steps.h"

namespace heddle {

namespace {

// A call, operands, results, products and sums.
constexpr std::size_t kParts = 4;
using ProductParts = std::array<double, kParts>;

// Least squares of all figures but those that are left out.
ProductParts least_squares(const std::vector<ProductParts>& rows,
                           const std::array<bool, kParts>& in) {
  double a[kParts][kParts + 1] = {};
  for (const ProductParts& row : rows)
    for (std::size_t i = 0; i < kParts; ++i) {
      for (std::size_t j = 0; j < kParts; ++j) a[i][j] += in[i] && in[j] ? row[i] * row[j] : 0;
      a[i][kParts] += in[i] ? row[i] : 0;  // every relative time is 1
    }
  constexpr double kFirm = 1 + 1e-9;  // fewer products than figures leave no row empty
  for (std::size_t i = 0; i < kParts; ++i) a[i][i] = in[i] && a[i][i] > 0 ? kFirm * a[i][i] : 1;
  for (std::size_t i = 0; i < kParts; ++i)
    for (std::size_t r = 0; r < kParts; ++r) {
      if (r == i) continue;
      const double factor = a[r][i] / a[i][i];
      for (std::size_t c = i; c <= kParts; ++c) a[r][c] -= factor * a[i][c];
    }
  ProductParts found;
  for (std::size_t i = 0; i < kParts; ++i) found[i] = a[i][kParts] / a[i][i];
  return found;
}

}  // namespace

void fit_products(std::span<const TimedProduct> timed, StepFigures& figures) {
  // Scaled, so that numbers of all are alike.
  constexpr ProductParts kScale = {1e-6, 1e-10, 1e-10, 1e-11};
  std::vector<ProductParts> rows;
  for (const auto& [p, seconds] : timed) {
    const double n = computed_columns(p);
    ProductParts row = {1, p.m * p.k + p.k * p.n, p.m * n, 2 * p.m * n * p.k};
    for (std::size_t i = 0; i < kParts; ++i) row[i] *= kScale[i] / seconds;
    rows.push_back(row);
  }
  std::array<bool, kParts> in;
  in.fill(true);
  ProductParts found = {};
  for (std::size_t round = 0; round < kParts; ++round) {
    found = least_squares(rows, in);
    // Products and sums stay: without them the largest would cost no more than their operands.
    const auto last = found.end() - 1;
    auto out = std::min_element(found.begin(), last);
    if (*out >= 0 && *last > 0) break;
    if (*out >= 0) out = std::max_element(found.begin(), last);  // has taken their part
    in[static_cast<std::size_t>(out - found.begin())] = false;
  }
  const auto rate = [&](std::size_t i) { return found[i] > 0 ? 1 / (found[i] * kScale[i]) : 0; };
  figures.product_call = std::max(0.0, found[0]) * kScale[0];
  figures.pack_rate = rate(1);
  figures.result_rate = rate(2);
  figures.product_rate = rate(3);
}

}  // namespace heddle
