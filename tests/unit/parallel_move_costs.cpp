// Costs by pattern are those that the planner gives for the value itself.
#include <gtest/gtest.h>

#include <cmath>

#include "heddle/builder.h"
#include "parallel/search/move_costs.h"
#include "parallel/search/move_pattern.h"
#include "parallel/search/strategies.h"

namespace heddle::search {
namespace {

struct OnThreeAxes {
  explicit OnThreeAxes(const Type& type) {
    Builder b("one");
    b.function("main", {type}, [&](const Vars& in) -> Vars { return {in[0] + in[0]}; });
    program = b.finish().value();
    (void)program.add_mesh("mesh", {{"a", 2}, {"b", 4}, {"node", 8}}).value();
    rules.emplace(program);
    on.emplace(program, *rules, program.meshes[0]);
  }
  Program program;
  std::optional<RuleCache> rules;
  std::optional<OnMesh> on;
};

// Every way to lay it out in blocks, with one sum that is to be made where an axis is free.
std::vector<int> splits_of(OnMesh& on, const Type& type) {
  std::vector<int> all = block_splits(on, type);
  for (std::size_t i = 0, count = all.size(); i < count; ++i) {
    Split split = on.splits[all[i]];
    const SplitDigit digit{4, 1};
    if (split.uses(digit)) continue;
    split.pending = {digit};
    all.push_back(on.split_id(std::move(split)));
  }
  return all;
}

void compare(Shape shape) {
  const Type type = Type::tensor(DType::f32, std::move(shape));
  OnThreeAxes at(type);
  MoveCosts costs(*at.on);
  const std::vector<int> splits = splits_of(*at.on, type);
  int compared = 0, apart = 0;
  for (int from : splits)
    for (int to : splits) {
      const CostNetwork::Cost cost = costs.of(from, to, type);
      if (cost == CostNetwork::kForbidden) continue;
      const double planned = at.on->routes.find(from, to, 32).seconds;
      ++compared;
      if (std::abs(seconds_of_cost(cost) - planned) > 0.1 * planned + 1e-9) ++apart;
    }
  EXPECT_GT(compared, 100);
  // Between the steps of the pattern's bytes a line stands for what may go by several ways, and a
  // pattern has room for some ways that the planner does not look at in the value itself.
  EXPECT_LE(apart, compared / 50);
}

TEST(MoveCosts, AreThoseOfThePlannerForLargeValues) { compare({512, 1024, 1024}); }
TEST(MoveCosts, AreThoseOfThePlannerForSmallValues) { compare({64, 320}); }

// Axes of two sizes along one dimension: the larger one counts in two parts.
TEST(MovePattern, AxesOfDifferentSizesAreCut) {
  Split from{{DimSplit::blocks(96, {{8, 0}}), {7, {}}}, {}}, to = from;
  to.dims[0] = DimSplit::blocks(96, {{4, 1}, {2, 2}});
  const MovePattern pattern = pattern_of(from, to);
  ASSERT_EQ(pattern.from.dims.size(), 2U);
  EXPECT_EQ(pattern.from.dims[0], (DimSplit{2, {{2, 0, 1}}}));
  EXPECT_EQ(pattern.to.dims[0], (DimSplit{2, {{2, 2, 1}}}));
  EXPECT_EQ(pattern.from.dims[1], (DimSplit{4, {{4, 0, 2}}}));
  EXPECT_EQ(pattern.to.dims[1], (DimSplit{4, {{4, 1, 1}}}));
}

TEST(MovePattern, SizesAndOrderOfDimensionsMakeNoDifference) {
  const auto pattern = [](std::int64_t rows, std::int64_t columns, bool turned) {
    Split from{{DimSplit::blocks(rows, {{4, 1}}), {columns, {}}}, {}};
    Split to{{{rows, {}}, DimSplit::blocks(columns, {{4, 1}})}, {}};
    if (turned) {
      std::swap(from.dims[0], from.dims[1]);
      std::swap(to.dims[0], to.dims[1]);
    }
    return pattern_of(from, to);
  };
  const MovePattern one = pattern(64, 320, false);
  for (const MovePattern& other : {pattern(64, 320, true), pattern(1024, 4, false)}) {
    EXPECT_EQ(one.from, other.from);
    EXPECT_EQ(one.to, other.to);
  }
}

// What does not come out even, or does not nest, is planned as it is.
TEST(MovePattern, UnevenDimensionsStay) {
  const Split whole{{{10, {}}, {12, {}}}, {}};
  Split to{{DimSplit::blocks(10, {{4, 1}}), {12, {}}}, {}};
  EXPECT_EQ(pattern_of(whole, to).to.dims, std::vector{to.dims[0]});
  const Split thirds{{{10, {}}, DimSplit::blocks(12, {{3, 0}})}, {}},
      quarters{{{10, {}}, DimSplit::blocks(12, {{4, 1}})}, {}};
  const MovePattern pattern = pattern_of(thirds, quarters);
  EXPECT_EQ(pattern.from.dims, std::vector{thirds.dims[1]});
  EXPECT_EQ(pattern.to.dims, std::vector{quarters.dims[1]});
}

TEST(MoveCosts, ASumIsNeverTakenApart) {
  const Type type = Type::tensor(DType::f32, {64, 64});
  OnThreeAxes at(type);
  MoveCosts costs(*at.on);
  Split pending = Split::whole(type);
  pending.pending = {{4, 1}};
  const int whole = at.on->split_id(Split::whole(type)), sum = at.on->split_id(pending);
  EXPECT_EQ(costs.of(whole, sum, type), CostNetwork::kForbidden);
  EXPECT_GT(costs.of(sum, whole, type), 0);
}

}  // namespace
}  // namespace heddle::search
