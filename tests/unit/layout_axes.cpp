// Sizes, axes and meshes: what layouts are built on.
#include <gtest/gtest.h>

#include <unordered_map>

#include "heddle/layout.h"
#include "heddle/mesh.h"

namespace heddle {
namespace {

TEST(Dim, IsAnIntegerOrAFactorTimesNames) {
  const Dim n = Dim::symbol(1);
  const Dim m = Dim::symbol(2);
  EXPECT_TRUE(Dim(6).is(6));
  EXPECT_FALSE((Dim(6) * n).is(6));
  EXPECT_EQ(n * m, m * n);
  EXPECT_EQ(Dim(2) * n * Dim(3), Dim(6) * n);
  EXPECT_EQ(Dim(0) * n, Dim(0));
  EXPECT_EQ((Dim(6) * n).factor(), 6);
  EXPECT_EQ(-(Dim(6) * n), Dim(-6) * n);
}

TEST(Dim, DividesOnlyWhatDividesForEveryValue) {
  const Dim n = Dim::symbol(1);
  const Dim m = Dim::symbol(2);
  EXPECT_TRUE(Dim::divides(8, Dim(16) * n));
  EXPECT_FALSE(Dim::divides(16, Dim(8) * n));
  EXPECT_TRUE(Dim::divides(n, n * m));
  EXPECT_FALSE(Dim::divides(n, m));
  EXPECT_FALSE(Dim::divides(n * n, n));
  EXPECT_FALSE(Dim::divides(0, 8));
  EXPECT_TRUE(Dim::divides(8, 0));
  EXPECT_EQ(Dim::quotient(Dim(16) * n * m, Dim(8) * n), Dim(2) * m);
}

TEST(Dim, SumsWhereOneFactorRemains) {
  const Dim n = Dim::symbol(1);
  EXPECT_EQ(Dim::sum(Dim(2) * n, Dim(3) * n), Dim(5) * n);
  EXPECT_EQ(Dim::sum(Dim(2) * n, Dim(-2) * n), Dim(0));
  EXPECT_EQ(Dim::sum(n, 0), n);
  EXPECT_FALSE(Dim::sum(n, 1).has_value());
}

TEST(Dim, NoticesWhenItLeaves64Bits) {
  const Dim huge = std::int64_t{1} << 62;
  EXPECT_FALSE((huge * Dim(2)).valid());
  EXPECT_FALSE((huge * Dim(-4)).valid());
  EXPECT_FALSE((huge * Dim(2) * Dim(0)).valid());
  const Dim n = Dim::symbol(1);
  EXPECT_TRUE((n * n * n * n).valid());
  EXPECT_FALSE((n * n * n * n * n).valid());
  EXPECT_FALSE(Dim::sum(huge, huge).has_value() && Dim::sum(huge, huge)->valid());
}

TEST(Dim, BindsSomeNamesAndKeepsOthers) {
  const Dim size = Dim(2) * Dim::symbol(1) * Dim::symbol(2) * Dim::symbol(2);
  EXPECT_EQ(size.bind({{1, 5}}), Dim(10) * Dim::symbol(2) * Dim::symbol(2));
  EXPECT_EQ(size.bind({{1, 5}, {2, 3}}), Dim(90));
  EXPECT_EQ(size.bind({}), size);
}

TEST(AxisRegistry, HasTheAxesOfEveryMachine) {
  const AxisRegistry axes = AxisRegistry::standard();
  for (const char* name :
       {"mem", "reg", "vec", "bank", "tmem_lane", "tmem_col", "part", "free", "block", "cluster",
        "warpgroup", "warp_in_group", "warp", "lane", "thread"})
    EXPECT_TRUE(axes.find(name).has_value()) << name;
  EXPECT_EQ(axes[axes.mem()].name, "mem");
  EXPECT_EQ(axes[axes.require("lane").value()].size, 32);
  EXPECT_FALSE(axes.find("gpu").has_value());
  EXPECT_FALSE(axes.find("").has_value());
}

// The axes from block to lane chain: each counts inside what the one before counts.
TEST(AxisRegistry, ScopesChain) {
  const AxisRegistry axes = AxisRegistry::standard();
  const auto info = [&](const char* name) { return axes[axes.require(name).value()]; };
  EXPECT_EQ(info("block").inner, info("warpgroup").outer);
  EXPECT_EQ(info("warpgroup").inner, info("warp_in_group").outer);
  EXPECT_EQ(info("warp_in_group").inner, info("lane").outer);
  EXPECT_EQ(info("block").inner, info("warp").outer);
  EXPECT_EQ(info("warp").inner, info("lane").outer);
  EXPECT_EQ(info("thread").outer, Scope::block);
  EXPECT_EQ(name(Scope::warpgroup), "warpgroup");
  EXPECT_EQ(name(AxisKind::memory), "memory");
}

// Kernel axes of a layout must count without a gap and nothing twice.
TEST(AxisRegistry, ChainsOfScopes) {
  AxisRegistry axes = AxisRegistry::standard();
  const auto chains = [&](std::initializer_list<const char*> names) {
    LayoutParts parts;
    for (const char* name : names) {
      parts.dims.push_back({2, 2, 0, 0, 0});
      parts.digits.push_back({2, 1, axes.require(name).value()});
    }
    return check_scopes(Layout::make(parts).value(), axes).ok();
  };
  EXPECT_TRUE(chains({}));
  EXPECT_TRUE(chains({"mem"}));
  EXPECT_TRUE(chains({"lane"}));
  EXPECT_TRUE(chains({"block", "warp", "lane", "mem"}));
  EXPECT_TRUE(chains({"lane", "warp", "block"}));
  EXPECT_TRUE(chains({"block", "warpgroup", "warp_in_group", "lane"}));
  EXPECT_TRUE(chains({"cluster", "warp", "lane"}));
  EXPECT_TRUE(chains({"block", "thread"}));
  EXPECT_FALSE(chains({"block", "lane"}));
  EXPECT_FALSE(chains({"warpgroup", "lane"}));
  EXPECT_FALSE(chains({"warpgroup", "warp", "lane"}));
  EXPECT_FALSE(chains({"block", "cluster"}));
  EXPECT_FALSE(chains({"thread", "lane"}));
}

TEST(AxisRegistry, TheSameAxisTwiceIsOneAxis) {
  AxisRegistry axes = AxisRegistry::standard();
  const AxisInfo rack{"rack", AxisKind::mesh, Scope::world, Scope::device, 3};
  const AxisId id = axes.add(rack).value();
  EXPECT_EQ(axes.add(rack).value(), id);
  EXPECT_TRUE(axes.knows(id));
  EXPECT_FALSE(axes.knows(static_cast<AxisId>(id + 1)));
  EXPECT_THROW((void)axes[static_cast<AxisId>(id + 1)], InternalError);
}

TEST(AxisRegistry, RemembersNamesOfSizes) {
  AxisRegistry axes = AxisRegistry::standard();
  const SymbolId n = axes.symbol("n");
  EXPECT_EQ(axes.symbol("n"), n);
  EXPECT_NE(axes.symbol("m"), n);
  EXPECT_EQ(axes.symbol_name(n), "n");
  EXPECT_FALSE(axes.find_symbol("k").has_value());
}

TEST(AxisRegistry, NamesAreLettersDigitsAndUnderscores) {
  for (const char* good : {"a", "_", "gpu_0", "Z9"}) EXPECT_TRUE(is_name(good)) << good;
  for (const char* bad : {"", "0a", "a-b", "a b", "a@", "\xC3\xA9"})
    EXPECT_FALSE(is_name(bad)) << bad;
  EXPECT_TRUE(is_name(std::string(64, 'x')));
  EXPECT_FALSE(is_name(std::string(65, 'x')));
}

TEST(Mesh, ReadsAxesAndLinks) {
  AxisRegistry axes = AxisRegistry::standard();
  const Mesh mesh = Mesh::parse(" node=2:25GB/s:5us , gpu = 8", axes).value();
  EXPECT_EQ(mesh.devices(), 16);
  EXPECT_EQ(mesh.str(), "node=2,gpu=8");
  const MeshAxis* node = mesh.find(axes.require("node").value());
  ASSERT_NE(node, nullptr);
  EXPECT_DOUBLE_EQ(node->link.bandwidth, 25e9);
  EXPECT_DOUBLE_EQ(node->link.latency, 5e-6);
  EXPECT_EQ(node->medium, Medium::network);
  EXPECT_EQ(axes[axes.require("gpu").value()].size, 8);
  EXPECT_EQ(mesh.find(axes.mem()), nullptr);
}

TEST(Mesh, KernelAxesGetTheirSizeAndMedium) {
  AxisRegistry axes = AxisRegistry::standard();
  const Mesh mesh = Mesh::parse("gpu=2,block=4,cluster=2,warp=8,lane=32", axes).value();
  EXPECT_EQ(axes[axes.require("warp").value()].size, 8);
  const auto medium = [&](const char* name) {
    return mesh.find(axes.require(name).value())->medium;
  };
  EXPECT_EQ(medium("gpu"), Medium::network);
  EXPECT_EQ(medium("block"), Medium::global_memory);
  EXPECT_EQ(medium("cluster"), Medium::cluster_memory);
  EXPECT_EQ(medium("warp"), Medium::shared_memory);
  EXPECT_EQ(medium("lane"), Medium::shuffle);
}

TEST(Mesh, NothingIsOneDevice) {
  AxisRegistry axes = AxisRegistry::standard();
  EXPECT_EQ(Mesh::parse("", axes).value().devices(), 1);
  EXPECT_EQ(Mesh::parse("  ", axes).value().str(), "one device");
  EXPECT_EQ(Mesh::parse("", axes).value(), Mesh());
}

TEST(Mesh, EqualWhereAllOfItIs) {
  AxisRegistry axes = AxisRegistry::standard();
  const Mesh mesh = Mesh::parse("node=2,gpu=8", axes).value();
  EXPECT_EQ(mesh, Mesh::parse("node=2,gpu=8", axes).value());
  EXPECT_EQ(mesh.hash(), Mesh::parse("node=2,gpu=8", axes).value().hash());
  EXPECT_FALSE(mesh == Mesh::parse("node=2,gpu=8:1GB/s", axes).value());
  EXPECT_FALSE(mesh == Mesh::parse("gpu=8,node=2", axes).value());
}

TEST(Layout, AScalarHasOneCell) {
  const Layout scalar;
  EXPECT_EQ(scalar.rank(), 0U);
  EXPECT_EQ(scalar, Layout::make({}).value());
  EXPECT_TRUE(position_of(scalar, Index{}).value().empty());
  EXPECT_EQ(cells(scalar, Index{}).value().size(), 1U);
  EXPECT_TRUE(covers(scalar));
  EXPECT_TRUE(admits(scalar, std::vector<Dim>{}));
  EXPECT_TRUE(admits(scalar, std::vector<Dim>{1, 1}));
}

TEST(Layout, IsAKey) {
  std::unordered_map<Layout, int> known;
  LayoutParts parts;
  parts.dims = {{6, 6, 0, 0, 0}};
  parts.digits = {{2, 3, 0}, {3, 1, 0}};
  known[Layout::make(parts).value()] = 1;
  parts.digits = {{6, 1, 0}};
  EXPECT_EQ(known[Layout::make(parts).value()], 1);
  parts.dims[0].origin = 1;
  EXPECT_EQ(known.count(Layout::make(parts).value()), 0U);
}

TEST(Layout, AnEmptyTensorHasNoIndexAndIsCovered) {
  LayoutParts parts;
  parts.dims = {{0, 1, 0, 0, 0}};
  const Layout empty = Layout::make(parts).value();
  EXPECT_TRUE(covers(empty));
  EXPECT_FALSE(position_of(empty, Index{0}).ok());
}

TEST(Layout, ReductionsHaveNames) {
  EXPECT_EQ(name(ReduceOp::sum), "sum");
  EXPECT_EQ(name(ReduceOp::product), "product");
  EXPECT_EQ(name(ReduceOp::min), "min");
  EXPECT_EQ(name(ReduceOp::max), "max");
  EXPECT_EQ(name(ReduceOp::logical_and), "and");
  EXPECT_EQ(name(ReduceOp::logical_or), "or");
}

// A kind of reduction without contributions says nothing.
TEST(Layout, ReductionWithoutPartialsIsForgotten) {
  LayoutParts parts;
  parts.reduce = ReduceOp::max;
  parts.partials = {{1, 7, 3}};
  EXPECT_EQ(Layout::make(parts).value(), Layout());
}

}  // namespace
}  // namespace heddle
