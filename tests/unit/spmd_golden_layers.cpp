// More plans that experts write by hand, found without a hint: sequence parallelism, ZeRO, experts,
// images. Their bytes are those of the closed formulas.
#include <gmock/gmock.h>

#include "heddle/search.h"
#include "heddle/stablehlo.h"
#include "spmd_mesh.h"

namespace heddle::test {
namespace golden_layers {
namespace {

constexpr std::int64_t kMany = 8;  // devices

Expected<Spmd> searched(Program program, std::int64_t memory, std::vector<Carried> carried) {
  (void)program.add_mesh("mesh", {{"x", kMany}}).value();
  SpmdOptions options;
  options.mesh = "mesh";
  options.function = "main";
  options.carried = std::move(carried);
  options.search.emplace().memory_limit = memory;
  options.search->recompute = 0;
  return partition(program, options);
}

std::string lies(const Spmd& spmd, std::size_t argument) {
  const SpmdFunction& f = spmd.functions[0];
  return text_of(f.arguments[argument], spmd.program.meshes[f.mesh].mesh);
}

// x / |x| of each row, then columns and rows of two weights, beside x itself; twice.
TEST(GoldenLayers, WhatLiesBetweenSplitWeightsIsSplitByTokens) {
  const std::int64_t tokens = 512, width = 2048, hidden = 8192, layers = 2;
  Builder b("layers");
  std::vector<Type> types{f32({tokens, width})};
  for (std::int64_t l = 0; l < layers; ++l)
    types.insert(types.end(), {f32({width, hidden}), f32({hidden, width})});
  b.function("main", types, [&](const Vars& in) -> Vars {
    Var x = in[0];
    for (std::size_t l = 0; l < static_cast<std::size_t>(layers); ++l) {
      const Var size = b.op("rsqrt", {b.reduce(x * x, {1}, "add")});
      const Var normal = x * b.broadcast(size, {tokens, width}, {0});
      const Var inner = b.op("tanh", {b.dot(normal, in[1 + 2 * l])});
      x = x + b.dot(inner, in[2 + 2 * l]);
    }
    Vars out{x};
    out.insert(out.end(), in.begin() + 1, in.end());
    return out;
  });
  const std::int64_t weights = 4 * 4 * width * hidden, all = 4 * tokens * width;
  const Spmd spmd =
      searched(b.finish().value(), weights / 4, {{1, 1}, {2, 2}, {3, 3}, {4, 4}}).value();
  EXPECT_EQ(lies(spmd, 1), R"([{}, {"x"}])");
  EXPECT_EQ(lies(spmd, 2), R"([{"x"}, {}])");
  // The first layer's tokens come from outside to where they are needed.
  EXPECT_EQ(counts(spmd)["all-gather over x"], layers - 1);
  EXPECT_EQ(counts(spmd)["reduce-scatter over x"], layers);
  EXPECT_EQ(counts(spmd).size(), 2U);
  EXPECT_EQ(bytes(spmd), (2 * layers - 1) * (kMany - 1) * all / kMany);
}

// x W with a step along the gradient and a momentum: what is split as memory gets less.
struct Step {
  std::int64_t tokens = 16384, width = 2048;
  std::int64_t weight_bytes() const { return 4 * width * width; }

  Program program() const {
    Builder b("step");
    const Type w = f32({width, width}), x = f32({tokens, width});
    b.function("main", {w, w, w, w, x}, [&](const Vars& in) -> Vars {
      const Var inner = b.op("tanh", {b.dot(in[4], in[0])});
      const Var out = b.dot(inner, in[1]);
      const Var d2 = b.dot(inner, out, {{}, {}, {0}, {0}});
      const Var d_inner =
          b.dot(out, in[1], {{}, {}, {1}, {1}}) * (b.full_like(inner, 1) - inner * inner);
      const Var d1 = b.dot(in[4], d_inner, {{}, {}, {0}, {0}});
      const Var m1 = in[2] * 0.9 + d1, m2 = in[3] * 0.9 + d2;
      return {in[0] - m1 * 1e-3, in[1] - m2 * 1e-3, m1, m2};
    });
    return b.finish().value();
  }
  static std::vector<Carried> carried() { return {{0, 0}, {1, 1}, {2, 2}, {3, 3}}; }
};

TEST(GoldenLayers, WeightsAndMomentaAreSplitWhereMemoryIsTight) {
  const Step step;
  const Spmd wide = searched(step.program(), INT64_MAX, Step::carried()).value();
  EXPECT_EQ(lies(wide, 4), R"([{"x"}, {}])");
  const std::int64_t by_data = bytes(wide);
  EXPECT_EQ(by_data, 2 * 2 * (kMany - 1) * step.weight_bytes() / kMany);
  bool all = false;  // are split, at last
  for (std::int64_t room = wide.decided->functions[0].found->peak_bytes;;
       room -= step.weight_bytes() / 4) {
    const auto spmd = searched(step.program(), room, Step::carried());
    if (!spmd) break;
    const std::vector<Split>& args = spmd->functions[0].arguments;
    if (lies(*spmd, 4) != R"([{"x"}, {}])") continue;
    const auto is_split = [&](std::size_t i) { return !args[i].is_whole(); };
    // Weights too are gathered before they are used.
    if (is_split(0) && is_split(1) && is_split(2) && is_split(3))
      all = all || (bytes(*spmd) >= by_data && bytes(*spmd) <= by_data * 3 / 2);
  }
  EXPECT_TRUE(all);
}

// Groups of tokens go to their experts, through two weights of each, and back.
TEST(GoldenLayers, ExpertsAreSplitAndTokensGoToThemAndBack) {
  const std::int64_t groups = 8, tokens = 256, experts = 8, room = 64, width = 512, hidden = 2048;
  Builder b("experts");
  b.function("main",
             {f32({groups, tokens, width}), f32({groups, tokens, experts, room}),
              f32({experts, width, hidden}), f32({experts, hidden, width})},
             [&](const Vars& in) -> Vars {
               const Var sent = b.dot(in[1], in[0], {{0}, {0}, {1}, {1}});  // g e c d
               const Var taken = b.transpose(sent, {1, 0, 2, 3});           // e g c d
               const Var inner = b.op("tanh", {b.dot(taken, in[2], {{0}, {0}, {3}, {1}})});
               const Var made = b.dot(inner, in[3], {{0}, {0}, {3}, {1}});  // e g c d
               const Var back = b.transpose(made, {1, 0, 2, 3});            // g e c d
               return {b.dot(in[1], back, {{0}, {0}, {2, 3}, {1, 2}}), in[2], in[3]};
             });
  const std::int64_t weights = 2 * 4 * experts * width * hidden;
  const Spmd spmd = searched(b.finish().value(), weights / 2, {{2, 1}, {3, 2}}).value();
  EXPECT_EQ(lies(spmd, 0), R"([{"x"}, {}, {}])");
  EXPECT_EQ(lies(spmd, 2), R"([{"x"}, {}, {}])");
  EXPECT_EQ(lies(spmd, 3), R"([{"x"}, {}, {}])");
  EXPECT_EQ(counts(spmd)["all-to-all over x"], 2);
  EXPECT_EQ(counts(spmd).size(), 1U);
  const std::int64_t sent = 4 * groups * experts * room * width / kMany;  // of a device
  EXPECT_EQ(bytes(spmd), 2 * (kMany - 1) * sent / kMany);
}

Program program_of(const std::string& text) { return read_stablehlo(text, "golden.mlir").value(); }

TEST(GoldenLayers, LargeImagesAreSplitByRowsWithEdgesOfNeighbours) {
  const Spmd spmd = searched(program_of(R"(module {
  func.func public @main(%x: tensor<1x1024x1024x8xf32>, %k: tensor<5x5x8x8xf32>) -> (tensor<1x1024x1024x8xf32>, tensor<5x5x8x8xf32>) {
    %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[2, 2], [2, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1024x1024x8xf32>, tensor<5x5x8x8xf32>) -> tensor<1x1024x1024x8xf32>
    %1 = stablehlo.tanh %0 : tensor<1x1024x1024x8xf32>
    return %1, %k : tensor<1x1024x1024x8xf32>, tensor<5x5x8x8xf32>
  }
})"),
                             INT64_MAX, {{1, 1}})
                        .value();
  const std::string x = lies(spmd, 0);
  EXPECT_TRUE(x == R"([{}, {"x"}, {}, {}])" || x == R"([{}, {}, {"x"}, {}])") << x;
  // Two rows from each of two neighbours.
  EXPECT_EQ(bytes(spmd), 2 * 2 * 4 * 1024 * 8);
}

// Two convolutions of a large batch, and a classifier whose weights are many more than theirs, with
// gradients of the classifier: its weight would take long to sum up, its inputs are few.
TEST(GoldenLayers, ConvolutionsAreSplitByImagesAndTheClassifierByItsWeights) {
  const std::int64_t images = 64, classes = 4096, features = 16 * 16 * 32;
  const Spmd spmd = searched(program_of(R"(module {
  func.func public @main(%x: tensor<64x32x32x16xf32>, %k1: tensor<3x3x16x32xf32>, %k2: tensor<3x3x32x32xf32>, %w: tensor<8192x4096xf32>) -> (tensor<3x3x16x32xf32>, tensor<3x3x32x32xf32>, tensor<8192x4096xf32>) {
    %0 = stablehlo.convolution(%x, %k1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<64x32x32x16xf32>, tensor<3x3x16x32xf32>) -> tensor<64x32x32x32xf32>
    %1 = stablehlo.tanh %0 : tensor<64x32x32x32xf32>
    %2 = stablehlo.convolution(%1, %k2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 0], [1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<64x32x32x32xf32>, tensor<3x3x32x32xf32>) -> tensor<64x16x16x32xf32>
    %3 = stablehlo.tanh %2 : tensor<64x16x16x32xf32>
    %4 = stablehlo.reshape %3 : (tensor<64x16x16x32xf32>) -> tensor<64x8192xf32>
    %5 = stablehlo.dot_general %4, %w, contracting_dims = [1] x [0] : (tensor<64x8192xf32>, tensor<8192x4096xf32>) -> tensor<64x4096xf32>
    %6 = stablehlo.dot_general %4, %5, contracting_dims = [0] x [0] : (tensor<64x8192xf32>, tensor<64x4096xf32>) -> tensor<8192x4096xf32>
    %7 = stablehlo.add %w, %6 : tensor<8192x4096xf32>
    return %k1, %k2, %7 : tensor<3x3x16x32xf32>, tensor<3x3x32x32xf32>, tensor<8192x4096xf32>
  }
})"),
                             INT64_MAX, {{1, 0}, {2, 1}, {3, 2}})
                        .value();
  EXPECT_EQ(lies(spmd, 0), R"([{"x"}, {}, {}, {}])");
  EXPECT_EQ(lies(spmd, 3), R"([{}, {"x"}])");
  // Every device gets what the convolutions made of all images: far less than to sum up gradients.
  EXPECT_EQ(counts(spmd)["all-gather over x"], 1);
  EXPECT_EQ(counts(spmd).size(), 1U);
  EXPECT_EQ(bytes(spmd), (kMany - 1) * 4 * images * features / kMany);
  EXPECT_LT(bytes(spmd) * 10, 2 * (kMany - 1) * 4 * features * classes / kMany);
}

}  // namespace
}  // namespace golden_layers
}  // namespace heddle::test
