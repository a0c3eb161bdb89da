// Layouts from the literature, worked out by hand: Axe, Rhino, Diffuse, uneven blocks, halos.
#include <gtest/gtest.h>

#include <algorithm>

#include "heddle/mesh.h"
#include "heddle/notation.h"
#include "heddle/tensor.h"
#include "heddle/view.h"
#include "layout_machine.h"

namespace heddle {
namespace {

std::int64_t count(const std::vector<Box>& boxes) {
  std::int64_t total = 0;
  for (const Box& box : boxes) total += box.count();
  return total;
}

// Axe's first example: an 8x16 tile over two warps and a copy of it on two others.
TEST(Example, TensorCoreTile) {
  MeshMachine machine;
  const Layout tile =
      machine.layout("[8,16] S[(8,2,4,2):(4@lane,1@warp,1@lane,1@reg)] + R[2:4@warp] + 5@warp");
  EXPECT_TRUE(validate(tile, machine.axes).ok());
  EXPECT_TRUE(check_scopes(tile, machine.axes).ok());
  EXPECT_EQ(span(tile, machine["lane"]).value(), Dim(32));
  EXPECT_EQ(span(tile, machine["warp"]).value(), Dim(6));
  EXPECT_EQ(span(tile, machine["reg"]).value(), Dim(2));
  for (std::int64_t i = 0; i < 8; ++i)
    for (std::int64_t j = 0; j < 16; ++j) {
      const Index x = {i, j};
      EXPECT_EQ(machine.at(tile, x, "lane"), 4 * i + j / 2 % 4);
      EXPECT_EQ(machine.at(tile, x, "reg"), j % 2);
      std::vector<std::int64_t> warps;
      for (const Coord& cell : cells(tile, x).value())
        warps.push_back(coord_on(cell, machine["warp"]));
      std::sort(warps.begin(), warps.end());
      EXPECT_EQ(warps, (std::vector<std::int64_t>{5 + j / 8, 9 + j / 8}));
    }
  // Lane 6 of warp 10 has columns 12 and 13 of row 1, as lane 6 of warp 6 does.
  for (const std::int64_t warp : {6, 10}) {
    const auto boxes =
        footprint(tile, {{machine["warp"], warp}, {machine["lane"], 6}}, machine.axes).value();
    ASSERT_EQ(count(boxes), 2);
    EXPECT_TRUE(boxes[0].contains(Index{1, 12}));
    EXPECT_TRUE(boxes[0].contains(Index{1, 13}));
  }
}

TEST(Example, MatrixOverATwoByTwoMesh) {
  MeshMachine machine("x=2,y=2");
  const Layout both = machine.layout("(64:x, 128:y)");
  const Layout rows = machine.layout("(64:x, 128)");
  for (const Index& x : {Index{0, 0}, Index{31, 63}, Index{32, 64}, Index{63, 127}, Index{40, 5}}) {
    EXPECT_EQ(machine.at(both, x, "x"), x[0] / 32);
    EXPECT_EQ(machine.at(both, x, "y"), x[1] / 64);
    EXPECT_EQ(machine.at(both, x, "mem"), x[0] % 32 * 64 + x[1] % 64);
    EXPECT_EQ(cells(both, x).value().size(), 1U);
    // Rows split, columns whole, a copy on both devices of a row.
    EXPECT_EQ(machine.at(rows, x, "mem"), x[0] % 32 * 128 + x[1]);
    EXPECT_EQ(cells(rows, x).value().size(), 2U);
  }
  EXPECT_EQ(axis_role(rows, machine["y"]).value().copies, Dim(2));
  EXPECT_EQ(axis_role(both, machine["y"]).value().splits.size(), 1U);
}

// Rhino splits an extent N with stride q over n: N/q in memory, n devices, q/n in memory.
TEST(Example, RhinoStridedSplit) {
  MeshMachine machine("gpu=2");
  const Layout cyclic = machine.layout("(24:3:gpu)");
  for (std::int64_t x = 0; x < 24; ++x) {
    EXPECT_EQ(machine.at(cyclic, {x}, "gpu"), x / 4 % 2);
    EXPECT_EQ(machine.at(cyclic, {x}, "mem"), x / 8 * 4 + x % 4);
  }
  const auto boxes = footprint(cyclic, {{machine["gpu"], 1}}, machine.axes).value();
  ASSERT_EQ(boxes.size(), 1U);
  std::vector<std::int64_t> rows;
  boxes[0].dims[0].for_each([&](std::int64_t x) { rows.push_back(x); });
  EXPECT_EQ(rows, (std::vector<std::int64_t>{4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23}));
}

// Diffuse's tilings begin at a logical origin and are clipped to the tensor.
TEST(Example, DiffuseTilingWithAnOrigin) {
  MeshMachine machine("gpu=8");
  const Layout tiles = machine.layout("(64{origin=-2, pad=72}:gpu)");
  EXPECT_TRUE(covers(tiles));
  EXPECT_EQ(machine.at(tiles, {0}, "gpu"), 0);
  EXPECT_EQ(machine.at(tiles, {0}, "mem"), 2);
  EXPECT_EQ(machine.at(tiles, {6}, "gpu"), 0);
  EXPECT_EQ(machine.at(tiles, {7}, "gpu"), 1);
  EXPECT_EQ(machine.at(tiles, {63}, "gpu"), 7);
  std::vector<std::int64_t> sizes;
  for (std::int64_t g = 0; g < 8; ++g)
    sizes.push_back(count(footprint(tiles, {{machine["gpu"], g}}, machine.axes).value()));
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{7, 9, 9, 9, 9, 9, 9, 3}));
}

TEST(Example, TenOverFour) {
  MeshMachine machine("gpu=4");
  const Layout blocks = machine.layout("(10{pad=12}:gpu)");
  EXPECT_TRUE(validate(blocks, machine.axes).ok());
  std::vector<std::int64_t> sizes;
  for (std::int64_t g = 0; g < 4; ++g)
    sizes.push_back(count(footprint(blocks, {{machine["gpu"], g}}, machine.axes).value()));
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{3, 3, 3, 1}));
  EXPECT_FALSE(position_of(blocks, Index{10}).ok());
  EXPECT_TRUE(local_part(blocks, machine.axes).value().dims()[0].padded.is(3));
}

// 224 columns of tensor memory: seven pieces of 32, no power of two.
TEST(Example, TensorMemoryOf224Columns) {
  MeshMachine machine;
  const Layout whole = machine.layout("S[(128,224):(1@tmem_lane,1@tmem_col)]");
  const Layout piece = machine.layout("S[(128,32):(1@tmem_lane,1@tmem_col)]");
  EXPECT_TRUE(validate(whole, machine.axes).ok());
  const Layout pieces = untile(whole, piece).value();
  EXPECT_EQ(pieces.padded_shape(), (std::vector<Dim>{1, 7}));
  EXPECT_EQ(tile(pieces, piece).value(), whole);
  EXPECT_EQ(untile_outer(whole, pieces).value(), piece);
  const Layout right = slice(whole, Index{0, 96}, Index{128, 128}).value();
  EXPECT_EQ(right.offset_on(machine["tmem_col"]), Dim(96));
  EXPECT_EQ(machine.at(right, {5, 127}, "tmem_col"), 223);
  EXPECT_FALSE(
      validate(machine.layout("S[(128,576):(1@tmem_lane,1@tmem_col)]"), machine.axes).ok());
}

// Column-major with 24 rows is no matrix over bits; here it is two digits.
TEST(Example, ColumnMajor24By24) {
  MeshMachine machine;
  const Layout columns = machine.layout("S[(24,24):(1,24)]");
  for (const Index& x : {Index{0, 0}, Index{1, 0}, Index{0, 1}, Index{17, 5}, Index{23, 23}})
    EXPECT_EQ(machine.at(columns, x, "mem"), x[0] + 24 * x[1]);
  const Layout rows = permute(columns, std::vector<std::size_t>{1, 0}).value();
  EXPECT_EQ(rows, machine.layout("[24,24] S[576:1]"));
  EXPECT_EQ(lower_address(columns, machine["mem"]).value().str(std::vector<std::string>{"i", "j"}),
            "i + j * 24");
  EXPECT_EQ(vector_width(columns, machine["mem"], 8), 1);
  EXPECT_EQ(vector_width(rows, machine["mem"], 16), 8);
}

TEST(Example, HaloOfOneRowBeforeAndTwoAfter) {
  MeshMachine machine("gpu=8");
  const Layout rows = machine.layout("(64{halo=1:2}:gpu, 32)");
  EXPECT_TRUE(validate(rows, machine.axes).ok());
  // Eleven rows of memory, the own ones from row 1 on.
  EXPECT_EQ(machine.at(rows, {8, 0}, "gpu"), 1);
  EXPECT_EQ(machine.at(rows, {8, 0}, "mem"), 32);
  EXPECT_EQ(machine.at(rows, {15, 31}, "mem"), 32 * 8 + 31);
  for (std::int64_t g = 0; g < 8; ++g) {
    const Coord coord = {{machine["gpu"], g}};
    EXPECT_EQ(count(footprint(rows, coord, machine.axes).value()), 8 * 32);
    const auto with = footprint(rows, coord, machine.axes, true).value();
    ASSERT_EQ(with.size(), 1U);
    std::vector<std::int64_t> kept;
    with[0].dims[0].for_each([&](std::int64_t x) { kept.push_back(x); });
    EXPECT_EQ(kept.front(), g == 0 ? 0 : 8 * g - 1);
    EXPECT_EQ(kept.back(), g == 7 ? 63 : 8 * g + 9);
    EXPECT_EQ(static_cast<std::int64_t>(kept.size()), kept.back() - kept.front() + 1);
  }
}

// 8 rows of 64 halves: a column read by 8 lanes, 16 bytes each, hits the same banks 8 times. The
// 128-byte swizzle spreads the rows.
TEST(Example, SwizzleOf128BytesHasNoBankConflicts) {
  MeshMachine machine;
  const AxisId mem = machine["mem"];
  const Layout plain = machine.layout("S[(8,64):(64,1)]");
  const Layout swizzled = with_swizzle(plain, {mem, 3, 3, 3}).value();
  const Layout access = machine.layout("S[(8,64):(1@lane,1@reg)]");
  const auto conflicts = [&](const Layout& memory) {
    return bank_conflicts(memory, mem, access, machine["lane"], machine["reg"], 2, 8).value();
  };
  EXPECT_EQ(conflicts(plain).worst_ways, 8);
  EXPECT_EQ(conflicts(swizzled).worst_ways, 1);
  EXPECT_EQ(conflicts(swizzled).steps, 8);
  EXPECT_EQ(vector_width(swizzled, mem, 16), 8);
}

TEST(Example, ReduceScatterIsASumOverAnExtraDimension) {
  MeshMachine machine("gpu=4");
  // A contribution on each GPU, and the same numbers with the contributions as a dimension.
  const Layout pending = machine.layout("(64, 64) + P[sum gpu]");
  const Layout explicit_sum = machine.layout("[4,64,64] S[(4,4096):(1@gpu,1)]");
  for (const Index& x : {Index{0, 0}, Index{3, 7}, Index{63, 63}}) {
    const auto all = cells(pending, x).value();
    ASSERT_EQ(all.size(), 4U);
    for (std::int64_t g = 0; g < 4; ++g)
      EXPECT_EQ(all[static_cast<std::size_t>(g)],
                position_of(explicit_sum, Index{g, x[0], x[1]}).value());
  }
  EXPECT_EQ(axis_role(pending, machine["gpu"]).value().contributions, Dim(4));
}

// A tensor with an unknown number of rows: 16 per warp, eight warps.
TEST(Example, UnknownNumberOfRows) {
  MeshMachine machine("gpu=8");
  const Layout rows = machine.layout("(16*n:gpu, 32)");
  EXPECT_FALSE(rows.concrete());
  const SymbolId n = machine.axes.find_symbol("n").value();
  const Layout bound = bind_sizes(rows, {{n, 3}}).value();
  EXPECT_EQ(bound, machine.layout("(48:gpu, 32)"));
  const Layout atom = machine.layout("S[(2,4):(4,1)]");
  const Layout whole = tile(rows, atom).value();
  EXPECT_EQ(bind_sizes(whole, {{n, 3}}).value(), tile(bound, atom).value());
  EXPECT_EQ(untile(whole, atom).value(), rows);
}

TEST(Example, ViewsOfAMatrix) {
  MeshMachine machine;
  const Layout matrix = machine.layout("(6, 8)");
  const View heads = View::reshape({6, 2, 4}).then(View::transpose({1, 0, 2}));
  const Layout split = compose(matrix, heads).value();
  EXPECT_EQ(machine.at(split, {1, 5, 3}, "mem"), 5 * 8 + 4 + 3);
  const Layout odd = compose(matrix, View::slice({1, 1}, {3, 4}, {2, 2})).value();
  EXPECT_EQ(machine.at(odd, {2, 3}, "mem"), 5 * 8 + 7);
  const Layout row =
      compose(matrix, View::slice({2, 0}, {1, 8}).then(View::broadcast({4, 8}, {0, 1}))).value();
  EXPECT_EQ(machine.at(row, {3, 7}, "mem"), 2 * 8 + 7);
  // What no digits can say keeps them and moves the origin.
  const Layout blocks = machine.layout("[8] S[(2,4):(100,1)]");
  const Layout window = compose(blocks, View::slice({3}, {3})).value();
  EXPECT_EQ(window.dims()[0].origin, -3);
  EXPECT_EQ(machine.at(window, {0}, "mem"), 3);
  EXPECT_EQ(machine.at(window, {2}, "mem"), 101);
}

TEST(Example, TensorHasByteAddresses) {
  MeshMachine machine;
  const Tensor tensor{machine.layout("(6, 8) + 4@mem"), DType::f16, Scope::block, 0x1000};
  EXPECT_EQ(tensor.address(Index{2, 3}, machine["mem"]).value(), 0x1000U + 2 * (2 * 8 + 3 + 4));
  EXPECT_EQ(
      lower_address(tensor.layout, machine["mem"]).value().str(std::vector<std::string>{"i", "j"}),
      "i * 8 + j + 4");
}

}  // namespace
}  // namespace heddle
