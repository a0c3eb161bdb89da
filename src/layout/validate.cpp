#include <algorithm>
#include <vector>

#include "heddle/notation.h"
#include "layout/digits.h"

namespace heddle {

using namespace detail;

namespace {

std::string spell(const Iter& i, const AxisRegistry& axes) {
  return fmt::format("{}:{}@{}", show(i.extent), show(i.stride), axes[i.axis].name);
}

// All sums of the iters' digits.
std::vector<std::int64_t> positions_of(const std::vector<Iter>& iters) {
  std::vector<std::int64_t> positions = {0};
  for (const Iter& i : iters) {
    std::vector<std::int64_t> next;
    for (std::int64_t p : positions)
      for (std::int64_t d = 0; d < i.extent.factor(); ++d)
        next.push_back(p + d * i.stride.factor());
    positions = std::move(next);
  }
  return positions;
}

Verdict check_bounds(const Layout& layout, const AxisRegistry& axes, AxisId axis, std::int64_t lo,
                     std::int64_t hi) {
  const AxisInfo& info = axes[axis];
  if (lo < 0)
    return reason("the layout reaches position {} on axis {}; positions start at 0", lo, info.name);
  std::int64_t uses = 0;
  for (const auto* list : {&layout.digits(), &layout.replicas(), &layout.partials()})
    for (const Iter& i : *list) uses += i.axis == axis ? 1 : 0;
  if (info.size > 0 && hi >= info.size && uses > 1)
    return reason(
        "the layout reaches position {} on axis {}, which has only {}: it is used {} times, and "
        "the "
        "uses multiply; use it once, or parts of it",
        hi, info.name, info.size, uses);
  if (info.size > 0 && hi >= info.size)
    return reason("the layout reaches position {} on axis {}, which has only {}{}", hi, info.name,
                  info.size, layout.offset_on(axis).is_zero() ? "" : "; mind the offset");
  return yes();
}

// Where a swizzle may carry addresses. It stays inside aligned blocks, and only on an axis of
// limited size does it matter where exactly.
Expected<Range> swizzled_range(Range r, const std::vector<Iter>& iters, const Layout& layout,
                               const AxisRegistry& axes) {
  const Swizzle& z = *layout.swizzle();
  const std::int64_t size = axes[z.axis].size;
  const std::int64_t block = (std::int64_t{1} << (z.base + z.bits)) - 1;
  if (r.lo < 0 || size == 0 || (r.hi | block) < size) return r;
  std::int64_t choices = 1;
  for (const Iter& i : iters)
    if (choices <= 1 << 20) choices *= std::min<std::int64_t>(i.extent.factor(), 1 << 21);
  if (choices > 1 << 20)
    return reason("the swizzle cannot be shown to stay inside axis {}", axes[z.axis].name);
  std::vector<std::int64_t> positions = positions_of(iters);
  const std::int64_t lowest = *std::min_element(positions.begin(), positions.end());
  const std::int64_t base = r.lo - lowest;
  r.hi = z.apply(positions.front() + base);
  for (std::int64_t p : positions) r.hi = std::max(r.hi, z.apply(p + base));
  return r;
}

// Whether no two choices of digits meet on one position of the axis.
Verdict check_injective(std::vector<Iter> iters, const AxisRegistry& axes, AxisId axis) {
  for (Iter& i : iters)
    if (i.stride.factor() < 0) i.stride = -i.stride;
  std::sort(iters.begin(), iters.end(),
            [](const Iter& a, const Iter& b) { return a.stride.factor() < b.stride.factor(); });
  __int128 reach = 0;
  bool separate = true;
  std::size_t clash = 0;
  std::int64_t total = 1;
  bool countable = true;
  constexpr std::int64_t kMost = 1 << 20;
  for (std::size_t i = 0; i < iters.size(); ++i) {
    if (i > 0 && iters[i].stride.factor() <= reach && separate) {
      separate = false;
      clash = i;
    }
    reach += static_cast<__int128>(iters[i].stride.factor()) * (iters[i].extent.factor() - 1);
    countable = countable && iters[i].extent.factor() <= kMost / total;
    if (countable) total *= iters[i].extent.factor();
  }
  if (separate) return yes();
  Reason overlap =
      reason("the digits {} and {} overlap: two elements would share one place on axis {}",
             spell(iters[clash - 1], axes), spell(iters[clash], axes), axes[axis].name);
  // More positions than room is an overlap; otherwise look at all of them.
  if (!countable) {
    if (reach + 1 < kMost) return overlap;
    return reason("{} (or cannot be shown not to: there are too many to try)", overlap.text);
  }
  std::vector<std::int64_t> positions = positions_of(iters);
  std::sort(positions.begin(), positions.end());
  if (std::adjacent_find(positions.begin(), positions.end()) != positions.end()) return overlap;
  return yes();
}

}  // namespace

Verdict validate(const Layout& layout, const AxisRegistry& axes) {
  for (AxisId axis : axes_of(layout))
    if (!axes.knows(axis)) return reason("axis number {} is not in the registry", axis);
  if (layout.swizzle() && axes[layout.swizzle()->axis].kind != AxisKind::memory)
    return reason("a swizzle acts on a memory axis; {} is a {} axis",
                  axes[layout.swizzle()->axis].name, name(axes[layout.swizzle()->axis].kind));
  for (const Iter& i : layout.digits())
    if (i.stride.is_zero())
      return reason(
          "{} elements share one cell (a broadcast view); give each its own place or replicate "
          "with R[...]",
          print_dim(i.extent, axes));
  if (!layout.concrete()) return yes();  // the rest is checked once sizes are bound

  // A halo widens the innermost digit of its dimension.
  Digits digits = layout.digits();
  std::vector<std::pair<AxisId, Range>> halo_room;
  bool any_halo = std::any_of(layout.dims().begin(), layout.dims().end(),
                              [](const DimInfo& d) { return d.has_halo(); });
  if (any_halo) {
    auto groups = group(layout, layout.padded_shape());
    if (!groups) return reason("a halo needs dimensions that separate: {}", groups.reason());
    digits.clear();
    for (std::size_t d = 0; d < layout.rank(); ++d) {
      const DimInfo& dim = layout.dims()[d];
      if (dim.has_halo()) {
        if ((*groups)[d].empty() || axes[(*groups)[d].back().axis].kind != AxisKind::memory)
          return reason(
              "the halo of dimension {} needs a memory digit as its fastest: more than one "
              "element of it on each holder",
              d);
        Iter& last = (*groups)[d].back();
        Range extra{-dim.halo_lo * last.stride.factor(), dim.halo_hi * last.stride.factor()};
        if (last.stride.factor() < 0) std::swap(extra.lo, extra.hi);
        halo_room.emplace_back(last.axis, extra);
        last.extent = last.extent.factor() + dim.halo_lo + dim.halo_hi;
      }
      digits.insert(digits.end(), (*groups)[d].begin(), (*groups)[d].end());
    }
  }
  for (AxisId axis : axes_of(layout)) {
    Range r = range_on(layout.parts(), axis);
    for (const auto& [a, extra] : halo_room)
      if (a == axis) r = {r.lo + extra.lo, r.hi + extra.hi};
    std::vector<Iter> here;
    for (const auto* list :
         {static_cast<const Digits*>(&digits), &layout.replicas(), &layout.partials()})
      for (const Iter& i : *list)
        if (i.axis == axis) here.push_back(i);
    if (layout.swizzle() && layout.swizzle()->axis == axis) {
      HEDDLE_TRY(r, swizzled_range(r, here, layout, axes));
    }
    HEDDLE_TRY_VOID(check_bounds(layout, axes, axis, r.lo, r.hi));
    HEDDLE_TRY_VOID(check_injective(std::move(here), axes, axis));
  }
  return yes();
}

Verdict check_scopes(const Layout& layout, const AxisRegistry& axes) {
  std::vector<const AxisInfo*> used;
  for (AxisId axis : axes_of(layout))
    if (axes[axis].kind == AxisKind::kernel) used.push_back(&axes[axis]);
  std::sort(used.begin(), used.end(), [](const AxisInfo* a, const AxisInfo* b) {
    return std::tie(a->outer, a->inner) < std::tie(b->outer, b->inner);
  });
  for (std::size_t i = 1; i < used.size(); ++i) {
    if (used[i]->outer == used[i - 1]->inner) continue;
    HEDDLE_TRY_VOID(check_counted_once(*used[i - 1], *used[i]));
    return reason(
        "axis {} counts {}s inside a {} and axis {} counts {}s inside a {}: nothing counts {}s "
        "inside a {}",
        used[i - 1]->name, name(used[i - 1]->inner), name(used[i - 1]->outer), used[i]->name,
        name(used[i]->inner), name(used[i]->outer), name(used[i]->outer), name(used[i - 1]->inner));
  }
  return yes();
}

}  // namespace heddle
