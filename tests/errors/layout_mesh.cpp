// Texts that are no mesh, axes that cannot be added, and layouts that do not fit a mesh.
#include "wrong_use.h"

namespace heddle {
namespace {

Expected<Mesh> mesh(std::string_view text) {
  AxisRegistry axes = AxisRegistry::standard();
  return Mesh::parse(text, axes);
}

WRONG_USE(MeshError, NoSize, mesh("gpu"), "'gpu'", "gpu=8")
WRONG_USE(MeshError, EmptySize, mesh("gpu="), "gpu", "whole number of at least 1")
WRONG_USE(MeshError, SizeZero, mesh("gpu=0"), "'0'", "at least 1")
WRONG_USE(MeshError, NegativeSize, mesh("gpu=-4"), "'-4'", "at least 1")
WRONG_USE(MeshError, SizeThatIsNoNumber, mesh("gpu=many"), "'many'", "whole number")
WRONG_USE(MeshError, HugeSize, mesh("gpu=99999999999999999999"), "gpu", "99999999999999999999")
WRONG_USE(MeshError, TooManyDevices, mesh("a=1099511627776,b=1099511627776"), "devices")
WRONG_USE(MeshError, NoName, mesh("=8"), "cannot name an axis", "letter")
WRONG_USE(MeshError, NameThatIsANumber, mesh("8=8"), "'8'", "cannot name an axis")
WRONG_USE(MeshError, NameWithASpace, mesh("g pu=8"), "'g pu'", "cannot name an axis")
WRONG_USE(MeshError, TheSameAxisTwice, mesh("gpu=8,gpu=8"), "gpu", "twice")
WRONG_USE(MeshError, TwoCommas, mesh("gpu=8,,node=2"), "gpu=8")
WRONG_USE(MeshError, CommaAtTheEnd, mesh("gpu=8,"), "NAME=SIZE")
WRONG_USE(MeshError, SpaceInsteadOfComma, mesh("gpu=8 node=2"), "'8 node=2'")
WRONG_USE(MeshError, MemoryAxis, mesh("mem=4"), "mem", "memory axis")
WRONG_USE(MeshError, MoreLanesThanThereAre, mesh("lane=64"), "lane", "32", "64")
WRONG_USE(MeshError, BandwidthThatIsNoNumber, mesh("gpu=8:fast"), "'fast'", "bandwidth", "GB/s")
WRONG_USE(MeshError, BandwidthWithoutUnit, mesh("gpu=8:25"), "'25'", "bandwidth", "GB/s")
WRONG_USE(MeshError, BandwidthZero, mesh("gpu=8:0GB/s"), "gpu", "bandwidth above 0")
WRONG_USE(MeshError, NegativeBandwidth, mesh("gpu=8:-3GB/s"), "bandwidth")
WRONG_USE(MeshError, InfiniteBandwidth, mesh("gpu=8:infGB/s"), "bandwidth")
WRONG_USE(MeshError, LatencyThatIsNoNumber, mesh("gpu=8:25GB/s:slow"), "'slow'", "latency", "us")
WRONG_USE(MeshError, AFourthPart, mesh("gpu=8:25GB/s:5us:x"), "NAME=SIZE:BANDWIDTH:LATENCY")
WRONG_USE(MeshError, LongerThanAnyMesh, mesh(std::string(5000, 'x')), "4096")

WRONG_USE(MeshError, ThreadsCountedTwice, mesh("thread=64,lane=32"), "thread", "lane", "twice")

WRONG_USE(MeshError, LinkWithoutBandwidth,
          Mesh::make({{15, "gpu", 8, Link{0, 0}, Medium::network}}), "gpu", "bandwidth above 0")
WRONG_USE(MeshError, NegativeLatency, Mesh::make({{15, "gpu", 8, Link{-1, 1e9}, Medium::network}}),
          "gpu", "latency")
WRONG_USE(MeshError, NoLocalBandwidth, Mesh::make({}, 0), "local bandwidth")

WRONG_USE(AxisError, NameThatIsTaken,
          MeshMachine().axes.add({"gpu", AxisKind::mesh, Scope::world, Scope::device, 4}), "gpu",
          "mesh axis of size 8")
WRONG_USE(AxisError, NegativeSize,
          MeshMachine().axes.add({"x", AxisKind::mesh, Scope::world, Scope::device, -1}), "x", "-1",
          "at least 1")
WRONG_USE(AxisError, BadName,
          MeshMachine().axes.add({"a-b", AxisKind::mesh, Scope::world, Scope::device, 2}), "'a-b'",
          "letters, digits or _")
WRONG_USE(AxisError, SizeSetToZero, MeshMachine().axes.set_size(0, 0), "mem", "at least 1")
WRONG_USE(AxisError, UnknownName, MeshMachine().axes.require("gpi"), "'gpi'", "node, gpu, tp",
          "warp_in_group", "tmem_lane")

TEST(AxisError, NameTakenWithOtherScopes) {
  AxisRegistry axes = AxisRegistry::standard();
  const auto lane = axes.add({"lane", AxisKind::kernel, Scope::block, Scope::thread, 32});
  expect_words(why_not(lane), {"lane", "already"});
}
TEST(AxisError, NameOfASize) {
  AxisRegistry axes = AxisRegistry::standard();
  (void)parse_layout("(8*k)", axes).value();
  expect_words(why_not(Mesh::parse("k=4", axes)), {"k", "size"});
}

TEST(MeshError, ARefusedMeshAddsNoAxis) {
  AxisRegistry axes = AxisRegistry::standard();
  const std::size_t before = axes.size();
  ASSERT_FALSE(Mesh::parse("gpu=8,node=zero", axes).ok());
  EXPECT_EQ(axes.size(), before);
  EXPECT_FALSE(axes.find("gpu").has_value());
}

TEST(MeshError, ARefusedMeshChangesNoSize) {
  AxisRegistry axes = AxisRegistry::standard();
  const AxisId lane = axes.require("lane").value();
  ASSERT_FALSE(Mesh::parse("lane=16,node=zero", axes).ok());
  EXPECT_EQ(axes[lane].size, 32);
}

// ---- layouts beyond the mesh

TEST(ValidateError, MoreWaysThanTheAxisHas) {
  expect_words(why_not_valid("(64:16@gpu)"), {"position 15", "gpu", "only 8"});
}
TEST(ValidateError, AnAxisUsedTwiceInOneDimension) {
  expect_words(why_not_valid("(64:gpu:gpu)"), {"position 63", "gpu", "only 8"});
}
TEST(ValidateError, AnAxisUsedForTwoDimensions) {
  expect_words(why_not_valid("(64:gpu, 64:gpu)"), {"position 63", "gpu", "only 8"});
}
TEST(ValidateError, SplitAndCopiedOverOneAxis) {
  expect_words(why_not_valid("(64:gpu) + R[gpu]"), {"gpu", "only 8"});
}
TEST(ValidateError, MoreCopiesThanDevices) {
  expect_words(why_not_valid("(64) + R[9@gpu]"), {"position 8", "gpu", "only 8"});
}
TEST(ValidateError, OffsetPastTheAxis) {
  expect_words(why_not_valid("(64) + 9@gpu"), {"position 9", "gpu", "only 8", "offset"});
}
TEST(ValidateError, OffsetThatMovesASplitOut) {
  expect_words(why_not_valid("(64:gpu) + 1@gpu"), {"position 8", "gpu", "offset"});
}
TEST(ValidateError, NegativePosition) {
  expect_words(why_not_valid("(64) - 1@gpu"), {"position -1", "gpu", "start at 0"});
}
TEST(ValidateError, StridePastTheAxis) {
  expect_words(why_not_valid("(64:(8:2@gpu))"), {"position 14", "gpu"});
}
TEST(ValidateError, MoreLanesThanAWarpHas) {
  expect_words(why_not_valid("(64:64@lane)"), {"position 63", "lane", "only 32"});
}
TEST(ValidateError, OverlappingDigits) {
  expect_words(why_not_valid("S[(4,4):(1,2)]"), {"4:1@mem", "4:2@mem", "overlap", "mem"});
}
TEST(ValidateError, TwoSplitsOnTheSamePlaces) {
  expect_words(why_not_valid("[4,4] S[(4,4):(1@gpu,1@gpu)]"), {"overlap", "gpu"});
}
TEST(ValidateError, CopiesOnTheSamePlacesAsElements) {
  expect_words(why_not_valid("[4] S[(4):(1@gpu)] + R[2:1@gpu]"), {"overlap", "gpu"});
}
TEST(ValidateError, BroadcastDimension) {
  expect_words(why_not_valid("[2,2] S[(2,2):(0,1)]"),
               {"2 elements share one cell", "broadcast", "R["});
}
TEST(ValidateError, SwizzleOnAKernelAxis) {
  expect_words(why_not_valid("(64:32@lane) + Z[1,0,2@lane]"), {"memory axis", "lane", "kernel"});
}
TEST(ValidateError, HaloOfADimensionWithoutMemory) {
  expect_words(why_not_valid("[8{halo=1}] S[(8):(1@gpu)]"), {"halo", "dimension 0", "memory"});
}
TEST(ValidateError, HaloWithoutRoomInMemory) {
  expect_words(why_not_valid("[64{halo=1}] S[(8,8):(1@gpu,1@mem)]"), {"position -1", "mem"});
}
TEST(ValidateError, AxisOfAnotherRegistry) {
  const Layout layout = layout_of("(64:8@gpu)");
  const AxisRegistry other = AxisRegistry::standard();
  expect_words(why_not(validate(layout, other)), {"not in the registry"});
}
TEST(ScopeError, BlockAndLaneWithoutWarp) {
  MeshMachine machine;
  const Layout layout = parse_layout("(64:2@block:32@lane)", machine.axes).value();
  expect_words(why_not(check_scopes(layout, machine.axes)),
               {"block", "lane", "nothing counts warps inside a block"});
}
TEST(ScopeError, WarpAndThreadCountTheSameTwice) {
  MeshMachine machine;
  const Layout layout = parse_layout("(64:2@warp:32@thread)", machine.axes).value();
  expect_words(why_not(check_scopes(layout, machine.axes)), {"warp", "thread", "twice"});
}

}  // namespace
}  // namespace heddle
