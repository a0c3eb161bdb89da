// Ops that move elements by indices: what they give, and what their type rules refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "one_op.h"

namespace heddle {
namespace {

using I = std::int32_t;
using L = std::int64_t;
using testing::HasSubstr;

Array scalar(I v) { return make_array<I>(Shape{}, {v}); }

TEST(DynamicSlice, MovesBackInside) {
  auto run = [](L start, L size) {
    return OneOp{"stablehlo.dynamic_slice",
                 {vec({0, 1, 2, 3}), make_array<L>(Shape{}, {start})},
                 {tensor<I>({size})},
                 {ints("slice_sizes", {size})}};
  };
  EXPECT_EQ(run(1, 2).value(), vec({1, 2}));
  EXPECT_EQ(run(3, 2).value(), vec({2, 3}));
  EXPECT_EQ(run(-7, 2).value(), vec({0, 1}));
  EXPECT_EQ(run(std::numeric_limits<L>::max(), 0).value(), vec({}));
  EXPECT_THAT(run(0, 5).why(), HasSubstr("[dynamic_slice] C4"));
}

TEST(DynamicSlice, TakesUnsignedStarts) {
  Array start = make_array<std::uint64_t>(Shape{}, {~std::uint64_t{0}});
  EXPECT_EQ((OneOp{"stablehlo.dynamic_slice",
                   {vec({0, 1, 2}), start},
                   {tensor<I>({1})},
                   {ints("slice_sizes", {1})}}
                 .value()),
            vec({2}));
}

TEST(DynamicSlice, WantsOneStartPerDimension) {
  EXPECT_THAT((OneOp{"stablehlo.dynamic_slice",
                     {vec({0, 1}), scalar(0), scalar(0)},
                     {tensor<I>({1})},
                     {ints("slice_sizes", {1})}}
                   .why()),
              HasSubstr("C2"));
}

TEST(DynamicUpdateSlice, WritesInside) {
  auto run = [](Array update, I row, I column) {
    return OneOp{"stablehlo.dynamic_update_slice",
                 {grid(2, 2, {1, 2, 3, 4}), update, scalar(row), scalar(column)},
                 {tensor<I>({2, 2})}};
  };
  EXPECT_EQ(run(grid(1, 1, {9}), 0, 1).value(), grid(2, 2, {1, 9, 3, 4}));
  EXPECT_EQ(run(grid(2, 1, {8, 9}), 5, 5).value(), grid(2, 2, {1, 8, 3, 9}));
  EXPECT_EQ(run(grid(0, 1, {}), 0, 0).value(), grid(2, 2, {1, 2, 3, 4}));
  EXPECT_THAT(run(grid(3, 1, {1, 2, 3}), 0, 0).why(), HasSubstr("C6"));
}

struct Numbers {
  Attr::Integers window, collapsed, batching, indices_batching, map;
  L vector = 0;
};

Attr gather_numbers(Numbers n) {
  return Attr{
      Attr::Struct{"gather",
                   {ints("offset_dims", n.window), ints("collapsed_slice_dims", n.collapsed),
                    ints("operand_batching_dims", n.batching),
                    ints("start_indices_batching_dims", n.indices_batching),
                    ints("start_index_map", n.map), whole("index_vector_dim", n.vector)}}};
}

Attr scatter_numbers(Numbers n) {
  return Attr{Attr::Struct{
      "scatter",
      {ints("update_window_dims", n.window), ints("inserted_window_dims", n.collapsed),
       ints("input_batching_dims", n.batching),
       ints("scatter_indices_batching_dims", n.indices_batching),
       ints("scatter_dims_to_operand_dims", n.map), whole("index_vector_dim", n.vector)}}};
}

OneOp gather(Array operand, Array indices, Shape to, Numbers n, Attr::Integers sizes) {
  return {"stablehlo.gather",
          {operand, indices},
          {tensor<I>(to)},
          {{"dimension_numbers", gather_numbers(n)}, ints("slice_sizes", sizes)}};
}

TEST(Gather, TakesRows) {
  Array table = grid(3, 2, {0, 1, 10, 11, 20, 21});
  // Index vectors of one component each, in a dimension of their own or not.
  EXPECT_EQ(gather(table, vec({2, 0, 9, -4}), {4, 2}, {{1}, {0}, {}, {}, {0}, 1}, {1, 2}).value(),
            grid(4, 2, {20, 21, 0, 1, 20, 21, 0, 1}));
  EXPECT_EQ(gather(table, grid(2, 1, {1, 2}), {2, 2}, {{1}, {0}, {}, {}, {0}, 1}, {1, 2}).value(),
            grid(2, 2, {10, 11, 20, 21}));
  // The window may come first in the result.
  EXPECT_EQ(gather(table, vec({2, 0}), {2, 2}, {{0}, {0}, {}, {}, {0}, 1}, {1, 2}).value(),
            grid(2, 2, {20, 0, 21, 1}));
}

TEST(Gather, TakesElementsByIndexVectors) {
  Array table = grid(2, 2, {1, 2, 3, 4});
  EXPECT_EQ(
      gather(table, grid(2, 2, {0, 1, 1, 0}), {2}, {{}, {0, 1}, {}, {}, {0, 1}, 1}, {1, 1}).value(),
      vec({2, 3}));
  // Vectors stand along dimension 0, and the map exchanges the components.
  EXPECT_EQ(
      gather(table, grid(2, 2, {0, 0, 1, 0}), {2}, {{}, {0, 1}, {}, {}, {1, 0}, 0}, {1, 1}).value(),
      vec({3, 1}));
}

TEST(Gather, GoesAlongBatchingDimensions) {
  Array table = grid(2, 3, {0, 1, 2, 10, 11, 12});
  EXPECT_EQ(
      gather(table, grid(2, 2, {2, 0, 1, 1}), {2, 2}, {{}, {1}, {0}, {0}, {1}, 2}, {1, 1}).value(),
      grid(2, 2, {2, 0, 11, 11}));
}

TEST(Gather, HandlesNothing) {
  EXPECT_EQ(gather(vec({1, 2}), vec({}), {0}, {{}, {0}, {}, {}, {0}, 1}, {1}).value(), vec({}));
  // A slice size of 0 along a collapsed dimension leaves nothing to read.
  EXPECT_THAT(gather(vec({}), vec({0}), {1}, {{}, {0}, {}, {}, {0}, 1}, {0}).why(),
              HasSubstr("there is no element 0"));
}

TEST(Gather, RefusesWhatDoesNotFit) {
  Array t = grid(2, 2, {1, 2, 3, 4});
  Array i = vec({0});
  auto why = [&](Numbers n, Attr::Integers sizes, Shape to = {1, 2}) {
    return gather(t, i, to, n, sizes).why();
  };
  EXPECT_THAT(why({{1}, {}, {}, {}, {0}, 1}, {1, 2}), HasSubstr("[gather] C1"));
  EXPECT_THAT(why({{1}, {0}, {}, {}, {0}, 2}, {1, 2}), HasSubstr("C2"));
  EXPECT_THAT(why({{1}, {0}, {}, {}, {0, 1}, 1}, {1, 2}), HasSubstr("C3"));
  EXPECT_THAT(why({{2}, {0}, {}, {}, {0}, 1}, {1, 2}), HasSubstr("C5"));
  EXPECT_THAT(why({{1}, {2}, {}, {}, {0}, 1}, {1, 2}), HasSubstr("C8"));
  EXPECT_THAT(why({{1}, {0}, {}, {}, {0}, 1}, {2, 2}), HasSubstr("C9"));
  EXPECT_THAT(why({{1}, {0}, {}, {}, {5}, 1}, {1, 2}), HasSubstr("C19"));
  EXPECT_THAT(why({{1}, {0}, {}, {}, {0}, 1}, {1}), HasSubstr("C20"));
  EXPECT_THAT(why({{1}, {0}, {}, {}, {0}, 1}, {1, 3}), HasSubstr("C21"));
  EXPECT_THAT(why({{1}, {0}, {}, {}, {0}, 1}, {1, 2}, {1, 3}), HasSubstr("C22"));
  EXPECT_THAT(why({{1}, {}, {0}, {}, {1}, 1}, {1, 2}), HasSubstr("C16"));
}

TEST(DynamicGather, ChecksSliceSizesAtRunTime) {
  auto run = [](std::vector<I> sizes) {
    return OneOp{"stablehlo.dynamic_gather",
                 {vec({5, 6, 7}), vec({1}), vec(std::move(sizes))},
                 {tensor<I>({1, 2})},
                 {{"dimension_numbers", gather_numbers({{1}, {}, {}, {}, {0}, 1})}}};
  };
  EXPECT_EQ(run({2}).value(), grid(1, 2, {6, 7}));
  EXPECT_THAT(run({1}).why(), HasSubstr("[dynamic_gather] C22"));
  EXPECT_THAT(run({4}).why(), HasSubstr("C21"));
  EXPECT_THAT(run({-1}).why(), HasSubstr("C21"));
}

// A region of one op on `pairs` pairs of scalars; the op reads arguments `a` and `b`.
auto region_of(std::string_view op, Type element, std::size_t args, std::size_t a, std::size_t b,
               Type gives, AttrDict attrs = {}) {
  return [=](Program& p, RegionId r) {
    std::vector<ValueId> values;
    for (std::size_t i = 0; i < args; ++i) values.push_back(p.add_arg(r, p.intern(element)));
    std::vector<ValueId> operands{values[a], values[b]};
    std::vector<TypeId> types{p.intern(gives)};
    OpId id = p.add_op(r, *find_op(op), operands, types, attrs);
    std::vector<ValueId> returned{p.result(p.op(id), 0)};
    p.add_op(r, *find_op("stablehlo.return"), returned, {});
  };
}

template <typename T>
auto binary_region(std::string_view op) {
  return region_of(op, tensor<T>({}), 2, 0, 1, tensor<T>({}));
}

OneOp scatter_add(Array input, Array indices, Array updates, Numbers n) {
  return {"stablehlo.scatter",
          {input, indices, updates},
          {input.type()},
          {{"scatter_dimension_numbers", scatter_numbers(n)}},
          binary_region<I>("stablehlo.add")};
}

TEST(Scatter, AddsAndSkipsWhatIsOutside) {
  Numbers elements{{}, {0}, {}, {}, {0}, 1};
  EXPECT_EQ(
      scatter_add(vec({0, 0, 0}), vec({1, 1, 3, -1, 0}), vec({1, 2, 4, 8, 16}), elements).value(),
      vec({16, 3, 0}));
  // A window that sticks out on either side loses only what is outside.
  Numbers windows{{1}, {}, {}, {}, {0}, 1};
  EXPECT_EQ(scatter_add(vec({0, 0, 0}), vec({-1, 2}), grid(2, 2, {1, 2, 4, 8}), windows).value(),
            vec({2, 0, 4}));
}

TEST(Scatter, SurvivesTheLargestIndex) {
  Array far = make_array<L>(Shape{1}, {std::numeric_limits<L>::max()});
  EXPECT_EQ(scatter_add(vec({0, 0}), far, grid(1, 2, {1, 2}), {{1}, {}, {}, {}, {0}, 1}).value(),
            vec({0, 0}));
}

TEST(Scatter, AppliesUpdatesInOrder) {
  OneOp op = scatter_add(vec({100}), vec({0, 0}), vec({1, 10}), {{}, {0}, {}, {}, {0}, 1});
  op.region = region_of("stablehlo.subtract", tensor<I>({}), 2, 1, 0, tensor<I>({}));
  EXPECT_EQ(op.value(), vec({109}));  // 10 - (1 - 100)
}

TEST(Scatter, GoesAlongBatchingDimensions) {
  EXPECT_EQ(
      scatter_add(grid(2, 2, {0, 0, 0, 0}), vec({1, 0}), vec({5, 6}), {{}, {1}, {0}, {0}, {1}, 1})
          .value(),
      grid(2, 2, {0, 5, 6, 0}));
}

TEST(Scatter, TakesSeveralInputs) {
  OneOp op{"stablehlo.scatter",
           {vec({1, 2}), vec({3, 4}), vec({1}), vec({10}), vec({20})},
           {tensor<I>({2}), tensor<I>({2})},
           {{"scatter_dimension_numbers", scatter_numbers({{}, {0}, {}, {}, {0}, 1})}}};
  // Gives back the two updates.
  op.region = [](Program& p, RegionId r) {
    std::vector<ValueId> v;
    for (int i = 0; i < 4; ++i) v.push_back(p.add_arg(r, p.intern(tensor<I>({}))));
    std::vector<ValueId> returned{v[2], v[3]};
    p.add_op(r, *find_op("stablehlo.return"), returned, {});
  };
  auto got = op.run();
  ASSERT_TRUE(got.ok()) << got.reason();
  EXPECT_EQ((*got)[0], vec({1, 10}));
  EXPECT_EQ((*got)[1], vec({3, 20}));
}

TEST(Scatter, MayWorkInAWiderType) {
  OneOp op{"stablehlo.scatter",
           {make_array<float>(Shape{1}, {1.0F}), vec({0}), make_array<float>(Shape{1}, {0.5F})},
           {tensor<double>({1})},
           {{"scatter_dimension_numbers", scatter_numbers({{}, {0}, {}, {}, {0}, 1})}},
           binary_region<double>("stablehlo.add")};
  EXPECT_EQ(op.value(), make_array<double>(Shape{1}, {1.5}));
}

TEST(Scatter, RefusesWhatDoesNotFit) {
  Numbers elements{{}, {0}, {}, {}, {0}, 1};
  EXPECT_THAT(scatter_add(vec({0}), vec({0}), vec({1, 2}), elements).why(),
              HasSubstr("[scatter] C4"));
  EXPECT_THAT(scatter_add(vec({0}), vec({0}), grid(1, 2, {1, 2}), {{1}, {}, {}, {}, {0}, 1}).why(),
              HasSubstr("C4"));
  EXPECT_THAT(scatter_add(vec({0}), vec({0}), vec({1}), {{}, {}, {}, {}, {0}, 1}).why(),
              HasSubstr("C2"));
  OneOp op = scatter_add(vec({0}), vec({0}), vec({1}), elements);
  op.region = binary_region<L>("stablehlo.add");
  EXPECT_THAT(op.why(), HasSubstr("C23"));
}

AttrDict compare(std::string word) {
  return {{"comparison_direction", Attr{Attr::Enum{"comparison_direction", std::move(word)}}}};
}

OneOp sort(std::vector<Array> inputs, L dimension, std::string direction) {
  Type element = Type::tensor(inputs[0].dtype(), {});
  OneOp op{"stablehlo.sort", inputs, {}, {whole("dimension", dimension)}};
  for (const Array& a : inputs) op.results.push_back(a.type());
  op.region = region_of("stablehlo.compare", element, 2 * inputs.size(), 0, 1, tensor<Bool>({}),
                        compare(std::move(direction)));
  return op;
}

TEST(Sort, OrdersAnyDimension) {
  EXPECT_EQ(sort({vec({3, 1, 2, 1, 0})}, 0, "LT").value(), vec({0, 1, 1, 2, 3}));
  EXPECT_EQ(sort({grid(2, 2, {4, 1, 3, 2})}, 0, "LT").value(), grid(2, 2, {3, 1, 4, 2}));
  EXPECT_EQ(sort({grid(2, 2, {4, 1, 3, 2})}, -1, "GT").value(), grid(2, 2, {4, 1, 3, 2}));
  EXPECT_EQ(sort({vec({})}, 0, "LT").value(), vec({}));
  EXPECT_EQ(sort({grid(2, 0, {})}, 0, "LT").value(), grid(2, 0, {}));
}

TEST(Sort, IsStableAndTakesOthersAlong) {
  auto got = sort({vec({1, 0, 1, 0, 1}), vec({0, 1, 2, 3, 4})}, 0, "LT").run();
  ASSERT_TRUE(got.ok()) << got.reason();
  EXPECT_EQ((*got)[0], vec({0, 0, 1, 1, 1}));
  EXPECT_EQ((*got)[1], vec({1, 3, 0, 2, 4}));
}

TEST(Sort, SurvivesAComparatorThatContradictsItself) {
  std::vector<I> values(37);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<I>(i * 7 % 5);
  EXPECT_EQ(sort({vec(values)}, 0, "GE").value().elements(), 37);
  EXPECT_EQ(sort({vec(values)}, 0, "NE").value().elements(), 37);
}

TEST(Sort, RefusesWhatDoesNotFit) {
  EXPECT_THAT(sort({vec({1})}, 1, "LT").why(), HasSubstr("[sort] C4"));
  EXPECT_THAT(sort({scalar(1)}, -1, "LT").why(), HasSubstr("[sort] C4"));
  EXPECT_THAT(sort({vec({1}), vec({1, 2})}, 0, "LT").why(), HasSubstr("[sort] C3"));
  OneOp op = sort({vec({1})}, 0, "LT");
  op.region = binary_region<I>("stablehlo.add");
  EXPECT_THAT(op.why(), HasSubstr("[sort] C5"));
}

TEST(TorchIndexSelect, SelectsAlongADimension) {
  auto run = [](Array operand, Array index, Shape to, L dim, L batch) {
    return OneOp{"stablehlo.torch_index_select",
                 {operand, index},
                 {tensor<I>(to)},
                 {whole("dim", dim), whole("batch_dims", batch)}};
  };
  Array t = grid(2, 3, {0, 1, 2, 10, 11, 12});
  EXPECT_EQ(run(t, vec({1, 0, 1}), {3, 3}, 0, 0).value(),
            grid(3, 3, {10, 11, 12, 0, 1, 2, 10, 11, 12}));
  EXPECT_EQ(run(t, vec({2, 0}), {2, 2}, 1, 0).value(), grid(2, 2, {2, 0, 12, 10}));
  EXPECT_EQ(run(t, grid(2, 1, {2, 0}), {2, 1}, 1, 1).value(), grid(2, 1, {2, 10}));
  EXPECT_EQ(run(t, scalar(1), {2}, 1, 0).value(), vec({1, 11}));
  EXPECT_THAT(run(t, vec({0}), {1, 3}, 2, 0).why(), HasSubstr("[torch_index_select]"));
}

}  // namespace
}  // namespace heddle
