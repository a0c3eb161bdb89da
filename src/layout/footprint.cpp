#include <algorithm>

#include "layout/digits.h"
#include "layout/map.h"

namespace heddle {

using namespace detail;

bool StridedRun::contains(std::int64_t x) const {
  if (x < lo || x >= hi) return false;
  std::int64_t rest = x - start;
  for (const Level& l : levels) {
    std::int64_t i = std::clamp<std::int64_t>(rest < 0 ? 0 : rest / l.step, 0, l.count - 1);
    rest -= i * l.step;
  }
  return rest == 0;
}

namespace {

// Members of the run from level k on that lie below `limit`, the run starting at 0.
std::int64_t below(const std::vector<StridedRun::Level>& levels, std::size_t k,
                   std::int64_t limit) {
  if (limit <= 0) return 0;
  if (k == levels.size()) return 1;
  std::int64_t inner = 1;
  std::int64_t reach = 1;
  for (std::size_t i = k + 1; i < levels.size(); ++i) {
    inner *= levels[i].count;
    reach += (levels[i].count - 1) * levels[i].step;
  }
  // Whole copies of the inner levels, then the one that is cut.
  std::int64_t whole =
      limit < reach ? 0 : std::min(levels[k].count, (limit - reach) / levels[k].step + 1);
  std::int64_t total = whole * inner;
  if (whole < levels[k].count) total += below(levels, k + 1, limit - whole * levels[k].step);
  return total;
}

}  // namespace

std::int64_t StridedRun::count() const {
  return std::max<std::int64_t>(0, below(levels, 0, hi - start) - below(levels, 0, lo - start));
}

void StridedRun::for_each(const std::function<void(std::int64_t)>& visit) const {
  std::vector<std::int64_t> shape;
  for (const Level& l : levels) shape.push_back(l.count);
  for_each_index_of(shape, [&](std::span<const std::int64_t> i) {
    std::int64_t x = start;
    for (std::size_t k = 0; k < levels.size(); ++k) x += i[k] * levels[k].step;
    if (x >= lo && x < hi) visit(x);
  });
}

std::int64_t Box::count() const {
  std::int64_t n = 1;
  for (const StridedRun& r : dims) n *= r.count();
  return n;
}

bool Box::contains(std::span<const std::int64_t> x) const {
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (!dims[d].contains(x[d])) return false;
  return true;
}

namespace {

// A digit of the layout in one dimension, and the value that the coordinate fixes it to.
struct Placed {
  Iter iter;
  std::size_t dim = 0;
  std::int64_t place = 1;
  std::int64_t value = -1;  // -1: free
};

// All ways to write `rest` with the iters on one axis; values of dimension digits are kept.
void solve(const std::vector<std::pair<Iter, Placed*>>& on_axis, std::size_t k, std::int64_t rest,
           std::vector<std::int64_t>& values, std::vector<std::vector<std::int64_t>>& found,
           int& budget) {
  if (found.size() > 4096 || --budget < 0) return;
  if (k == on_axis.size()) {
    if (rest == 0) found.push_back(values);
    return;
  }
  // What the smaller iters can still reach bounds this one.
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  for (std::size_t i = k + 1; i < on_axis.size(); ++i) {
    std::int64_t far = on_axis[i].first.stride.factor() * (on_axis[i].first.extent.factor() - 1);
    (far < 0 ? lo : hi) += far;
  }
  std::int64_t s = on_axis[k].first.stride.factor();
  std::int64_t e = on_axis[k].first.extent.factor();
  auto floor_div = [](std::int64_t a, std::int64_t b) {
    return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  };
  std::int64_t from = s > 0 ? -floor_div(hi - rest, s) : -floor_div(rest - lo, -s);
  std::int64_t to = s > 0 ? floor_div(rest - lo, s) : floor_div(hi - rest, -s);
  for (std::int64_t v = std::max<std::int64_t>(from, 0); v <= std::min(to, e - 1); ++v) {
    values[k] = v;
    solve(on_axis, k + 1, rest - v * s, values, found, budget);
  }
}

Box make_box(const Layout& layout, const std::vector<Placed>& digits, bool with_halo) {
  Box box;
  for (std::size_t d = 0; d < layout.rank(); ++d) {
    const DimInfo& dim = layout.dims()[d];
    StridedRun run;
    run.start = dim.origin;
    run.lo = 0;
    run.hi = dim.size.factor();
    if (!with_halo) {
      run.lo = std::max<std::int64_t>(run.lo, dim.origin);
      run.hi = std::min(run.hi, dim.origin + dim.padded.factor());
    }
    for (const Placed& p : digits) {
      if (p.dim != d) continue;
      if (p.value >= 0) {
        run.start += p.value * p.place;
        continue;
      }
      StridedRun::Level level{p.iter.extent.factor(), p.place};
      if (with_halo && dim.has_halo() && p.place == 1) {
        run.start -= dim.halo_lo;
        level.count += dim.halo_lo + dim.halo_hi;
      }
      if (level.count == 1) continue;
      if (!run.levels.empty() && run.levels.back().step == level.count * level.step)
        run.levels.back() = {run.levels.back().count * level.count, level.step};
      else
        run.levels.push_back(level);
    }
    // Where widened runs reach into each other, they are one.
    while (run.levels.size() > 1 && run.levels.back().step == 1 &&
           run.levels.back().count >= run.levels[run.levels.size() - 2].step) {
      const StridedRun::Level inner = run.levels.back();
      run.levels.pop_back();
      StridedRun::Level& outer = run.levels.back();
      outer = {(outer.count - 1) * outer.step + inner.count, 1};
    }
    box.dims.push_back(std::move(run));
  }
  return box;
}

// Dimensions that do not separate: every row-aligned run is its own box.
Expected<std::vector<Box>> footprint_flat(const Layout& layout, const Coord& coord,
                                          const AxisRegistry& axes) {
  constexpr std::int64_t kMost = 1 << 20;
  if ((extent_of(layout.digits()) * extent_of(layout.replicas()) * extent_of(layout.partials()))
              .valid() == false ||
      extent_of(layout.digits()).factor() * extent_of(layout.replicas()).factor() *
              extent_of(layout.partials()).factor() >
          kMost)
    return reason("[footprint] the dimensions do not separate and there are more than {} elements",
                  kMost);
  std::vector<Box> boxes;
  LayoutMap map(layout);
  Index previous;
  map.for_each_index([&](std::span<const std::int64_t> x) {
    bool here = false;
    for (std::size_t r = 0; r < map.replicas() && !here; ++r)
      for (std::size_t p = 0; p < map.partials() && !here; ++p) {
        here = true;
        for (const AxisValue& v : map.coord(map.at(x, r, p)))
          here =
              here && (axes[v.axis].kind == AxisKind::memory || v.value == coord_on(coord, v.axis));
      }
    if (!here) return;
    bool extends = !boxes.empty() && std::equal(x.begin(), x.end() - 1, previous.begin()) &&
                   x.back() == previous.back() + 1;
    previous.assign(x.begin(), x.end());
    if (extends) {
      StridedRun& run = boxes.back().dims.back();
      if (run.levels.empty()) run.levels.push_back({1, 1});
      ++run.levels.back().count;
      ++run.hi;
      return;
    }
    Box box;
    for (std::int64_t v : x) box.dims.push_back({v, {}, v, v + 1});
    boxes.push_back(std::move(box));
  });
  return boxes;
}

}  // namespace

Expected<std::vector<Box>> footprint(const Layout& layout, const Coord& coord,
                                     const AxisRegistry& axes, bool with_halo) {
  if (!layout.concrete())
    return reason("[footprint] the layout has unknown sizes; bind them first");
  for (AxisId axis : axes_of(layout))
    if (!axes.knows(axis)) return reason("[footprint] axis number {} is not in the registry", axis);
  // On an axis that the layout does not touch, everything is at 0.
  const std::vector<AxisId> touched = axes_of(layout);
  for (const AxisValue& v : coord)
    if (v.value != 0 && axes.knows(v.axis) && axes[v.axis].kind != AxisKind::memory &&
        !std::binary_search(touched.begin(), touched.end(), v.axis))
      return std::vector<Box>{};
  auto groups = group(layout, layout.padded_shape());
  if (!groups) return footprint_flat(layout, coord, axes);

  std::vector<Placed> digits;
  for (std::size_t d = 0; d < layout.rank(); ++d) {
    std::int64_t place = 1;
    std::size_t at = digits.size();
    for (std::size_t i = (*groups)[d].size(); i-- > 0;) {
      digits.insert(digits.begin() + static_cast<std::ptrdiff_t>(at),
                    {(*groups)[d][i], d, place, -1});
      place *= (*groups)[d][i].extent.factor();
    }
  }
  // Solve axis by axis; several solutions make several boxes.
  std::vector<std::vector<Placed>> choices = {digits};
  for (AxisId axis : axes_of(layout)) {
    if (axes[axis].kind == AxisKind::memory) continue;
    std::vector<std::pair<Iter, Placed*>> on_axis;
    for (Placed& p : digits)
      if (p.iter.axis == axis) on_axis.emplace_back(p.iter, &p);
    for (const auto* list : {&layout.replicas(), &layout.partials()})
      for (const Iter& i : *list)
        if (i.axis == axis) on_axis.emplace_back(i, nullptr);
    std::sort(on_axis.begin(), on_axis.end(), [](const auto& a, const auto& b) {
      return std::abs(a.first.stride.factor()) > std::abs(b.first.stride.factor());
    });
    std::vector<std::int64_t> values(on_axis.size(), 0);
    std::vector<std::vector<std::int64_t>> found;
    int budget = 1 << 20;  // overlapping digits have too many ways to try them all
    solve(on_axis, 0, coord_on(coord, axis) - layout.offset_on(axis).factor(), values, found,
          budget);
    if (budget < 0) return reason("[footprint] the digits on one axis overlap in too many ways");
    std::vector<std::vector<Placed>> next;
    for (const auto& choice : choices)
      for (const auto& solution : found) {
        next.push_back(choice);
        for (std::size_t k = 0; k < on_axis.size(); ++k)
          if (on_axis[k].second != nullptr)
            next.back()[static_cast<std::size_t>(on_axis[k].second - digits.data())].value =
                solution[k];
      }
    choices = std::move(next);
    if (choices.size() > 4096) return reason("[footprint] more than 4096 boxes");
  }
  std::vector<Box> boxes;
  for (const auto& choice : choices) {
    Box box = make_box(layout, choice, with_halo);
    if (std::find(boxes.begin(), boxes.end(), box) == boxes.end()) boxes.push_back(std::move(box));
  }
  std::erase_if(boxes, [](const Box& b) { return b.count() == 0; });
  return boxes;
}

}  // namespace heddle
