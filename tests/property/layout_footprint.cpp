// Laws of footprint: which elements a holder has, with and without halo.
#include <gtest/gtest.h>

#include "generate.h"

namespace heddle::property {
namespace {

bool is_holder_axis(std::size_t axis) {
  return world().axes.knows(static_cast<AxisId>(axis)) &&
         world().axes[static_cast<AxisId>(axis)].kind != AxisKind::memory;
}

Place holder_of(Place cell) {
  for (std::size_t a = 0; a < kAxes; ++a)
    if (!is_holder_axis(a)) cell[a] = 0;
  return cell;
}

Coord coord_of(const Place& place) {
  Coord coord;
  for (std::size_t a = 0; a < kAxes; ++a)
    if (place[a] != 0) coord.push_back({static_cast<AxisId>(a), place[a]});
  return coord;
}

using Holdings = std::map<Place, std::set<Index>>;

// Who has which element, by looking at every cell.
Holdings holdings_of(const Layout& layout) {
  const Oracle oracle(layout);
  Holdings all;
  each_index(oracle.size, [&](const Index& x) {
    const auto flat = oracle.flat(x);
    if (!flat) return;
    for (const Place& cell : oracle.all_cells(*flat)) all[holder_of(cell)].insert(x);
  });
  return all;
}

// Holders that have something, and some next to them that need not.
std::vector<Place> holders_around(const Layout& layout, const Holdings& holdings) {
  std::vector<Place> all;
  for (const auto& [holder, elements] : holdings) {
    all.push_back(holder);
    for (const auto* list : {&layout.digits(), &layout.replicas(), &layout.partials()})
      for (const Iter& i : *list) {
        if (i.axis == kNoAxis || !is_holder_axis(i.axis)) continue;
        for (const int by : {-1, 1}) {
          all.push_back(holder);
          all.back()[i.axis] += by;
        }
      }
  }
  return distinct(std::move(all));
}

// The members of a run; checks on the way that for_each, contains and count agree.
std::set<std::int64_t> members(const StridedRun& run, const std::function<std::string()>& say) {
  std::set<std::int64_t> all;
  run.for_each([&](std::int64_t x) {
    require(all.insert(x).second,
            [&] { return "for_each visits " + std::to_string(x) + " twice" + say(); });
  });
  require(run.count() == static_cast<std::int64_t>(all.size()), [&] {
    return fmt::format("count() is {} for {} members", run.count(), all.size()) + say();
  });
  for (std::int64_t x = run.lo - 3; x < run.hi + 3; ++x)
    require(run.contains(x) == (all.count(x) > 0),
            [&] { return "contains is wrong at " + std::to_string(x) + say(); });
  return all;
}

// The elements of all boxes; boxes of one holder share no element.
std::set<Index> elements_of(const std::vector<Box>& boxes,
                            const std::function<std::string()>& say) {
  std::set<Index> all;
  for (const Box& box : boxes) {
    std::vector<std::vector<std::int64_t>> runs;
    Index shape;
    for (const StridedRun& run : box.dims) {
      const auto some = members(run, say);
      runs.emplace_back(some.begin(), some.end());
      shape.push_back(static_cast<std::int64_t>(some.size()));
    }
    std::int64_t count = 0;
    each_index(shape, [&](const Index& i) {
      Index x(i.size());
      for (std::size_t d = 0; d < i.size(); ++d) x[d] = runs[d][static_cast<std::size_t>(i[d])];
      require(all.insert(x).second, [&] { return "two boxes share " + show(x) + say(); });
      require(box.contains(x), [&] { return "not in its box: " + show(x) + say(); });
      ++count;
    });
    require(box.count() == count, [&] { return "the count of a box is wrong" + say(); });
  }
  return all;
}

void require_footprints(const Layout& layout, const Holdings& want, bool with_halo) {
  for (const Place& holder : holders_around(layout, want)) {
    const Coord coord = coord_of(holder);
    const auto boxes = footprint(layout, coord, world().axes, with_halo);
    const auto say = [&] {
      std::string text = " at";
      for (const AxisValue& v : coord)
        text += fmt::format(" {}={}", world().axes[v.axis].name, v.value);
      return text + show(layout);
    };
    require(boxes.ok(), [&] { return boxes.reason() + say(); });
    const auto it = want.find(holder);
    const auto got = elements_of(*boxes, say);
    require(got == (it == want.end() ? std::set<Index>{} : it->second), [&] {
      std::string text = "wrong elements" + say() + "\n  got";
      for (const Index& x : got) text += " " + show(x);
      return text;
    });
  }
}

HEDDLE_LAW_REFUSING(Footprint, IsWhatTheCellsSay, 0.15) {
  Recipe recipe;
  recipe.large = false;
  const Layout layout = random_layout(choices, recipe);
  require_footprints(layout, holdings_of(layout), false);
}

HEDDLE_LAW_REFUSING(Footprint, CoversEveryElementOncePerCopyAndContribution, 0.15) {
  Recipe recipe;
  recipe.packed = true;
  recipe.large = false;
  const Layout layout = random_layout(choices, recipe);
  // Copies and contributions in other memory are still with the same holder.
  std::int64_t times = 1;
  for (const auto* list : {&layout.replicas(), &layout.partials()})
    for (const Iter& i : *list)
      if (is_holder_axis(i.axis)) times *= number(i.extent);
  std::map<Index, std::int64_t> seen;
  for (const auto& [holder, elements] : holdings_of(layout)) {
    const auto boxes = footprint(layout, coord_of(holder), world().axes).value();
    for (const Index& x : elements_of(boxes, [&] { return show(layout); })) ++seen[x];
  }
  const Oracle oracle(layout);
  each_index(oracle.size, [&](const Index& x) {
    require(seen[x] == (oracle.flat(x) ? times : 0), [&] { return show(x) + show(layout); });
  });
}

// A device beside the layout, on a mesh axis that it does not use: everything lies at 0 there.
HEDDLE_LAW_REFUSING(Footprint, NothingLiesBesideTheLayout, 0.3) {
  Recipe recipe;
  recipe.large = false;
  const Layout layout = random_layout(choices, recipe);
  const Holdings holdings = holdings_of(layout);
  if (holdings.empty()) leave_out();
  const AxisId axis = choices.pick({world().node, world().gpu, world().tp});
  const auto uses = [&](const std::vector<Iter>& list) {
    return std::any_of(list.begin(), list.end(), [&](const Iter& i) { return i.axis == axis; });
  };
  if (uses(layout.digits()) || uses(layout.replicas()) || uses(layout.partials())) return;
  Place beside = holdings.begin()->first;
  beside[axis] += 1;
  const auto boxes = footprint(layout, coord_of(beside), world().axes);
  require(boxes && boxes->empty(), [&] { return world().axes[axis].name + show(layout); });
}

// Dimensions as outer memory, device and inner memory digits, with a halo on some.
Layout random_halo(Choices& choices) {
  LayoutParts parts;
  for (std::int64_t rank = choices.between(1, 2); rank > 0; --rank) {
    DimInfo dim;
    std::int64_t extent = 1;
    auto digit = [&](std::int64_t e, AxisId axis) {
      parts.digits.push_back({e, 1, axis});
      extent *= e;
    };
    if (choices.one_in(3)) digit(2, world().mem);
    if (!choices.one_in(4))
      digit(choices.between(2, 3), choices.pick({world().gpu, world().tp, world().warp}));
    digit(choices.between(2, 4), world().mem);
    dim.size = dim.padded = extent;
    if (choices.one_in(2)) dim.size = choices.between(1, extent);
    if (choices.one_in(4)) dim.origin = -choices.between(0, 3);
    dim.halo_lo = choices.between(0, 3);
    dim.halo_hi = choices.between(0, 3);
    parts.dims.push_back(dim);
  }
  std::vector<Iter*> iters;
  for (Iter& i : parts.digits) iters.push_back(&i);
  pack_strides(choices, iters);
  if (choices.one_in(3)) parts.replicas.push_back({2, 1, world().node});
  auto layout = Layout::make(parts);
  if (!layout) leave_out();
  return *layout;
}

// The indices of one dimension that the holder of a run keeps: the run and the halo round it.
std::vector<std::int64_t> kept_near(const DimInfo& dim, std::int64_t run, std::int64_t first) {
  std::vector<std::int64_t> all;
  for (std::int64_t v = first - dim.halo_lo; v < first + run + dim.halo_hi; ++v)
    if (v + dim.origin >= 0 && v + dim.origin < number(dim.size)) all.push_back(v + dim.origin);
  return all;
}

HEDDLE_LAW(Footprint, WithHaloAddsTheNeighboursOfEveryRun) {
  const Layout layout = random_halo(choices);
  const Oracle oracle(layout);
  const auto pieces = cut_digits(layout.digits(), oracle.padded).value();
  Holdings want;
  each_index(oracle.padded, [&](const Index& u) {
    std::vector<std::vector<std::int64_t>> kept;
    Index shape;
    for (std::size_t d = 0; d < u.size(); ++d) {
      const std::int64_t run = number(pieces[d].back().extent);
      if (u[d] % run != 0) return;  // the start of a run speaks for all of it
      kept.push_back(kept_near(layout.dims()[d], run, u[d]));
      shape.push_back(static_cast<std::int64_t>(kept.back().size()));
    }
    for (const Place& cell : oracle.all_cells(flatten(oracle.padded, u)))
      each_index(shape, [&](const Index& i) {
        Index x(i.size());
        for (std::size_t d = 0; d < i.size(); ++d) x[d] = kept[d][static_cast<std::size_t>(i[d])];
        want[holder_of(cell)].insert(x);
      });
  });
  require_footprints(layout, want, true);
  require_footprints(layout, holdings_of(layout), false);
}

// Runs by themselves: levels that do not overlap, cut anywhere.
HEDDLE_LAW(Footprint, RunsCountAndContainTheirMembers) {
  StridedRun run;
  run.start = choices.between(-20, 20);
  std::int64_t reach = 1;
  for (std::int64_t n = choices.below(4); n > 0; --n) {
    const StridedRun::Level level{choices.between(1, 4), reach + choices.below(3)};
    reach = level.count * level.step;
    run.levels.insert(run.levels.begin(), level);
  }
  run.lo = choices.between(-25, 25);
  run.hi = run.lo + choices.between(0, 60);
  const auto all =
      members(run, [&] { return fmt::format(" start {} lo {} hi {}", run.start, run.lo, run.hi); });
  std::set<std::int64_t> want;
  Index shape;
  for (const auto& level : run.levels) shape.push_back(level.count);
  each_index(shape, [&](const Index& i) {
    std::int64_t x = run.start;
    for (std::size_t k = 0; k < i.size(); ++k) x += i[k] * run.levels[k].step;
    if (x >= run.lo && x < run.hi) want.insert(x);
  });
  require(all == want, [] { return std::string("wrong members"); });
}

}  // namespace
}  // namespace heddle::property
