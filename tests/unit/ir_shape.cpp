// Ops that change shapes: what they give, and what their type rules refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/attr_access.h"
#include "one_op.h"

namespace heddle {
namespace {

using I = std::int32_t;
using L = std::int64_t;
using testing::HasSubstr;

Array longs(std::vector<L> v) {
  Shape shape{static_cast<L>(v.size())};
  return make_array<L>(shape, v);
}

TEST(Constant, IsItsValue) {
  Array value = grid(2, 2, {1, 2, 3, 4});
  EXPECT_EQ((OneOp{"stablehlo.constant", {}, {value.type()}, {{"value", Attr{value}}}}.value()),
            value);
  EXPECT_THAT((OneOp{"stablehlo.constant", {}, {tensor<I>({4})}, {{"value", Attr{value}}}}.why()),
              HasSubstr("[constant] C1"));
  EXPECT_THAT((OneOp{"stablehlo.constant", {}, {tensor<I>({4})}}.why()), HasSubstr("got nothing"));
}

TEST(Iota, CountsAlongADimension) {
  EXPECT_EQ(
      (OneOp{"stablehlo.iota", {}, {tensor<I>({2, 3})}, {whole("iota_dimension", 1)}}.value()),
      grid(2, 3, {0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(
      (OneOp{"stablehlo.iota", {}, {tensor<I>({2, 3})}, {whole("iota_dimension", 0)}}.value()),
      grid(2, 3, {0, 0, 0, 1, 1, 1}));
  EXPECT_EQ((OneOp{"stablehlo.iota", {}, {tensor<I>({0})}, {whole("iota_dimension", 0)}}.value()),
            vec({}));
  EXPECT_THAT((OneOp{"stablehlo.iota", {}, {tensor<I>({})}, {whole("iota_dimension", 0)}}.why()),
              HasSubstr("[iota] C1"));
}

TEST(Iota, WrapsAndRoundsAsConvertDoes) {
  Array bytes =
      OneOp{"stablehlo.iota", {}, {tensor<std::int8_t>({130})}, {whole("iota_dimension", 0)}}
          .value();
  EXPECT_EQ(bytes.as<std::int8_t>()[129], -127);
  Array bf =
      OneOp{"stablehlo.iota", {}, {tensor<BF16>({260})}, {whole("iota_dimension", 0)}}.value();
  EXPECT_EQ(double(bf.as<BF16>()[257]), 256);
  EXPECT_EQ(double(bf.as<BF16>()[259]), 260);
  Array c = OneOp{"stablehlo.iota", {}, {tensor<C64>({3})}, {whole("iota_dimension", 0)}}.value();
  EXPECT_EQ(c.as<C64>()[2], C64(2, 0));
}

TEST(DynamicIota, WantsTheShapeOfItsType) {
  auto run = [](std::vector<L> shape) {
    return OneOp{"stablehlo.dynamic_iota",
                 {longs(std::move(shape))},
                 {tensor<I>({3})},
                 {whole("iota_dimension", 0)}};
  };
  EXPECT_EQ(run({3}).value(), vec({0, 1, 2}));
  EXPECT_THAT(run({4}).why(), HasSubstr("[dynamic_iota] the shape at run time is [4]"));
  EXPECT_THAT(run({3, 1}).why(), HasSubstr("C2"));
}

TEST(Reshape, KeepsTheOrder) {
  EXPECT_EQ((OneOp{"stablehlo.reshape", {vec({1, 2, 3, 4})}, {tensor<I>({2, 2})}}.value()),
            grid(2, 2, {1, 2, 3, 4}));
  EXPECT_EQ((OneOp{"stablehlo.reshape", {vec({7})}, {tensor<I>({})}}.value()),
            make_array<I>(Shape{}, {7}));
  EXPECT_THAT((OneOp{"stablehlo.reshape", {vec({1, 2, 3})}, {tensor<I>({2, 2})}}.why()),
              HasSubstr("[reshape] C2: numbers of elements differ: 3"));
  EXPECT_THAT((OneOp{"stablehlo.reshape", {vec({1, 2})}, {tensor<L>({2})}}.why()),
              HasSubstr("[reshape] C1"));
  EXPECT_THAT(
      (OneOp{"stablehlo.dynamic_reshape", {vec({1, 2}), longs({1, 2})}, {tensor<I>({2, 1})}}.why()),
      HasSubstr("at run time is [1, 2]"));
}

TEST(Broadcast, PutsNewDimensionsFirst) {
  EXPECT_EQ(
      (OneOp{
          "stablehlo.broadcast", {vec({1, 2})}, {tensor<I>({3, 2})}, {ints("broadcast_sizes", {3})}}
           .value()),
      grid(3, 2, {1, 2, 1, 2, 1, 2}));
  EXPECT_THAT(
      (OneOp{
          "stablehlo.broadcast", {vec({1, 2})}, {tensor<I>({2, 3})}, {ints("broadcast_sizes", {3})}}
           .why()),
      HasSubstr("expected the shape [3x2]"));
}

TEST(BroadcastInDim, RepeatsWhatHasSizeOne) {
  auto run = [](Array a, Shape to, Attr::Integers dims) {
    return OneOp{
        "stablehlo.broadcast_in_dim", {a}, {tensor<I>(to)}, {ints("broadcast_dimensions", dims)}};
  };
  EXPECT_EQ(run(vec({1, 2}), {2, 3}, {0}).value(), grid(2, 3, {1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(run(grid(1, 2, {1, 2}), {2, 2}, {0, 1}).value(), grid(2, 2, {1, 2, 1, 2}));
  // Dimensions may change places.
  EXPECT_EQ(run(grid(2, 2, {1, 2, 3, 4}), {2, 2}, {1, 0}).value(), grid(2, 2, {1, 3, 2, 4}));
  EXPECT_EQ(run(make_array<I>(Shape{}, {5}), {2, 2}, {}).value(), grid(2, 2, {5, 5, 5, 5}));
  EXPECT_EQ(run(vec({1}), {0}, {0}).value(), vec({}));
  EXPECT_THAT(run(vec({1, 2}), {3, 3}, {0}).why(), HasSubstr("C5"));
  EXPECT_THAT(run(vec({1, 2}), {2, 2}, {2}).why(), HasSubstr("C3"));
  EXPECT_THAT(run(vec({1, 2}), {2, 2}, {}).why(), HasSubstr("C2"));
  EXPECT_THAT(run(grid(1, 1, {1}), {2, 2}, {1, 1}).why(), HasSubstr("C4"));
}

TEST(Transpose, Permutes) {
  auto run = [](Attr::Integers dims, Shape to) {
    return OneOp{"stablehlo.transpose",
                 {grid(2, 3, {1, 2, 3, 4, 5, 6})},
                 {tensor<I>(to)},
                 {ints("permutation", dims)}};
  };
  EXPECT_EQ(run({1, 0}, {3, 2}).value(), grid(3, 2, {1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(run({0, 1}, {2, 3}).value(), grid(2, 3, {1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(run({1, 1}, {3, 3}).why(), HasSubstr("C2"));
  EXPECT_THAT(run({1, 0}, {2, 3}).why(), HasSubstr("C3"));
}

TEST(Transpose, MovesWholeElementsOfEveryType) {
  for (DType dtype : all_dtypes()) {
    auto size = static_cast<std::size_t>(byte_size(dtype));
    std::vector<std::byte> in(4 * size), out;
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>(i % 2);
    for (std::size_t e : {0, 2, 1, 3}) out.insert(out.end(), &in[e * size], &in[e * size] + size);
    Type type = Type::tensor(dtype, {2, 2});
    EXPECT_EQ(
        (OneOp{"stablehlo.transpose", {Array(type, in)}, {type}, {ints("permutation", {1, 0})}}
             .value()),
        Array(type, out));
  }
}

TEST(Reverse, TurnsDimensionsAround) {
  auto run = [](Attr::Integers dims) {
    return OneOp{"stablehlo.reverse",
                 {grid(2, 2, {1, 2, 3, 4})},
                 {tensor<I>({2, 2})},
                 {ints("dimensions", dims)}};
  };
  EXPECT_EQ(run({1}).value(), grid(2, 2, {2, 1, 4, 3}));
  EXPECT_EQ(run({0, 1}).value(), grid(2, 2, {4, 3, 2, 1}));
  EXPECT_EQ(run({}).value(), grid(2, 2, {1, 2, 3, 4}));
  EXPECT_THAT(run({0, 0}).why(), HasSubstr("C2"));
  EXPECT_THAT(run({2}).why(), HasSubstr("C3"));
  EXPECT_EQ(
      (OneOp{"stablehlo.reverse", {vec({})}, {tensor<I>({0})}, {ints("dimensions", {0})}}.value()),
      vec({}));
}

TEST(Concatenate, JoinsAlongADimension) {
  auto run = [](std::vector<Array> parts, Shape to, L dim) {
    return OneOp{
        "stablehlo.concatenate", std::move(parts), {tensor<I>(to)}, {whole("dimension", dim)}};
  };
  EXPECT_EQ(run({grid(1, 2, {1, 2}), grid(1, 2, {3, 4})}, {2, 2}, 0).value(),
            grid(2, 2, {1, 2, 3, 4}));
  EXPECT_EQ(run({grid(2, 1, {1, 2}), grid(2, 0, {}), grid(2, 2, {3, 4, 5, 6})}, {2, 3}, 1).value(),
            grid(2, 3, {1, 3, 4, 2, 5, 6}));
  EXPECT_THAT(run({vec({1}), vec({2})}, {3}, 0).why(), HasSubstr("C6"));
  EXPECT_THAT(run({vec({1}), grid(1, 1, {2})}, {2}, 0).why(), HasSubstr("C2"));
  EXPECT_THAT(run({vec({1})}, {1}, 1).why(), HasSubstr("C4"));
}

OneOp pad(Array operand, Shape to, Attr::Integers low, Attr::Integers high, Attr::Integers inner) {
  return {"stablehlo.pad",
          {operand, make_array<I>(Shape{}, {9})},
          {tensor<I>(to)},
          {ints("edge_padding_low", low), ints("edge_padding_high", high),
           ints("interior_padding", inner)}};
}

TEST(Pad, AddsAtEdgesAndBetween) {
  EXPECT_EQ(pad(vec({1, 2}), {6}, {1}, {2}, {1}).value(), vec({9, 1, 9, 2, 9, 9}));
  EXPECT_EQ(pad(grid(1, 2, {1, 2}), {2, 3}, {1, 0}, {0, 1}, {0, 0}).value(),
            grid(2, 3, {9, 9, 9, 1, 2, 9}));
  EXPECT_EQ(pad(make_array<I>(Shape{}, {4}), {}, {}, {}, {}).value(), make_array<I>(Shape{}, {4}));
}

TEST(Pad, NegativePaddingCutsOff) {
  EXPECT_EQ(pad(vec({1, 2, 3}), {1}, {-1}, {-1}, {0}).value(), vec({2}));
  EXPECT_EQ(pad(vec({1, 2, 3}), {3}, {-1}, {-1}, {1}).value(), vec({9, 2, 9}));
  EXPECT_EQ(pad(vec({1, 2, 3}), {4}, {-1}, {0}, {1}).value(), vec({9, 2, 9, 3}));
  EXPECT_EQ(pad(vec({1, 2}), {3}, {-5}, {6}, {0}).value(), vec({9, 9, 9}));
  EXPECT_EQ(pad(vec({1, 2}), {0}, {-1}, {-1}, {0}).value(), vec({}));
}

TEST(Pad, TakesTheLargestNumbers) {
  constexpr L top = std::numeric_limits<L>::max();
  EXPECT_EQ(pad(vec({}), {3}, {1}, {2}, {top}).value(), vec({9, 9, 9}));
  EXPECT_EQ(pad(vec({5}), {2}, {1}, {0}, {top}).value(), vec({9, 5}));
  EXPECT_EQ(pad(vec({1, 2}), {2}, {0}, {-top}, {top}).value(), vec({1, 9}));
}

TEST(Pad, RefusesWhatDoesNotFit) {
  EXPECT_THAT(pad(vec({1, 2}), {5}, {1}, {1}, {0}).why(), HasSubstr("[pad] C4"));
  EXPECT_THAT(pad(vec({1, 2}), {1}, {0}, {0}, {-1}).why(), HasSubstr("[pad] C3"));
  EXPECT_THAT(pad(vec({1, 2}), {4}, {1}, {1, 1}, {0}).why(), HasSubstr("[pad] C2"));
}

TEST(DynamicPad, ChecksAtRunTime) {
  auto run = [](std::vector<L> low, Shape to) {
    return OneOp{"stablehlo.dynamic_pad",
                 {vec({1, 2}), make_array<I>(Shape{}, {9}), longs(low), longs({0}), longs({1})},
                 {tensor<I>(to)}};
  };
  EXPECT_EQ(run({1}, {4}).value(), vec({9, 1, 9, 2}));
  EXPECT_THAT(run({2}, {4}).why(), HasSubstr("[dynamic_pad] C4"));
}

TEST(Slice, TakesEveryNth) {
  auto run = [](L start, L limit, L stride, L size) {
    return OneOp{"stablehlo.slice",
                 {vec({0, 1, 2, 3, 4})},
                 {tensor<I>({size})},
                 {ints("start_indices", {start}), ints("limit_indices", {limit}),
                  ints("strides", {stride})}};
  };
  EXPECT_EQ(run(1, 5, 2, 2).value(), vec({1, 3}));
  EXPECT_EQ(run(0, 5, 2, 3).value(), vec({0, 2, 4}));
  EXPECT_EQ(run(3, 3, 1, 0).value(), vec({}));
  EXPECT_EQ(run(5, 5, 1, 0).value(), vec({}));
  EXPECT_EQ(run(1, 5, std::numeric_limits<L>::max(), 1).value(), vec({1}));
  EXPECT_THAT(run(2, 1, 1, 0).why(), HasSubstr("C3"));
  EXPECT_THAT(run(0, 6, 1, 6).why(), HasSubstr("C3"));
  EXPECT_THAT(run(0, 5, 0, 5).why(), HasSubstr("C4"));
  EXPECT_THAT(run(0, 5, 2, 2).why(), HasSubstr("C5"));
}

TEST(RealDynamicSlice, ChecksAtRunTime) {
  auto run = [](std::vector<L> start) {
    return OneOp{"stablehlo.real_dynamic_slice",
                 {vec({0, 1, 2, 3}), longs(start), longs({4}), longs({2})},
                 {tensor<I>({2})}};
  };
  EXPECT_EQ(run({1}).value(), vec({1, 3}));
  EXPECT_THAT(run({3}).why(), HasSubstr("C5"));
  EXPECT_THAT(run({-1}).why(), HasSubstr("C3"));
}

TEST(DimensionSize, IsReadAndKept) {
  EXPECT_EQ((OneOp{"stablehlo.get_dimension_size",
                   {grid(2, 3, {1, 2, 3, 4, 5, 6})},
                   {tensor<I>({})},
                   {whole("dimension", 1)}}
                 .value()),
            make_array<I>(Shape{}, {3}));
  auto set = [](I size) {
    return OneOp{"stablehlo.set_dimension_size",
                 {vec({1, 2}), make_array<I>(Shape{}, {size})},
                 {tensor<I>({2})},
                 {whole("dimension", 0)}};
  };
  EXPECT_EQ(set(2).value(), vec({1, 2}));
  EXPECT_THAT(set(1).why(), HasSubstr("[set_dimension_size] dimension 0"));
}

TEST(AttrAccess, TakesEveryFormOfAList) {
  Attr array{longs({3, 4})};
  Attr list{Attr::List{Attr{Attr::Integer{3, "i64"}}, Attr{Attr::Integer{4, "i64"}}}};
  EXPECT_EQ(*integers(&array), (std::vector<L>{3, 4}));
  EXPECT_EQ(*integers(&list), (std::vector<L>{3, 4}));
  EXPECT_EQ(*integers(nullptr, {1}), (std::vector<L>{1}));
  Attr text{std::string("x")};
  EXPECT_THAT(integers(&text).reason(), HasSubstr("got a string"));
}

TEST(AttrAccess, ReadsPadding) {
  Attr dense{make_array<L>(Shape{2, 2}, {1, 2, 3, 4})};
  EXPECT_EQ(*integer_pairs(&dense, 2), (std::vector<IntegerPair>{{1, 2}, {3, 4}}));
  Attr nested{Attr::List{Attr{Attr::Integers{1, 2}}, Attr{Attr::Integers{3, 4}}}};
  EXPECT_EQ(*integer_pairs(&nested, 2), (std::vector<IntegerPair>{{1, 2}, {3, 4}}));
  EXPECT_EQ(*integer_pairs(nullptr, 1), (std::vector<IntegerPair>{{0, 0}}));
  EXPECT_FALSE(integer_pairs(&dense, 3).ok());
}

}  // namespace
}  // namespace heddle
