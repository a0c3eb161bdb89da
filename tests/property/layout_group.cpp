// Laws of group, of refinements, and of the meaning of a layout: apply, cells, span, admits, bind.
#include <gtest/gtest.h>

#include "symbolic.h"

namespace heddle::property {
namespace {

Place place_of(const Coord& coord) {
  Place place{};
  for (const AxisValue& v : coord) move(place, v.axis, v.value);
  return place;
}

std::vector<Dim> as_dims(const Index& shape) { return {shape.begin(), shape.end()}; }

// Sizes that multiply to `total`, with ones in between; now and then they do not.
Index random_shape(Choices& choices, std::int64_t total) {
  Index shape = choices.pick(factorizations(total));
  if (choices.one_in(3))
    shape.insert(shape.begin() + choices.below(static_cast<std::int64_t>(shape.size()) + 1), 1);
  while (shape.size() > 1 && choices.one_in(2)) {
    shape[shape.size() - 2] *= shape.back();
    shape.pop_back();
  }
  if (choices.one_in(20)) shape.push_back(2);
  return shape;
}

HEDDLE_LAW_REFUSING(Meaning, ApplyAndCellsFollowTheDefinition, 0.1) {
  const Layout layout = random_layout(choices, {});
  const Oracle oracle(layout);
  // Inside and around the valid indices; a few where there are many.
  Index around = oracle.size;
  std::int64_t count = 1;
  for (std::int64_t& n : around) count *= n += 4;
  const std::int64_t every = std::max<std::int64_t>(1, count / 50);
  std::int64_t n = choices.below(every);
  each_index(around, [&](const Index& shifted) {
    if (n++ % every != 0) return;
    Index x = shifted;
    for (std::int64_t& v : x) v -= 2;
    const auto say = [&] { return show(x) + show(layout); };
    const auto flat = oracle.flat(x);
    const auto one = position_of(layout, x);
    const auto all = cells(layout, x);
    require(one.ok() == flat.has_value() && all.ok() == flat.has_value(), say);
    if (!flat) return;
    require(place_of(*one) == oracle.swizzle(oracle.affine(*flat)), say);
    std::vector<Place> places;
    for (const Coord& coord : *all) places.push_back(place_of(coord));
    require(std::is_sorted(one->begin(), one->end()), say);
    std::sort(places.begin(), places.end());
    require(places == oracle.all_cells(*flat), say);
  });
  require(!position_of(layout, Index(layout.rank() + 1, 0)), [&] { return show(layout); });
}

HEDDLE_LAW_REFUSING(Meaning, SpanReachesFromTheFirstToTheLastPosition, 0.1) {
  Recipe recipe;
  recipe.swizzle = false;
  const Layout layout = random_layout(choices, recipe);
  const Oracle oracle(layout);
  Place low = oracle.affine(0);
  Place high = low;
  for (std::int64_t u = 0; u < oracle.elements; ++u)
    for (const Place& cell : oracle.all_cells(u))
      for (std::size_t a = 0; a < kAxes; ++a) {
        low[a] = std::min(low[a], cell[a]);
        high[a] = std::max(high[a], cell[a]);
      }
  for (const AxisId axis : all_axes())
    require(span(layout, axis).value().is(1 + high[axis] - low[axis]),
            [&] { return show(layout); });
}

HEDDLE_LAW_REFUSING(Meaning, AdmitsShapesOfTheSameTotal, 0.1) {
  const Layout layout = random_layout(choices, {});
  const std::int64_t elements = Oracle(layout).elements;
  const Index shape = random_shape(choices, choices.one_in(3) ? choices.between(1, 60) : elements);
  std::int64_t total = 1;
  for (const std::int64_t s : shape) total *= s;
  require(admits(layout, as_dims(shape)) == (total == elements),
          [&] { return show(shape) + show(layout); });
}

HEDDLE_LAW_REFUSING(Meaning, CoversWhereEveryIndexHasACell, 0.1) {
  const Layout layout = random_layout(choices, {});
  const Oracle oracle(layout);
  bool all = true;
  each_index(oracle.size, [&](const Index& x) { all = all && oracle.flat(x); });
  require(covers(layout) == all, [&] { return show(layout); });
}

HEDDLE_LAW_REFUSING(Meaning, BindReplacesUnknownsByValues, 0.2) {
  const Layout layout = random_symbolic(choices, static_cast<int>(choices.below(3)));
  const Values values = random_values(choices);
  auto known = [&](const Dim& dim) {
    Dim value = dim.factor();
    for (const SymbolId s : dim.symbols())
      if (s != 0) value = value * Dim(values.at(s));
    return value;
  };
  LayoutParts parts = layout.parts();
  for (DimInfo& d : parts.dims)
    d = {known(d.size), known(d.padded), d.origin, d.halo_lo, d.halo_hi};
  for (auto* list : {&parts.digits, &parts.replicas, &parts.partials})
    for (Iter& i : *list) i = {known(i.extent), known(i.stride), i.axis};
  for (AxisOffset& o : parts.offset) o.value = known(o.value);
  const auto bound = bind_sizes(layout, values);
  const auto direct = Layout::make(parts);
  require(bound.ok() == direct.ok() && (!bound || (*bound == *direct && bound->concrete())),
          [&] { return show(layout) + show(bound) + show(direct); });
  if (bound) require(same_map(parts, bound->parts()), [&] { return show(layout) + show(bound); });
}

HEDDLE_LAW_REFUSING(Group, KeepsTheMapAndRefusesOnlyWhereNothingFits, 0.1) {
  Recipe recipe;
  recipe.large = false;
  const Layout layout = random_layout(choices, recipe);
  const Oracle oracle(layout);
  const Index shape = random_shape(choices, oracle.elements);
  const auto say = [&] { return show(shape) + show(layout); };
  const auto groups = group(layout, as_dims(shape));
  // Every list of digits for every entry, the strides read off the table of positions.
  std::int64_t total = 1;
  for (const std::int64_t s : shape) total *= s;
  bool exists = false;
  if (total == oracle.elements) {
    std::vector<Place> table;
    for (std::int64_t u = 0; u < total; ++u) table.push_back(oracle.affine(u));
    std::vector<Index> lists = {{}};
    for (const std::int64_t entry : shape) {
      std::vector<Index> longer;
      for (const Index& list : lists)
        for (const Index& factors : factorizations(entry)) {
          longer.push_back(list);
          longer.back().insert(longer.back().end(), factors.begin(), factors.end());
        }
      lists = std::move(longer);
    }
    for (const Index& list : lists) exists = exists || digits_of_table(table, list).has_value();
  }
  require(groups.ok() == exists, [&] { return (groups ? "yes" : groups.reason()) + say(); });
  if (!groups) return;
  require(groups->size() == shape.size(), say);
  LayoutParts parts = layout.parts();
  parts.digits.clear();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::int64_t extent = 1;
    for (const Iter& i : (*groups)[d]) {
      extent *= number(i.extent);
      parts.digits.push_back(i);
    }
    require(extent == shape[d], say);
  }
  require(same_map(parts, layout.parts()), say);
}

// Sizes of everything to the right of each boundary of a shape.
std::set<std::int64_t> boundaries(const Index& shape) {
  std::set<std::int64_t> all;
  std::int64_t right = 1;
  for (std::size_t d = shape.size(); d-- > 0;) all.insert(right *= shape[d]);
  all.insert(1);
  return all;
}

HEDDLE_LAW(Group, CommonRefinementHasExactlyTheBoundariesOfAll) {
  const std::int64_t total = choices.pick({1, 6, 8, 12, 24, 36, 48});
  std::vector<std::vector<Dim>> shapes;
  std::set<std::int64_t> cuts;
  std::string text;
  bool same_total = true;
  for (std::int64_t n = choices.between(1, 3); n > 0; --n) {
    const Index shape = random_shape(choices, total);
    std::int64_t product = 1;
    for (const std::int64_t s : shape) product *= s;
    same_total = same_total && product == (shapes.empty() ? product : *cuts.rbegin());
    cuts.merge(boundaries(shape));
    shapes.push_back(as_dims(shape));
    text += show(shape);
  }
  bool chain = same_total;
  for (auto it = cuts.begin(); std::next(it) != cuts.end(); ++it)
    chain = chain && *std::next(it) % *it == 0;
  const auto refined = common_refinement(shapes);
  require(refined.ok() == chain, [&] { return text; });
  if (!refined) return;
  Index got;
  for (const Dim& d : *refined) got.push_back(number(d));
  require(boundaries(got) == cuts && std::find(got.begin(), got.end(), 1) == got.end(),
          [&] { return text + " gives " + show(got); });
}

HEDDLE_LAW_REFUSING(Group, GroupManyCutsAtEveryBoundary, 0.3) {
  Recipe recipe;
  recipe.large = false;
  const Layout layout = random_layout(choices, recipe);
  const std::int64_t total = Oracle(layout).elements;
  std::vector<std::vector<Dim>> shapes;
  for (std::int64_t n = choices.between(1, 3); n > 0; --n)
    shapes.push_back(as_dims(random_shape(choices, total)));
  const auto many = group_many(layout, shapes);
  const auto refined = common_refinement(shapes);
  require(many.ok() == (refined.ok() && group(layout, *refined).ok()),
          [&] { return show(layout); });
  if (!many) return;
  require(many->shape == *refined && many->groups == group(layout, *refined).value() &&
              many->pieces.size() == shapes.size(),
          [&] { return show(layout); });
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    std::size_t next = 0;
    require(many->pieces[s].size() == shapes[s].size(), [&] { return show(layout); });
    for (std::size_t d = 0; d < shapes[s].size(); ++d) {
      std::int64_t product = 1;
      for (std::size_t i = 0; i < many->pieces[s][d]; ++i) product *= number(many->shape[next++]);
      require(product == number(shapes[s][d]), [&] { return show(layout); });
    }
    require(next == many->shape.size(), [&] { return show(layout); });
  }
}

}  // namespace
}  // namespace heddle::property
