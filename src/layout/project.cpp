// Parts of a layout and what its axes do.
#include <algorithm>
#include <bit>
#include <numeric>

#include "layout/digits.h"

namespace heddle {

using namespace detail;

Expected<Layout> restrict_to(const Layout& layout, const std::function<bool(AxisId)>& keep) {
  LayoutParts parts = layout.parts();
  for (Iter& i : parts.digits)
    if (i.axis != kNoAxis && !keep(i.axis)) i = {i.extent, 0, kNoAxis};
  auto gone = [&](const auto& i) { return !keep(i.axis); };
  std::erase_if(parts.replicas, gone);
  std::erase_if(parts.partials, gone);
  std::erase_if(parts.offset, gone);
  if (parts.swizzle && !keep(parts.swizzle->axis)) parts.swizzle.reset();
  return Layout::make(std::move(parts));
}

Expected<Layout> mesh_part(const Layout& layout, const AxisRegistry& axes) {
  return restrict_to(layout, [&](AxisId a) { return axes[a].kind == AxisKind::mesh; });
}
Expected<Layout> block_part(const Layout& layout, const AxisRegistry& axes) {
  return restrict_to(layout, [&](AxisId a) {
    return axes[a].kind == AxisKind::kernel && axes[a].inner <= Scope::block;
  });
}
Expected<Layout> thread_part(const Layout& layout, const AxisRegistry& axes) {
  return restrict_to(layout, [&](AxisId a) {
    return axes[a].kind == AxisKind::kernel && axes[a].inner > Scope::block;
  });
}
Expected<Layout> storage_part(const Layout& layout, const AxisRegistry& axes) {
  return restrict_to(layout, [&](AxisId a) { return axes[a].kind == AxisKind::memory; });
}

Expected<Layout> local_part(const Layout& layout, const AxisRegistry& axes) {
  HEDDLE_TRY(auto groups, group(layout, layout.padded_shape()));
  LayoutParts parts = layout.parts();
  parts.digits.clear();
  for (std::size_t d = 0; d < layout.rank(); ++d) {
    Dim extent = 1;
    for (const Iter& i : groups[d]) {
      if (i.axis != kNoAxis && axes[i.axis].kind != AxisKind::memory) continue;
      parts.digits.push_back(i);
      extent = extent * i.extent;
    }
    // Whole where nothing splits it; else a block, whose guard depends on the holder.
    if (!(extent == parts.dims[d].padded)) {
      parts.dims[d].size = parts.dims[d].padded = extent;
      parts.dims[d].origin = 0;
    }
  }
  auto not_memory = [&](const auto& i) { return axes[i.axis].kind != AxisKind::memory; };
  std::erase_if(parts.replicas, not_memory);
  std::erase_if(parts.partials, not_memory);
  std::erase_if(parts.offset, not_memory);
  return Layout::make(std::move(parts));
}

Expected<AxisRole> axis_role(const Layout& layout, AxisId axis) {
  AxisRole role;
  HEDDLE_TRY(auto groups, group(layout, layout.padded_shape()));
  for (std::size_t d = 0; d < groups.size(); ++d) {
    Dim place = layout.dims()[d].padded;
    for (const Iter& digit : groups[d]) {
      place = Dim::quotient(place, digit.extent);
      if (digit.axis == axis) role.splits.push_back({d, digit, place});
    }
  }
  for (const Iter& i : layout.replicas())
    if (i.axis == axis) role.copies = role.copies * i.extent;
  for (const Iter& i : layout.partials())
    if (i.axis == axis) role.contributions = role.contributions * i.extent;
  role.offset = layout.offset_on(axis);
  return role;
}

std::int64_t vector_width(const Layout& layout, AxisId axis, std::int64_t limit) {
  if (layout.rank() == 0 || limit < 2) return 1;
  // Only the boundary before the last dimension matters.
  std::vector<Dim> shape = layout.padded_shape();
  const Dim last_size = shape.back();
  shape.pop_back();
  auto groups = group(layout, std::vector<Dim>{product(shape), last_size});
  if (!groups || groups->back().empty()) return 1;
  const Iter& last = groups->back().back();
  if (last.axis != axis || !last.stride.is(1)) return 1;
  // Every other step, the offset, the run itself and the valid part must be whole vectors.
  std::int64_t width = std::gcd(last.extent.factor(), layout.dims().back().size.factor());
  width = std::gcd(width, layout.dims().back().origin);
  width = std::gcd(width, layout.offset_on(axis).factor());
  bool first = true;
  for (std::size_t d = groups->size(); d-- > 0;)
    for (std::size_t i = (*groups)[d].size(); i-- > 0;) {
      const Iter& it = (*groups)[d][i];
      if (!first && it.axis == axis) width = std::gcd(width, it.stride.factor());
      first = false;
    }
  for (const auto* list : {&layout.replicas(), &layout.partials()})
    for (const Iter& i : *list)
      if (i.axis == axis) width = std::gcd(width, i.stride.factor());
  if (layout.swizzle() && layout.swizzle()->axis == axis)
    width = std::gcd(width, std::int64_t{1} << layout.swizzle()->base);
  std::int64_t power = std::int64_t{1} << std::countr_zero(static_cast<std::uint64_t>(width));
  while (power > limit) power /= 2;
  return power;
}

Expected<Layout> fuse_axes(const Layout& layout, AxisId outer, AxisId inner,
                           std::int64_t inner_size, AxisId fused) {
  if (inner_size < 1) return reason("[fuse] the inner axis has size {}", inner_size);
  if (layout.swizzle()) return reason("[fuse] the layout is swizzled");
  {
    // What the inner axis holds must be known to stay below its size.
    const LayoutParts& p = layout.parts();
    for (const auto* list : {&p.digits, &p.replicas, &p.partials})
      for (const Iter& i : *list)
        if (i.axis == inner && (!i.extent.is_const() || !i.stride.is_const()))
          return reason("[fuse] the inner axis is used by digits of unknown size; bind them first");
    if (!layout.offset_on(inner).is_const())
      return reason("[fuse] the offset on the inner axis is unknown; bind it first");
    Range r = range_on(p, inner);
    if (r.lo < 0 || r.hi >= inner_size)
      return reason("[fuse] positions on the inner axis reach {}; it has size {}",
                    r.lo < 0 ? r.lo : r.hi, inner_size);
  }
  LayoutParts parts = layout.parts();
  auto move = [&](AxisId& axis, Dim& step) {
    if (axis == fused) return false;
    if (axis == outer) step = step * inner_size;
    if (axis == outer || axis == inner) axis = fused;
    return true;
  };
  for (auto* list : {&parts.digits, &parts.replicas, &parts.partials})
    for (Iter& i : *list)
      if (!move(i.axis, i.stride)) return reason("[fuse] the layout uses the fused axis already");
  for (AxisOffset& o : parts.offset)
    if (!move(o.axis, o.value)) return reason("[fuse] the layout uses the fused axis already");
  return Layout::make(std::move(parts));
}

Expected<Layout> split_axis(const Layout& layout, AxisId fused, std::int64_t inner_size,
                            AxisId outer, AxisId inner) {
  if (inner_size < 1) return reason("[split] the inner axis has size {}", inner_size);
  if (!layout.concrete()) return reason("[split] bind unknown sizes first");
  if (layout.swizzle()) return reason("[split] the layout is swizzled");
  LayoutParts parts = layout.parts();
  for (auto* list : {&parts.digits, &parts.replicas, &parts.partials}) {
    Digits out;
    for (const Iter& i : *list) {
      if (i.axis == outer || i.axis == inner)
        return reason("[split] the layout uses the new axes already");
      if (i.axis != fused) {
        out.push_back(i);
        continue;
      }
      std::int64_t s = i.stride.factor();
      std::int64_t e = i.extent.factor();
      if (s % inner_size == 0) {
        out.push_back({e, s / inner_size, outer});
      } else if (std::abs(s) * (e - 1) < inner_size) {
        out.push_back({e, s, inner});
      } else if (s > 0 && inner_size % s == 0 && e % (inner_size / s) == 0) {
        out.push_back({e / (inner_size / s), 1, outer});
        out.push_back({inner_size / s, s, inner});
      } else {
        return reason("[split] the digit {}:{} crosses the boundary at {} unevenly", e, s,
                      inner_size);
      }
    }
    *list = std::move(out);
  }
  std::vector<AxisOffset> offset;
  for (const AxisOffset& o : parts.offset) {
    if (o.axis != fused) {
      offset.push_back(o);
      continue;
    }
    std::int64_t low = ((o.value.factor() % inner_size) + inner_size) % inner_size;
    offset.push_back({outer, (o.value.factor() - low) / inner_size});
    offset.push_back({inner, low});
  }
  parts.offset = std::move(offset);
  Range r = range_on(parts, inner);
  if (r.lo < 0 || r.hi >= inner_size)
    return reason("[split] the offset carries from the inner axis into the outer one");
  return Layout::make(std::move(parts));
}

namespace {

// n neighbours of the last dimension, next to each other on the axis.
Expected<Layout> side_by_side(std::size_t rank, AxisId axis, std::int64_t n) {
  if (n < 1 || rank == 0)
    return reason("cannot take {} elements of {} dimensions together", n, rank);
  LayoutParts atom;
  atom.dims.resize(rank);
  atom.dims.back() = {n, n, 0, 0, 0};
  atom.digits.push_back({n, 1, axis});
  return Layout::make(std::move(atom));
}

}  // namespace

Expected<Layout> pack(const Layout& layout, AxisId axis, std::int64_t n) {
  HEDDLE_TRY(Layout inner, side_by_side(layout.rank(), axis, n));
  auto packed = untile(layout, inner);
  if (!packed)
    return reason("[pack] {} elements do not lie side by side everywhere: {}", n, packed.reason());
  return packed;
}

Expected<Layout> unpack(const Layout& layout, AxisId axis, std::int64_t n) {
  HEDDLE_TRY(Layout inner, side_by_side(layout.rank(), axis, n));
  return tile(layout, inner);
}

}  // namespace heddle
