// Groups of ops as kernels: how many there are, and that they compute what the program means.
#include <random>
#include <set>

#include "heddle/cost.h"
#include "heddle/simplify.h"
#include "kernel/cuda_resident.h"
#include "stitch/group.h"
#include "stitched.h"

namespace heddle {
namespace {

const Type kRows = Type::tensor(DType::f32, {24, 40});

Array random_array(const Type& type, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Array a(type);
  for (float& x : a.as_mutable<float>()) x = normal(random);
  return a;
}

// Runs both ways on random inputs; the number of launches.
std::size_t launches(Builder& b, double tolerance = 1e-5, const StitchOptions& options = {}) {
  Program program = b.finish().value();
  program = simplify(program).value();
  const Function& main = program.functions[0];
  std::vector<Array> arguments;
  unsigned seed = 1;
  for (ValueId v : program.region(main.body).args)
    arguments.push_back(random_array(program.type_of(v), seed++));
  const std::vector<Array> expected = interpret(program, main, arguments).value();
  const Stitched got = run_stitched(program, arguments, options);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto e = expected[i].as<float>(), g = got.results[i].as<float>();
    for (std::size_t k = 0; k < e.size(); ++k)
      if (!(std::abs(e[k] - g[k]) <= tolerance * (1 + std::abs(e[k])))) {
        std::string text;
        for (const Kernel& kernel : got.kernels) text += print(kernel) + "\n";
        ADD_FAILURE() << "result " << i << " element " << k << ": " << g[k] << " instead of "
                      << e[k] << "\n"
                      << text;
        return got.launches;
      }
  }
  return got.launches;
}

Var rows_of(Builder& b, Var x, const Shape& shape) { return b.broadcast(x, shape, {0}); }
Var columns_of(Builder& b, Var x, const Shape& shape) { return b.broadcast(x, shape, {1}); }

Var softmax(Builder& b, Var x) {
  const Shape shape = x.type().shape;
  const Var m = b.reduce(x, {1}, "maximum");
  const Var e = b.op("exponential", {x - rows_of(b, m, shape)});
  return e / rows_of(b, b.reduce(e, {1}, "add"), shape);
}

TEST(LowerGroup, ElementwiseChainIsOneKernel) {
  Builder b;
  b.function("main", {kRows, kRows},
             [&](const Vars& in) -> Vars { return {b.op("tanh", {in[0] * in[1] + 1.0}) - in[0]}; });
  EXPECT_EQ(launches(b), 1u);
}

void chain_of_norms(Builder& b, const Type& type, int steps) {
  b.function("main", {type, type}, [&](const Vars& in) -> Vars {
    Var h = in[0];
    for (int step = 0; step < steps; ++step) {
      const Var z = b.op("tanh", {h * in[1]});
      const Var n = b.op("exponential", {z * -0.5}) * h + z;
      const Var size = b.op("sqrt", {b.reduce(n * n, {1}, "add") + 1.0});
      h = n / rows_of(b, size, n.type().shape);
    }
    return {h};
  });
}

// The search looks at 160 ops at most; what it had to cut is joined behind it, for a GPU.
TEST(LowerGroup, AChainOfManyOpsIsOneKernel) {
  StitchOptions options;
  for (const bool is_gpu : {false, true}) {
    options.machine.sweeps = is_gpu;
    Builder b;
    chain_of_norms(b, kRows, 24);
    EXPECT_EQ(launches(b, 1e-3, options) == 1, is_gpu);
  }
}

// On a GPU: more threads with shorter accesses, unless other rows fill the device.
TEST(LowerGroup, FewRowsOfManySumsHaveManyThreads) {
  const auto rows_of_kernel = [](std::int64_t rows) {
    Builder b;
    chain_of_norms(b, Type::tensor(DType::f32, {rows, 512}), 12);
    const Program program = simplify(b.finish().value()).value();
    const StitchPlan plan = stitch(program, program.functions[0].body).value();
    const Kernel kernel = lower_group(program, plan.units[0].kernels[0], {}).value();
    return cuda_resident(kernel, kernel.phases[0], {}).value();
  };
  const CudaResident few = rows_of_kernel(256), many = rows_of_kernel(65536);
  EXPECT_LT(few.vector, 4);
  EXPECT_EQ(few.group, 512 / few.vector);
  EXPECT_EQ(many.vector, 4);
}

TEST(LowerGroup, SoftmaxIsOneKernel) {
  Builder b;
  b.function("main", {kRows}, [&](const Vars& in) -> Vars { return {softmax(b, in[0])}; });
  EXPECT_EQ(launches(b), 1u);
}

TEST(LowerGroup, LayerNormIsOneKernel) {
  Builder b;
  const Type columns = Type::tensor(DType::f32, {40});
  b.function("main", {kRows, columns, columns}, [&](const Vars& in) -> Vars {
    const Shape shape = kRows.shape;
    const Var mean = b.reduce(in[0], {1}, "add") / 40.0;
    const Var centred = in[0] - rows_of(b, mean, shape);
    const Var variance = b.reduce(centred * centred, {1}, "add") / 40.0;
    const Var scale = b.op("rsqrt", {variance + 1e-5});
    return {centred * rows_of(b, scale, shape) * columns_of(b, in[1], shape) +
            columns_of(b, in[2], shape)};
  });
  EXPECT_EQ(launches(b), 1u);
}

TEST(LowerGroup, LayerNormBackwardIsOneKernel) {
  Builder b;
  const Type columns = Type::tensor(DType::f32, {40}), rows = Type::tensor(DType::f32, {24});
  b.function("main", {kRows, kRows, columns, rows, rows}, [&](const Vars& in) -> Vars {
    const Shape shape = kRows.shape;
    const Var dy = in[0], x = in[1], mu = rows_of(b, in[3], shape), rs = rows_of(b, in[4], shape);
    const Var xh = (x - mu) * rs, w = dy * columns_of(b, in[2], shape);
    const Var c1 = b.reduce(xh * w, {1}, "add") / 40.0, c2 = b.reduce(w, {1}, "add") / 40.0;
    const Var dx = (w - (xh * rows_of(b, c1, shape) + rows_of(b, c2, shape))) * rs;
    return {dx, b.reduce(dy * xh, {0}, "add"), b.reduce(dy, {0}, "add")};
  });
  EXPECT_EQ(launches(b), 1u);
}

TEST(LowerGroup, MeanOfEverythingHasATail) {
  Builder b;
  b.function("main", {kRows, kRows}, [&](const Vars& in) -> Vars {
    const Var d = in[0] - in[1];
    return {b.op("sqrt", {b.reduce(d * d, {0, 1}, "add") / 960.0})};
  });
  EXPECT_EQ(launches(b), 1u);
}

TEST(LowerGroup, StencilReadsItsNeighbours) {
  Builder b;
  b.function("main", {kRows}, [&](const Vars& in) -> Vars {
    const Var p = b.op("pad", {in[0], b.full(Type::tensor(DType::f32, {}), 0)},
                       Type::tensor(DType::f32, {26, 42}),
                       {{"edge_padding_low", {Attr::Integers{1, 1}}},
                        {"edge_padding_high", {Attr::Integers{1, 1}}},
                        {"interior_padding", {Attr::Integers{0, 0}}}});
    return {0.25 * (b.slice(p, {0, 1}, {24, 41}) + b.slice(p, {2, 1}, {26, 41}) +
                    b.slice(p, {1, 0}, {25, 40}) + b.slice(p, {1, 2}, {25, 42}))};
  });
  EXPECT_EQ(launches(b), 1u);
}

TEST(LowerGroup, TransposeAndNormaliseIsOneKernel) {
  Builder b;
  b.function("main", {Type::tensor(DType::f32, {3, 40, 4, 6})}, [&](const Vars& in) -> Vars {
    const Var h = b.transpose(b.reshape(in[0], {3, 40, 24}), {0, 2, 1});
    const Shape shape = {3, 24, 40};
    const Var mean = b.reduce(h, {2}, "add") / 40.0;
    const Var c = h - b.broadcast(mean, shape, {0, 1});
    const Var v = b.reduce(c * c, {2}, "add") / 40.0;
    return {c * b.broadcast(b.op("rsqrt", {v + 1e-5}), shape, {0, 1})};
  });
  EXPECT_EQ(launches(b), 1u);
}

TEST(LowerGroup, GroupNormSplitsADimension) {
  Builder b;
  const Type x = Type::tensor(DType::f32, {2, 4, 4, 20}), c = Type::tensor(DType::f32, {20});
  b.function("main", {x, c}, [&](const Vars& in) -> Vars {
    const Shape split = {2, 16, 4, 5};
    const Var h = b.reshape(in[0], split);
    const Var mean = b.reduce(h, {1, 3}, "add") / 80.0;
    const Var d = h - b.broadcast(mean, split, {0, 2});
    const Var v = b.reduce(d * d, {1, 3}, "add") / 80.0;
    const Var n = d * b.broadcast(b.op("rsqrt", {v + 1e-5}), split, {0, 2});
    const Var y = b.reshape(n, x.shape) * b.broadcast(in[1], x.shape, {3});
    return {y * b.op("logistic", {y})};
  });
  EXPECT_EQ(launches(b), 1u);
}

TEST(LowerGroup, ValueAndItsTransposeAddUp) {
  Builder b;
  b.function("main", {Type::tensor(DType::f32, {12, 12})},
             [&](const Vars& in) -> Vars { return {in[0] + b.transpose(in[0], {1, 0})}; });
  EXPECT_EQ(launches(b), 1u);
}

TEST(LowerGroup, ConcatenateAndReverse) {
  Builder b;
  b.function("main", {kRows, kRows}, [&](const Vars& in) -> Vars {
    const Var both = b.concatenate({in[0] * 2.0, b.slice(in[1], {0, 3}, {24, 10})}, 1);
    return {b.op("reverse", {both}, both.type(), {{"dimensions", {Attr::Integers{1}}}})};
  });
  EXPECT_EQ(launches(b), 1u);
}

// A cumulative sum as JAX writes it: a window over everything so far.
Var cumulative(Builder& b, Var x, std::size_t dim, bool backward) {
  const Shape shape = x.type().shape;
  Attr::Integers window(shape.size(), 1), padding(2 * shape.size(), 0);
  window[dim] = shape[dim];
  padding[2 * dim + (backward ? 1 : 0)] = shape[dim] - 1;
  Array pairs(Type::tensor(DType::i64, {static_cast<std::int64_t>(shape.size()), 2}));
  std::copy(padding.begin(), padding.end(), pairs.as_mutable<std::int64_t>().begin());
  const Type scalar = Type::tensor(DType::f32, {});
  const RegionId add =
      b.region({scalar, scalar}, [&](const Vars& in) -> Vars { return {in[0] + in[1]}; });
  return b.ops("reduce_window", {x, b.full(scalar, 0)}, {x.type()},
               {{"window_dimensions", {window}}, {"padding", {pairs}}}, {add})[0];
}

TEST(LowerGroup, CumulativeSumsAreScans) {
  for (std::size_t dim : {0, 1})
    for (bool backward : {false, true}) {
      Builder b;
      b.function("main", {kRows}, [&](const Vars& in) -> Vars {
        return {cumulative(b, in[0] * 2.0, dim, backward)};
      });
      EXPECT_EQ(launches(b), 1u) << dim << backward;
    }
}

TEST(LowerGroup, ScanFeedsTheRowThatItCameFrom) {
  Builder b;
  b.function("main", {kRows}, [&](const Vars& in) -> Vars {
    const Var c = cumulative(b, softmax(b, in[0]), 1, false);
    return {c * in[0], c};
  });
  EXPECT_EQ(launches(b), 1u);
}

// Beside a result that lies the other way round a scan keeps its own order.
TEST(LowerGroup, ScanOverWhatWasTransposed) {
  Builder b;
  b.function("main", {Type::tensor(DType::f32, {32, 2, 4})}, [&](const Vars& in) -> Vars {
    const Var rows = b.reshape(b.transpose(in[0], {1, 0, 2}), {64, 4});
    return {cumulative(b, rows, 0, false), in[0] * 2.0};
  });
  EXPECT_EQ(launches(b), 1u);
}

TEST(LowerGroup, WindowsOfAFewElements) {
  Builder b;
  const Type scalar = Type::tensor(DType::f32, {});
  b.function("main", {kRows}, [&](const Vars& in) -> Vars {
    const RegionId largest = b.region(
        {scalar, scalar}, [&](const Vars& r) -> Vars { return {b.op("maximum", {r[0], r[1]})}; });
    return b.ops(
        "reduce_window", {in[0] * 2.0, b.full(scalar, -100)}, {Type::tensor(DType::f32, {12, 20})},
        {{"window_dimensions", {Attr::Integers{2, 2}}}, {"window_strides", {Attr::Integers{2, 2}}}},
        {largest});
  });
  EXPECT_EQ(launches(b), 1u);
}

TEST(LowerGroup, IndependentUpdatesAreOneLaunch) {
  Builder b;
  std::vector<Type> types;
  for (int i = 0; i < 40; ++i) types.push_back(Type::tensor(DType::f32, {i % 20 + 1, 3}));
  b.function("main", types, [&](const Vars& in) -> Vars {
    Vars out;
    for (std::size_t i = 0; i < 20; ++i) out.push_back(in[i] - 0.1 * in[i + 20]);
    return out;
  });
  EXPECT_EQ(launches(b), 1u);
}

// Rows apart by a power of two push each other out of a cache: a block keeps them side by side.
TEST(LowerGroup, RowsThatCollideAreKept) {
  Builder b;
  const Type type = Type::tensor(DType::f32, {160, 1024});
  b.function("main", {type},
             [&](const Vars& in) -> Vars { return {softmax(b, b.transpose(in[0], {1, 0}))}; });
  const Program program = simplify(b.finish().value()).value();
  const std::vector<Array> arguments = {random_array(type, 1)};
  const Stitched got = run_stitched(program, arguments);
  ASSERT_EQ(got.kernels.size(), 1u);
  EXPECT_TRUE(std::ranges::any_of(got.kernels[0].buffers, [](const KernelBuffer& buffer) {
    return buffer.reach == Reach::block && buffer.elements >= 160 * 16;
  }));
  const Array expected = interpret(program, program.functions[0], arguments).value()[0];
  const auto e = expected.as<float>(), g = got.results[0].as<float>();
  for (std::size_t k = 0; k < e.size(); ++k) ASSERT_NEAR(e[k], g[k], 1e-6) << k;
}

// Updates of a vector at places that are made of data.
Var added_at(Builder& b, Var to, Var places, Var updates) {
  const Type scalar = Type::tensor(DType::f32, {});
  const RegionId add =
      b.region({scalar, scalar}, [&](const Vars& in) -> Vars { return {in[0] + in[1]}; });
  const Attr numbers{Attr::Struct{"scatter",
                                  {{"update_window_dims", {Attr::Integers{}}},
                                   {"inserted_window_dims", {Attr::Integers{0}}},
                                   {"input_batching_dims", {Attr::Integers{}}},
                                   {"scatter_indices_batching_dims", {Attr::Integers{}}},
                                   {"scatter_dims_to_operand_dims", {Attr::Integers{0}}},
                                   {"index_vector_dim", {Attr::Integer{1}}}}}};
  return b.ops("scatter", {to, places, updates}, {to.type()},
               {{"scatter_dimension_numbers", numbers}}, {add})[0];
}
Var places_of(Builder& b, Var x, double scale) {
  return b.op("convert", {x * scale}, Type::tensor(DType::i32, x.type().shape));
}

// Some updates share a place, some lie outside.
TEST(LowerGroup, ScatterWithItsNeighboursIsOneKernel) {
  Builder b;
  const Type entries = Type::tensor(DType::f32, {200}), vector = Type::tensor(DType::f32, {30});
  b.function("main", {entries, entries, vector}, [&](const Vars& in) -> Vars {
    const Var zero = b.full(vector, 0);
    const Var y = added_at(b, zero, places_of(b, in[0], 20), in[1] * 2.0);
    const Var sum = b.reduce(y * in[2], {0}, "add");
    return {in[2] - y * b.broadcast(sum, {30}, {}), sum};
  });
  EXPECT_EQ(launches(b), 1u);
}

// Many updates of a few elements: every chunk of blocks has sums of its own.
TEST(LowerGroup, HistogramIsSharedOut) {
  Builder b;
  const Type entries = Type::tensor(DType::f32, {60'000});
  b.function("main", {entries}, [&](const Vars& in) -> Vars {
    const Var start = b.full(Type::tensor(DType::f32, {16}), 3);
    return {added_at(b, start, places_of(b, in[0], 8), b.full(entries, 1)) * 0.5};
  });
  Program program = simplify(b.finish().value()).value();
  const std::vector<Array> arguments = {random_array(entries, 1)};
  const Stitched got = run_stitched(program, arguments);
  ASSERT_EQ(got.kernels.size(), 1u);
  EXPECT_GT(got.kernels[0].phases.size(), 1u);
  EXPECT_GT(got.kernels[0].phases[0].chunks, 1);
  EXPECT_EQ(got.results[0], interpret(program, program.functions[0], arguments).value()[0]);
}

// The gradient of a norm is written for others, and read back behind the sums that it goes into.
TEST(LowerGroup, WhatIsWrittenInAnyCaseIsReadBack) {
  Builder b;
  const Type mask = Type::tensor(DType::i1, kRows.shape);
  b.function("main", {kRows, kRows, kRows, mask}, [&](const Vars& in) -> Vars {
    const Var sum = in[0] + in[1];
    const Var gradient = b.select(in[3], sum, b.full_like(sum, 0));
    const Var mean = b.reduce(gradient * in[2], {0}, "add") / 24.0;
    return {gradient, gradient - in[2] * columns_of(b, mean, kRows.shape)};
  });
  const Program program = simplify(b.finish().value()).value();
  const RegionId body = program.functions[0].body;
  std::vector<OpId> ops;
  for (OpId id : program.region(body).ops)
    if (is_work(program.op(id))) ops.push_back(id);
  StitchGroup group = make_group(program, Readers(program, body), std::move(ops));
  group.choice.across = true;
  const Kernel kernel = lower_group(program, group, default_figures(8)).value();
  ASSERT_TRUE(verify(kernel));
  // The last phase reads two arrays: the gradient and the third operand.
  std::set<std::uint32_t> large;
  for (const Node& node : kernel.phases.back().stages.back().nodes)
    if (node.kind == NodeKind::load && kernel.buffers[node.number].elements == 24 * 40)
      large.insert(node.number);
  EXPECT_EQ(large.size(), 2U) << print(kernel);

  std::vector<Array> arguments;
  for (unsigned seed : {1U, 2U, 3U}) arguments.push_back(random_array(kRows, seed));
  arguments.emplace_back(mask);
  std::size_t n = 0;
  for (std::byte& x : arguments.back().mutable_bytes()) x = std::byte(n++ % 3 == 0 ? 1 : 0);
  const auto wanted = interpret(program, program.functions[0], arguments).value();
  std::vector<std::vector<std::byte>> memory(kernel.buffers.size());
  std::vector<std::span<std::byte>> spans(kernel.buffers.size());
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const KernelBuffer& buffer = kernel.buffers[i];
    if (buffer.reach != Reach::input && buffer.reach != Reach::output) continue;
    const auto& args = program.region(body).args;
    const auto which = std::ranges::find(args, buffer.value) - args.begin();
    if (buffer.reach == Reach::input) {
      const auto bytes = arguments[static_cast<std::size_t>(which)].bytes();
      memory[i].assign(bytes.begin(), bytes.end());
    } else {
      memory[i].assign(static_cast<std::size_t>(program.type_of(buffer.value).bytes()), {});
    }
    spans[i] = memory[i];
  }
  ASSERT_TRUE(interpret(kernel, spans));
  for (std::size_t i = 0; i < memory.size(); ++i)
    for (std::size_t k = 0; k < group.outputs.size(); ++k)
      if (kernel.buffers[i].reach == Reach::output && kernel.buffers[i].value == group.outputs[k]) {
        const Array got(program.type_of(group.outputs[k]), memory[i]);
        for (std::size_t e = 0; e < 24 * 40; ++e)
          EXPECT_NEAR(got.as<float>()[e], wanted[k].as<float>()[e], 1e-5);
      }
}

}  // namespace
}  // namespace heddle
