// Operations on layouts that do not fit them.
#include "heddle/tensor.h"
#include "wrong_use.h"

namespace heddle {
namespace {

using Sizes = std::vector<Dim>;
using Order = std::vector<std::size_t>;

Expected<Layout> made(std::vector<DimInfo> dims, Digits digits) {
  LayoutParts parts;
  parts.dims = std::move(dims);
  parts.digits = std::move(digits);
  return Layout::make(std::move(parts));
}
Dim unknown(const char* name) {
  static AxisRegistry names = AxisRegistry::standard();
  return Dim::symbol(names.symbol(name));
}

// ---- Layout::make

WRONG_USE(MakeError, StrideWithoutAxis, made({{8, 8, 0, 0, 0}}, {{8, 1, kNoAxis}}),
          "stride but no axis")
WRONG_USE(MakeError, NegativeExtent, made({{8, 8, 0, 0, 0}}, {{-8, 1, 0}}), "extent", "at least 1")
WRONG_USE(MakeError, NegativeSize, made({{-8, 8, 0, 0, 0}}, {{8, 1, 0}}), "dimension 0",
          "negative size -8")
WRONG_USE(MakeError, PaddedToNothing, made({{0, 0, 0, 0, 0}}, {}), "dimension 0", "at least 1")
WRONG_USE(MakeError, DigitsThatDoNotCover, made({{8, 8, 0, 0, 0}}, {{4, 1, 0}}), "cover 4",
          "dimensions 8")
WRONG_USE(MakeError, TooLargeADimension, made({{Dim::too_large(), 1, 0, 0, 0}}, {}), "dimension 0",
          "too large")
WRONG_USE(MakeError, TooManyUnknowns,
          made({{unknown("a") * unknown("b") * unknown("c") * unknown("d") * unknown("e"), 1, 0, 0,
                 0}},
               {}),
          "too large")
TEST(MakeError, OffsetWithoutAxis) {
  LayoutParts parts;
  parts.offset = {{kNoAxis, 5}};
  expect_words(why_not(Layout::make(parts)), {"offset", "axis"});
}
TEST(MakeError, OffsetsThatDoNotAdd) {
  LayoutParts parts;
  parts.offset = {{0, 4}, {0, unknown("n")}};
  expect_words(why_not(Layout::make(parts)), {"offsets", "4", "sum"});
}
TEST(MakeError, NegativeStrideOfUnknownReplicas) {
  LayoutParts parts;
  parts.replicas = {{unknown("n"), -1, 0}};
  expect_words(why_not(Layout::make(parts)), {"negative stride"});
}

// ---- asking where an element is

WRONG_USE(ApplyError, IndexPastTheEnd, position_of(layout_of("(64:8@gpu)"), Index{64}), "64",
          "dimension 0", "size 64")
WRONG_USE(ApplyError, NegativeIndex, position_of(layout_of("(64:8@gpu)"), Index{-1}), "-1",
          "dimension 0")
WRONG_USE(ApplyError, WrongNumberOfIndices, position_of(layout_of("(64:8@gpu)"), Index{1, 2}),
          "2 entries", "1 dimension")
WRONG_USE(ApplyError, IndexWithoutACell,
          position_of(layout_of("(64{origin=8, pad=56}:8@gpu)"), Index{3}), "no cell", "8 to 63")
WRONG_USE(ApplyError, UnknownSizes, position_of(layout_of("(8*n:8@gpu)"), Index{0}),
          "unknown sizes", "bind")
WRONG_USE(ApplyError, MoreCellsThanAnyoneLists,
          cells(layout_of("(8) + R[1048576@mem, 1048576:1048576@mem]"), Index{0}), "1048576",
          "position_of")
WRONG_USE(ApplyError, CellsOfUnknownSizes, cells(layout_of("(8*n:8@gpu)"), Index{0}), "bind")
WRONG_USE(BindError, ASizeOfZero, bind_sizes(layout_of("(8*n:8@gpu)"), {{1, 0}}), "at least 1")
WRONG_USE(SpanError, SpanThatIsNoSize, span(layout_of("[n] S[(n):(2)]"), 0), "unknown sizes",
          "bind")

TEST(SpanError, FiveNamesInOneSpan) {
  MeshMachine machine;
  const Layout layout =
      parse_layout("[a*b*c*d] S[(a*b,c*d):(1,a*b)] + R[e:a*b*c*d@mem]", machine.axes).value();
  EXPECT_FALSE(span(layout, machine["mem"]).ok());
  const Layout square =
      parse_layout("[n*n*m*m] S[(n*m,n*m):(1,n*m)] + R[n:n*n*m*m@mem]", machine.axes).value();
  EXPECT_FALSE(span(square, machine["mem"]).ok());
}

// ---- group

WRONG_USE(GroupError, BoundaryInsideADigit, group(layout_of("[4,6] S[(6,4):(1,6)]"), Sizes{4, 6}),
          "dimension 0", "6", "4", "neither divides the other")
WRONG_USE(GroupError, OtherTotal, group(layout_of("(64)"), Sizes{65}), "neither divides")
WRONG_USE(GroupError, TooFewElements, group(layout_of("(64)"), Sizes{32}), "total size", "64", "32")
WRONG_USE(GroupError, TooManyElements, group(layout_of("(64)"), Sizes{64, 2}), "total size",
          "dimension 1")
WRONG_USE(GroupError, NegativeSizes, group(layout_of("(6)"), Sizes{-2, -3}), "-2")
TEST(GroupError, AdmitsNoNegativeSizes) { EXPECT_FALSE(admits(layout_of("(6)"), Sizes{-2, -3})); }
TEST(GroupError, NoShapesToRefine) { expect_words(why_not(common_refinement({})), {"no shapes"}); }
TEST(GroupError, ShapesOfDifferentTotals) {
  const std::vector<Sizes> shapes = {{4, 6}, {4, 5}};
  EXPECT_FALSE(common_refinement(shapes).ok());
}
TEST(GroupError, ShapesWithoutACommonRefinement) {
  const std::vector<Sizes> shapes = {{4, 6}, {6, 4}};
  expect_words(why_not(common_refinement(shapes)), {"4", "6", "neither divides the other"});
}

// ---- tile and sum

WRONG_USE(TileError, OtherRank, tile(layout_of("(8, 8)"), layout_of("(8)")), "[tile]",
          "2 dimensions", "1")
WRONG_USE(TileError, UnevenInner, tile(layout_of("(4)"), layout_of("(6{pad=8})")), "[tile]",
          "dimension 0", "inner", "outer")
WRONG_USE(TileError, HaloOutside, tile(layout_of("(64{halo=1}:8@gpu)"), layout_of("(4)")), "[tile]",
          "halo")
WRONG_USE(TileError, TwoReductions,
          tile(layout_of("(4) + P[sum gpu] + 0@node + 0@tp"),
               layout_of("(4) + P[max tp] + 0@node + 0@gpu")),
          "sum", "max")
WRONG_USE(TileError, TwoSwizzles,
          tile(layout_of("(512) + Z[3,3,3]"), layout_of("(512) + Z[3,3,3]")), "two swizzles")
WRONG_USE(TileError, OuterThatStepsInsideASwizzle,
          tile(layout_of("S[4:1]"), layout_of("S[384:1] + Z[3,3,3]")), "swizzle", "512")
WRONG_USE(TileError, UntileOfAnotherInner,
          untile(layout_of("S[(4,4):(1,4)]"), layout_of("S[(2,2):(1,2)]")), "[untile]")
WRONG_USE(TileError, UntileThatDoesNotDivide, untile(layout_of("S[10:1]"), layout_of("S[4:1]")),
          "[untile]", "dimension 0", "10", "divide by 4")
WRONG_USE(TileError, UntileOuterOfAnotherRank,
          untile_outer(layout_of("S[8:1]"), layout_of("S[(2,4):(4,1)]")), "[untile_outer]",
          "1 dimension", "2")
WRONG_USE(SumError, OtherRank, direct_sum(layout_of("(8, 8)"), layout_of("(8)")), "[sum]",
          "2 dimensions", "1")
WRONG_USE(SumError, PartThatIsNotThere,
          unsum(layout_of("S[(4,4):(16,1)]"), layout_of("S[(2,2):(3,1)]")), "[unsum]")
WRONG_USE(SumError, ReplicasThatAreNotThere,
          unsum(layout_of("S[4:1]"), layout_of("S[2:1] + R[2:4@gpu]")), "replicas")

// ---- slices, orders and views

WRONG_USE(SliceError, PastTheEnd, slice(layout_of("(64)"), Index{60}, Index{5}),
          "5 elements from 60", "dimension 0", "64")
WRONG_USE(SliceError, NegativeStart, slice(layout_of("(64)"), Index{-1}, Index{5}), "-1",
          "dimension 0")
WRONG_USE(SliceError, Empty, slice(layout_of("(64)"), Index{0}, Index{0}), "dimension 0",
          "0 elements")
WRONG_USE(SliceError, WrongRank, slice(layout_of("(64)"), Index{0, 0}, Index{1, 1}), "2 starts",
          "1 dimension")
WRONG_USE(SliceError, HugeSize, slice(layout_of("(64)"), Index{1}, Index{INT64_MAX}), "dimension 0")
WRONG_USE(SliceError, NoPattern, slice(layout_of("(64:8@gpu)"), Index{3}, Index{10}), "dimension 0")
WRONG_USE(SliceError, UnknownSize, slice(layout_of("(8*n)"), Index{0}, Index{4}), "unknown size",
          "bind")
WRONG_USE(SliceError, OfAHalo, slice(layout_of("(64{halo=1}:8@gpu)"), Index{0}, Index{8}), "halo")
WRONG_USE(PermuteError, WrongNumberOfDimensions, permute(layout_of("(8, 8)"), Order{0}),
          "[permute]", "1", "2")
WRONG_USE(PermuteError, DimensionTwice, permute(layout_of("(8, 8)"), Order{0, 0}),
          "each of 2 dimensions once")
WRONG_USE(PermuteError, UnknownDimension, permute(layout_of("(8, 8)"), Order{0, 2}),
          "each of 2 dimensions once")
WRONG_USE(PermuteError, DigitsAcrossDimensions,
          permute(layout_of("[4,6] S[(6,4):(1,6)]"), Order{1, 0}), "neither divides")
WRONG_USE(ViewError, ReshapeToOtherTotal, compose(layout_of("(8, 8)"), View::reshape({8, 9})),
          "[reshape]", "elements")
WRONG_USE(ViewError, ReshapeToNothing, compose(layout_of("(8, 8)"), View::reshape({64, 0})),
          "[reshape]", "0 elements")
WRONG_USE(ViewError, ReshapeToANegativeSize, compose(layout_of("(8, 8)"), View::reshape({-8, -8})),
          "[reshape]", "-8")
WRONG_USE(ViewError, ReshapeAcrossUnevenBlocks,
          compose(layout_of("(10{pad=12}:4@gpu, 4)"), View::reshape({40})), "dimension 0", "uneven",
          "stay")
WRONG_USE(ViewError, BroadcastOfALongDimension,
          compose(layout_of("(8)"), View::broadcast({16}, {0})), "size 8", "stretch to 16")
WRONG_USE(ViewError, BroadcastWithoutAPlace,
          compose(layout_of("(8)"), View::broadcast({8, 4}, {2})), "[broadcast]", "place")
WRONG_USE(ViewError, BroadcastOfTwoToOnePlace,
          compose(layout_of("(8, 8)"), View::broadcast({8}, {0, 0})), "[broadcast]", "own place")
WRONG_USE(ViewError, BroadcastOfAnotherRank,
          compose(layout_of("(8)"), View::broadcast({8, 8}, {0, 1})), "2 dimensions", "1")
WRONG_USE(ViewError, StepZero, compose(layout_of("(8)"), View::slice({0}, {4}, {0})), "step",
          "at least 1")
WRONG_USE(ViewError, StepsPastTheEnd, compose(layout_of("(8)"), View::slice({0}, {5}, {2})),
          "5 elements", "steps of 2", "8")
WRONG_USE(ViewError, HugeStep, compose(layout_of("(8)"), View::slice({0}, {2}, {INT64_MAX})),
          "dimension 0")
WRONG_USE(ViewError, StepsOfAnotherRank, compose(layout_of("(8)"), View::slice({0}, {4}, {1, 1})),
          "2 steps", "1 dimension")

// ---- parts, axes, packing, addresses

WRONG_USE(FuseError, InnerPositionsThatDoNotFit,
          fuse_axes(layout_of("(64:32@lane)"), MeshMachine()["warp"], MeshMachine()["lane"], 16,
                    MeshMachine()["thread"]),
          "31", "size 16")
WRONG_USE(FuseError, FusedAxisInUse,
          fuse_axes(layout_of("(64:2@thread:8@lane)"), MeshMachine()["warp"], MeshMachine()["lane"],
                    32, MeshMachine()["thread"]),
          "already")
WRONG_USE(FuseError, SizeZero,
          fuse_axes(layout_of("(64)"), MeshMachine()["warp"], MeshMachine()["lane"], 0,
                    MeshMachine()["thread"]),
          "size 0")
WRONG_USE(SplitError, DigitAcrossTheBoundary,
          split_axis(layout_of("(96:48@thread)"), MeshMachine()["thread"], 32,
                     MeshMachine()["warp"], MeshMachine()["lane"]),
          "48:1", "32")
WRONG_USE(SplitError, OffsetThatCarries,
          split_axis(layout_of("(64:32@thread) + 5@thread"), MeshMachine()["thread"], 32,
                     MeshMachine()["warp"], MeshMachine()["lane"]),
          "carries")
WRONG_USE(SplitError, NewAxisInUse,
          split_axis(layout_of("(64:32@thread:2@lane)"), MeshMachine()["thread"], 32,
                     MeshMachine()["warp"], MeshMachine()["lane"]),
          "already")
WRONG_USE(PackError, NeighboursFarApart, pack(layout_of("[8] S[(8):(2)]"), MeshMachine()["mem"], 2),
          "[pack]", "side by side")
WRONG_USE(PackError, OddNumber, pack(layout_of("S[7:1]"), MeshMachine()["mem"], 2), "[pack]", "2")
WRONG_USE(PackError, OfAScalar, pack(layout_of("()"), MeshMachine()["mem"], 2), "0 dimensions")
WRONG_USE(PackError, NegativeNumber, unpack(layout_of("(8)"), MeshMachine()["mem"], -2), "-2")
WRONG_USE(SwizzleError, Twice,
          with_swizzle(layout_of("(4096) + Z[3,3,3]"), {MeshMachine()["mem"], 3, 3, 3}), "already")
WRONG_USE(SwizzleError, SmallShift,
          with_swizzle(layout_of("(4096)"), {MeshMachine()["mem"], 3, 3, 2}), "shift of at least 3")
WRONG_USE(ConflictError, OtherRank,
          bank_conflicts(layout_of("(8, 8)"), 0, layout_of("(64:32@lane)"), MeshMachine()["lane"],
                         MeshMachine()["reg"], 4, 1),
          "[conflicts]", "2 dimensions", "1")
WRONG_USE(ConflictError, OtherSize,
          bank_conflicts(layout_of("(32)"), 0, layout_of("(64:32@lane)"), MeshMachine()["lane"],
                         MeshMachine()["reg"], 4, 1),
          "dimension 0", "32", "64")
WRONG_USE(ConflictError, NoBytes,
          bank_conflicts(layout_of("(64)"), 0, layout_of("(64:32@lane)"), MeshMachine()["lane"],
                         MeshMachine()["reg"], 0, 1),
          "at least 1")
WRONG_USE(AddressError, UnknownSizes, lower_address(layout_of("(8*n)"), MeshMachine()["mem"]),
          "bind")
TEST(FootprintError, UnknownSizes) {
  MeshMachine machine;
  expect_words(why_not(footprint(layout_of("(8*n:8@gpu)"), {}, machine.axes)),
               {"[footprint]", "bind"});
}
TEST(FootprintError, AxisOfAnotherRegistry) {
  const AxisRegistry other = AxisRegistry::standard();
  expect_words(why_not(footprint(layout_of("(8:8@gpu)"), {}, other)), {"not in the registry"});
}

// ---- what a user sees when nobody looks at the answer

TEST(ExpectedError, ValueOfANoThrowsTheReason) {
  try {
    (void)parsed("(64:8@gpi)").value();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("unknown axis 'gpi'"));
  }
}

}  // namespace
}  // namespace heddle
