// Law of LayoutMap, which the simulator and the pictures enumerate layouts with.
#include <gtest/gtest.h>

#include "generate.h"
#include "layout/map.h"

namespace heddle::property {
namespace {

struct Cell {
  Index x;
  Place place;
  bool owned;
  friend auto operator<=>(const Cell&, const Cell&) = default;
};

std::vector<Cell> visited(const Layout& layout, bool with_halo) {
  const LayoutMap map(layout);
  std::vector<Cell> all;
  map.for_each_cell(
      [&](std::span<const std::int64_t> x, const std::vector<std::int64_t>& position, std::size_t,
          std::size_t, bool owned) {
        Cell cell{{x.begin(), x.end()}, {}, owned};
        for (const AxisValue& v : map.coord(position)) move(cell.place, v.axis, v.value);
        all.push_back(cell);
      },
      with_halo);
  std::sort(all.begin(), all.end());
  return all;
}

// Every index of every innermost run and of the halo round it: the run goes on, past both ends.
std::vector<Cell> wanted(const Layout& layout, bool with_halo) {
  const Oracle oracle(layout);
  const std::size_t rank = layout.rank();
  const auto pieces = cut_digits(layout.digits(), oracle.padded);
  Digits run(rank);  // the innermost digit of each dimension that has a halo
  Index starts, lengths;
  for (std::size_t d = 0; d < rank; ++d) {
    const DimInfo& dim = layout.dims()[d];
    if (with_halo && dim.has_halo() && pieces && !(*pieces)[d].empty())
      run[d] = (*pieces)[d].back();
    starts.push_back(oracle.padded[d] / number(run[d].extent));
    lengths.push_back(number(run[d].extent) + (with_halo ? dim.halo_lo + dim.halo_hi : 0));
  }
  std::vector<Cell> all;
  each_index(starts, [&](const Index& start) {
    each_index(lengths, [&](const Index& step) {
      Index u(rank), x(rank);
      Place beyond{};
      bool owned = true;
      for (std::size_t d = 0; d < rank; ++d) {
        const DimInfo& dim = layout.dims()[d];
        const std::int64_t length = number(run[d].extent);
        const std::int64_t j = step[d] - (with_halo ? dim.halo_lo : 0);
        u[d] = start[d] * length;
        x[d] = u[d] + j + dim.origin;
        if (x[d] < 0 || x[d] >= oracle.size[d]) return;
        owned = owned && j >= 0 && j < length;
        if (run[d].axis != kNoAxis) move(beyond, run[d].axis, j * number(run[d].stride));
      }
      const Place base = plus(oracle.affine(flatten(oracle.padded, u)), beyond);
      for (const Place& p : oracle.contributions())
        for (const Place& r : oracle.copies())
          all.push_back({x, oracle.swizzle(plus(plus(base, p), r)), owned});
    });
  });
  std::sort(all.begin(), all.end());
  return all;
}

HEDDLE_LAW_REFUSING(Map, VisitsEveryCellOnce, 0.1) {
  Recipe recipe;
  recipe.large = false;
  const Layout layout = random_layout(choices, recipe);
  require(visited(layout, false) == wanted(layout, false), [&] { return show(layout); });
}

HEDDLE_LAW_REFUSING(Map, VisitsTheHaloOfEveryRun, 0.1) {
  Recipe recipe;
  recipe.large = false;
  recipe.separate = true;
  recipe.most_rank = 2;
  recipe.most = 16;
  LayoutParts parts = random_parts(choices, recipe);
  for (DimInfo& dim : parts.dims) {
    dim.halo_lo = choices.pick({0, 0, 1, 2});
    dim.halo_hi = choices.pick({0, 0, 1, 2});
  }
  const auto layout = Layout::make(parts);
  if (!layout) leave_out();
  require(visited(*layout, true) == wanted(*layout, true), [&] { return show(*layout); });
}

}  // namespace
}  // namespace heddle::property
