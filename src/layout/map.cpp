#include "layout/map.h"

#include <algorithm>

#include "layout/digits.h"

namespace heddle {

using namespace detail;

std::int64_t coord_on(const Coord& coord, AxisId axis) {
  for (const AxisValue& v : coord)
    if (v.axis == axis) return v.value;
  return 0;
}

void for_each_index_of(std::span<const std::int64_t> shape,
                       const std::function<void(std::span<const std::int64_t>)>& visit) {
  for (std::int64_t s : shape)
    if (s <= 0) return;
  Index x(shape.size(), 0);
  for (;;) {
    visit(x);
    std::size_t d = shape.size();
    while (d > 0 && ++x[d - 1] == shape[d - 1]) x[--d] = 0;
    if (d == 0) return;
  }
}

LayoutMap::LayoutMap(const Layout& layout, bool fibres) : layout_(layout), axes_(axes_of(layout)) {
  HEDDLE_CHECK(layout.concrete(), "bind symbolic sizes before enumerating");
  for (const Iter& i : layout.digits())
    digits_.push_back(
        {i.extent.factor(), i.stride.factor(), i.axis == kNoAxis ? -1 : slot(i.axis)});
  for (const DimInfo& d : layout.dims()) {
    padded_.push_back(d.padded.factor());
    size_.push_back(d.size.factor());
    origin_.push_back(d.origin);
  }
  base_.assign(axes_.size(), 0);
  for (const AxisOffset& o : layout.offset()) base_[slot(o.axis)] = o.value.factor();
  replica_offsets_ = offsets_of(fibres ? layout.replicas() : Digits{});
  partial_offsets_ = offsets_of(fibres ? layout.partials() : Digits{});
}

int LayoutMap::slot(AxisId axis) const {
  return static_cast<int>(std::lower_bound(axes_.begin(), axes_.end(), axis) - axes_.begin());
}

std::vector<std::vector<std::int64_t>> LayoutMap::offsets_of(const std::vector<Iter>& iters) const {
  std::vector<std::vector<std::int64_t>> all = {std::vector<std::int64_t>(axes_.size(), 0)};
  for (const Iter& i : iters) {
    std::vector<std::vector<std::int64_t>> next;
    for (const auto& base : all)
      for (std::int64_t d = 0; d < i.extent.factor(); ++d) {
        next.push_back(base);
        next.back()[slot(i.axis)] += d * i.stride.factor();
      }
    all = std::move(next);
  }
  return all;
}

bool LayoutMap::has(std::span<const std::int64_t> x) const {
  if (x.size() != size_.size()) return false;
  for (std::size_t d = 0; d < x.size(); ++d) {
    std::int64_t u = x[d] - origin_[d];
    if (x[d] < 0 || x[d] >= size_[d] || u < 0 || u >= padded_[d]) return false;
  }
  return true;
}

void LayoutMap::add_flat(std::int64_t flat, std::vector<std::int64_t>& position) const {
  for (std::size_t i = digits_.size(); i-- > 0;) {
    const Digit& g = digits_[i];
    if (g.axis >= 0) position[g.axis] += flat % g.extent * g.stride;
    flat /= g.extent;
  }
}

void LayoutMap::finish(std::vector<std::int64_t>& position) const {
  if (!layout_.swizzle()) return;
  std::int64_t& address = position[slot(layout_.swizzle()->axis)];
  address = layout_.swizzle()->apply(address);
}

std::vector<std::int64_t> LayoutMap::at(std::span<const std::int64_t> x, std::size_t r,
                                        std::size_t p) const {
  std::vector<std::int64_t> position = base_;
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < x.size(); ++d) flat = flat * padded_[d] + (x[d] - origin_[d]);
  add_flat(flat, position);
  for (std::size_t a = 0; a < position.size(); ++a)
    position[a] += replica_offsets_[r][a] + partial_offsets_[p][a];
  finish(position);
  return position;
}

Coord LayoutMap::coord(const std::vector<std::int64_t>& position) const {
  Coord c;
  for (std::size_t a = 0; a < axes_.size(); ++a) c.push_back({axes_[a], position[a]});
  return c;
}

void LayoutMap::for_each_index(
    const std::function<void(std::span<const std::int64_t>)>& visit) const {
  for_each_index_of(size_, [&](std::span<const std::int64_t> x) {
    if (has(x)) visit(x);
  });
}

void LayoutMap::for_each_cell(const Visit& visit, bool with_halo) const {
  for_each_index([&](std::span<const std::int64_t> x) {
    for (std::size_t r = 0; r < replicas(); ++r)
      for (std::size_t p = 0; p < partials(); ++p) visit(x, at(x, r, p), r, p, true);
  });
  bool any = std::any_of(layout_.dims().begin(), layout_.dims().end(),
                         [](const DimInfo& d) { return d.has_halo(); });
  if (!with_halo || !any) return;
  auto groups = group(layout_, layout_.padded_shape());
  HEDDLE_CHECK(groups.ok(), "halo on digits that do not group");
  // Each halo dimension is walked as (outer, j) with j past the ends of the innermost run.
  const std::size_t rank = size_.size();
  std::vector<std::int64_t> run(rank, 1);
  std::vector<std::int64_t> walk;
  std::vector<Digit> inner(rank, Digit{1, 0, -1});
  for (std::size_t d = 0; d < rank; ++d) {
    const DimInfo& info = layout_.dims()[d];
    if (info.has_halo() && !(*groups)[d].empty()) {
      const Iter& last = (*groups)[d].back();
      run[d] = last.extent.factor();
      inner[d] = {run[d], last.stride.factor(), last.axis == kNoAxis ? -1 : slot(last.axis)};
    }
    walk.push_back(padded_[d] / run[d]);
    walk.push_back(run[d] + info.halo_lo + info.halo_hi);
  }
  Index x(rank);
  for_each_index_of(walk, [&](std::span<const std::int64_t> w) {
    bool owned = true;
    std::int64_t flat = 0;
    std::vector<std::int64_t> position = base_;
    for (std::size_t d = 0; d < rank; ++d) {
      std::int64_t j = w[2 * d + 1] - layout_.dims()[d].halo_lo;
      x[d] = w[2 * d] * run[d] + j + origin_[d];
      if (x[d] < 0 || x[d] >= size_[d]) return;
      std::int64_t kept = std::clamp<std::int64_t>(j, 0, run[d] - 1);
      if (kept != j) {
        owned = false;
        if (inner[d].axis >= 0) position[inner[d].axis] += (j - kept) * inner[d].stride;
      }
      flat = flat * padded_[d] + w[2 * d] * run[d] + kept;
    }
    if (owned) return;
    add_flat(flat, position);
    for (std::size_t r = 0; r < replicas(); ++r)
      for (std::size_t p = 0; p < partials(); ++p) {
        auto cell = position;
        for (std::size_t a = 0; a < cell.size(); ++a)
          cell[a] += replica_offsets_[r][a] + partial_offsets_[p][a];
        finish(cell);
        visit(x, cell, r, p, false);
      }
  });
}

namespace {

Verdict check_index(const Layout& layout, std::span<const std::int64_t> x) {
  if (!layout.concrete()) return reason("the layout has unknown sizes; bind them first");
  if (x.size() != layout.rank())
    return reason("the index has {} entries and the layout {} dimensions", x.size(), layout.rank());
  for (std::size_t d = 0; d < x.size(); ++d) {
    const DimInfo& dim = layout.dims()[d];
    if (x[d] < 0 || x[d] >= dim.size.factor())
      return reason("index {} is outside dimension {}, which has size {}", x[d], d,
                    dim.size.factor());
    if (x[d] < dim.origin || x[d] - dim.origin >= dim.padded.factor())
      return reason("index {} of dimension {} has no cell: the layout holds {} to {}", x[d], d,
                    dim.origin, dim.origin + dim.padded.factor() - 1);
  }
  return yes();
}

}  // namespace

Expected<Coord> position_of(const Layout& layout, std::span<const std::int64_t> x) {
  HEDDLE_TRY_VOID(check_index(layout, x));
  LayoutMap map(layout, false);
  return map.coord(map.at(x));
}

Expected<std::vector<Coord>> cells(const Layout& layout, std::span<const std::int64_t> x) {
  HEDDLE_TRY_VOID(check_index(layout, x));
  constexpr std::int64_t kMost = 1 << 20;
  std::int64_t count = 1;
  for (const auto* list : {&layout.replicas(), &layout.partials()})
    for (const Iter& i : *list)
      if (__builtin_mul_overflow(count, i.extent.factor(), &count) || count > kMost)
        return reason("[cells] every element has more than {} cells; ask position_of for one",
                      kMost);
  LayoutMap map(layout);
  std::vector<Coord> all;
  for (std::size_t r = 0; r < map.replicas(); ++r)
    for (std::size_t p = 0; p < map.partials(); ++p) all.push_back(map.coord(map.at(x, r, p)));
  return all;
}

}  // namespace heddle
