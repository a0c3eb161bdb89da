// Ops that ask where elements stand: updates at places that data decide, order reversed, argmax.
#include "heddle/stablehlo.h"
#include "spmd_mesh.h"

namespace heddle::test {
namespace {

using Counts = std::map<std::string, int>;

// A cache of keys that is split along its tokens: one of the devices writes.
TEST(Places, AnUpdateOfASplitCacheSendsNothing) {
  for (std::int64_t tokens : {16, 15}) {
    for (std::int64_t at : {0, 5, 14, 40}) {
      Builder b("cache");
      const Type cache = f32({2, tokens, 3}), fresh = f32({2, 1, 3});
      b.function("main", {cache, fresh}, [&](const Vars& in) -> Vars {
        auto number = [&](std::int64_t n) {
          return b.full(Type::tensor(DType::i32, {}), static_cast<double>(n));
        };
        const Var place = b.op("abs", {number(-at)});
        return {b.op("dynamic_update_slice", {in[0], in[1], number(0), place, number(0)}, cache)};
      });
      const Program program = b.finish().value();
      const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{}, {"x"}, {}})});
      EXPECT_EQ(counts(spmd), Counts{});
      EXPECT_EQ(difference(program, spmd), 0);
    }
  }
}

// x.at[1:, :].add(y[:-1] - y[1:]) and the like: what is next to an edge comes from neighbours.
TEST(Places, UpdatesThatAddToMostOfAValueAskNeighboursAlone) {
  for (const char* step : {"add %old, %new", "multiply %new, %old", "subtract %new, %old"}) {
    const Program program = read_stablehlo(fmt::format(R"(
      func.func @main(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {{
        %a = stablehlo.slice %y [1:64, 0:8] : (tensor<64x8xf32>) -> tensor<63x8xf32>
        %b = stablehlo.slice %y [0:63, 0:8] : (tensor<64x8xf32>) -> tensor<63x8xf32>
        %u = stablehlo.subtract %a, %b : tensor<63x8xf32>
        %at = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
        %r = "stablehlo.scatter"(%x, %at, %u) <{{indices_are_sorted = true,
            scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1],
                scatter_dims_to_operand_dims = [0, 1]>, unique_indices = true}}> ({{
        ^bb0(%old: tensor<f32>, %new: tensor<f32>):
          %s = stablehlo.{} : tensor<f32>
          stablehlo.return %s : tensor<f32>
        }}) : (tensor<64x8xf32>, tensor<2xi32>, tensor<63x8xf32>) -> tensor<64x8xf32>
        return %r : tensor<64x8xf32>
      }})",
                                                       step),
                                           "t.mlir")
                                .value();
    const Spmd spmd =
        on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}}), argument(1, {{"x"}, {}})});
    EXPECT_EQ(counts(spmd), (Counts{{"halo-exchange over x", 1}})) << step;
    EXPECT_EQ(difference(program, spmd), 0) << step;
  }
}

// The gradient of x shifted by a row: padding at one end and less than none at the other.
TEST(Places, PaddingOfWhatIsPaddedIsOneShift) {
  for (const double fill : {0.0, 1.0}) {
    Builder b("shift");
    const Type x = f32({64, 8}), more = f32({65, 8});
    const auto pad = [&](Var v, double with, std::int64_t low, std::int64_t high,
                         const Type& type) {
      return b.op("pad", {v, b.full(f32({}), with)}, type,
                  {{"edge_padding_high", Attr{Attr::Integers{high, 0}}},
                   {"edge_padding_low", Attr{Attr::Integers{low, 0}}},
                   {"interior_padding", Attr{Attr::Integers{0, 0}}}});
    };
    b.function("main", {x}, [&](const Vars& in) -> Vars {
      return {pad(pad(in[0], 0, 0, 1, more), fill, -1, 0, x)};
    });
    const Program program = b.finish().value();
    const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}})});
    EXPECT_EQ(difference(program, spmd), 0);
    EXPECT_EQ(fill == 0, counts(spmd) == (Counts{{"halo-exchange over x", 1}})) << fill;
  }
}

// A roll along one dimension and then along the other: only edges travel.
TEST(Places, TurnsAlongTwoDimensionsSendEdges) {
  Builder b("roll");
  const Type x = f32({64, 64});
  const auto roll = [&](Var v, std::size_t dim, std::int64_t by) {
    Builder::Dims start{0, 0}, middle{64, 64}, end{64, 64};
    middle[dim] = 64 - by;
    Builder::Dims from = start;
    from[dim] = 64 - by;
    return b.concatenate({b.slice(v, from, end), b.slice(v, start, middle)},
                         static_cast<std::int64_t>(dim));
  };
  b.function("main", {x}, [&](const Vars& in) -> Vars { return {roll(roll(in[0], 0, 1), 1, 2)}; });
  const Program program = b.finish().value();
  const Spmd spmd = on_mesh(program, {{"x", 2}, {"y", 4}}, {argument(0, {{"x"}, {"y"}})});
  EXPECT_LE(bytes(spmd), 4 * (16 + 2 * 32) * 2);
  EXPECT_EQ(difference(program, spmd), 0);
}

// 16 rows change places as blocks; of 15 each block first gets the row that it lacks at its end.
TEST(Places, AReversedDimensionIsOnePermutation) {
  for (std::int64_t rows : {16, 15}) {
    Builder b("reverse");
    const Type x = f32({rows, 3});
    b.function("main", {x}, [&](const Vars& in) -> Vars {
      return {b.op("reverse", {in[0]}, x, {{"dimensions", Attr{Attr::Integers{0}}}})};
    });
    const Program program = b.finish().value();
    const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}})});
    Counts wanted{{"permute over x", 1}};
    if (rows == 15) wanted["halo-exchange over x"] = 1;
    EXPECT_EQ(counts(spmd), wanted);
    EXPECT_EQ(difference(program, spmd), 0);
  }
}

// Every device finds the largest of its rows; the four candidates travel, not the rows.
TEST(Places, ArgmaxGathersOneCandidateOfEachDevice) {
  for (std::int64_t rows : {16, 13}) {
    Builder b("argmax");
    const Type x = f32({rows, 3}), row = f32({3}), scalar = f32({});
    b.function("main", {x}, [&](const Vars& in) -> Vars {
      const RegionId larger =
          b.region({scalar, scalar, scalar, scalar}, [&](const Vars& v) -> Vars {
            const Var first =
                b.op("and", {b.compare("EQ", v[0], v[2]), b.compare("LT", v[1], v[3])});
            const Var left = b.op("or", {b.compare("GT", v[0], v[2]), first});
            return {b.select(left, v[0], v[2]), b.select(left, v[1], v[3])};
          });
      return b.ops("reduce", {in[0], b.iota(x, 0), b.full(scalar, -1e30), b.full(scalar, 1e9)},
                   {row, row}, {{"dimensions", Attr{Attr::Integers{0}}}}, {larger});
    });
    const Program program = b.finish().value();
    const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}})});
    EXPECT_EQ(counts(spmd), (Counts{{"all-gather over x", 2}}));
    EXPECT_EQ(bytes(spmd), 2 * 3 * 3 * 4);
    EXPECT_EQ(difference(program, spmd), 0);
  }
}

}  // namespace
}  // namespace heddle::test
