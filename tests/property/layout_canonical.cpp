// Laws of the canonical form: it keeps the map, it is one, and there is one for each map.
#include <gtest/gtest.h>

#include "generate.h"

namespace heddle::property {
namespace {

// Positions of the iters on one axis, with repetitions.
std::vector<std::int64_t> positions_on(const std::vector<Iter>& iters, AxisId axis) {
  std::vector<Iter> here;
  for (const Iter& i : iters)
    if (i.axis == axis) here.push_back(i);
  std::vector<std::int64_t> positions;
  for (const Place& place : moves_of(here)) positions.push_back(place[axis]);
  std::sort(positions.begin(), positions.end());
  return positions;
}

// Why Layout::make may refuse parts whose sizes fit: two contributions on one place, or copies or
// contributions that interleave.
bool may_be_refused(const LayoutParts& parts) {
  for (const AxisId axis : all_axes()) {
    const auto contributions = positions_on(parts.partials, axis);
    if (distinct(contributions).size() != contributions.size() || !counts_up(contributions))
      return true;
    if (!counts_up(distinct(positions_on(parts.replicas, axis)))) return true;
  }
  for (const Iter& i : parts.partials)
    if (number(i.extent) > 1 && number(i.stride) == 0) return true;
  return false;
}

HEDDLE_LAW_REFUSING(Canonical, KeepsTheMap, 0.1) {
  const LayoutParts parts = rewritten(choices, random_parts(choices, {}));
  const auto layout = Layout::make(parts);
  if (!layout) {
    require(may_be_refused(parts), [&] { return layout.reason() + "\n" + show(parts); });
    leave_out();
  }
  require(same_map(parts, layout->parts()), [&] { return show(parts) + show(*layout); });
}

HEDDLE_LAW_REFUSING(Canonical, IsIdempotent, 0.1) {
  const Layout layout = random_layout(choices, {});
  const auto again = Layout::make(layout.parts());
  require(again && *again == layout && again->hash() == layout.hash(),
          [&] { return show(layout) + show(again); });
}

HEDDLE_LAW_REFUSING(Canonical, HasNothingRedundant, 0.1) {
  const Layout layout = random_layout(choices, {});
  const auto say = [&] { return show(layout); };
  for (std::size_t i = 0; i < layout.digits().size(); ++i) {
    const Iter& digit = layout.digits()[i];
    require(number(digit.extent) > 1 && digit.stride.is_zero() == (digit.axis == kNoAxis), say);
    if (i == 0) continue;
    const Iter& left = layout.digits()[i - 1];
    require(left.axis != digit.axis ||
                number(left.stride) != number(digit.extent) * number(digit.stride),
            say);
  }
  for (const auto* list : {&layout.replicas(), &layout.partials()})
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Iter& iter = (*list)[i];
      require(number(iter.extent) > 1 && number(iter.stride) > 0, say);
      if (i == 0 || (*list)[i - 1].axis != iter.axis) continue;
      const Iter& below = (*list)[i - 1];
      require(number(iter.stride) > number(below.extent) * number(below.stride), say);
    }
  for (std::size_t i = 0; i < layout.offset().size(); ++i) {
    require(!layout.offset()[i].value.is_zero(), say);
    require(i == 0 || layout.offset()[i - 1].axis < layout.offset()[i].axis, say);
  }
}

HEDDLE_LAW_REFUSING(Canonical, OtherWordsForOneMapAreEqual, 0.1) {
  const LayoutParts parts = random_parts(choices, {});
  const auto one = Layout::make(parts);
  if (!one) leave_out();
  const auto other = Layout::make(rewritten(choices, parts));
  require(other && *one == *other && one->hash() == other->hash(),
          [&] { return show(parts) + show(one) + show(other); });
}

// Layouts from a small world, so that equal ones do happen.
LayoutParts tiny_parts(Choices& choices) {
  LayoutParts parts;
  const std::int64_t total = choices.pick({4, 6, 8, 12});
  for (const std::int64_t extent : choices.pick(factorizations(total)))
    parts.digits.push_back({extent, choices.pick({1, 2, 3, 4, 6, 0, -1}),
                            choices.one_in(6) ? world().lane : world().mem});
  parts.dims = {{total, total, 0, 0, 0}};
  auto fibre = [&](std::vector<Iter>& list) {
    for (std::int64_t n = choices.pick({0, 0, 0, 1, 2}); n > 0; --n)
      list.push_back({choices.between(1, 3), choices.pick({1, 2, 3, 4, -1, -2}), world().gpu});
  };
  fibre(parts.replicas);
  fibre(parts.partials);
  parts.reduce = choices.one_in(2) ? ReduceOp::max : ReduceOp::sum;
  parts.offset.push_back({world().gpu, choices.between(0, 1)});
  return parts;
}

HEDDLE_LAW_REFUSING(Canonical, EqualExactlyWhereTheMapsAre, 0.25) {
  const auto one = Layout::make(tiny_parts(choices));
  const auto other = Layout::make(tiny_parts(choices));
  if (!one || !other) leave_out();
  require((*one == *other) == same_map(*one, *other), [&] { return show(one) + show(other); });
}

// Every list of digits with these extents in every order and these strides: one canonical form
// for each table of positions, and one table for each canonical form.
TEST(Canonical, OneFormForEachMapOfSmallDigits) {
  const std::vector<std::pair<std::int64_t, AxisId>> steps = {
      {0, kNoAxis},     {1, world().mem},  {2, world().mem},  {3, world().mem},  {4, world().mem},
      {6, world().mem}, {-1, world().mem}, {-2, world().mem}, {1, world().lane}, {2, world().lane}};
  std::size_t lists = 0;
  for (const std::int64_t total : {1, 2, 4, 6, 8, 12, 16}) {
    std::map<std::vector<Place>, Layout> by_map;
    std::map<std::uint64_t, std::vector<Layout>> forms;
    for (const Index& extents : factorizations(total)) {
      std::vector<std::int64_t> ways(extents.size(), static_cast<std::int64_t>(steps.size()));
      each_index(ways, [&](const Index& way) {
        LayoutParts parts;
        parts.dims = {{total, total, 0, 0, 0}};
        for (std::size_t i = 0; i < extents.size(); ++i) {
          const auto& [stride, axis] = steps[static_cast<std::size_t>(way[i])];
          parts.digits.push_back({extents[i], stride, axis});
        }
        const Oracle oracle(parts);
        std::vector<Place> table;
        for (std::int64_t u = 0; u < total; ++u) table.push_back(oracle.affine(u));
        const Layout layout = Layout::make(parts).value();
        const auto [it, fresh] = by_map.emplace(table, layout);
        ASSERT_EQ(it->second, layout) << show(parts) << show(it->second) << show(layout);
        if (fresh) {
          for (const Layout& known : forms[layout.hash()])
            ASSERT_FALSE(known == layout) << show(parts) << show(known);
          forms[layout.hash()].push_back(layout);
        }
        ++lists;
      });
    }
  }
  EXPECT_GT(lists, 14'000U);
}

// The same for up to three replicas: a list is refused only where no counting form exists.
TEST(Canonical, OneFormForEachSetOfSmallReplicas) {
  std::map<std::vector<Place>, Layout> by_set;
  std::vector<Iter> choices;
  for (const std::int64_t extent : {2, 3, 4})
    for (const std::int64_t stride : {1, 2, 3, 4, 5, 6, 8, -1, -2, -3})
      choices.push_back({extent, stride, world().gpu});
  const auto n = static_cast<std::int64_t>(choices.size());
  int refused = 0;
  int made = 0;
  auto look_at = [&](const std::vector<Iter>& replicas) {
    LayoutParts parts;
    parts.replicas = replicas;
    const auto set = distinct(moves_of(replicas));
    std::vector<std::int64_t> positions;
    for (const Place& place : set) positions.push_back(place[world().gpu]);
    const auto layout = Layout::make(parts);
    ASSERT_EQ(layout.ok(), counts_up(positions)) << show(parts);
    ++(layout ? made : refused);
    if (!layout) return;
    const auto it = by_set.emplace(set, *layout).first;
    ASSERT_EQ(it->second, *layout) << show(parts);
    ASSERT_EQ(distinct(moves_of(layout->replicas())).size(), set.size()) << show(parts);
  };
  for (std::int64_t count = 0; count <= 3; ++count)
    each_index(Index(static_cast<std::size_t>(count), n), [&](const Index& way) {
      std::vector<Iter> replicas;
      for (const std::int64_t w : way) replicas.push_back(choices[static_cast<std::size_t>(w)]);
      look_at(replicas);
    });
  std::set<std::string> forms;
  for (const auto& [set, layout] : by_set) EXPECT_TRUE(forms.insert(show(layout)).second);
  EXPECT_GT(made, 10'000);
  EXPECT_GT(refused, 1'000);
}

}  // namespace
}  // namespace heddle::property
