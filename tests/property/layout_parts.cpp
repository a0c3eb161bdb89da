// Laws of parts of a layout, of fused and split axes, and of packed elements.
#include <gtest/gtest.h>

#include "generate.h"

namespace heddle::property {
namespace {

// Every sum of one cell of each part.
std::vector<Place> sums(const std::vector<std::vector<Place>>& parts) {
  std::vector<Place> all = {Place{}};
  for (const auto& part : parts) {
    std::vector<Place> next;
    for (const Place& a : all)
      for (const Place& b : part) next.push_back(plus(a, b));
    all = std::move(next);
  }
  return distinct(std::move(all));
}

void require_recombined(const Layout& whole, const std::vector<Expected<Layout>>& parts) {
  const Oracle oracle(whole);
  std::vector<Oracle> oracles;
  for (const auto& part : parts) {
    require(part.ok(), [&] { return show(whole) + show(part); });
    oracles.emplace_back(*part);
    require(part->dims() == whole.dims(), [&] { return show(whole) + show(part); });
  }
  for (std::int64_t u = 0; u < oracle.elements; ++u) {
    std::vector<std::vector<Place>> cells;
    for (const Oracle& part : oracles) cells.push_back(part.all_cells(u));
    require(sums(cells) == distinct(oracle.all_cells(u)), [&] {
      std::string text = std::to_string(u) + show(whole);
      for (const auto& part : parts) text += show(part);
      return text;
    });
  }
}

Recipe small_parts() {
  Recipe recipe;
  recipe.large = false;
  return recipe;
}

HEDDLE_LAW_REFUSING(Parts, ScopesAddUpToTheWhole, 0.1) {
  const Layout layout = random_layout(choices, small_parts());
  const AxisRegistry& axes = world().axes;
  require_recombined(layout, {mesh_part(layout, axes), block_part(layout, axes),
                              thread_part(layout, axes), storage_part(layout, axes)});
}

HEDDLE_LAW_REFUSING(Parts, ComplementsAddUpToTheWhole, 0.1) {
  const Layout layout = random_layout(choices, small_parts());
  std::set<AxisId> kept;
  for (const AxisId axis : all_axes())
    if (choices.one_in(2)) kept.insert(axis);
  require_recombined(layout, {restrict_to(layout, [&](AxisId a) { return kept.count(a) > 0; }),
                              restrict_to(layout, [&](AxisId a) { return kept.count(a) == 0; })});
}

HEDDLE_LAW_REFUSING(Parts, EachScopeUsesOnlyItsAxes, 0.1) {
  const Layout layout = random_layout(choices, small_parts());
  const World& w = world();
  auto require_only = [&](const Expected<Layout>& part, std::set<AxisId> allowed) {
    require(part.ok(), [&] { return show(layout) + show(part); });
    for (const auto* list : {&part->digits(), &part->replicas(), &part->partials()})
      for (const Iter& i : *list)
        require(i.axis == kNoAxis || allowed.count(i.axis) > 0,
                [&] { return show(layout) + show(part); });
    for (const AxisOffset& o : part->offset())
      require(allowed.count(o.axis) > 0, [&] { return show(layout) + show(part); });
  };
  require_only(mesh_part(layout, w.axes), {w.node, w.gpu, w.tp});
  require_only(block_part(layout, w.axes), {w.block});
  require_only(thread_part(layout, w.axes), {w.warp, w.lane});
  require_only(storage_part(layout, w.axes), {w.mem, w.reg});
}

bool in_memory(AxisId axis) {
  return axis == kNoAxis || world().axes[axis].kind == AxisKind::memory;
}

// Only what lies in memory of a cell.
Place storage_of(Place cell) {
  for (std::size_t a = 0; a < kAxes; ++a)
    if (world().axes.knows(static_cast<AxisId>(a)) && !in_memory(static_cast<AxisId>(a)))
      cell[a] = 0;
  return cell;
}

HEDDLE_LAW_REFUSING(Parts, LocalPartIsWhatEachHolderStores, 0.1) {
  const Layout layout = random_layout(choices, small_parts());
  const auto local = local_part(layout, world().axes);
  const Oracle whole(layout);
  const auto pieces = cut_digits(layout.digits(), whole.padded);
  require(local.ok() == pieces.has_value(), [&] { return show(layout) + show(local); });
  if (!local) return;
  const Oracle part(*local);
  const auto say = [&] { return show(layout) + show(local); };
  for (std::size_t d = 0; d < layout.rank(); ++d) {
    std::int64_t extent = 1;
    for (const Iter& i : (*pieces)[d])
      if (in_memory(i.axis)) extent *= number(i.extent);
    require(part.padded[d] == extent, say);
    if (extent == whole.padded[d]) require(local->dims()[d] == layout.dims()[d], say);
  }
  each_index(whole.padded, [&](const Index& u) {
    Index at(u.size(), 0);
    for (std::size_t d = 0; d < u.size(); ++d) {
      std::int64_t rest = u[d];
      std::int64_t place = 1;
      for (std::size_t i = (*pieces)[d].size(); i-- > 0;) {
        const Iter& digit = (*pieces)[d][i];
        if (in_memory(digit.axis)) {
          at[d] += rest % number(digit.extent) * place;
          place *= number(digit.extent);
        }
        rest /= number(digit.extent);
      }
    }
    std::vector<Place> want;
    for (const Place& cell : whole.all_cells(flatten(whole.padded, u)))
      want.push_back(storage_of(cell));
    require(distinct(want) == distinct(part.all_cells(flatten(part.padded, at))),
            [&] { return show(u) + say(); });
  });
}

// Layouts on warp and lane, the lane mostly below 8.
Layout random_warps(Choices& choices, bool fused) {
  LayoutParts parts;
  std::int64_t extent = 1;
  const std::vector<AxisId> axes =
      fused ? std::vector<AxisId>{world().thread, world().thread, world().mem}
            : std::vector<AxisId>{world().warp, world().lane, world().mem};
  for (std::int64_t n = choices.below(4); n > 0; --n) {
    const std::int64_t e = choices.between(1, 4);
    parts.digits.push_back({e, choices.pick({1, 2, 4, 8, 3, -1, 16}), choices.pick(axes)});
    extent *= e;
  }
  parts.dims = {{extent, extent, 0, 0, 0}};
  if (choices.one_in(2))
    parts.replicas.push_back(
        {choices.between(2, 3), choices.pick({1, 2, 4, 8}), choices.pick(axes)});
  if (choices.one_in(3))
    parts.partials.push_back({2, choices.pick({1, 2, 4, 8}), choices.pick(axes)});
  if (choices.one_in(3)) parts.offset.push_back({choices.pick(axes), choices.between(-2, 9)});
  return Layout::make(parts).value();
}

HEDDLE_LAW(Axes, FuseIsOuterTimesSizePlusInner) {
  const World& w = world();
  const Layout layout = random_warps(choices, false);
  const std::int64_t size = choices.pick({8, 4, 6});
  const auto fused = fuse_axes(layout, w.warp, w.lane, size, w.thread);
  const Oracle from(layout);
  bool fits = true;
  for (std::int64_t u = 0; u < from.elements; ++u)
    for (const Place& cell : from.all_cells(u))
      fits = fits && cell[w.lane] >= 0 && cell[w.lane] < size;
  if (!fused) {
    // Copies and contributions on both axes may interleave on one.
    bool both = false;
    for (const auto* list : {&layout.replicas(), &layout.partials()})
      both = both || list->size() > 1;
    require(!fits || both, [&] { return show(layout) + show(fused); });
    return;
  }
  require(fits, [&] { return show(layout) + show(fused); });
  const Oracle to(*fused);
  for (std::int64_t u = 0; u < from.elements; ++u) {
    Cells want = from.cells(u);
    for (Copies& copies : want) {
      for (Place& cell : copies) {
        cell[w.thread] = static_cast<std::int32_t>(cell[w.warp] * size + cell[w.lane]);
        cell[w.warp] = cell[w.lane] = 0;
      }
      std::sort(copies.begin(), copies.end());
    }
    std::sort(want.begin(), want.end());
    require(to.cells(u) == want, [&] { return show(layout) + show(fused); });
  }
  const auto back = split_axis(*fused, w.thread, size, w.warp, w.lane);
  require(back && *back == layout, [&] { return show(layout) + show(fused) + show(back); });
}

HEDDLE_LAW(Axes, SplitIsQuotientAndRemainder) {
  const World& w = world();
  const Layout layout = random_warps(choices, true);
  const std::int64_t size = choices.pick({8, 4, 6});
  const auto split = split_axis(layout, w.thread, size, w.warp, w.lane);
  if (!split) return;
  const Oracle from(layout);
  const Oracle to(*split);
  for (std::int64_t u = 0; u < from.elements; ++u) {
    Cells want = from.cells(u);
    for (Copies& copies : want) {
      for (Place& cell : copies) {
        const std::int64_t at = cell[w.thread];
        cell[w.lane] = static_cast<std::int32_t>(((at % size) + size) % size);
        cell[w.warp] = static_cast<std::int32_t>((at - cell[w.lane]) / size);
        cell[w.thread] = 0;
      }
      std::sort(copies.begin(), copies.end());
    }
    std::sort(want.begin(), want.end());
    require(to.cells(u) == want, [&] { return show(layout) + show(split); });
  }
  const auto back = fuse_axes(*split, w.warp, w.lane, size, w.thread);
  require(back && *back == layout, [&] { return show(layout) + show(split) + show(back); });
}

// What n neighbours side by side look like, element by element.
void require_unpacked(const Layout& packed, const Layout& wide, AxisId axis, std::int64_t n) {
  const auto say = [&] { return show(packed) + show(wide); };
  const Oracle a(packed);
  const Oracle b(wide);
  require(a.padded.size() == b.padded.size() && b.padded.back() == a.padded.back() * n &&
              b.size.back() == a.size.back() * n && b.origin.back() == a.origin.back() * n,
          say);
  each_index(b.padded, [&](const Index& u) {
    Index v = u;
    const std::int64_t i = v.back() % n;
    v.back() /= n;
    Cells want = a.cells(flatten(a.padded, v));
    for (Copies& copies : want)
      for (Place& cell : copies) cell[axis] = static_cast<std::int32_t>(cell[axis] * n + i);
    require(b.cells(flatten(b.padded, u)) == want, [&] { return show(u) + say(); });
  });
}

HEDDLE_LAW_REFUSING(Pack, UnpackPutsNeighboursSideBySide, 0.4) {
  Recipe recipe = small_parts();
  recipe.swizzle = choices.one_in(3);
  const Layout layout = random_layout(choices, recipe);
  if (layout.rank() == 0) leave_out();
  const std::int64_t n = choices.between(1, 4);
  const auto wide = unpack(layout, world().mem, n);
  if (!wide) {
    require(layout.swizzle() || !cut_digits(layout.digits(), Oracle(layout).padded),
            [&] { return show(layout) + show(wide); });
    return;
  }
  require_unpacked(layout, *wide, world().mem, n);
  const auto back = pack(*wide, world().mem, n);
  require(back && *back == layout, [&] { return show(layout) + show(wide) + show(back); });
}

HEDDLE_LAW_REFUSING(Pack, PackSaysYesExactlyWhereNeighboursLieSideBySide, 0.4) {
  Recipe recipe = small_parts();
  recipe.swizzle = false;
  recipe.separate = true;
  const Layout layout = random_layout(choices, recipe);
  if (layout.rank() == 0) leave_out();
  const std::int64_t n = choices.between(2, 4);
  const AxisId axis = world().mem;
  const auto packed = pack(layout, axis, n);
  const Oracle oracle(layout);
  const DimInfo& last = layout.dims().back();
  bool fits = number(last.size) % n == 0 && number(last.padded) % n == 0 && last.origin % n == 0;
  for (std::int64_t u = 0; fits && u < oracle.elements; ++u) {
    const std::int64_t i = u % n;  // the last dimension divides by n
    const Cells first = oracle.cells(u - i);
    Cells want = first;
    for (Copies& copies : want)
      for (Place& cell : copies) {
        fits = fits && cell[axis] % n == 0;
        cell[axis] += static_cast<std::int32_t>(i);
      }
    fits = fits && oracle.cells(u) == want;
  }
  require(packed.ok() == fits, [&] { return std::to_string(n) + show(layout) + show(packed); });
  if (packed) require_unpacked(*packed, layout, axis, n);
}

}  // namespace
}  // namespace heddle::property
