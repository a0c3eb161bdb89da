// Collectives that do not wait for one another are one.
#include "heddle/stablehlo.h"
#include "spmd_mesh.h"

namespace heddle::test {
namespace {

Type f32(Shape shape) { return Type::tensor(DType::f32, std::move(shape)); }

// A program for replicas that also says where its results lie: in order nobody asks for that any
// more, and it is verified and printed.
TEST(Combine, WordsAboutResultsStayBehind) {
  const Program program = read_stablehlo(R"(
    sdy.mesh @mesh = <["i"=1]>
    func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
      %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    })",
                                         "replica.mlir")
                              .value();
  ASSERT_FALSE(program.functions[0].result_layouts.empty());
  const Program ordered = schedule(program);
  EXPECT_TRUE(ordered.functions[0].result_layouts.empty());
  EXPECT_TRUE(verify(ordered).ok());
}

// Updates of weights, each of which follows its gradient at once: all gradients travel together.
TEST(Combine, GradientsOfManyWeightsAreOneAllReduce) {
  Builder b("descent");
  const Type x = f32({16, 8}), w = f32({8, 8});
  b.function("main", {x, x, w, w, w}, [&](const Vars& in) -> Vars {
    Vars moved;
    for (std::size_t i = 2; i < 5; ++i) {
      const Var y = in[1] * static_cast<double>(i);
      const Var gradient = b.dot(in[0], y, DotDims{{}, {}, {0}, {0}});
      moved.push_back(in[i] - gradient * 0.125);
    }
    return moved;
  });
  const Program program = b.finish().value();
  const Spmd spmd = on_mesh(program, {{"dp", 4}},
                            {argument(0, {{"dp"}, {}}), argument(1, {{"dp"}, {}}),
                             result(0, {{}, {}}), result(1, {{}, {}}), result(2, {{}, {}})});
  EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-reduce over dp", 3}}));
  EXPECT_EQ(collectives_of(spmd.program, local_function(spmd)), 1);
  // Partitioning alone leaves each where it is needed.
  Program laid_out = program;
  (void)laid_out.add_mesh("mesh", {{"dp", 4}}).value();
  SpmdOptions options;
  options.mesh = "mesh";
  options.seeds = {argument(0, {{"dp"}, {}}), argument(1, {{"dp"}, {}}), result(0, {{}, {}}),
                   result(1, {{}, {}}), result(2, {{}, {}})};
  const Spmd apart = partition(laid_out, options).value();
  EXPECT_EQ(collectives_of(apart.program, local_function(apart)), 3);
  // And so do collectives that are too large to be one.
  ScheduleOptions small;
  small.combine_bytes = 8 * 8 * 4;
  const Program limited = schedule(apart.program, small);
  EXPECT_EQ(collectives_of(limited, limited.functions[0]), 3);
  EXPECT_LT(difference(program, spmd), 1e-3);
}

std::int64_t combined(const Spmd& spmd) {
  return collectives_of(spmd.program, local_function(spmd));
}

// Weights that lie in parts are gathered at once where that takes little memory.
TEST(Combine, SumsOverSeveralAxesGoOnTogether) {
  Builder b("descent");
  const Type x = f32({16, 256}), w = f32({256, 256});  // too large for one sum over both axes
  b.function("main", {x, x, w, w, w}, [&](const Vars& in) -> Vars {
    Vars moved;
    for (std::size_t i = 2; i < 5; ++i) {
      const Var y = in[1] * static_cast<double>(i);
      moved.push_back(in[i] - b.dot(in[0], y, DotDims{{}, {}, {0}, {0}}) * 0.125);
    }
    return moved;
  });
  const Program program = b.finish().value();
  std::vector<Seed> seeds{argument(0, {{"dp", "sp"}, {}}), argument(1, {{"dp", "sp"}, {}})};
  for (std::size_t i = 0; i < 3; ++i) seeds.push_back(result(i, {{}, {}}));
  const Spmd spmd = on_mesh(program, {{"dp", 2}, {"sp", 2}}, seeds);
  // As many as one of them takes, each of which may be a scatter, a sum and a gather.
  EXPECT_LE(collectives_of(spmd.program, local_function(spmd)), 3);
  EXPECT_LT(difference(program, spmd), 1e-2);
}

TEST(Combine, SmallGathersBeginTogether) {
  Builder b("layers");
  const Type x = f32({16, 8}), w = f32({8, 8});
  b.function("main", {x, w, w}, [&](const Vars& in) -> Vars {
    return {b.dot(b.op("tanh", {b.dot(in[0], in[1])}), in[2])};
  });
  const Program program = b.finish().value();
  const Spmd spmd =
      on_mesh(program, {{"dp", 4}},
              {argument(0, {{"dp"}, {}}), argument(1, {{"dp"}, {}}), argument(2, {{"dp"}, {}})});
  EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-gather over dp", 2}}));
  EXPECT_EQ(combined(spmd), 1);
  EXPECT_LT(difference(program, spmd), 1e-3);
}

// Large ones too, where no other product stands between those that need them.
TEST(Combine, KeysAndValuesAreGatheredTogether) {
  Builder b("attention");
  const Type rows = f32({256, 2048});
  b.function("main", {rows, rows, rows}, [&](const Vars& in) -> Vars {
    const Var scores = b.dot(in[0], in[1], DotDims{{}, {}, {1}, {1}});
    return {b.dot(b.op("tanh", {scores}), in[2])};
  });
  const Seed split[] = {argument(0, {{"cp"}, {}}), argument(1, {{"cp"}, {}}),
                        argument(2, {{"cp"}, {}}), result(0, {{"cp"}, {}})};
  const Spmd spmd =
      on_mesh(b.finish().value(), {{"cp", 4}}, {split[0], split[1], split[2], split[3]});
  EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-gather over cp", 2}}));
  EXPECT_EQ(combined(spmd), 1);
}

// Gradients of factors of a weight: products that need the weight's gradient and only leave.
TEST(Combine, ProductsOfSumsThatLeaveWaitForOtherSums) {
  Builder b("adapters");
  const Type x = f32({16, 160}), factor = f32({160, 4});
  b.function("main", {x, x, factor, factor}, [&](const Vars& in) -> Vars {
    Vars made;
    for (std::size_t i = 2; i < 4; ++i) {
      const Var gradient = b.dot(in[0], in[1] * static_cast<double>(i), DotDims{{}, {}, {0}, {0}});
      made.push_back(b.dot(gradient, in[i]));
    }
    return made;
  });
  const Program program = b.finish().value();
  const Spmd spmd = on_mesh(program, {{"dp", 4}},
                            {argument(0, {{"dp"}, {}}), argument(1, {{"dp"}, {}}),
                             result(0, {{}, {}}), result(1, {{}, {}})});
  EXPECT_EQ(combined(spmd), 1);
  EXPECT_LT(difference(program, spmd), 1e-3);
}

// What is made of the one sum is small and waits for the other.
TEST(Combine, ALossDoesNotKeepSumsApart) {
  Builder b("loss");
  const Type x = f32({8, 1 << 18});
  b.function("main", {x}, [&](const Vars& in) -> Vars {
    const Var loss = b.reduce(b.op("tanh", {b.reduce(in[0], {1}, "add")}), {0}, "add");
    return {loss, b.reduce(in[0] * in[0], {1}, "add") * 2.0};
  });
  const Program program = b.finish().value();
  const Spmd spmd =
      on_mesh(program, {{"tp", 4}}, {argument(0, {{}, {"tp"}}), result(0, {}), result(1, {{}})});
  EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-reduce over tp", 2}}));
  EXPECT_EQ(combined(spmd), 1);
}

// Two branches, each a sum that a product needs: the second sum is made before the first product.
TEST(Combine, SumsOfTwoBranchesMeet) {
  Builder b("branches");
  const Type x = f32({1 << 16, 64}), w = f32({64, 8});
  b.function("main", {x, w}, [&](const Vars& in) -> Vars {
    const auto branch = [&](Var y) {
      const Var sum = b.broadcast(b.reduce(y, {0}, "add") / 65536.0, x.shape, {1});
      return b.dot(in[0] - sum, in[1]);
    };
    const Var first = branch(in[0]);
    return {first, branch(in[0] * in[0])};
  });
  const Program program = b.finish().value();
  const Spmd spmd = on_mesh(program, {{"dp", 4}}, {argument(0, {{"dp"}, {}})});
  EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-reduce over dp", 2}}));
  EXPECT_EQ(combined(spmd), 1);
}

// Products that only leave the function wait for one another's gathers, large as these are.
TEST(Combine, WhatOnlyLeavesWaitsForOtherGathers) {
  constexpr std::string_view kText = R"(
    sdy.mesh @mesh = <["dp"=4]>
    func.func @main(%a: tensor<256x1024xf32>, %b: tensor<256x1024xf32>, %c: tensor<1024x8xf32>)
        -> (tensor<1024x8xf32>, tensor<1024x8xf32>) {
      %g = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "dp">]>,
          use_global_device_ids}> : (tensor<256x1024xf32>) -> tensor<1024x1024xf32>
      %p = stablehlo.dot_general %g, %c, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x8xf32>) -> tensor<1024x8xf32>
      %t = stablehlo.dot_general %p, %p, contracting_dims = [1] x [1] : (tensor<1024x8xf32>, tensor<1024x8xf32>) -> tensor<1024x1024xf32>
      %s = stablehlo.slice %t [0:256, 0:1024] : (tensor<1024x1024xf32>) -> tensor<256x1024xf32>
      %h = "stablehlo.all_gather"(SECOND) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>,
          replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "dp">]>,
          use_global_device_ids}> : (tensor<256x1024xf32>) -> tensor<1024x1024xf32>
      %q = stablehlo.dot_general %h, %c, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x8xf32>) -> tensor<1024x8xf32>
      return %p, %q : tensor<1024x8xf32>, tensor<1024x8xf32>
    })";
  const auto gathers = [&](std::string_view second) {
    std::string text(kText);
    text.replace(text.find("SECOND"), 6, second);
    const Program ordered = schedule(read_stablehlo(text, "test").value());
    return collectives_of(ordered, ordered.functions[0]);
  };
  EXPECT_EQ(gathers("%b"), 1);
  EXPECT_EQ(gathers("%s"), 2);  // the second one needs the first product
}

// A ring: from neighbour to neighbour, and from the last device to the first.
TEST(Combine, PermutesOfDisjointPairsAreOne) {
  for (const std::int64_t by : {1, 2}) {
    Builder b("ring");
    const Type x = f32({8, 3});
    b.function("main", {x}, [&](const Vars& in) -> Vars {
      const Var rolled = b.concatenate(
          {b.slice(in[0], {8 - by, 0}, {8, 3}), b.slice(in[0], {0, 0}, {8 - by, 3})}, 0);
      return {rolled * 2.0 + in[0]};
    });
    const Program program = b.finish().value();
    const Spmd spmd = on_mesh(program, {{"dp", 4}}, {argument(0, {{"dp"}, {}})});
    EXPECT_EQ(spmd.functions[0].communications.size(), 2U) << by;
    EXPECT_EQ(combined(spmd), 1) << by;
    EXPECT_EQ(difference(program, spmd), 0) << by;
  }
}

}  // namespace
}  // namespace heddle::test
