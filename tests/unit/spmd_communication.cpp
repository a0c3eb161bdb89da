// What devices tell each other, counted: no more than the layouts ask for.
#include "heddle/stablehlo.h"
#include "ir/eval/scalar.h"
#include "spmd_mesh.h"

namespace heddle::test {
namespace {

constexpr std::int64_t kBatch = 4, kTokens = 8, kWidth = 16, kHeads = 4, kInner = 32;

Var layer_norm(Builder& b, Var x) {
  const Var mean = b.reduce(x, {2}, "add") / static_cast<double>(kWidth);
  const Var centred = x - b.broadcast(mean, x.type().shape, {0, 1});
  const Var spread = b.reduce(centred * centred, {2}, "add") / static_cast<double>(kWidth) + 1e-5;
  return centred * b.broadcast(b.op("rsqrt", {spread}), x.type().shape, {0, 1});
}

Var attention(Builder& b, Var x, Var wq, Var wk, Var wv, Var wo) {
  auto heads = [&](Var w) {
    return b.reshape(b.dot(x, w), {kBatch, kTokens, kHeads, kWidth / kHeads});
  };
  const DotDims scores{{0, 2}, {0, 2}, {3}, {3}};
  const Var s = b.op("exponential", {b.dot(heads(wq), heads(wk), scores)});
  const Var sum = b.reduce(s, {3}, "add");
  const Var p = s / b.broadcast(sum, s.type().shape, {0, 1, 2});
  const Var mixed = b.dot(p, heads(wv), DotDims{{0, 1}, {0, 2}, {3}, {1}});
  return b.dot(b.reshape(b.transpose(mixed, {0, 2, 1, 3}), {kBatch, kTokens, kWidth}), wo);
}

Program transformer_layer() {
  Builder b("layer");
  const Type x = f32({kBatch, kTokens, kWidth}), w = f32({kWidth, kWidth});
  b.function("main", {x, w, w, w, w, f32({kWidth, kInner}), f32({kInner, kWidth})},
             [&](const Vars& in) -> Vars {
               const Var h = in[0] + attention(b, layer_norm(b, in[0]), in[1], in[2], in[3], in[4]);
               const Var inner = b.op("tanh", {b.dot(layer_norm(b, h), in[5])});
               return {h + b.dot(inner, in[6])};
             });
  return b.finish().value();
}

std::vector<Seed> megatron() {
  std::vector<Seed> seeds{argument(0, {{"dp"}, {}, {}})};
  for (std::size_t i : {1, 2, 3}) seeds.push_back(argument(i, {{}, {"tp"}}));
  seeds.push_back(argument(4, {{"tp"}, {}}));
  seeds.push_back(argument(5, {{}, {"tp"}}));
  seeds.push_back(argument(6, {{"tp"}, {}}));
  return seeds;
}

TEST(Communication, AMegatronLayerHasTwoAllReducesForward) {
  const Program program = transformer_layer();
  const Spmd spmd = on_mesh(program, {{"dp", 2}, {"tp", 4}}, megatron());
  EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-reduce over tp", 2}}));
  EXPECT_LT(difference(program, spmd), 1e-4);
}

// The gradient of a product of three: dx is summed over the split width, weights over the batch.
TEST(Communication, TheBackwardPassOfAnMlpHasOneAllReducePerSplitWidth) {
  Builder b("mlp");
  const Type x = f32({8, 16}), w1 = f32({16, 32}), w2 = f32({32, 16});
  b.function("main", {x, w1, w2, x}, [&](const Vars& in) -> Vars {
    const Var h = b.op("tanh", {b.dot(in[0], in[1])});
    const Var y = b.dot(h, in[2]);
    const Var dh = b.dot(in[3], in[2], DotDims{{}, {}, {1}, {1}}) * (1.0 - h * h);
    return {y, b.dot(dh, in[1], DotDims{{}, {}, {1}, {1}}),
            b.dot(in[0], dh, DotDims{{}, {}, {0}, {0}}),
            b.dot(h, in[3], DotDims{{}, {}, {0}, {0}})};
  });
  const Program program = b.finish().value();
  const Spmd spmd =
      on_mesh(program, {{"dp", 2}, {"tp", 4}},
              {argument(0, {{"dp"}, {}}), argument(1, {{}, {"tp"}}), argument(2, {{"tp"}, {}}),
               argument(3, {{"dp"}, {}}), result(1, {{"dp"}, {}}), result(2, {{}, {"tp"}}),
               result(3, {{"tp"}, {}})});
  EXPECT_EQ(counts(spmd),
            (std::map<std::string, int>{{"all-reduce over tp", 2}, {"all-reduce over dp", 2}}));
  EXPECT_LT(difference(program, spmd), 1e-3);
}

// States that are split over the replicas: gradients are scattered, parameters gathered.
TEST(Communication, ASplitOptimiserScattersGradientsAndGathersParameters) {
  Builder b("zero");
  const Type x = f32({16, 256}), y = f32({16, 512}), w = f32({256, 512});
  b.function("main", {x, y, w, w}, [&](const Vars& in) -> Vars {
    const Var gradient = b.dot(in[0], in[1], DotDims{{}, {}, {0}, {0}});
    const Var state = in[3] * 0.9 + gradient;
    return {in[2] - state * 0.1, state};
  });
  const Program program = b.finish().value();
  const Spmd spmd =
      on_mesh(program, {{"dp", 4}},
              {argument(0, {{"dp"}, {}}), argument(1, {{"dp"}, {}}), argument(2, {{}, {}}),
               argument(3, {{"dp"}, {}}), result(0, {{}, {}}), result(1, {{"dp"}, {}})});
  EXPECT_EQ(counts(spmd),
            (std::map<std::string, int>{{"reduce-scatter over dp", 1}, {"all-gather over dp", 1}}));
  const std::int64_t whole = 256 * 512 * 4;
  EXPECT_EQ(bytes(spmd), 2 * whole / 4 * 3);
  EXPECT_LT(difference(program, spmd), 1e-3);
}

TEST(Communication, AStencilExchangesItsHalo) {
  Builder b("stencil");
  const Type u = f32({16, 6});
  b.function("main", {u}, [&](const Vars& in) -> Vars {
    const Var above = b.slice(in[0], {0, 0}, {14, 6}), below = b.slice(in[0], {2, 0}, {16, 6});
    const Var inner = (above + below) * 0.5;
    return {b.op("pad", {inner, b.full(f32({}), 1)}, u,
                 {{"edge_padding_high", Attr{Attr::Integers{1, 0}}},
                  {"edge_padding_low", Attr{Attr::Integers{1, 0}}},
                  {"interior_padding", Attr{Attr::Integers{0, 0}}}})};
  });
  const Program program = b.finish().value();
  const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}})});
  for (const Communication& c : spmd.functions[0].communications)
    EXPECT_EQ(c.kind, MoveKind::halo_exchange);
  EXPECT_LE(bytes(spmd), 6 * 6 * 4);  // six rows at most of 16
  EXPECT_LT(difference(program, spmd), 1e-5);
}

// x.at[1:-1, 1:-1].set(...) of neighbours in both dimensions, on both axes.
TEST(Communication, AnUpdateByNeighboursExchangesOneRowEachWay) {
  Builder b("jacobi");
  const Type u = f32({16, 24});
  b.function("main", {u}, [&](const Vars& in) -> Vars {
    auto at = [&](std::int64_t row, std::int64_t column) {
      return b.slice(in[0], {row, column}, {row + 14, column + 22});
    };
    const Var inner = (at(0, 1) + at(2, 1) + at(1, 0) + at(1, 2)) * 0.25;
    const Var one = b.full(Type::tensor(DType::i32, {}), 1);
    return {b.op("dynamic_update_slice", {in[0], inner, one, one}, u)};
  });
  const Program program = b.finish().value();
  const Spmd spmd = on_mesh(program, {{"x", 4}, {"y", 2}}, {argument(0, {{"x"}, {"y"}})});
  EXPECT_EQ(counts(spmd),
            (std::map<std::string, int>{{"halo-exchange over x", 2}, {"halo-exchange over y", 2}}));
  EXPECT_EQ(bytes(spmd), 2 * 12 * 4 + 2 * 4 * 4);  // of parts of 4x12
  EXPECT_LT(difference(program, spmd), 1e-5);
}

// What a padded value is made of lies where the slices of it lie.
TEST(Communication, SlicesOfAPaddedValueExchangeItsHalo) {
  Builder b("padded");
  const Type u = f32({16, 6});
  b.function("main", {u}, [&](const Vars& in) -> Vars {
    const Var padded = b.op("pad", {in[0], b.full(f32({}), 1)}, f32({18, 6}),
                            {{"edge_padding_high", Attr{Attr::Integers{1, 0}}},
                             {"edge_padding_low", Attr{Attr::Integers{1, 0}}},
                             {"interior_padding", Attr{Attr::Integers{0, 0}}}});
    return {b.slice(padded, {0, 0}, {16, 6}) + b.slice(padded, {2, 0}, {18, 6})};
  });
  const Program program = b.finish().value();
  const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}})});
  EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"halo-exchange over x", 2}}));
  EXPECT_EQ(bytes(spmd), 2 * 6 * 4);
  EXPECT_LT(difference(program, spmd), 1e-5);
}

// jnp.roll: neighbours, and from the last device to the first. 17 rows are 5, 5, 5 and 2.
TEST(Communication, ARollSendsOneRowRound) {
  for (std::int64_t rows : {16, 17}) {
    Builder b("roll");
    const Type u = f32({rows, 6});
    b.function("main", {u}, [&](const Vars& in) -> Vars {
      auto cut = [&](std::int64_t from, std::int64_t to) {
        return b.slice(in[0], {from, 0}, {to, 6});
      };
      return {b.concatenate({cut(rows - 1, rows), cut(0, rows - 1)}, 0) +
              b.concatenate({cut(1, rows), cut(0, 1)}, 0)};
    });
    const Program program = b.finish().value();
    const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}})});
    EXPECT_EQ(counts(spmd),
              (std::map<std::string, int>{{"halo-exchange over x", 2}, {"permute over x", 2}}));
    EXPECT_EQ(bytes(spmd), 4 * 6 * 4);
    EXPECT_LT(difference(program, spmd), 1e-5);
  }
}

Var convolution(Builder& b, Var x, Var kernel, const Type& result, std::int64_t pad,
                const Attr::Struct& numbers) {
  const Attr::Integers ones{1};
  return b.op("convolution", {x, kernel}, result,
              {{"dimension_numbers", Attr{numbers}},
               {"window_strides", Attr{ones}},
               {"padding", Attr{make_array<std::int64_t>(Shape{1, 2}, std::vector{pad, pad})}},
               {"feature_group_count", Attr{Attr::Integer{1, "i64"}}},
               {"batch_group_count", Attr{Attr::Integer{1, "i64"}}}});
}

// The gradient by the kernel: its window is the whole image, of which every device has a part.
TEST(Communication, AKernelsGradientIsSummedOverThePartsOfAnImage) {
  auto number = [](std::int64_t n) { return Attr{Attr::Integer{n, "i64"}}; };
  auto list = [](std::int64_t n) { return Attr{Attr::Integers{n}}; };
  // [features, places, batch] x [batch, places, outputs] -> [features, places, outputs]
  const Attr::Struct numbers{"conv",
                             {{"input_batch_dimension", number(0)},
                              {"input_feature_dimension", number(2)},
                              {"input_spatial_dimensions", list(1)},
                              {"kernel_input_feature_dimension", number(0)},
                              {"kernel_output_feature_dimension", number(2)},
                              {"kernel_spatial_dimensions", list(1)},
                              {"output_batch_dimension", number(0)},
                              {"output_feature_dimension", number(2)},
                              {"output_spatial_dimensions", list(1)}}};
  for (std::int64_t places : {64, 63}) {
    Builder b("gradient");
    b.function("main", {f32({4, places, 2}), f32({2, places, 3})}, [&](const Vars& in) -> Vars {
      return {convolution(b, in[0], in[1], f32({4, 3, 3}), 1, numbers)};
    });
    const Program program = b.finish().value();
    const Spmd spmd =
        on_mesh(program, {{"x", 4}}, {argument(0, {{}, {"x"}, {}}), argument(1, {{}, {"x"}, {}})});
    EXPECT_EQ(counts(spmd),
              (std::map<std::string, int>{{"halo-exchange over x", 2}, {"all-reduce over x", 1}}))
        << places;
    EXPECT_LT(difference(program, spmd), 1e-3);
  }
}

// Weights that every round uses are gathered once, before the loop; they come in from around it or
// are handed on by every round.
TEST(Communication, WhatALoopDoesNotChangeIsGatheredBeforeIt) {
  for (bool carried : {false, true}) {
    Builder b("loop");
    const Type x = f32({1024, 64}), w = f32({64, 64}), count = Type::tensor(DType::i32, {});
    b.function("main", {x, w}, [&](const Vars& in) -> Vars {
      Vars start = {b.full(count, 0), in[0]};
      if (carried) start.push_back(in[1]);
      const Vars out = b.while_loop(
          start, [&](const Vars& v) { return b.compare("LT", v[0], b.full(count, 3)); },
          [&](const Vars& v) -> Vars {
            Vars next = {v[0] + 1.0, b.op("tanh", {b.dot(v[1], carried ? v[2] : in[1])})};
            if (carried) next.push_back(v[2]);
            return next;
          });
      return {out[1]};
    });
    const Program program = b.finish().value();
    const Spmd spmd =
        on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}}), argument(1, {{"x"}, {}})});
    EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-gather over x", 1}}));
    ASSERT_EQ(spmd.functions[0].communications.size(), 1U);
    EXPECT_EQ(spmd.functions[0].communications[0].depth, 0);
    EXPECT_LT(difference(program, spmd), 1e-4);
  }
}

// What a reduction begins with counts once, however many devices have a part of the sum.
TEST(Communication, AStartCountsOnceInASumThatIsStillToBeMade) {
  std::int64_t sent[2] = {};
  for (const int start : {0, 5}) {
    const Program program = read_stablehlo(fmt::format(R"(
      func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8xf32> {{
        %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
            : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
        %c = stablehlo.constant dense<{}.0> : tensor<f32>
        %r = stablehlo.reduce(%p init: %c) applies stablehlo.add across dimensions = [1]
            : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
        return %r : tensor<8xf32>
      }})",
                                                       start),
                                           "t.mlir")
                                .value();
    const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{}, {"x"}}), result(0, {{}})});
    EXPECT_LT(difference(program, spmd), 1e-3) << start;
    EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-reduce over x", 1}}));
    sent[start == 0 ? 0 : 1] = bytes(spmd);
  }
  // From zero on, the reduction comes before the sum, which is smaller then.
  EXPECT_EQ(sent[0] * 4, sent[1]);
}

// What is said of a matrix product alone reaches all of a chain of ops.
TEST(Propagation, FollowsReshapesAndTransposes) {
  Builder b("chain");
  b.function("main", {f32({8, 12})}, [&](const Vars& in) -> Vars {
    return {b.transpose(b.reshape(in[0], {8, 3, 4}), {1, 0, 2})};
  });
  Program program = b.finish().value();
  (void)program.add_mesh("mesh", {{"x", 2}, {"y", 2}}).value();
  RuleCache rules(program);
  PropagateOptions options;
  options.seeds = {argument(0, {{"x"}, {}})};
  const Propagation out = propagate(program, program.functions[0], rules, options).value();
  EXPECT_EQ(text_of(out.results[0], program.meshes[0].mesh), "[{}, {\"x\"}, {}]");
}

TEST(Propagation, TheLargerTensorWinsAConflict) {
  Builder b("conflict");
  b.function("main", {f32({8, 8}), f32({8})},
             [&](const Vars& in) -> Vars { return {in[0] + b.broadcast(in[1], {8, 8}, {0})}; });
  Program program = b.finish().value();
  (void)program.add_mesh("mesh", {{"x", 2}, {"y", 2}}).value();
  RuleCache rules(program);
  PropagateOptions options;
  options.seeds = {argument(0, {{"x"}, {}}), argument(1, {{"y"}})};
  const Propagation out = propagate(program, program.functions[0], rules, options).value();
  EXPECT_EQ(text_of(out.results[0], program.meshes[0].mesh), "[{\"x\"}, {}]");
  EXPECT_FALSE(out.conflicts.empty());
}

// The program of one device says nothing about how many there are.
TEST(Partition, TheProgramDoesNotGrowWithTheMesh) {
  std::size_t ops = 0;
  for (std::int64_t n : {2, 16, 65536}) {
    Builder b("large");
    const Type x = f32({65536 * 4, 64}), w = f32({64, 64});
    b.function("main", {x, w}, [&](const Vars& in) -> Vars {
      return {b.dot(in[0], b.dot(in[0], b.dot(in[0], in[1]), DotDims{{}, {}, {0}, {0}}))};
    });
    const Spmd spmd = on_mesh(b.finish().value(), {{"dp", n}}, {argument(0, {{"dp"}, {}})});
    EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-reduce over dp", 1}}));
    if (ops == 0) ops = spmd.program.op_count();
    EXPECT_EQ(spmd.program.op_count(), ops);
  }
}

TEST(Partition, MemoryOfADeviceIsKnownAndChecked) {
  Builder b("memory");
  b.function("main", {f32({64, 16})},
             [&](const Vars& in) -> Vars { return {b.op("tanh", {in[0]}) * 2.0}; });
  Program program = b.finish().value();
  const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}})});
  const std::int64_t part = 64 * 16 * 4 / 4;
  EXPECT_EQ(spmd.functions[0].argument_bytes, part);
  EXPECT_EQ(spmd.functions[0].result_bytes, part);
  const std::int64_t peak = peak_bytes(spmd.program, local_function(spmd));
  EXPECT_GE(peak, 3 * part);  // tanh, the factor and the result
  EXPECT_LE(peak, 4 * part + 64);
  (void)program.add_mesh("mesh", {{"x", 4}}).value();
  SpmdOptions options;
  options.mesh = "mesh";
  options.seeds = {argument(0, {{"x"}, {}})};
  options.memory_limit = 2 * part - 1;
  const auto refused = partition(program, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.reason().find("@main needs 1024 bytes on every device"), std::string::npos);
  options.memory_limit = 2 * part;
  EXPECT_TRUE(partition(program, options).ok());
}

TEST(Partition, SeedsAreForTheFunctionThatIsNamed) {
  Builder b("two");
  b.function("main", {f32({8})}, [&](const Vars& in) -> Vars { return {in[0] + in[0]}; });
  b.function("other", {f32({8}), f32({8})}, [&](const Vars& in) -> Vars { return {in[1]}; });
  Program program = b.finish().value();
  (void)program.add_mesh("mesh", {{"x", 2}}).value();
  SpmdOptions options;
  options.mesh = "mesh";
  options.seeds = {argument(1, {{"x"}})};
  EXPECT_FALSE(partition(program, options).ok());  // all functions, of which one has no argument 1
  options.function = "other";
  const Spmd spmd = partition(program, options).value();
  EXPECT_TRUE(spmd.find("main")->arguments[0].is_whole());
  EXPECT_FALSE(spmd.find("other")->arguments[1].is_whole());
  options.function = "nobody";
  EXPECT_EQ(partition(program, options).reason(),
            "there is no function @nobody, of which layouts are said");
}

TEST(Partition, ALayoutThatDoesNotFitIsRefused) {
  Builder b("bad");
  b.function("main", {f32({8})}, [&](const Vars& in) -> Vars { return {in[0]}; });
  Program program = b.finish().value();
  (void)program.add_mesh("mesh", {{"x", 2}}).value();
  SpmdOptions options;
  options.mesh = "mesh";
  options.seeds = {argument(0, {{"z"}})};
  const auto unknown = partition(program, options);
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.reason().find("argument 0: mesh @mesh has no axis \"z\""), std::string::npos);
  options.seeds = {argument(3, {{"x"}})};
  EXPECT_FALSE(partition(program, options).ok());
  options.mesh = "other";
  EXPECT_FALSE(partition(program, options).ok());
}

// The gradient of a table that is also the last layer's weight: rows that are added to a sum which
// is still to be made are summed with it, instead of gathered for themselves.
TEST(Communication, RowsThatJoinAPendingSumTravelWithIt) {
  const Program program = read_stablehlo(R"(
    func.func @main(%p: tensor<64x256xf32>, %u: tensor<64x64xf32>, %rows: tensor<64x1xi32>) -> tensor<256x64xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<256x64xf32>
      %g = stablehlo.dot_general %p, %u, contracting_dims = [0] x [0] : (tensor<64x256xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
      %s = "stablehlo.scatter"(%zero, %rows, %u) <{indices_are_sorted = false, unique_indices = false,
          scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
          scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %c = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %c : tensor<f32>
      }) : (tensor<256x64xf32>, tensor<64x1xi32>, tensor<64x64xf32>) -> tensor<256x64xf32>
      %r = stablehlo.add %s, %g : tensor<256x64xf32>
      return %r : tensor<256x64xf32>
    })",
                                         "test")
                              .value();
  const Spmd spmd = on_mesh(program, {{"dp", 4}},
                            {argument(0, {{"dp"}, {}}), argument(1, {{"dp"}, {}}),
                             argument(2, {{"dp"}, {}}), result(0, {{}, {}})});
  EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-reduce over dp", 1}}));
  EXPECT_LT(difference(program, spmd), 1e-3);
}

}  // namespace
}  // namespace heddle::test
