// Laws of tile and direct sum, and of what takes them apart again.
#include <gtest/gtest.h>

#include "generate.h"

namespace heddle::property {
namespace {

// 1 + the distance between the first and the last position on each axis, by looking at all cells.
Place spans(const Layout& layout) {
  LayoutParts parts = layout.parts();
  parts.swizzle.reset();
  const Oracle oracle(parts);
  Place low = oracle.all_cells(0)[0];
  Place high = low;
  for (std::int64_t u = 0; u < oracle.elements; ++u)
    for (const Place& cell : oracle.all_cells(u))
      for (std::size_t a = 0; a < kAxes; ++a) {
        low[a] = std::min(low[a], cell[a]);
        high[a] = std::max(high[a], cell[a]);
      }
  for (std::size_t a = 0; a < kAxes; ++a) high[a] += 1 - low[a];
  return high;
}

Place times(Place place, const Place& scale) {
  for (std::size_t i = 0; i < kAxes; ++i) place[i] *= scale[i];
  return place;
}

// The cells of outer(u) * scale + inner(v).
Cells combined(const Cells& outer, const Place& scale, const Cells& inner) {
  Cells all;
  for (const Copies& p : outer)
    for (const Copies& q : inner) {
      Copies copies;
      for (const Place& a : p)
        for (const Place& b : q) copies.push_back(plus(times(a, scale), b));
      all.push_back(distinct(std::move(copies)));
    }
  std::sort(all.begin(), all.end());
  return all;
}

void require_combination(const Layout& outer, const Place& scale, const Layout& inner,
                         const Layout& whole) {
  const auto say = [&] { return show(outer) + show(inner) + show(whole); };
  const Oracle a(outer);
  const Oracle b(inner);
  const Oracle w(whole);
  require(outer.rank() == whole.rank(), say);
  for (std::size_t d = 0; d < outer.rank(); ++d)
    require(w.size[d] == a.size[d] * b.size[d] && w.padded[d] == a.padded[d] * b.padded[d] &&
                w.origin[d] == a.origin[d] * b.size[d],
            say);
  if (w.contributions().size() > 1)
    require(whole.reduce() == (outer.partials().empty() ? inner.reduce() : outer.reduce()), say);
  each_index(a.padded, [&](const Index& x) {
    const Cells left = a.cells(flatten(a.padded, x));
    each_index(b.padded, [&](const Index& y) {
      Index z(x.size());
      for (std::size_t d = 0; d < x.size(); ++d) z[d] = x[d] * b.padded[d] + y[d];
      const Cells want = combined(left, scale, b.cells(flatten(b.padded, y)));
      require(w.cells(flatten(w.padded, z)) == want, [&] { return show(z) + say(); });
    });
  });
}

bool separates(const Layout& layout) { return group(layout, layout.padded_shape()).ok(); }

// Whether copies and contributions of both together count up on every axis.
bool fibres_count_up(const Layout& outer, const Place& scale, const Layout& inner) {
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    auto sums = [&](const std::vector<Place>& a, const std::vector<Place>& b) {
      std::set<std::int64_t> all;
      for (const Place& p : a)
        for (const Place& q : b) all.insert(p[axis] * std::int64_t{scale[axis]} + q[axis]);
      return std::vector<std::int64_t>(all.begin(), all.end());
    };
    const Oracle a(outer);
    const Oracle b(inner);
    if (!counts_up(sums(a.copies(), b.copies()))) return false;
    if (!counts_up(sums(a.contributions(), b.contributions()))) return false;
  }
  return true;
}

// Contributions that meet on one cell cannot be told apart.
bool contributions_meet(const Layout& outer, const Place& scale, const Layout& inner) {
  const Oracle a(outer);
  const Oracle b(inner);
  std::vector<Place> sums;
  for (const Place& p : a.contributions())
    for (const Place& q : b.contributions()) sums.push_back(plus(times(p, scale), q));
  return distinct(sums).size() != sums.size();
}

bool reductions_clash(const Layout& outer, const Layout& inner) {
  return !outer.partials().empty() && !inner.partials().empty() && outer.reduce() != inner.reduce();
}

struct Pair {
  Layout outer, inner;
};

Pair random_pair(Choices& choices, bool swizzle = false) {
  Recipe recipe;
  recipe.large = false;
  recipe.most = choices.pick({6, 12, 24});
  recipe.swizzle = swizzle;
  LayoutParts a = random_parts(choices, recipe);
  recipe.uneven = false;
  recipe.most = choices.pick({4, 8, 16});
  LayoutParts b = random_parts(choices, recipe);
  // The same rank, with dimensions of one element in front.
  while (a.dims.size() < b.dims.size()) a.dims.insert(a.dims.begin(), DimInfo{});
  while (b.dims.size() < a.dims.size()) b.dims.insert(b.dims.begin(), DimInfo{});
  if (!choices.one_in(6)) b.reduce = a.reduce;
  auto outer = Layout::make(a);
  auto inner = Layout::make(b);
  if (!outer || !inner) leave_out();
  return {*outer, *inner};
}

// A no needs a reason that counting confirms.
void require_reason(const Pair& p, const Place& scale, const std::string& why) {
  require(reductions_clash(p.outer, p.inner) || !separates(p.outer) || !separates(p.inner) ||
              !fibres_count_up(p.outer, scale, p.inner) ||
              contributions_meet(p.outer, scale, p.inner),
          [&] { return why + show(p.outer) + show(p.inner); });
}

Place ones() {
  Place place;
  place.fill(1);
  return place;
}

HEDDLE_LAW_REFUSING(Tile, IsOuterTimesSpanPlusInner, 0.35) {
  const Pair p = random_pair(choices);
  const Place scale = spans(p.inner);
  const auto whole = tile(p.outer, p.inner);
  if (!whole) {
    require_reason(p, scale, whole.reason());
    leave_out();
  }
  require_combination(p.outer, scale, p.inner, *whole);
}

HEDDLE_LAW_REFUSING(Tile, UntileGivesTheOuterBack, 0.35) {
  const Pair p = random_pair(choices);
  const auto whole = tile(p.outer, p.inner);
  if (!whole) leave_out();
  const auto outer = untile(*whole, p.inner);
  require(outer && *outer == p.outer,
          [&] { return show(p.outer) + show(p.inner) + show(whole) + show(outer); });
}

HEDDLE_LAW_REFUSING(Tile, UntileOuterGivesTheInnerBack, 0.35) {
  const Pair p = random_pair(choices);
  const auto whole = tile(p.outer, p.inner);
  if (!whole) leave_out();
  const auto inner = untile_outer(*whole, p.outer);
  require(inner && *inner == p.inner,
          [&] { return show(p.outer) + show(p.inner) + show(whole) + show(inner); });
}

// Taking apart something that was not put together so must not invent an answer.
HEDDLE_LAW_REFUSING(Tile, UntileOfAnythingIsRightOrNo, 0.25) {
  const Pair p = random_pair(choices);
  if (auto outer = untile(p.outer, p.inner)) {
    const auto again = tile(*outer, p.inner);
    require(again && *again == p.outer,
            [&] { return show(p.outer) + show(p.inner) + show(outer); });
  }
  if (auto inner = untile_outer(p.outer, p.inner)) {
    const auto again = tile(p.inner, *inner);
    require(again && *again == p.outer,
            [&] { return show(p.outer) + show(p.inner) + show(inner); });
  }
}

// Elements on one line of memory, perhaps with copies.
Layout random_line(Choices& choices, std::int64_t count, std::int64_t most_stride) {
  LayoutParts parts;
  parts.dims = {{count, count, 0, 0, 0}};
  for (const std::int64_t e : choices.pick(factorizations(count)))
    parts.digits.push_back({e, choices.between(0, most_stride), world().mem});
  if (choices.one_in(3))
    parts.replicas.push_back({choices.between(2, 3), choices.between(1, 8), world().mem});
  return Layout::make(parts).value();
}

// Tries every outer layout: its digits by their extents, its copies by their number and distance.
HEDDLE_LAW(Tile, UntileSaysNoOnlyWhereThereIsNoOuter) {
  const std::int64_t count = choices.pick({2, 3, 4, 6});
  const Layout inner = random_line(choices, choices.pick({2, 3, 4}), 2);
  const Layout whole = random_line(choices, count * number(inner.dims()[0].size), 8);
  const auto outer = untile(whole, inner);
  if (outer) return;
  const Oracle w(whole);
  const std::int32_t span_of_inner = spans(inner)[world().mem];
  for (const Index& extents : factorizations(count)) {
    LayoutParts parts;
    parts.dims = {{count, count, 0, 0, 0}};
    std::int64_t place = w.elements;
    for (const std::int64_t extent : extents) {
      place /= extent;
      const std::int64_t by = w.affine(place)[world().mem] - w.affine(0)[world().mem];
      parts.digits.push_back({extent, by / span_of_inner, world().mem});
    }
    for (std::int64_t copies = 1; copies <= 3; ++copies)
      for (std::int64_t apart = 1; apart <= 8; ++apart) {
        parts.replicas = {{copies, apart, world().mem}};
        const auto candidate = Layout::make(parts);
        const auto again = candidate ? tile(*candidate, inner) : candidate;
        require(!again || !same_map(*again, whole),
                [&] { return outer.reason() + show(whole) + show(inner) + show(candidate); });
      }
  }
}

HEDDLE_LAW_REFUSING(Sum, IsOuterPlusInner, 0.45) {
  const Pair p = random_pair(choices);
  const auto whole = direct_sum(p.outer, p.inner);
  if (!whole) {
    require_reason(p, ones(), whole.reason());
    leave_out();
  }
  require_combination(p.outer, ones(), p.inner, *whole);
}

// Overlapping copies forget what they were made of; then the sum of what is found is enough.
HEDDLE_LAW_REFUSING(Sum, UnsumGivesTheOuterBack, 0.45) {
  const Pair p = random_pair(choices);
  const auto whole = direct_sum(p.outer, p.inner);
  if (!whole) leave_out();
  const auto say = [&, whole] { return show(p.outer) + show(p.inner) + show(whole); };
  const auto outer = unsum(*whole, p.inner);
  const std::size_t copies = Oracle(*whole).copies().size();
  if (copies == Oracle(p.outer).copies().size() * Oracle(p.inner).copies().size()) {
    require(outer && *outer == p.outer, [&] { return say() + show(outer); });
  } else if (outer) {
    const auto again = direct_sum(*outer, p.inner);
    require(again && *again == *whole, [&] { return say() + show(outer); });
  }
}

HEDDLE_LAW_REFUSING(Sum, UnsumOfAnythingIsRightOrNo, 0.25) {
  const Pair p = random_pair(choices);
  const auto outer = unsum(p.outer, p.inner);
  if (!outer) return;
  const auto again = direct_sum(*outer, p.inner);
  require(again && *again == p.outer, [&] { return show(p.outer) + show(p.inner) + show(outer); });
}

HEDDLE_LAW_REFUSING(Tile, OfSwizzledLayoutsIsPointwise, 0.45) {
  const Pair p = random_pair(choices, true);
  if (auto whole = tile(p.outer, p.inner)) {
    require_combination(p.outer, spans(p.inner), p.inner, *whole);
    const auto outer = untile(*whole, p.inner);
    const auto again = outer ? tile(*outer, p.inner) : outer;
    require(again && *again == *whole,
            [&] { return show(p.outer) + show(p.inner) + show(whole) + show(outer); });
    const auto inner = untile_outer(*whole, p.outer);
    const auto back = inner ? tile(p.outer, *inner) : inner;
    require(!inner || (back && *back == *whole),
            [&] { return show(p.outer) + show(p.inner) + show(whole) + show(inner); });
  }
  if (auto whole = direct_sum(p.outer, p.inner)) {
    require_combination(p.outer, ones(), p.inner, *whole);
    const auto outer = unsum(*whole, p.inner);
    const auto again = outer ? direct_sum(*outer, p.inner) : outer;
    require(!outer || (again && *again == *whole),
            [&] { return show(p.outer) + show(p.inner) + show(whole) + show(outer); });
  }
}

}  // namespace
}  // namespace heddle::property
