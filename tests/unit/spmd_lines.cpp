// Ops along lines that are dealt out: what devices tell each other, counted.
#include "spmd_mesh.h"

namespace heddle::test {
namespace {

// A cumulative op along one dimension, as JAX writes it.
Var cumulative(Builder& b, Var x, std::size_t dim, bool backward, std::string_view combiner,
               double start) {
  const std::size_t rank = x.type().rank();
  const std::int64_t n = x.type().shape[dim];
  Attr::Integers window(rank, 1);
  window[dim] = n;
  Array padding(Type::tensor(DType::i64, {static_cast<std::int64_t>(rank), 2}));
  padding.as_mutable<std::int64_t>()[2 * dim + (backward ? 1 : 0)] = n - 1;
  const Type scalar = Type::tensor(x.type().dtype, {});
  const RegionId body = b.region(
      {scalar, scalar}, [&](const Vars& in) -> Vars { return {b.op(combiner, {in[0], in[1]})}; });
  return b.ops("reduce_window", {x, b.broadcast(b.full(scalar, start), {})}, {x.type()},
               {{"window_dimensions", Attr{window}}, {"padding", Attr{padding}}}, {body})[0];
}

Program scan_program(Shape shape, std::size_t dim, bool backward, std::string_view combiner,
                     double start) {
  Builder b("scan");
  b.function("main", {f32(std::move(shape))}, [&](const Vars& in) -> Vars {
    return {cumulative(b, in[0], dim, backward, combiner, start)};
  });
  return b.finish().value();
}

TEST(Lines, OnlyTotalsOfAScanTravel) {
  for (bool backward : {false, true})
    for (std::int64_t rows : {16, 13, 9}) {
      const Program program = scan_program({rows, 6}, 0, backward, "add", 0);
      const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}})});
      EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-gather over x", 1}}));
      EXPECT_EQ(bytes(spmd), 3 * 6 * 4);  // a row of three others
      EXPECT_LT(difference(program, spmd), 1e-4);
    }
}

TEST(Lines, AScanOverTwoAxesGathersTotalsOnce) {
  const Program program = scan_program({24}, 0, false, "add", 0);
  const Spmd spmd = on_mesh(program, {{"x", 2}, {"y", 3}}, {argument(0, {{"x", "y"}})});
  EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-gather over x, y", 1}}));
  EXPECT_EQ(bytes(spmd), 5 * 4);
  EXPECT_LT(difference(program, spmd), 1e-4);
}

TEST(Lines, MaximaMayBeginWithAnything) {
  const Program program = scan_program({16}, 0, true, "maximum", 1);
  const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}})});
  EXPECT_EQ(bytes(spmd), 3 * 4);
  EXPECT_EQ(difference(program, spmd), 0);
}

// Windows that are partly outside count what the sum begins with once for every element there.
TEST(Lines, SumsThatBeginWithSomethingAreNoScans) {
  const Program program = scan_program({16}, 0, false, "add", 1);
  const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}})});
  EXPECT_EQ(bytes(spmd), 12 * 4);
  EXPECT_LT(difference(program, spmd), 1e-4);
}

// Lines that lie whole on a device need nobody else.
TEST(Lines, AScanOfWholeLinesTellsNothing) {
  const Program program = scan_program({16, 6}, 1, false, "add", 0);
  const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}})});
  EXPECT_TRUE(counts(spmd).empty());
  EXPECT_LT(difference(program, spmd), 1e-4);
}

// Rows, sorted by the first value; the second goes along.
Program sort_program(Shape shape, std::int64_t dim, bool pairs) {
  Builder b("sort");
  const Type type = f32(std::move(shape)), scalar = f32({});
  const std::size_t count = pairs ? 2 : 1;
  b.function("main", std::vector<Type>(count, type), [&](const Vars& in) -> Vars {
    const RegionId order =
        b.region(std::vector<Type>(2 * count, scalar),
                 [&](const Vars& e) -> Vars { return {b.compare("LT", e[0], e[1])}; });
    return b.ops("sort", in, std::vector<Type>(count, type),
                 {{"dimension", Attr{Attr::Integer{dim}}}, {"is_stable", Attr{true}}}, {order});
  });
  return b.finish().value();
}

// Where whole lines can be dealt out instead, they go there and back.
// The three largest of a line: three candidates of each device travel. 42 places are 11, 11, 11, 9.
TEST(Lines, TheFirstOfASortAreSortedCandidates) {
  for (std::int64_t size : {40, 42}) {
    Builder b("first");
    const Type x = f32({2, size}), scalar = f32({});
    b.function("main", {x}, [&](const Vars& in) -> Vars {
      const RegionId order = b.region({scalar, scalar, scalar, scalar}, [&](const Vars& v) -> Vars {
        return {b.compare("GT", v[0], v[1])};
      });
      const Vars sorted =
          b.ops("sort", {in[0], b.iota(x, 1)}, {x, x},
                {{"dimension", Attr{Attr::Integer{1, "i64"}}}, {"is_stable", Attr{true}}}, {order});
      return {b.slice(sorted[0], {0, 0}, {2, 3}), b.slice(sorted[1], {0, 0}, {2, 2})};
    });
    const Program program = b.finish().value();
    const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{}, {"x"}})});
    const int values = size % 4 == 0 ? 2 : 3;  // uneven parts also send places
    EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-gather over x", values}}));
    EXPECT_EQ(bytes(spmd), values * 3 * 2 * 3 * 4);
    EXPECT_EQ(difference(program, spmd), 0);
  }
}

Program top_k_program(std::int64_t size, std::int64_t k) {
  Builder b("top");
  b.function("main", {f32({2, size})}, [&](const Vars& in) -> Vars {
    return b.ops("chlo.top_k", {in[0]}, {f32({2, k}), Type::tensor(DType::i32, {2, k})},
                 {{"k", Attr{Attr::Integer{k, "i64"}}}});
  });
  return b.finish().value();
}

// Both kinds of NaN, both zeros, and equal elements in several parts.
Array hard_to_order(std::int64_t size) {
  Array array(f32({2, size}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {2, -nan, 0.0F, -0.0F, 2, nan, -1, 2, -INFINITY, 0.0F, -nan, 3, 2};
  const auto all = array.as_mutable<float>();
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = values[i * 5 % std::size(values)];
  return array;
}

// The greatest elements of every part and their places travel, whatever the length of lines.
TEST(Lines, OnlyCandidatesOfTopKTravel) {
  for (const auto& [size, k] : {std::pair{64, 3}, {61, 5}, {33, 4}, {9, 1}}) {
    const Program program = top_k_program(size, k);
    const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{}, {"x"}})});
    EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-gather over x", 2}}));
    EXPECT_EQ(bytes(spmd), 3 * 2 * k * (4 + 4));
    const std::vector<Array> arguments = {hard_to_order(size)};
    const auto one = interpret(program, program.functions[0], arguments).value();
    const auto many = interpret_on_mesh(spmd, spmd.functions[0], arguments).value();
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_TRUE(std::ranges::equal(one[i].bytes(), many[i].bytes())) << size << " result " << i;
  }
  // Where they would be nearly all, lines are gathered.
  const Program most = top_k_program(8, 3);
  const Spmd spmd = on_mesh(most, {{"x", 4}}, {argument(0, {{}, {"x"}})});
  EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-gather over x", 1}}));
}

TEST(Lines, ASortOfManyLinesDealsThemOut) {
  const Program program = sort_program({4096, 256}, 0, false);
  const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}})});
  EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-to-all over x", 2}}));
}

// The size of a transform's results.
Program transform(std::int64_t rows, std::int64_t length) {
  Builder b("fft");
  const Type real = f32({rows, length}), type = Type::tensor(DType::c64, real.shape);
  b.function("main", {real}, [&](const Vars& in) -> Vars {
    const Var x = b.op("complex", {in[0], in[0] * 0.5}, type);
    const Var y = b.op("fft", {x}, type,
                       {{"fft_type", Attr{Attr::Enum{"fft_type", "FFT"}}},
                        {"fft_length", Attr{Attr::Integers{length}}}});
    return {b.op("abs", {y}, real)};
  });
  return b.finish().value();
}

// A transform needs whole lines; its result lies as its operand does.
TEST(Lines, ATransformOfManyLinesDealsThemOut) {
  const std::map<std::string, int> there_and_back{{"all-to-all over x", 2}};
  const Spmd large = on_mesh(transform(1024, 1024), {{"x", 4}}, {argument(0, {{}, {"x"}})});
  EXPECT_EQ(counts(large), there_and_back);
  EXPECT_EQ(text_of(large.functions[0].results[0], large.program.meshes[0].mesh), "[{}, {\"x\"}]");
  const Program program = transform(8, 16);
  const Spmd small = on_mesh(program, {{"x", 4}}, {argument(0, {{}, {"x"}})}, 8 * 16 * 16 / 4);
  EXPECT_EQ(counts(small), there_and_back);
  EXPECT_LT(difference(program, small), 1e-4);
}

// As little as the arguments and results take: nothing that is larger can be there.
Spmd sorted_in_place(const Program& program, std::int64_t devices, std::int64_t length,
                     std::int64_t values) {
  const std::int64_t block = (length + devices - 1) / devices;
  std::vector<Seed> seeds{argument(0, {{"x"}})};
  if (values > 1) seeds.push_back(argument(1, {{"x"}}));
  return on_mesh(program, {{"x", devices}}, seeds, 2 * values * block * 4);
}

TEST(Lines, NeighboursMergeASplitLine) {
  for (std::int64_t devices : {2, 3, 5})
    for (std::int64_t length : {60, 59, 31}) {
      const Program program = sort_program({length}, 0, true);
      const Spmd spmd = sorted_in_place(program, devices, length, 2);
      const int rounds = devices == 2 ? 1 : static_cast<int>(devices);
      EXPECT_EQ(counts(spmd),
                (std::map<std::string, int>{{"permute over x", rounds}}));  // both together
      EXPECT_EQ(bytes(spmd), 2 * rounds * ((length + devices - 1) / devices) * 4);
      EXPECT_EQ(difference(program, spmd), 0);
    }
}

// Six rounds of three bits; the places that elements came from travel along.
TEST(Lines, DevicesThatDifferInABitMergeASplitLine) {
  for (std::int64_t length : {64, 61, 41}) {
    const Program program = sort_program({length}, 0, true);
    const Spmd spmd = sorted_in_place(program, 8, length, 2);
    EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-gather over x:(4)2", 9},
                                                        {"all-gather over x:(2)2", 6},
                                                        {"all-gather over x:(1)2", 3}}));
    EXPECT_EQ(bytes(spmd), 6 * 3 * ((length + 7) / 8) * 4);
    EXPECT_EQ(difference(program, spmd), 0);
  }
}

// Two parts at a time, and what goes along.
TEST(Lines, NoDeviceHasAWholeLineToSort) {
  const std::int64_t length = 1 << 12, devices = 64;
  const Spmd spmd = sorted_in_place(sort_program({length}, 0, false), devices, length, 1);
  EXPECT_LT(peak_bytes(spmd.program, local_function(spmd)), length * 4);
}

// Rounds grow with the number of bits only.
TEST(Lines, ASortOnManyDevicesIsAShortProgram) {
  const std::int64_t length = 1 << 18;
  const Spmd spmd = sorted_in_place(sort_program({length}, 0, false), 1 << 16, length, 1);
  EXPECT_EQ(spmd.functions[0].communications.size(), 2U * 16 * 17 / 2);
}

// The forward and backward pass of pooling by maxima along the first dimension.
Program pooling(std::int64_t rows, std::int64_t window, std::int64_t stride, std::int64_t pad) {
  Builder b("pooling");
  const Type x = f32({rows, 6}), scalar = f32({});
  const Type y = f32({(rows + 2 * pad - window) / stride + 1, 6});
  Array padding(Type::tensor(DType::i64, {2, 2}));
  padding.as_mutable<std::int64_t>()[0] = padding.as_mutable<std::int64_t>()[1] = pad;
  const AttrDict attrs{{"window_dimensions", Attr{Attr::Integers{window, 1}}},
                       {"window_strides", Attr{Attr::Integers{stride, 1}}},
                       {"padding", Attr{padding}}};
  auto region = [&](auto body) { return b.region({scalar, scalar}, body); };
  b.function("main", {x, y}, [&](const Vars& in) -> Vars {
    const RegionId largest =
        region([&](const Vars& e) -> Vars { return {b.op("maximum", {e[0], e[1]})}; });
    const RegionId select =
        region([&](const Vars& e) -> Vars { return {b.compare("GE", e[0], e[1])}; });
    const RegionId add = region([&](const Vars& e) -> Vars { return {e[0] + e[1]}; });
    const Var forward =
        b.ops("reduce_window", {in[0], b.full(scalar, -1e30)}, {y}, attrs, {largest})[0];
    const Var backward = b.ops("select_and_scatter", {in[0], in[1] * forward, b.full(scalar, 0)},
                               {x}, attrs, {select, add})[0];
    return {forward, backward};
  });
  return b.finish().value();
}

TEST(Windows, PoolingExchangesEdgesOnly) {
  const std::int64_t row = 6 * 4;
  for (std::int64_t rows : {32, 28, 26}) {
    const Program program = pooling(rows, 3, 2, 1);
    const Spmd spmd =
        on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}}), argument(1, {{"x"}, {}})});
    for (const Communication& c : spmd.functions[0].communications)
      EXPECT_EQ(c.kind, MoveKind::halo_exchange) << rows;
    // Forward the row before a part; backward one before and one behind, and a row of gradients.
    // Parts of seven rows and of four results drift apart, by two rows on the last device.
    EXPECT_LE(bytes(spmd), (rows == 32 ? 5 : 14) * row) << rows;
    EXPECT_LT(difference(program, spmd), 1e-4);
  }
}

TEST(Windows, PoolingWithoutOverlapTellsNothing) {
  const Program program = pooling(32, 2, 2, 0);
  const Spmd spmd =
      on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}}), argument(1, {{"x"}, {}})});
  EXPECT_TRUE(counts(spmd).empty());
  EXPECT_LT(difference(program, spmd), 1e-4);
}

// The kinds of pieces are told by the ends alone.
TEST(Windows, PoolingOnManyDevicesIsAShortProgram) {
  std::size_t ops = 0;
  for (std::int64_t n : {16, 4096}) {
    const Spmd spmd = on_mesh(pooling(8 * n, 3, 2, 1), {{"x", n}}, {argument(0, {{"x"}, {}})});
    if (ops == 0) ops = spmd.program.op_count();
    EXPECT_EQ(spmd.program.op_count(), ops);
  }
}

// A convolution along one dimension: batch, place, features.
Program convolution(const Type& x, const Type& k, const Type& y, std::int64_t pad) {
  Builder b("convolution");
  auto number = [](std::int64_t n) { return Attr{Attr::Integer{n}}; };
  auto list = [](std::int64_t n) { return Attr{Attr::Integers{n}}; };
  const Attr numbers{Attr::Struct{"conv",
                                  {{"input_batch_dimension", number(0)},
                                   {"input_feature_dimension", number(2)},
                                   {"input_spatial_dimensions", list(1)},
                                   {"kernel_input_feature_dimension", number(1)},
                                   {"kernel_output_feature_dimension", number(2)},
                                   {"kernel_spatial_dimensions", list(0)},
                                   {"output_batch_dimension", number(0)},
                                   {"output_feature_dimension", number(2)},
                                   {"output_spatial_dimensions", list(1)}}}};
  Array padding(Type::tensor(DType::i64, {1, 2}));
  padding.as_mutable<std::int64_t>()[0] = padding.as_mutable<std::int64_t>()[1] = pad;
  b.function("main", {x, k}, [&](const Vars& in) -> Vars {
    return {b.op("convolution", {in[0], in[1]}, y,
                 {{"padding", Attr{padding}},
                  {"dimension_numbers", numbers},
                  {"feature_group_count", number(1)},
                  {"batch_group_count", number(1)}})};
  });
  return b.finish().value();
}

TEST(Windows, AConvolutionExchangesEdges) {
  const Program program = convolution(f32({2, 16, 3}), f32({3, 3, 5}), f32({2, 16, 5}), 1);
  const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{}, {"x"}, {}})});
  EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"halo-exchange over x", 2}}));
  EXPECT_EQ(bytes(spmd), 2 * 2 * 3 * 4);
  EXPECT_LT(difference(program, spmd), 1e-4);
}

// The window is what the forward pass gave, the few places are those of the kernel: devices sum
// over their parts of the window, with the edges of what it slides over.
TEST(Windows, TheGradientOfAKernelIsSummedOverParts) {
  const Program program = convolution(f32({3, 16, 2}), f32({16, 2, 5}), f32({3, 3, 5}), 1);
  const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{}, {"x"}, {}})});
  EXPECT_EQ(text_of(spmd.functions[0].arguments[1], spmd.program.meshes[0].mesh),
            "[{\"x\"}, {}, {}]");
  EXPECT_EQ(counts(spmd),
            (std::map<std::string, int>{{"halo-exchange over x", 2}, {"all-reduce over x", 1}}));
  EXPECT_LT(difference(program, spmd), 1e-3);
}

}  // namespace
}  // namespace heddle::test
