// Reductions, windows, products and convolutions: what they give, and what their rules refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "one_op.h"

namespace heddle::reduce_tests {
namespace {

using I = std::int32_t;
using L = std::int64_t;
using Integers = std::vector<std::int64_t>;
using testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();

template <typename T>
Array of(Shape shape, std::vector<T> values) {
  return make_array<T>(std::move(shape), values);
}

// A region of two scalars of T that runs one op on them.
template <typename T>
auto body(std::string_view op, AttrDict attrs = {}, DType result = dtype_of<T>()) {
  return [=](Program& program, RegionId region) {
    const TypeId scalar = program.intern(Type::tensor(dtype_of<T>(), {}));
    const ValueId a = program.add_arg(region, scalar), b = program.add_arg(region, scalar);
    const TypeId to = program.intern(Type::tensor(result, {}));
    const OpId id = program.add_op(region, *find_op(op), std::vector<ValueId>{a, b},
                                   std::vector<TypeId>{to}, attrs);
    program.add_op(region, *find_op("stablehlo.return"),
                   std::vector<ValueId>{program.result(program.op(id), 0)}, {});
  };
}
auto compare_ge() {
  return body<I>("stablehlo.compare",
                 {{"comparison_direction", Attr{Attr::Enum{"comparison_direction", "GE"}}}},
                 DType::i1);
}

NamedAttr pads(std::vector<L> flat) {
  const auto rows = static_cast<L>(flat.size() / 2);
  return {"padding", Attr{of<L>({rows, 2}, flat)}};
}

OneOp sum(Array input, Array init, Integers dims, Type result) {
  return {"stablehlo.reduce",
          {std::move(input), std::move(init)},
          {std::move(result)},
          {ints("dimensions", std::move(dims))},
          body<I>("stablehlo.add")};
}

// (a, b) -> b - a
void turned_difference(Program& program, RegionId region) {
  const TypeId scalar = program.intern(tensor<I>({}));
  const ValueId a = program.add_arg(region, scalar), b = program.add_arg(region, scalar);
  const OpId id = program.add_op(region, *find_op("stablehlo.subtract"), std::vector<ValueId>{b, a},
                                 std::vector<TypeId>{scalar}, AttrDict{});
  program.add_op(region, *find_op("stablehlo.return"),
                 std::vector<ValueId>{program.result(program.op(id), 0)}, {});
}

TEST(Reduce, TakesTheAccumulatorFirst) {
  const Array line = of<I>({3}, {1, 2, 4});
  const auto with = [&](auto region) {
    return OneOp{"stablehlo.reduce",
                 {line, scalar_array<I>(10)},
                 {tensor<I>({})},
                 {ints("dimensions", {0})},
                 region}
        .value();
  };
  EXPECT_EQ(with(body<I>("stablehlo.subtract")), scalar_array<I>(((10 - 1) - 2) - 4));
  EXPECT_EQ(with(turned_difference), scalar_array<I>(4 - (2 - (1 - 10))));
}

TEST(Reduce, AddsAlongDimensions) {
  const Array grid = of<I>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(sum(grid, scalar_array<I>(0), {1}, tensor<I>({2})).value(), of<I>({2}, {6, 15}));
  EXPECT_EQ(sum(grid, scalar_array<I>(10), {0}, tensor<I>({3})).value(), of<I>({3}, {15, 17, 19}));
  EXPECT_EQ(sum(grid, scalar_array<I>(0), {1, 0}, tensor<I>({})).value(), scalar_array<I>(21));
  EXPECT_EQ(sum(grid, scalar_array<I>(0), {}, tensor<I>({2, 3})).value(), grid);
  EXPECT_EQ(sum(of<I>({2, 0}, {}), scalar_array<I>(7), {1}, tensor<I>({2})).value(),
            of<I>({2}, {7, 7}));
}

TEST(Reduce, StartsFromTheInitialValueInRowMajorOrder) {
  OneOp minus{"stablehlo.reduce",
              {of<I>({3}, {1, 10, 100}), scalar_array<I>(0)},
              {tensor<I>({})},
              {ints("dimensions", {0})},
              body<I>("stablehlo.subtract")};
  EXPECT_EQ(minus.value(), scalar_array<I>(-111));
}

TEST(Reduce, RoundsHalvesAsTheBodySays) {
  // 2048 + 1 is not an f16, so that every further 1 is lost.
  OneOp halves{"stablehlo.reduce",
               {of<F16>({3}, {F16(2048), F16(1), F16(1)}), scalar_array(F16(0))},
               {tensor<F16>({})},
               {ints("dimensions", {0})},
               body<F16>("stablehlo.add")};
  EXPECT_EQ(halves.value(), scalar_array(F16(2048)));
}

TEST(Reduce, MayAccumulateInAWiderType) {
  OneOp wide{"stablehlo.reduce",
             {of<F16>({3}, {F16(2048), F16(1), F16(1)}), scalar_array(F16(0))},
             {tensor<float>({})},
             {ints("dimensions", {0})},
             body<float>("stablehlo.add")};
  EXPECT_EQ(wide.value(), scalar_array<float>(2050));
}

TEST(Reduce, RefusesWrongTypes) {
  const Array grid = of<I>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Array zero = scalar_array<I>(0);
  EXPECT_THAT(sum(grid, scalar_array<L>(0), {1}, tensor<I>({2})).why(), HasSubstr("[reduce] C2"));
  EXPECT_THAT(sum(grid, zero, {2}, tensor<I>({2})).why(), HasSubstr("[reduce] C4"));
  EXPECT_THAT(sum(grid, zero, {1, 1}, tensor<I>({2})).why(), HasSubstr("[reduce] C5"));
  EXPECT_THAT(sum(grid, zero, {1}, tensor<I>({3})).why(), HasSubstr("[reduce] C7"));
  OneOp other = sum(grid, zero, {1}, tensor<L>({2}));
  EXPECT_THAT(other.why(), HasSubstr("[reduce] C8"));
  other = sum(grid, zero, {1}, tensor<I>({2}));
  other.region = body<float>("stablehlo.add");
  EXPECT_THAT(other.why(), HasSubstr("[reduce] C6"));
  other.operands.push_back(zero);
  EXPECT_THAT(other.why(), HasSubstr("[reduce] C3"));
}

TEST(Map, RunsOncePerElement) {
  OneOp map{"stablehlo.map",
            {of<I>({2, 2}, {1, 2, 3, 4}), of<I>({2, 2}, {5, 6, 7, 8})},
            {tensor<I>({2, 2})},
            {ints("dimensions", {0, 1})},
            body<I>("stablehlo.multiply")};
  EXPECT_EQ(map.value(), of<I>({2, 2}, {5, 12, 21, 32}));
  map.attrs = {ints("dimensions", {1, 0})};
  EXPECT_THAT(map.why(), HasSubstr("[map] C3"));
}

TEST(ReduceWindow, SlidesWithPaddingStridesAndDilations) {
  auto run = [](AttrDict attrs, Shape result) {
    return OneOp{"stablehlo.reduce_window",
                 {of<I>({5}, {1, 2, 3, 4, 5}), scalar_array<I>(0)},
                 {tensor<I>(std::move(result))},
                 std::move(attrs),
                 body<I>("stablehlo.add")};
  };
  EXPECT_EQ(run({ints("window_dimensions", {2})}, {4}).value(), of<I>({4}, {3, 5, 7, 9}));
  EXPECT_EQ(run({ints("window_dimensions", {2}), ints("window_strides", {3})}, {2}).value(),
            of<I>({2}, {3, 9}));
  EXPECT_EQ(run({ints("window_dimensions", {5}), pads({4, 0})}, {5}).value(),
            of<I>({5}, {1, 3, 6, 10, 15}));
  EXPECT_EQ(run({ints("window_dimensions", {2}), ints("window_dilations", {3})}, {2}).value(),
            of<I>({2}, {5, 7}));
  EXPECT_EQ(run({ints("window_dimensions", {2}), ints("base_dilations", {2})}, {8}).value(),
            of<I>({8}, {1, 2, 2, 3, 3, 4, 4, 5}));
  EXPECT_EQ(run({ints("window_dimensions", {1}), pads({-1, -2})}, {2}).value(), of<I>({2}, {2, 3}));
  EXPECT_EQ(run({ints("window_dimensions", {6})}, {0}).value(), of<I>({0}, {}));
}

TEST(ReduceWindow, PaddingHoldsTheInitialValue) {
  OneOp run{"stablehlo.reduce_window",
            {of<I>({2}, {1, 2}), scalar_array<I>(10)},
            {tensor<I>({3})},
            {ints("window_dimensions", {2}), pads({1, 1})},
            body<I>("stablehlo.add")};
  EXPECT_EQ(run.value(), of<I>({3}, {21, 13, 22}));
}

TEST(ReduceWindow, RefusesWrongWindows) {
  auto why = [](AttrDict attrs) {
    return OneOp{"stablehlo.reduce_window",
                 {of<I>({5}, {1, 2, 3, 4, 5}), scalar_array<I>(0)},
                 {tensor<I>({4})},
                 std::move(attrs),
                 body<I>("stablehlo.add")}
        .why();
  };
  EXPECT_THAT(why({ints("window_dimensions", {2, 1})}), HasSubstr("[reduce_window] C4"));
  EXPECT_THAT(why({ints("window_dimensions", {0})}), HasSubstr("[reduce_window] C5"));
  EXPECT_THAT(why({ints("window_dimensions", {2}), ints("window_strides", {0})}),
              HasSubstr("[reduce_window] C7"));
  EXPECT_THAT(why({ints("window_dimensions", {2}), ints("base_dilations", {-1})}),
              HasSubstr("[reduce_window] C9"));
  EXPECT_THAT(why({ints("window_dimensions", {3})}), HasSubstr("[reduce_window] C15"));
  const L most = std::numeric_limits<L>::max();
  EXPECT_THAT(why({ints("window_dimensions", {2}), pads({most, most})}),
              HasSubstr("[reduce_window] C15"));
}

// select_and_scatter has two regions.
Expected<std::vector<Array>> scatter(Array operand, Array source, AttrDict attrs) {
  Program program;
  const RegionId main = program.add_region();
  std::vector<Array> arguments{operand, source, scalar_array<I>(0)};
  std::vector<ValueId> values;
  for (const Array& a : arguments)
    values.push_back(program.add_arg(main, program.intern(a.type())));
  const std::vector<RegionId> regions{program.add_region(), program.add_region()};
  compare_ge()(program, regions[0]);
  body<I>("stablehlo.add")(program, regions[1]);
  const std::vector<TypeId> types{program.intern(operand.type())};
  const OpId id = program.add_op(main, *find_op("stablehlo.select_and_scatter"), values, types,
                                 std::move(attrs), regions);
  program.add_op(main, *find_op("func.return"),
                 std::vector<ValueId>{program.result(program.op(id), 0)}, {});
  Function function;
  function.name = "main";
  function.results = types;
  function.body = main;
  function.arg_attrs.resize(3);
  function.result_attrs.resize(1);
  program.functions.push_back(function);
  return interpret(program, program.functions[0], arguments);
}

TEST(SelectAndScatter, AddsToTheLargestOfEachWindow) {
  auto got = scatter(of<I>({5}, {1, 3, 2, 7, 7}), of<I>({4}, {10, 20, 30, 40}),
                     {ints("window_dimensions", {2})});
  ASSERT_TRUE(got) << got.reason();
  EXPECT_EQ((*got)[0], of<I>({5}, {0, 30, 0, 70, 0}));  // of equal ones, the first
}

TEST(SelectAndScatter, NeverChoosesPadding) {
  auto got = scatter(of<I>({2}, {-5, -6}), of<I>({3}, {1, 2, 3}),
                     {ints("window_dimensions", {2}), pads({1, 1})});
  ASSERT_TRUE(got) << got.reason();
  EXPECT_EQ((*got)[0], of<I>({2}, {3, 3}));
}

TEST(SelectAndScatter, WantsOneSourcePerWindow) {
  auto got =
      scatter(of<I>({5}, {1, 3, 2, 7, 7}), of<I>({3}, {1, 2, 3}), {ints("window_dimensions", {2})});
  ASSERT_FALSE(got);
  EXPECT_THAT(got.reason(), HasSubstr("[select_and_scatter] C2"));
}

NamedAttr dot_dims(Integers lhs_batch, Integers rhs_batch, Integers lhs_sum, Integers rhs_sum) {
  return {"dot_dimension_numbers",
          Attr{Attr::Struct{"dot",
                            {ints("lhs_batching_dimensions", lhs_batch),
                             ints("rhs_batching_dimensions", rhs_batch),
                             ints("lhs_contracting_dimensions", lhs_sum),
                             ints("rhs_contracting_dimensions", rhs_sum)}}}};
}

TEST(DotGeneral, MultipliesMatrices) {
  const Array a = of<float>({2, 2}, {1, 2, 3, 4}), b = of<float>({2, 2}, {5, 6, 7, 8});
  auto run = [&](NamedAttr dims, Shape shape) {
    return OneOp{"stablehlo.dot_general", {a, b}, {tensor<float>(shape)}, {dims}};
  };
  EXPECT_EQ(run(dot_dims({}, {}, {1}, {0}), {2, 2}).value(), of<float>({2, 2}, {19, 22, 43, 50}));
  EXPECT_EQ(run(dot_dims({}, {}, {0}, {0}), {2, 2}).value(), of<float>({2, 2}, {26, 30, 38, 44}));
  EXPECT_EQ(run(dot_dims({}, {}, {0, 1}, {0, 1}), {}).value(), scalar_array<float>(70));
  EXPECT_EQ(run(dot_dims({0}, {0}, {1}, {1}), {2}).value(), of<float>({2}, {17, 53}));
  EXPECT_EQ(run(dot_dims({0, 1}, {1, 0}, {}, {}), {2, 2}).value(),
            of<float>({2, 2}, {5, 14, 18, 32}));
}

TEST(DotGeneral, WrapsIntegersInTheResultType) {
  const Array a = of<std::int8_t>({2}, {100, -100}), b = of<std::int8_t>({2}, {3, -3});
  OneOp narrow{
      "stablehlo.dot_general", {a, b}, {tensor<std::int8_t>({})}, {dot_dims({}, {}, {0}, {0})}};
  EXPECT_EQ(narrow.value(), scalar_array<std::int8_t>(88));  // 600 - 512
  OneOp wide{"stablehlo.dot_general", {a, b}, {tensor<I>({})}, {dot_dims({}, {}, {0}, {0})}};
  EXPECT_EQ(wide.value(), scalar_array<I>(600));
}

TEST(DotGeneral, TakesTruthValues) {
  const Array a = of<Bool>({2, 2}, {Bool(true), Bool(true), Bool(false), Bool(false)});
  OneOp run{"stablehlo.dot_general", {a, a}, {tensor<Bool>({2, 2})}, {dot_dims({}, {}, {1}, {1})}};
  EXPECT_EQ(run.value(), of<Bool>({2, 2}, {Bool(true), Bool(false), Bool(false), Bool(false)}));
}

TEST(DotGeneral, RoundsOnlyTheSum) {
  const Array a = of<BF16>({3}, {BF16(256), BF16(1), BF16(1)});
  const Array ones = of<BF16>({3}, {BF16(1), BF16(1), BF16(1)});
  OneOp run{"stablehlo.dot_general", {a, ones}, {tensor<BF16>({})}, {dot_dims({}, {}, {0}, {0})}};
  EXPECT_EQ(run.value(), scalar_array(BF16(258)));
}

// The square of 1 + 2^-12 has a bit that no f32 keeps; what is left of it without rounding is
// 2^-24.
TEST(DotGeneral, RoundsOncePerStep) {
  const float a = 1 + 0x1p-12F;
  OneOp run{"stablehlo.dot_general",
            {of<float>({2}, {-1 - 0x1p-11F, a}), of<float>({2}, {1, a})},
            {tensor<float>({})},
            {dot_dims({}, {}, {0}, {0})}};
  EXPECT_EQ(run.value(), scalar_array<float>(0x1p-24F));
}

TEST(DotGeneral, MixesWidthsAndSpecialValues) {
  const Array a = of<F8E4M3FN>({2}, {F8E4M3FN(1.5), F8E4M3FN(2)});
  OneOp mixed{"stablehlo.dot_general",
              {a, of<F8E5M2>({2}, {F8E5M2(4), F8E5M2(-1)})},
              {tensor<float>({})},
              {dot_dims({}, {}, {0}, {0})}};
  EXPECT_EQ(mixed.value(), scalar_array<float>(4));
  OneOp nan{"stablehlo.dot_general",
            {of<float>({2}, {kInf, kInf}), of<float>({2}, {1, -1})},
            {tensor<float>({})},
            {dot_dims({}, {}, {0}, {0})}};
  EXPECT_TRUE(std::isnan(to_double(nan.value())));
  OneOp empty{"stablehlo.dot_general",
              {of<float>({1, 0}, {}), of<float>({0, 2}, {})},
              {tensor<float>({1, 2})},
              {dot_dims({}, {}, {1}, {0})}};
  EXPECT_EQ(empty.value(), of<float>({1, 2}, {0, 0}));
}

TEST(DotGeneral, MultipliesComplexNumbers) {
  const Array a = of<C64>({2}, {C64(1, 2), C64(0, 1)}), b = of<C64>({2}, {C64(3, -1), C64(0, 1)});
  OneOp run{"stablehlo.dot_general", {a, b}, {tensor<C64>({})}, {dot_dims({}, {}, {0}, {0})}};
  EXPECT_EQ(run.value(), scalar_array(C64(4, 5)));
}

TEST(DotGeneral, RefusesWhatDoesNotFit) {
  const Array a = of<I>({2, 3}, {1, 2, 3, 4, 5, 6}), b = of<I>({2, 2}, {1, 2, 3, 4});
  auto why = [&](NamedAttr dims, Shape shape) {
    return OneOp{"stablehlo.dot_general", {a, b}, {tensor<I>(shape)}, {dims}}.why();
  };
  EXPECT_THAT(why(dot_dims({}, {}, {1}, {0}), {2, 2}), HasSubstr("[dot_general] C10"));
  EXPECT_THAT(why(dot_dims({}, {}, {0}, {}), {3, 2}), HasSubstr("[dot_general] C2"));
  EXPECT_THAT(why(dot_dims({0}, {0}, {0}, {0}), {3, 2}), HasSubstr("[dot_general] C3"));
  EXPECT_THAT(why(dot_dims({}, {}, {2}, {0}), {3, 2}), HasSubstr("[dot_general] C6"));
  EXPECT_THAT(why(dot_dims({}, {}, {0}, {-1}), {3, 2}), HasSubstr("[dot_general] C8"));
  EXPECT_THAT(why(dot_dims({1}, {0}, {}, {}), {3, 2, 2}), HasSubstr("[dot_general] C9"));
  EXPECT_THAT(why(dot_dims({}, {}, {0}, {0}), {2, 3}), HasSubstr("[dot_general] C12"));
  OneOp mixed{"stablehlo.dot_general",
              {a, of<float>({2, 2}, {1, 2, 3, 4})},
              {tensor<I>({3, 2})},
              {dot_dims({}, {}, {0}, {0})}};
  EXPECT_THAT(mixed.why(), HasSubstr("[dot_general] C13"));
}

TEST(DotGeneral, IsQuickEnough) {
  const Array a = filled_array<float>(tensor<float>({256, 256}), 0.5F);
  const auto start = std::chrono::steady_clock::now();
  OneOp run{
      "stablehlo.dot_general", {a, a}, {tensor<float>({256, 256})}, {dot_dims({}, {}, {1}, {0})}};
  EXPECT_EQ(to_double(run.value(), 65535), 64);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(ProductThen, AddsAndAppliesFunctions) {
  const Array a = of<float>({2, 2}, {1, 2, 3, 4}), b = of<float>({2, 2}, {5, 6, 7, 8});
  const Array bias = of<float>({2}, {-20, 1}), addend = of<float>({2, 2}, {0, 0, 0, -100});
  const AttrDict attrs{dot_dims({}, {}, {1}, {0}),
                       {"bias", Attr{true}},
                       {"addend", Attr{true}},
                       {"function", Attr{std::string("relu")}},
                       {"keeps", Attr{true}}};
  const OneOp run{"heddle.product_then",
                  {a, b, bias, addend},
                  {tensor<float>({2, 2}), tensor<float>({2, 2})},
                  attrs};
  const auto results = run.run().value();
  EXPECT_EQ(results[0], of<float>({2, 2}, {0, 23, 23, 0}));
  EXPECT_EQ(results[1], of<float>({2, 2}, {-1, 23, 23, -49}));
}

TEST(ProductThen, RefusesWhatDoesNotFit) {
  const Array a = of<float>({2, 2}, {1, 2, 3, 4});
  const auto why = [&](std::vector<Array> operands, AttrDict more) {
    more.push_back(dot_dims({}, {}, {1}, {0}));
    return OneOp{"heddle.product_then", std::move(operands), {tensor<float>({2, 2})}, more}.why();
  };
  EXPECT_THAT(why({a, a, a}, {}), HasSubstr("3 operands: expected 2"));
  EXPECT_THAT(why({a, a, of<float>({3}, {1, 2, 3})}, {{"bias", Attr{true}}}),
              HasSubstr("the bias is"));
  EXPECT_THAT(why({a, a, of<float>({2}, {1, 2})}, {{"addend", Attr{true}}}),
              HasSubstr("the addend is"));
  EXPECT_THAT(why({a, a}, {{"function", Attr{std::string("sine")}}}), HasSubstr("function"));
  EXPECT_THAT(why({a, a}, {{"keeps", Attr{true}}}), HasSubstr("product_then"));
  const Array whole = of<I>({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(
      (OneOp{
          "heddle.product_then", {whole, whole}, {tensor<I>({2, 2})}, {dot_dims({}, {}, {1}, {0})}}
           .why()),
      HasSubstr("expected floating-point numbers"));
}

TEST(Dot, MultipliesVectorsAndMatrices) {
  const Array a = of<I>({2, 2}, {1, 2, 3, 4}), v = of<I>({2}, {5, 6});
  EXPECT_EQ((OneOp{"stablehlo.dot", {a, v}, {tensor<I>({2})}}.value()), of<I>({2}, {17, 39}));
  EXPECT_EQ((OneOp{"stablehlo.dot", {v, v}, {tensor<I>({})}}.value()), scalar_array<I>(61));
  EXPECT_THAT((OneOp{"stablehlo.dot", {a, scalar_array<I>(1)}, {tensor<I>({})}}.why()),
              HasSubstr("[dot]"));
}

TEST(Einsum, FollowsTheLetters) {
  const Array a = of<I>({2, 2}, {1, 2, 3, 4}), b = of<I>({2, 2}, {5, 6, 7, 8});
  auto binary = [&](std::string config, Shape shape) {
    return OneOp{"stablehlo.einsum",
                 {a, b},
                 {tensor<I>(shape)},
                 {{"einsum_config", Attr{std::move(config)}}}};
  };
  EXPECT_EQ(binary("ab,bc->ca", {2, 2}).value(), of<I>({2, 2}, {19, 43, 22, 50}));
  EXPECT_EQ(binary("aa,bb->", {}).value(), scalar_array<I>(65));
  EXPECT_THAT(binary("ab,bc->ad", {2, 2}).why(), HasSubstr("[einsum]"));
  EXPECT_THAT(binary("ab,bc,c->a", {2}).why(), HasSubstr("[einsum]"));
  OneOp unary{"stablehlo.unary_einsum",
              {a},
              {tensor<I>({2})},
              {{"einsum_config", Attr{std::string("ab->b")}}}};
  EXPECT_EQ(unary.value(), of<I>({2}, {4, 6}));
}

// One spatial dimension: [b, f, 0]x[o, i, 0]->[b, f, 0].
NamedAttr line_numbers() {
  return {"dimension_numbers",
          Attr{Attr::Struct{
              "conv",
              {whole("input_batch_dimension", 0), whole("input_feature_dimension", 1),
               ints("input_spatial_dimensions", {2}), whole("kernel_input_feature_dimension", 1),
               whole("kernel_output_feature_dimension", 0), ints("kernel_spatial_dimensions", {2}),
               whole("output_batch_dimension", 0), whole("output_feature_dimension", 1),
               ints("output_spatial_dimensions", {2})}}}};
}

OneOp convolve(Array lhs, Array rhs, Type result, AttrDict attrs = {}) {
  attrs.push_back(line_numbers());
  return {"stablehlo.convolution",
          {std::move(lhs), std::move(rhs)},
          {std::move(result)},
          std::move(attrs)};
}

TEST(Convolution, SlidesTheKernel) {
  const Array x = of<I>({1, 1, 4}, {1, 2, 3, 4}), k = of<I>({1, 1, 2}, {10, 1});
  auto run = [&](AttrDict attrs, L n) {
    return convolve(x, k, tensor<I>({1, 1, n}), std::move(attrs)).value();
  };
  EXPECT_EQ(run({}, 3), of<I>({1, 1, 3}, {12, 23, 34}));
  EXPECT_EQ(run({ints("window_strides", {2})}, 2), of<I>({1, 1, 2}, {12, 34}));
  EXPECT_EQ(run({pads({1, 1})}, 5), of<I>({1, 1, 5}, {1, 12, 23, 34, 40}));
  EXPECT_EQ(run({pads({-1, 0})}, 2), of<I>({1, 1, 2}, {23, 34}));
  EXPECT_EQ(run({ints("rhs_dilation", {2})}, 2), of<I>({1, 1, 2}, {13, 24}));
  EXPECT_EQ(run({ints("lhs_dilation", {2})}, 6), of<I>({1, 1, 6}, {10, 2, 20, 3, 30, 4}));
  EXPECT_EQ(run({{"window_reversal", Attr{Attr::Booleans{true}}}}, 3),
            of<I>({1, 1, 3}, {21, 32, 43}));
}

TEST(Convolution, SplitsIntoGroups) {
  // Two features, each with its own kernel.
  const Array x = of<I>({1, 2, 2}, {1, 2, 3, 4}), k = of<I>({2, 1, 1}, {10, 100});
  EXPECT_EQ(convolve(x, k, tensor<I>({1, 2, 2}), {whole("feature_group_count", 2)}).value(),
            of<I>({1, 2, 2}, {10, 20, 300, 400}));
  // Two batches, each for its own output feature.
  const Array batches = of<I>({2, 1, 2}, {1, 2, 3, 4});
  EXPECT_EQ(convolve(batches, k, tensor<I>({1, 2, 2}), {whole("batch_group_count", 2)}).value(),
            of<I>({1, 2, 2}, {10, 20, 300, 400}));
}

TEST(Convolution, PaddingIsZeros) {
  const Array x = of<float>({1, 1, 1}, {1}), k = of<float>({1, 1, 2}, {kInf, 1});
  const Array got = convolve(x, k, tensor<float>({1, 1, 2}), {pads({1, 1})}).value();
  EXPECT_TRUE(std::isnan(to_double(got, 0)));
  EXPECT_EQ(to_double(got, 1), kInf);
}

TEST(Convolution, RefusesWhatDoesNotFit) {
  const Array x = of<I>({1, 2, 2}, {1, 2, 3, 4}), k = of<I>({2, 1, 1}, {10, 100});
  const Type type = tensor<I>({1, 2, 2});
  auto why = [&](AttrDict attrs) { return convolve(x, k, type, std::move(attrs)).why(); };
  EXPECT_THAT(why({}), HasSubstr("[convolution] C14"));
  EXPECT_THAT(why({whole("feature_group_count", 0)}), HasSubstr("[convolution] C21"));
  EXPECT_THAT(why({whole("batch_group_count", 2)}), HasSubstr("[convolution] C10"));
  EXPECT_THAT(why({whole("feature_group_count", 2), ints("window_strides", {0})}),
              HasSubstr("[convolution] C3"));
  EXPECT_THAT(why({whole("feature_group_count", 2), pads({1, 0})}), HasSubstr("[convolution] C25"));
  EXPECT_THAT(why({whole("feature_group_count", 2), pads({1, 0, 0, 0})}), HasSubstr("padding"));
}

TEST(DynamicConv, TakesThePaddingAsAnOperand) {
  const Array x = of<I>({1, 1, 2}, {1, 2}), k = of<I>({1, 1, 2}, {10, 1});
  auto run = [&](std::vector<I> padding) {
    return OneOp{"stablehlo.dynamic_conv",
                 {x, k, of<I>({1, 2}, padding)},
                 {tensor<I>({1, 1, 2})},
                 {line_numbers()}};
  };
  EXPECT_EQ(run({1, 0}).value(), of<I>({1, 1, 2}, {1, 12}));
  EXPECT_EQ(run({0, 1}).value(), of<I>({1, 1, 2}, {12, 20}));
  EXPECT_THAT(run({1, 1}).why(), HasSubstr("[dynamic_conv] C25"));
}

}  // namespace
}  // namespace heddle::reduce_tests
