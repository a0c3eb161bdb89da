// What is given of a few values spreads as its author would have it: bytes are counted.
#include "heddle/stablehlo.h"
#include "spmd_mesh.h"

namespace heddle::given_tests {
namespace {

using namespace heddle::test;
using Counts = std::map<std::string, int>;

Program parsed(std::string_view text) { return read_stablehlo(text, "given.mlir").value(); }

std::int64_t collectives(const Spmd& spmd) {
  return collectives_of(spmd.program, local_function(spmd));
}

// A table that is split over the batch's axis: its parts are summed into the batch's parts. The
// bias, which lies along the same axis, is gathered, and does not pull activations to its side.
TEST(Given, ASplitTableAndASplitBiasLeaveTheBatchSplit) {
  const Program program = parsed(R"(func.func @main(%table: tensor<4096x32xf32>,
      %tokens: tensor<16x8xf32>, %bias: tensor<32xf32>) -> tensor<16x8x32xf32> {
    %i = stablehlo.convert %tokens : (tensor<16x8xf32>) -> tensor<16x8xi32>
    %0 = stablehlo.reshape %i : (tensor<16x8xi32>) -> tensor<16x8x1xi32>
    %1 = "stablehlo.gather"(%table, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [2],
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>,
      slice_sizes = array<i64: 1, 32>}>
      : (tensor<4096x32xf32>, tensor<16x8x1xi32>) -> tensor<16x8x32xf32>
    %2 = stablehlo.broadcast_in_dim %bias, dims = [2] : (tensor<32xf32>) -> tensor<16x8x32xf32>
    %3 = stablehlo.add %1, %2 : tensor<16x8x32xf32>
    return %3 : tensor<16x8x32xf32>
  })");
  const Spmd spmd =
      on_mesh(program, {{"dp", 8}},
              {argument(0, {{"dp"}, {}}), argument(1, {{"dp"}, {}}), argument(2, {{"dp"}})});
  EXPECT_EQ(text_of(spmd.functions[0].results[0], spmd.program.meshes[0].mesh),
            R"([{"dp"}, {}, {}])");
  EXPECT_EQ(counts(spmd), (Counts{{"all-gather over dp", 2}, {"reduce-scatter over dp", 1}}));
  EXPECT_LT(difference(program, spmd), 1e-5);
}

// Parameters that are split over the batch's axis, along either dimension, are gathered; what is
// computed of the batch stays where it is.
TEST(Given, ParametersOverTheAxisOfTheBatchAreGathered) {
  Builder b("fsdp");
  const Type x = f32({64, 16}), up = f32({16, 64}), down = f32({64, 16});
  b.function("main", {x, up, down}, [&](const Vars& in) -> Vars {
    const Var h = b.op("tanh", {b.dot(in[0], in[1])});
    const Var dy = b.dot(h, in[2]) - in[0];
    const Var dh = b.dot(dy, in[2], DotDims{{}, {}, {1}, {1}}) * (1.0 - h * h);
    return {in[1] - b.dot(in[0], dh, DotDims{{}, {}, {0}, {0}}),
            in[2] - b.dot(h, dy, DotDims{{}, {}, {0}, {0}})};
  });
  const Program program = b.finish().value();
  for (const Axes& axes : {Axes{{"dp"}, {}}, Axes{{}, {"dp"}}}) {
    const Spmd spmd = on_mesh(program, {{"dp", 8}},
                              {argument(0, {{"dp"}, {}}), argument(1, axes), argument(2, axes),
                               result(0, axes), result(1, axes)});
    EXPECT_EQ(counts(spmd), (Counts{{"all-gather over dp", 2}, {"reduce-scatter over dp", 2}}));
    EXPECT_EQ(bytes(spmd), 4 * 16 * 64 * 4 / 8 * 7);
    EXPECT_LT(difference(program, spmd), 1e-2);
  }
}

// Values that go through a barrier together have nothing to do with each other.
TEST(Given, EveryPairOfABarrierLiesByItself) {
  const Program program = parsed(R"(func.func @main(%a: tensor<16x8xf32>, %b: tensor<8x16xf32>)
      -> (tensor<16x8xf32>, tensor<8x16xf32>) {
    %0:2 = stablehlo.optimization_barrier %a, %b : tensor<16x8xf32>, tensor<8x16xf32>
    %1 = stablehlo.negate %0#0 : tensor<16x8xf32>
    %2 = stablehlo.negate %0#1 : tensor<8x16xf32>
    return %1, %2 : tensor<16x8xf32>, tensor<8x16xf32>
  })");
  const Spmd spmd =
      on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}}), argument(1, {{}, {"x"}})});
  EXPECT_EQ(collectives(spmd), 0);
  EXPECT_EQ(local_type(f32({8, 16}), spmd.functions[0].results[1]).shape, (Shape{8, 4}));
  EXPECT_EQ(difference(program, spmd), 0);
}

// A plane over two axes is strided once it is one line: nothing has to be moved for a product of
// two of them but its sum, for which all devices meet once.
TEST(Given, WhatIsStridedBehindAReshapeIsComputedWhereItLies) {
  Builder b("vdot");
  const Type plane = f32({16, 16});
  b.function("main", {plane, plane}, [&](const Vars& in) -> Vars {
    auto line = [&](Var x) { return b.reshape(x, {256}); };
    const Var sum = b.dot(line(in[0]), line(in[1]) * 2.0, DotDims{{}, {}, {0}, {0}});
    return {sum, b.reshape(b.op("negate", {line(in[0])}), {16, 16})};
  });
  const Program program = b.finish().value();
  const Spmd spmd = on_mesh(
      program, {{"x", 2}, {"y", 4}},
      {argument(0, {{"x"}, {"y"}}), argument(1, {{"x"}, {"y"}}), result(1, {{"x"}, {"y"}})});
  EXPECT_EQ(collectives(spmd), 1);
  EXPECT_LE(bytes(spmd), 8);
  EXPECT_LT(difference(program, spmd), 1e-3);
}

// A mask is made of its indices wherever it is needed.
TEST(Given, AMaskIsComputedAgainFromItsIndices) {
  Builder b("mask");
  const Type which = f32({512}), mask = f32({512, 64}), y = f32({64, 32});
  b.function("main", {which, y}, [&](const Vars& in) -> Vars {
    const Var ones = b.convert(
        b.compare("EQ", b.broadcast(in[0], mask.shape, {0}), b.iota(mask, 1)), DType::f32);
    return {b.dot(ones, in[1]), b.transpose(ones, {1, 0})};
  });
  const Program program = b.finish().value();
  const Spmd spmd = on_mesh(program, {{"ep", 8}},
                            {argument(0, {{"ep"}}), argument(1, {{}, {}}), result(0, {{"ep"}, {}}),
                             result(1, {{"ep"}, {}})});
  // The indices for everyone, and no part of the mask.
  EXPECT_EQ(counts(spmd), (Counts{{"all-gather over ep", 1}}));
  EXPECT_EQ(bytes(spmd), 512 * 4 / 8 * 7);
  EXPECT_EQ(difference(program, spmd), 0);
}

// Queries, keys and values of one product: every device has its share of each, so that only the
// parameters are laid out anew.
TEST(Given, PartsOfAFusedProductLieWhereTheyAreNeeded) {
  Builder b("fused");
  const Type x = f32({64, 24}), w = f32({24, 72}), out = f32({24, 24});
  b.function("main", {x, w, out}, [&](const Vars& in) -> Vars {
    const Var all = b.dot(in[0], in[1]);
    auto part = [&](std::int64_t i) { return b.slice(all, {0, 24 * i}, {64, 24 * i + 24}); };
    const Var mixed = part(0) * part(1) + part(2);
    const Var back = b.concatenate({mixed, part(0), part(1)}, 1);
    return {b.dot(mixed, in[2]), b.dot(in[0], back, DotDims{{}, {}, {0}, {0}})};
  });
  const Program program = b.finish().value();
  const Spmd spmd =
      on_mesh(program, {{"tp", 8}},
              {argument(0, {{}, {}}), argument(1, {{}, {"tp"}}), argument(2, {{"tp"}, {}}),
               result(0, {{}, {}}), result(1, {{}, {"tp"}})});
  std::int64_t moved = 0;  // beside the one sum of what all devices contribute to
  for (const Communication& c : spmd.functions[0].communications)
    moved += c.kind == MoveKind::all_reduce ? 0 : c.bytes;
  EXPECT_EQ(counts(spmd).at("all-reduce over tp"), 1);
  EXPECT_LE(moved, 2 * 24 * 72 * 4 / 8);
  EXPECT_LT(difference(program, spmd), 1e-2);
}

// An image of 16 rows over 8 devices becomes one of 4: the product goes on with the batch over
// them, and nobody computes more than an eighth.
TEST(Given, AFewRowsGoOnOverTheBatch) {
  const Program program = parsed(R"(func.func @main(%x: tensor<16x16x8x8xf32>,
      %w: tensor<4x4x8x16xf32>) -> tensor<16x4x2x16xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [4, 4]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<16x16x8x8xf32>, tensor<4x4x8x16xf32>) -> tensor<16x4x2x16xf32>
    %1 = stablehlo.tanh %0 : tensor<16x4x2x16xf32>
    return %1 : tensor<16x4x2x16xf32>
  })");
  const Spmd spmd = on_mesh(program, {{"sp", 8}}, {argument(0, {{}, {"sp"}, {}, {}})});
  EXPECT_EQ(text_of(spmd.functions[0].results[0], spmd.program.meshes[0].mesh),
            R"([{"sp"}, {}, {}, {}])");
  EXPECT_EQ(counts(spmd), (Counts{{"all-to-all over sp", 1}}));
  EXPECT_LT(difference(program, spmd), 1e-3);
}

// Pooling backwards as JAX writes it, of 32 rows and one that is padded: only edges travel.
TEST(Given, APaddedPoolingExchangesEdges) {
  const Program program = parsed(R"(func.func @main(%x: tensor<2x32x6xf32>,
      %dy: tensor<2x16x6xf32>) -> tensor<2x32x6xf32> {
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.pad %x, %least, low = [0, 0, 0], high = [0, 1, 0], interior = [0, 0, 0]
      : (tensor<2x32x6xf32>, tensor<f32>) -> tensor<2x33x6xf32>
    %1 = "stablehlo.select_and_scatter"(%0, %dy, %zero) <{padding = dense<0> : tensor<3x2xi64>,
      window_dimensions = array<i64: 1, 3, 1>, window_strides = array<i64: 1, 2, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %p = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %p : tensor<f32>
    }) : (tensor<2x33x6xf32>, tensor<2x16x6xf32>, tensor<f32>) -> tensor<2x33x6xf32>
    %2 = stablehlo.slice %1 [0:2, 0:32, 0:6] : (tensor<2x33x6xf32>) -> tensor<2x32x6xf32>
    return %2 : tensor<2x32x6xf32>
  })");
  const Spmd spmd = on_mesh(
      program, {{"sp", 4}},
      {argument(0, {{}, {"sp"}, {}}), argument(1, {{}, {"sp"}, {}}), result(0, {{}, {"sp"}, {}})});
  for (const Communication& c : spmd.functions[0].communications)
    EXPECT_EQ(c.kind, MoveKind::halo_exchange);
  EXPECT_EQ(difference(program, spmd), 0);
  // Behind a last row that is no number the padding is selected, and what it gets is cut off.
  const Type image = f32({2, 32, 6}), pooled = f32({2, 16, 6});
  Array x = ramp(image);
  for (std::size_t i = 0; i < x.as<float>().size(); ++i)
    if (i % 5 == 0 || i / 6 % 32 == 31) x.as_mutable<float>()[i] = i % 2 == 0 ? NAN : -INFINITY;
  const std::vector<Array> arguments{x, ramp(pooled)};
  const auto one = interpret(program, program.functions[0], arguments).value();
  EXPECT_EQ(interpret_on_mesh(spmd, spmd.functions[0], arguments).value(), one);
}

// Gradients of split states are one reduce-scatter, edges of several fields one permute each way.
TEST(Given, CollectivesOfEveryKindAreCombined) {
  Builder b("states");
  const Type x = f32({16, 8}), w = f32({8, 8});
  b.function("main", {x, w, w}, [&](const Vars& in) -> Vars {
    Vars moved;
    for (std::size_t i = 1; i < 3; ++i) {
      const Var y = in[0] * static_cast<double>(i);
      moved.push_back(in[i] - b.transpose(b.dot(in[0], y, DotDims{{}, {}, {0}, {0}}), {1, 0}));
    }
    return moved;
  });
  const Program states = b.finish().value();
  const Spmd spmd =
      on_mesh(states, {{"dp", 4}},
              {argument(0, {{"dp"}, {}}), argument(1, {{"dp"}, {}}), argument(2, {{"dp"}, {}}),
               result(0, {{"dp"}, {}}), result(1, {{"dp"}, {}})});
  EXPECT_EQ(counts(spmd), (Counts{{"reduce-scatter over dp", 2}}));
  EXPECT_EQ(collectives(spmd), 1);
  EXPECT_LT(difference(states, spmd), 1e-3);

  Builder f("fields");
  const Type u = f32({16, 6});
  f.function("main", {u, u}, [&](const Vars& in) -> Vars {
    Vars next;
    for (const Var& v : {in[0], in[1]}) {
      const Var around =
          f.concatenate({f.slice(v, {15, 0}, {16, 6}), f.slice(v, {0, 0}, {15, 6})}, 0);
      next.push_back(v + around);
    }
    return next;
  });
  const Program fields = f.finish().value();
  const Spmd edges =
      on_mesh(fields, {{"x", 4}}, {argument(0, {{"x"}, {}}), argument(1, {{"x"}, {}})});
  const Spmd one = on_mesh(fields, {{"x", 4}}, {argument(0, {{"x"}, {}}), argument(1, {{}, {}})});
  EXPECT_EQ(collectives(edges), collectives(one));
  EXPECT_EQ(difference(fields, edges), 0);
}

// Of a table with many more rows than are looked up, rows travel and not the table, although that
// takes one message more: it goes with what others need.
TEST(Given, RowsOfALargeTableAreSentAndNotTheTable) {
  const Program program = parsed(R"(func.func @main(%table: tensor<16384x64xf32>,
      %rows: tensor<64xf32>) -> tensor<64x64xf32> {
    %i = stablehlo.convert %rows : (tensor<64xf32>) -> tensor<64xi32>
    %0 = stablehlo.reshape %i : (tensor<64xi32>) -> tensor<64x1xi32>
    %1 = "stablehlo.gather"(%table, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 64>}>
      : (tensor<16384x64xf32>, tensor<64x1xi32>) -> tensor<64x64xf32>
    return %1 : tensor<64x64xf32>
  })");
  const Spmd spmd =
      on_mesh(program, {{"dp", 8}}, {argument(0, {{"dp"}, {}}), argument(1, {{"dp"}})});
  EXPECT_EQ(counts(spmd), (Counts{{"all-gather over dp", 1}, {"reduce-scatter over dp", 1}}));
  EXPECT_EQ(bytes(spmd), 7 * 64 * 4 / 8 + 7 * 64 * 64 * 4 / 8);
  EXPECT_LT(difference(program, spmd), 1e-5);
}

// The norm of what is split: every device sums its part, however small it is.
TEST(Given, NormsAreSumsOfParts) {
  const Program program = parsed(R"(func.func @main(%x: tensor<64x16xf32>) -> tensor<64x16xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.multiply %x, %x : tensor<64x16xf32>
    %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<64x16xf32>, tensor<f32>) -> tensor<f32>
    %2 = stablehlo.sqrt %1 : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<64x16xf32>
    %4 = stablehlo.divide %x, %3 : tensor<64x16xf32>
    return %4 : tensor<64x16xf32>
  })");
  const Spmd spmd = on_mesh(program, {{"dp", 8}}, {argument(0, {{"dp"}, {}})});
  EXPECT_EQ(counts(spmd), (Counts{{"all-reduce over dp", 1}}));
  EXPECT_LT(difference(program, spmd), 1e-5);
}

// Means of clusters: a small sum does not wait for the one that it is divided by.
TEST(Given, ASumIsMadeTogetherWithWhatDividesIt) {
  const Program program = parsed(R"(func.func @main(%x: tensor<64x16xf32>,
      %y: tensor<64x8xf32>) -> tensor<8x16xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %one = stablehlo.constant dense<1.0> : tensor<8xf32>
    %0 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<64x8xf32>, tensor<f32>) -> tensor<8xf32>
    %1 = stablehlo.maximum %0, %one : tensor<8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
    %3 = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0]
      : (tensor<64x8xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
    %4 = stablehlo.divide %3, %2 : tensor<8x16xf32>
    return %4 : tensor<8x16xf32>
  })");
  const Spmd spmd =
      on_mesh(program, {{"dp", 8}}, {argument(0, {{"dp"}, {}}), argument(1, {{"dp"}, {}})});
  EXPECT_EQ(collectives(spmd), 1);
  EXPECT_LT(difference(program, spmd), 1e-4);
}

// What an associative scan does at its last level.
TEST(Given, NothingIsSentForValuesWithoutElements) {
  const Program program = parsed(R"(func.func @main(%x: tensor<8x2x16xf32>) -> tensor<8x1x16xf32> {
    %0 = stablehlo.slice %x [0:8, 0:1, 0:16] : (tensor<8x2x16xf32>) -> tensor<8x1x16xf32>
    %1 = stablehlo.slice %x [0:8, 2:2, 0:16] : (tensor<8x2x16xf32>) -> tensor<8x0x16xf32>
    %2 = stablehlo.negate %1 : tensor<8x0x16xf32>
    %3 = stablehlo.concatenate %0, %2, dim = 1
      : (tensor<8x1x16xf32>, tensor<8x0x16xf32>) -> tensor<8x1x16xf32>
    return %3 : tensor<8x1x16xf32>
  })");
  const Spmd spmd = on_mesh(program, {{"dp", 4}, {"tp", 2}}, {argument(0, {{"dp"}, {}, {"tp"}})});
  EXPECT_EQ(counts(spmd), Counts{});
  EXPECT_LT(difference(program, spmd), 1e-6);
}

}  // namespace
}  // namespace heddle::given_tests
