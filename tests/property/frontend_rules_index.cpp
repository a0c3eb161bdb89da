// Index rules of ops that move elements to or from places that are data.
#include <fmt/format.h>

#include "index_check.h"

namespace heddle::index_check {
namespace {

TEST(IndexRuleOf, DynamicSlice) {
  check_rule(15, [](Random& random) {
    const Shape from = random_shape(random, 2, 5);
    const Shape to{pick(random, 1, from[0]), pick(random, 1, from[1])};
    const std::string a = type_text(from, "f32"), b = type_text(to, "f32");
    const char* index = pick(random, 0, 1) == 1 ? "tensor<i32>" : "tensor<ui8>";
    return Instance{
        "stablehlo.dynamic_slice",
        module_text({a, index, index},
                    fmt::format("stablehlo.dynamic_slice %a0, %a1, %a2, sizes = [{}] : ({}, {}, "
                                "{}) -> {}",
                                list_text(to), a, index, index, b),
                    {b}),
        -2, 6};
  });
}

TEST(IndexRuleOf, DynamicUpdateSlice) {
  check_rule(15, [](Random& random) {
    const Shape to = random_shape(random, 2, 5);
    // At most half of one dimension, or all: see the rule.
    Shape update{pick(random, 0, to[0] / 2), pick(random, 1, to[1])};
    if (pick(random, 0, 5) == 0) update = to;
    const std::string a = type_text(to, "f32"), b = type_text(update, "f32");
    return Instance{"stablehlo.dynamic_update_slice",
                    module_text({a, b, "tensor<i64>", "tensor<i64>"},
                                fmt::format("stablehlo.dynamic_update_slice %a0, %a1, %a2, %a3 : "
                                            "({}, {}, tensor<i64>, tensor<i64>) -> {}",
                                            a, b, a),
                                {a}),
                    -2, 6};
  });
}

struct Gather {
  Shape table, indices, sizes, result;
  std::string numbers;
};

// Rows of a table, by one index each.
Gather rows(Random& random) {
  Gather g;
  g.table = random_shape(random, 2, 5);
  g.indices = {pick(random, 1, 4)};
  g.sizes = {1, pick(random, 1, g.table[1])};
  g.result = {g.indices[0], g.sizes[1]};
  g.numbers =
      "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1";
  return g;
}
// Windows at places with two coordinates, in either order.
Gather windows(Random& random) {
  Gather g;
  g.table = random_shape(random, 3, 4);
  g.indices = {2, pick(random, 1, 3)};
  g.sizes = {pick(random, 1, g.table[0]), pick(random, 1, g.table[1]), g.table[2]};
  g.result = {g.sizes[0], g.indices[1], g.sizes[1], g.sizes[2]};
  g.numbers = fmt::format("offset_dims = [0, 2, 3], start_index_map = [{}], index_vector_dim = 0",
                          pick(random, 0, 1) == 1 ? "1, 0" : "0, 1");
  return g;
}
// A batch of tables, each with indices of its own.
Gather batches(Random& random) {
  Gather g;
  g.table = random_shape(random, 3, 4);
  g.indices = {pick(random, 1, 3), g.table[1], 1};
  g.sizes = {1, 1, pick(random, 1, g.table[2])};
  g.result = {g.indices[0], g.indices[1], g.sizes[2]};
  g.numbers =
      "offset_dims = [2], collapsed_slice_dims = [0], operand_batching_dims = [1], "
      "start_indices_batching_dims = [1], start_index_map = [0], index_vector_dim = 2";
  return g;
}

Instance gather_instance(const Gather& g, std::string_view index) {
  const std::string a = type_text(g.table, "f32"), i = type_text(g.indices, index),
                    b = type_text(g.result, "f32");
  return {"stablehlo.gather",
          module_text({a, i},
                      fmt::format("\"stablehlo.gather\"(%a0, %a1) <{{dimension_numbers = "
                                  "#stablehlo.gather<{}>, slice_sizes = array<i64: {}>}}> : ({}, "
                                  "{}) -> {}",
                                  g.numbers, list_text(g.sizes), a, i, b),
                      {b}),
          -2, 6};
}

TEST(IndexRuleOf, GatherRows) {
  check_rule(15, [](Random& random) { return gather_instance(rows(random), "i32"); });
}
TEST(IndexRuleOf, GatherWindows) {
  check_rule(15, [](Random& random) { return gather_instance(windows(random), "ui64"); });
}
TEST(IndexRuleOf, GatherBatches) {
  check_rule(15, [](Random& random) { return gather_instance(batches(random), "i64"); });
}

// The slice sizes are data, and not to be changed.
TEST(IndexRuleOf, DynamicGather) {
  check_rule(8, [](Random& random) {
    const Gather g = rows(random);
    const std::string a = type_text(g.table, "f32"), i = type_text(g.indices, "i32"),
                      b = type_text(g.result, "f32");
    Instance instance{
        "stablehlo.dynamic_gather",
        module_text({a, i, "tensor<2xi64>"},
                    fmt::format("\"stablehlo.dynamic_gather\"(%a0, %a1, %a2) "
                                "<{{dimension_numbers = #stablehlo.gather<{}>}}> : ({}, {}, "
                                "tensor<2xi64>) -> {}",
                                g.numbers, a, i, b),
                    {b}),
        -2, 6};
    instance.given[2] = {g.sizes};
    return instance;
  });
}

Instance scatter(Random& random, std::string_view op) {
  const std::int64_t kind = pick(random, 0, 2);
  Shape input, indices, updates;
  std::string numbers;
  if (kind == 0) {  // rows of a table
    input = random_shape(random, 2, 5);
    indices = {pick(random, 1, 4), 1};
    updates = {indices[0], pick(random, 1, input[1])};
    numbers =
        "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = "
        "[0], index_vector_dim = 1";
  } else if (kind == 1) {  // windows, which may stick out
    input = random_shape(random, 2, 4);
    indices = {2, pick(random, 1, 3)};
    updates = {pick(random, 1, input[0]), indices[1], pick(random, 1, input[1])};
    numbers =
        "update_window_dims = [0, 2], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 0";
  } else {  // a batch of inputs, each with indices of its own
    input = random_shape(random, 2, 4);
    indices = {input[0], pick(random, 1, 3)};
    updates = indices;
    numbers =
        "inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = "
        "[0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2";
  }
  const std::string a = type_text(input, "f32"), i = type_text(indices, "i32"),
                    u = type_text(updates, "f32");
  const std::string body = op.empty()
                               ? "    stablehlo.return %y : tensor<f32>\n"
                               : fmt::format(
                                     "    %z = {} %x, %y : tensor<f32>\n    stablehlo.return %z : "
                                     "tensor<f32>\n",
                                     op);
  return {"stablehlo.scatter",
          module_text({a, i, u},
                      fmt::format("\"stablehlo.scatter\"(%a0, %a1, %a2) "
                                  "<{{scatter_dimension_numbers = #stablehlo.scatter<{}>}}> ({{\n"
                                  "  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n{}  }}) : ({}, {}, "
                                  "{}) -> {}",
                                  numbers, body, a, i, u, a),
                      {a}),
          -3, 4};
}

TEST(IndexRuleOf, ScatterAdd) {
  check_rule(30, [](Random& random) { return scatter(random, "stablehlo.add"); });
}
TEST(IndexRuleOf, ScatterMax) {
  check_rule(15, [](Random& random) { return scatter(random, "stablehlo.maximum"); });
}
TEST(IndexRuleOf, ScatterReplaces) {
  check_rule(30, [](Random& random) { return scatter(random, ""); });
}

TEST(IndexRuleOf, SortOfKeysAndValues) {
  check_rule(8, [](Random& random) {
    const Shape s = random_shape(random, 2, 4);
    const std::string a = type_text(s, "i32"), b = type_text(s, "f32");
    return Instance{
        "stablehlo.sort",
        module_text({a, b},
                    fmt::format("\"stablehlo.sort\"(%a0, %a1) <{{dimension = {} : i64, is_stable = "
                                "true}}> ({{\n  ^bb0(%x: tensor<i32>, %y: tensor<i32>, %p: "
                                "tensor<f32>, %q: tensor<f32>):\n    %c = stablehlo.compare LT, "
                                "%x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>\n    "
                                "stablehlo.return %c : tensor<i1>\n  }}) : ({}, {}) -> ({}, {})",
                                pick(random, 0, 1) == 1 ? 0 : -1, a, b, a, b),
                    {a, b})};
  });
}

TEST(IndexRuleOf, TorchIndexSelect) {
  check_rule(10, [](Random& random) {
    const Shape table = random_shape(random, 3, 4);
    const bool batched = pick(random, 0, 1) == 1;
    const Shape index = batched ? Shape{table[0], pick(random, 1, 3)} : Shape{pick(random, 1, 3)};
    const Shape result{table[0], index.back(), table[2]};
    const std::string a = type_text(table, "f32"), i = type_text(index, "i32"),
                      b = type_text(result, "f32");
    return Instance{"stablehlo.torch_index_select",
                    module_text({a, i},
                                fmt::format("\"stablehlo.torch_index_select\"(%a0, %a1) <{{dim = 1 "
                                            ": i64, batch_dims = {} : i64}}> : ({}, {}) -> {}",
                                            batched ? 1 : 0, a, i, b),
                                {b}),
                    -2, 6};
  });
}

}  // namespace
}  // namespace heddle::index_check
