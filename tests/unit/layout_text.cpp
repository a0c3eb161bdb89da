// The notation, form by form: what a text means, and which text a layout gets.
#include <gtest/gtest.h>

#include "heddle/mesh.h"
#include "heddle/notation.h"

namespace heddle {
namespace {

struct Notation : ::testing::Test {
  AxisRegistry axes = AxisRegistry::standard();
  Notation() { (void)Mesh::parse("node=2,gpu=8,tp=4", axes).value(); }

  Layout read(std::string_view text) { return parse_layout(text, axes).value(); }
  // Two texts for one layout.
  void same(std::string_view text, std::string_view full) {
    EXPECT_EQ(read(text), read(full)) << text;
  }
  // A text that is printed as it is written.
  void prints(std::string_view text) { EXPECT_EQ(print_layout(read(text), axes), text); }
};

TEST_F(Notation, SplitOverAnAxis) {
  same("(64:8@gpu, 128)", "[64,128] S[(8,1024):(1@gpu,1)] + R[2:1@node, 4:1@tp]");
  same("(64:gpu, 128)", "(64:8@gpu, 128)");
  same("(64, 128:8@gpu)", "[64,128] S[(64,8,16):(16,1@gpu,1)] + R[node, tp]");
}
TEST_F(Notation, SplitOverTwoAxes) {
  same("(64:2@node:8@gpu)", "[64] S[(2,8,4):(1@node,1@gpu,1)] + R[tp]");
  same("(64:node:gpu)", "(64:2@node:8@gpu)");
}
TEST_F(Notation, DigitsOnOneAxisGoFromSlowToFast) {
  same("(64:2@gpu, 64:4@gpu)", "[64,64] S[(2,32,4,16):(4@gpu,16,1@gpu,1)] + R[node, tp]");
  same("(64:2@gpu) + R[4@gpu]", "[64] S[(2,32):(4@gpu,1)] + R[4:1@gpu, node, tp]");
  same("(64:2@gpu) + R[2@gpu] + P[2@gpu]",
       "[64] S[(2,32):(4@gpu,1)] + R[2:2@gpu, node, tp] + P[2:1@gpu]");
}
TEST_F(Notation, BlockCyclic) { same("(64:2:8@gpu)", "[64] S[(2,8,4):(4,1@gpu,1)] + R[node, tp]"); }
TEST_F(Notation, DigitWithItsStride) {
  same("(64:(2:4@gpu))", "[64] S[(2,32):(4@gpu,1)] + R[node, tp]");
}
TEST_F(Notation, Uneven) {
  const Layout blocks = read("(10{pad=12}:4@gpu)");
  EXPECT_EQ(blocks.dims()[0], (DimInfo{10, 12, 0, 0, 0}));
  EXPECT_EQ(blocks.digits()[0], (Iter{4, 1, axes.require("gpu").value()}));
}
TEST_F(Notation, Origin) {
  EXPECT_EQ(read("(64{origin=-2, pad=72}:8@gpu)").dims()[0], (DimInfo{64, 72, -2, 0, 0}));
}
TEST_F(Notation, Halo) {
  const Layout rows = read("(64{halo=1:2}:8@gpu, 32)");
  EXPECT_EQ(rows.dims()[0], (DimInfo{64, 64, 0, 1, 2}));
  EXPECT_EQ(rows.offset_on(axes.mem()), Dim(32));
  EXPECT_EQ(read("(64{halo=3}:8@gpu)").dims()[0], (DimInfo{64, 64, 0, 3, 3}));
}
TEST_F(Notation, PendingReduction) {
  const Layout sum = read("(64) + P[sum tp]");
  EXPECT_EQ(sum.partials(), (Digits{{4, 1, axes.require("tp").value()}}));
  EXPECT_EQ(read("(64) + P[tp]"), sum);
  EXPECT_EQ(read("(64) + P[and tp]").reduce(), ReduceOp::logical_and);
}
TEST_F(Notation, CopiesOnSomeDevices) {
  same("(64) + R[2@gpu] + 4@gpu", "[64] S[64:1] + R[2:1@gpu, node, tp] + 4@gpu");
}
TEST_F(Notation, OnlyAtPositionZero) { same("(64) + 0@gpu", "[64] S[64:1] + R[node, tp]"); }
TEST_F(Notation, NothingIsImpliedInFull) { EXPECT_TRUE(read("[64] S[64:1]").replicas().empty()); }
TEST_F(Notation, DimensionsOfTheFullFormMayBeLeftOut) {
  same("S[(8,16):(16,1)]", "[8,16] S[(8,16):(16,1)]");
}
TEST_F(Notation, UnknownSizes) {
  const Layout rows = read("(16*n:8@gpu)");
  const Dim n = Dim::symbol(axes.find_symbol("n").value());
  EXPECT_EQ(rows.dims()[0].size, Dim(16) * n);
  EXPECT_EQ(rows.digits()[1].extent, Dim(2) * n);
  same("(n*16:8@gpu)", "(16*n:8@gpu)");
}
TEST_F(Notation, NegativeOffset) {
  EXPECT_EQ(read("S[8:1] - 3@mem").offset_on(axes.mem()), Dim(-3));
}
TEST_F(Notation, Swizzle) {
  const Layout tile = read("(8, 64) + Z[3,3,3]");
  ASSERT_TRUE(tile.swizzle().has_value());
  EXPECT_EQ(*tile.swizzle(), (heddle::Swizzle{axes.mem(), 3, 3, 3}));
}
TEST_F(Notation, SpacesDoNotMatter) {
  same(" ( 64 : 8 @ gpu ,128 )+R[ node ]", "(64:8@gpu, 128) + R[node]");
}

TEST_F(Notation, ShortFormsPrintAsWritten) {
  for (const char* text :
       {"() + R[node, gpu, tp]", "(64:8@gpu, 128) + R[node, tp]", "(64:2@node:8@gpu) + R[tp]",
        "(10{pad=12}:4@gpu) + R[node, tp]", "(64{halo=1:2}:8@gpu, 32) + R[node, tp]",
        "(64, 128) + R[node, gpu] + P[sum tp]", "(64:2:8@gpu) + R[node, tp]"})
    prints(text);
}
TEST_F(Notation, WhatHasNoShortFormPrintsInFull) {
  prints("[8, 16] S[(8, 2, 4, 2):(4@lane, 1@warp, 1@lane, 1@reg)] + R[2:4@warp] + 5@warp");
  prints("[2, 2] S[(2, 2):(0, 1@mem)]");
}
TEST_F(Notation, FullFormShowsEveryDigit) {
  EXPECT_EQ(print_layout_full(read("(64:8@gpu, 128) - 2@mem"), axes),
            "[64, 128] S[(8, 1024):(1@gpu, 1@mem)] + R[node, tp] - 2@mem");
}
TEST_F(Notation, HighSwizzlesReadBack) {
  LayoutParts parts;
  parts.dims = {{4, 4, 0, 0, 0}};
  parts.digits = {{4, std::int64_t{1} << 48, axes.mem()}};
  parts.swizzle = heddle::Swizzle{axes.mem(), 1, 47, 1};
  const Layout layout = Layout::make(parts).value();
  ASSERT_TRUE(layout.swizzle().has_value());
  EXPECT_EQ(read(print_layout(layout, axes)), layout);
  EXPECT_EQ(read(print_layout_full(layout, axes)), layout);
}
// An axis may be called like a reduction, a size like a form.
TEST_F(Notation, NamesThatLookLikeWords) {
  for (const char* name : {"sum", "max", "R", "S", "P", "Z", "pad"})
    (void)axes.add({name, AxisKind::mesh, Scope::world, Scope::device, 2}).value();
  for (const char* text : {"(8:sum)", "(8) + P[sum sum]", "(8) + P[max]", "(8:2@max) + P[max sum]",
                           "(8:R:S)", "(8) + R[R] + P[min P]", "(8:2@Z) + 1@S", "(8:pad)"}) {
    const Layout layout = read(text);
    EXPECT_EQ(read(print_layout(layout, axes)), layout) << text;
    EXPECT_EQ(read(print_layout_full(layout, axes)), layout) << text;
  }
}
TEST_F(Notation, PrintsSizes) {
  const Dim n = Dim::symbol(axes.symbol("n"));
  EXPECT_EQ(print_dim(12, axes), "12");
  EXPECT_EQ(print_dim(n, axes), "n");
  EXPECT_EQ(print_dim(Dim(16) * n, axes), "16*n");
  EXPECT_EQ(print_dim(-n, axes), "-1*n");
}

}  // namespace
}  // namespace heddle
