// Defects of Axe's paper and of TVM's implementation that must not be here.
#include <gtest/gtest.h>

#include <algorithm>
#include <unordered_set>

#include "heddle/mesh.h"
#include "heddle/notation.h"
#include "heddle/view.h"
#include "layout_machine.h"

namespace heddle {
namespace {

// (a) One wrap: the outer digit has no room left, and the carry goes one digit further.
TEST(Defect, OneWrapSlice) {
  MeshMachine machine;
  const Layout layout = machine.layout("[16] S[(2,2,4):(100,10,1)]");
  const Layout four = slice(layout, Index{6}, Index{4}).value();
  std::vector<std::int64_t> got;
  for (std::int64_t x = 0; x < 4; ++x) got.push_back(machine.at(four, {x}, "mem"));
  EXPECT_EQ(got, (std::vector<std::int64_t>{12, 13, 100, 101}));
  // Where there is room, one wrap is one digit.
  const Layout early = slice(layout, Index{2}, Index{4}).value();
  EXPECT_EQ(machine.at(early, {1}, "mem"), 3);
  EXPECT_EQ(machine.at(early, {2}, "mem"), 10);
}

// (b) The inner layout must be the fastest digits, not any of them.
TEST(Defect, SubsequenceTileOf) {
  MeshMachine machine;
  const Layout whole = machine.layout("[4] S[(2,2):(1,2)]");
  const Layout inner = machine.layout("S[2:1]");
  EXPECT_FALSE(untile(whole, inner).ok());
  EXPECT_FALSE(tile(inner, inner).value() == whole);
  EXPECT_EQ(tile(inner, inner).value(), machine.layout("S[4:1]"));
}

// (c) A step that moves on two axes is no digit; the slice says so, a view keeps the digits.
TEST(Defect, TwoAxisStep) {
  MeshMachine machine;
  const Layout layout = machine.layout("[8] S[(2,4):(1@lane,1@mem)]");
  const auto four = slice(layout, Index{2}, Index{4});
  ASSERT_FALSE(four.ok());
  EXPECT_NE(four.reason().find("two axes"), std::string::npos) << four.reason();
  const Layout window = compose(layout, View::slice({2}, {4})).value();
  EXPECT_EQ(machine.at(window, {1}, "mem"), 3);
  EXPECT_EQ(machine.at(window, {2}, "mem"), 0);
  EXPECT_EQ(machine.at(window, {2}, "lane"), 1);
}

// (d) tile scales the outer copies and offset by the inner span, and untile undoes exactly that.
TEST(Defect, UnscaledOuterReplicasAndOffset) {
  MeshMachine machine;
  const Layout outer = machine.layout("S[4:1] + R[2:4@mem] + 3@mem");
  const Layout inner = machine.layout("S[8:1] + R[2:8@mem] + 5@mem");
  const Layout whole = tile(outer, inner).value();
  // The inner span is 16, offset not counted.
  EXPECT_EQ(whole.offset_on(machine["mem"]), Dim(3 * 16 + 5));
  EXPECT_EQ(machine.at(whole, {8 * 2 + 1}, "mem"), (2 + 3) * 16 + 1 + 5);
  std::vector<std::int64_t> copies;
  for (const Coord& cell : cells(whole, Index{0}).value())
    copies.push_back(coord_on(cell, machine["mem"]));
  std::sort(copies.begin(), copies.end());
  EXPECT_EQ(copies, (std::vector<std::int64_t>{53, 61, 117, 125}));
  EXPECT_EQ(untile(whole, inner).value(), outer);
  EXPECT_EQ(untile_outer(whole, outer).value(), inner);
}
TEST(Defect, SpanAddsOffset) {
  MeshMachine machine;
  const AxisId mem = machine["mem"];
  EXPECT_EQ(span(machine.layout("S[8:2] + 100@mem"), mem).value(), Dim(15));
  EXPECT_EQ(span(machine.layout("S[8:2] - 100@mem"), mem).value(), Dim(15));
  EXPECT_EQ(span(machine.layout("S[8:-2] + 14@mem"), mem).value(), Dim(15));
  EXPECT_EQ(span(machine.layout("S[8:2] + R[2:100@mem]"), mem).value(), Dim(115));
  EXPECT_EQ(span(machine.layout("S[8:2]"), machine["lane"]).value(), Dim(1));
}

// (e) Copies that overlap are fewer than their digits multiply to.
TEST(Defect, OverlappingReplicas) {
  MeshMachine machine("gpu=8");
  const Layout layout = machine.layout("(8) + R[2:1@gpu, 2:1@gpu]");
  EXPECT_EQ(layout, machine.layout("(8) + R[3@gpu]"));
  EXPECT_EQ(cells(layout, Index{0}).value().size(), 3U);
  EXPECT_EQ(axis_role(layout, machine["gpu"]).value().copies, Dim(3));
  // Order and direction of copies say nothing.
  EXPECT_EQ(machine.layout("(8) + R[2:4@gpu, 4:1@gpu]"), machine.layout("(8) + R[gpu]"));
  EXPECT_EQ(machine.layout("(8) + R[4:-1@gpu] + 3@gpu"), machine.layout("(8) + R[4@gpu]"));
}

// (f) Warp groups and warps inside one fuse to warps.
TEST(Defect, WarpgroupFuser) {
  MeshMachine machine;
  const Layout groups = machine.layout("(64:2@warpgroup:4@warp_in_group)");
  const Layout warps =
      fuse_axes(groups, machine["warpgroup"], machine["warp_in_group"], 4, machine["warp"]).value();
  EXPECT_EQ(warps, machine.layout("(64:8@warp)"));
  EXPECT_TRUE(axis_role(warps, machine["warpgroup"]).value().unused());
  EXPECT_EQ(
      split_axis(warps, machine["warp"], 4, machine["warpgroup"], machine["warp_in_group"]).value(),
      groups);
  const Layout threads = fuse_axes(machine.layout("(64:2@warp:32@lane)"), machine["warp"],
                                   machine["lane"], 32, machine["thread"])
                             .value();
  EXPECT_EQ(threads, machine.layout("(64:64@thread)"));
}

// (g) Two elements on one place, and places that an axis does not have, do not pass.
TEST(Defect, InjectivityUnchecked) {
  MeshMachine machine("gpu=4");
  EXPECT_FALSE(validate(machine.layout("S[(4,4):(1,2)]"), machine.axes).ok());
  EXPECT_FALSE(validate(machine.layout("S[(4,4):(4,0)]"), machine.axes).ok());
  EXPECT_FALSE(validate(machine.layout("S[4:1] + R[2:2@mem]"), machine.axes).ok());
  EXPECT_FALSE(validate(machine.layout("S[4:1] + P[sum 2:3@mem]"), machine.axes).ok());
  EXPECT_TRUE(validate(machine.layout("S[4:1] + P[sum 2:4@mem]"), machine.axes).ok());
  // Interleaved without meeting: 0 2 4, 3 5 7 and so on.
  EXPECT_TRUE(validate(machine.layout("S[(3,2):(2,3)]"), machine.axes).ok());
  EXPECT_FALSE(validate(machine.layout("S[(4,3):(2,3)]"), machine.axes).ok());
}
TEST(Defect, BoundsUnchecked) {
  MeshMachine machine("gpu=4");
  EXPECT_TRUE(validate(machine.layout("S[(4,8):(1@gpu,1)]"), machine.axes).ok());
  EXPECT_FALSE(validate(machine.layout("S[(5,8):(1@gpu,1)]"), machine.axes).ok());
  EXPECT_FALSE(validate(machine.layout("S[(4,8):(1@gpu,1)] + 1@gpu"), machine.axes).ok());
  EXPECT_FALSE(validate(machine.layout("S[(4,8):(-1@gpu,1)]"), machine.axes).ok());
  EXPECT_TRUE(validate(machine.layout("S[(4,8):(-1@gpu,1)] + 3@gpu"), machine.axes).ok());
  EXPECT_FALSE(validate(machine.layout("S[(33,2):(1@lane,1)]"), machine.axes).ok());
}

// (h) Equality looks at the layouts alone; no registry, mesh or target has a say.
TEST(Defect, AmbientTarget) {
  MeshMachine narrow("warp=2,lane=16");
  MeshMachine wide("warp=4,lane=32");
  const Layout one = narrow.layout("S[(2,16):(1@warp,1@lane)]");
  const Layout other = wide.layout("S[(2,16):(1@warp,1@lane)]");
  EXPECT_EQ(one, other);
  EXPECT_EQ(one.hash(), other.hash());
  EXPECT_EQ((std::unordered_set<Layout>{one, other}.size()), 1U);
  // Two axes become one only when somebody asks, with the size to do it by.
  EXPECT_EQ(one.digits().size(), 2U);
  EXPECT_EQ(
      fuse_axes(one, narrow["warp"], narrow["lane"], 16, narrow["thread"]).value().digits().size(),
      1U);
  EXPECT_EQ(
      fuse_axes(one, narrow["warp"], narrow["lane"], 32, narrow["thread"]).value().digits().size(),
      2U);
}

}  // namespace
}  // namespace heddle
