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
  explicit OnThreeAxes(const Type& type,
                       const AxisSizes& axes = {{"a", 2}, {"b", 4}, {"node", 8}}) {
    Builder b("one");
    b.function("main", {type}, [&](const Vars& in) -> Vars { return {in[0] + in[0]}; });
    program = b.finish().value();
    (void)program.add_mesh("mesh", axes).value();
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

// What does not nest goes by ways of which the planner tries a few.
bool nest(const Split& from, const Split& to) {
  for (std::size_t d = 0; d < from.dims.size(); ++d) {
    const DimSplit &a = from.dims[d], &b = to.dims[d];
    if (a.padded() != b.padded() && !a.digits.empty() && !b.digits.empty()) return false;
  }
  return true;
}

// Most costs are within a tenth of what the planner takes for the value itself. Between the steps
// of the pattern's bytes a line stands for what may go by several ways, and a pattern has room for
// some ways that the planner does not look at in the value itself.
void compare(OnThreeAxes& at, const Type& type, const std::vector<int>& splits, int one_in) {
  MoveCosts costs(*at.on);
  int compared = 0, apart = 0;
  for (int from : splits)
    for (int to : splits) {
      const CostNetwork::Cost cost = costs.of(from, to, type);
      if (cost == CostNetwork::kForbidden || !nest(at.on->splits[from], at.on->splits[to]))
        continue;
      const double planned = at.on->routes.find(from, to, 32).seconds;
      ++compared;
      if (std::abs(seconds_of_cost(cost) - planned) > 0.1 * planned + 1e-9) ++apart;
    }
  EXPECT_GT(compared, 100);
  EXPECT_LE(apart, compared / one_in);
}

void compare(Shape shape) {
  const Type type = Type::tensor(DType::f32, std::move(shape));
  OnThreeAxes at(type);
  compare(at, type, splits_of(*at.on, type), 50);
}

// Every axis along one of the dimensions or none, whether blocks come out even or not.
std::vector<int> any_blocks(OnMesh& on, const Type& type) {
  std::vector<int> found;
  std::vector<SplitAxes> axes(type.rank());
  const auto& mesh = on.mesh.mesh.axes();
  auto go = [&](auto&& self, std::size_t a) -> void {
    if (a == mesh.size()) {
      Split split;
      for (std::size_t d = 0; d < axes.size(); ++d)
        split.dims.push_back(DimSplit::blocks(type.shape[d], axes[d]));
      found.push_back(on.split_id(std::move(split)));
      return;
    }
    self(self, a + 1);
    for (SplitAxes& list : axes) {
      list.push_back({mesh[a].size, static_cast<int>(a)});
      self(self, a + 1);
      list.pop_back();
    }
  };
  go(go, 0);
  return found;
}

TEST(MoveCosts, AreThoseOfThePlannerForLargeValues) { compare({512, 1024, 1024}); }
TEST(MoveCosts, AreThoseOfThePlannerForSmallValues) { compare({64, 320}); }

TEST(MoveCosts, AreThoseOfThePlannerForUnevenBlocks) {
  const Type type = Type::tensor(DType::f32, {100, 640, 1024});
  OnThreeAxes at(type, {{"a", 2}, {"b", 3}, {"node", 2}});
  compare(at, type, any_blocks(*at.on, type), 12);  // what a slice copies counts twice
}

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

// Blocks that are uneven on both sides have the same room behind them, as if it held elements.
TEST(MovePattern, UnevenBlocksThatStayAreEven) {
  const Split from{{DimSplit::blocks(10, {{4, 1}}), DimSplit::blocks(32, {{2, 0}})}, {}};
  Split to = from;
  to.dims[1] = {32, {}};
  EXPECT_EQ(pattern_of(from, to).from.dims[1], (DimSplit{4, {{4, 1}}}));
  EXPECT_DOUBLE_EQ(uneven_parts(from, to).room, 1.2);
  EXPECT_EQ(uneven_parts(from, to).copied, 0);
}

// A whole dimension gets room for uneven blocks by a copy, or gives it back.
TEST(MovePattern, UnevenBlocksOfOneSideAreEvenBesideCopies) {
  const Split whole{{{10, {}}, {6, {}}}, {}};
  const Split split{{DimSplit::blocks(10, {{4, 1}}), {6, {}}}, {}};
  EXPECT_EQ(pattern_of(whole, split).from.dims, (std::vector<DimSplit>{{4, {}}}));
  EXPECT_EQ(pattern_of(whole, split).to.dims, (std::vector<DimSplit>{{4, {{4, 1}}}}));
  EXPECT_EQ(uneven_parts(whole, split).copied, 60);
  EXPECT_EQ(uneven_parts(whole, split).copied_last, 0);
  EXPECT_EQ(uneven_parts(split, whole).copied_last, 60);
}

TEST(MovePattern, BlocksThatDoNotNestAreOfUsualSize) {
  const auto pattern = [](std::int64_t size) {
    return pattern_of({{DimSplit::blocks(size, {{3, 0}})}, {}},
                      {{DimSplit::blocks(size, {{4, 1}})}, {}});
  };
  EXPECT_EQ(pattern(1000).from, pattern(20).from);
  EXPECT_EQ(pattern(1000).to, pattern(20).to);
  EXPECT_NE(pattern(1000).from, pattern(999).from);  // which is even
}

TEST(KnownMoves, AreAskedForOnceOnEachMesh) {
  const Type type = Type::tensor(DType::f32, {64, 64});
  OnThreeAxes one(type, {{"a", 2}}), same(type, {{"a", 2}}), other(type, {{"a", 4}});
  const KnownMoves::Question question{Split::whole(type), Split::whole(type), 3};
  int asked = 0;
  const auto answer = [&](OnThreeAxes& at, const KnownMoves::Question& what) {
    return KnownMoves::of(at.on->mesh.mesh)->seconds(what, [&] { return ++asked; });
  };
  EXPECT_EQ(answer(one, question), 1);
  EXPECT_EQ(answer(same, question), 1);
  EXPECT_EQ(answer(one, {question.from, question.to, 4}), 2);
  EXPECT_EQ(answer(other, question), 3);
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
