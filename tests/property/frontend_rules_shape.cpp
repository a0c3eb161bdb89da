// Index rules of ops that put elements elsewhere, and of the plain reductions.
#include "index_check.h"

namespace heddle::index_check {
namespace {

TEST(IndexRuleOf, Reshape) {
  const std::pair<Shape, Shape> shapes[] = {{{6, 4}, {4, 6}},
                                            {{24}, {4, 6}},
                                            {{2, 3, 4}, {6, 4}},
                                            {{6, 2}, {4, 3}},
                                            {{3, 2}, {2, 3}},
                                            {{1, 6}, {6}},
                                            {{4, 1}, {2, 2}},
                                            {{}, {1, 1}},
                                            {{12, 2}, {8, 3}},
                                            {{0, 3}, {3, 0}},
                                            {{2, 3, 5, 2, 3}, {3, 2, 5, 3, 2}},
                                            {{9, 4}, {6, 6}}};
  for (const auto& [from, to] : shapes)
    check_rule(1, [&, from = from, to = to](Random&) {
      const std::string a = type_text(from, "f32"), b = type_text(to, "f32");
      return Instance{"stablehlo.reshape",
                      module_text({a}, "stablehlo.reshape %a0 : (" + a + ") -> " + b, {b})};
    });
}

TEST(IndexRuleOf, Transpose) {
  check_rule(6, [](Random& random) {
    const Shape from = random_shape(random, 3);
    std::vector<std::int64_t> order = {0, 1, 2};
    std::shuffle(order.begin(), order.end(), random);
    Shape to;
    for (std::int64_t d : order) to.push_back(from[static_cast<std::size_t>(d)]);
    const std::string a = type_text(from, "i32"), b = type_text(to, "i32");
    return Instance{
        "stablehlo.transpose",
        module_text(
            {a}, "stablehlo.transpose %a0, dims = [" + list_text(order) + "] : (" + a + ") -> " + b,
            {b})};
  });
}

TEST(IndexRuleOf, Pad) {
  check_rule(20, [](Random& random) {
    Shape from = random_shape(random, 2), to;
    std::vector<std::int64_t> low, high, interior;
    for (std::int64_t size : from) {
      interior.push_back(pick(random, 0, 2));
      const std::int64_t dilated = size + (size - 1) * interior.back();
      low.push_back(pick(random, -1, 3));
      high.push_back(pick(random, std::max<std::int64_t>(-1, -dilated - low.back()), 3));
      to.push_back(std::max<std::int64_t>(dilated + low.back() + high.back(), 0));
    }
    const std::string a = type_text(from, "f32"), b = type_text(to, "f32");
    return Instance{"stablehlo.pad",
                    module_text({a, "tensor<f32>"},
                                "stablehlo.pad %a0, %a1, low = [" + list_text(low) + "], high = [" +
                                    list_text(high) + "], interior = [" + list_text(interior) +
                                    "] : (" + a + ", tensor<f32>) -> " + b,
                                {b})};
  });
}

TEST(IndexRuleOf, PadToNothing) {
  check_rule(1, [](Random&) {
    return generic_instance("stablehlo.pad", {"tensor<1x3xf32>", "tensor<f32>"},
                            " {edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: "
                            "-1, 2>, interior_padding = array<i64: 2, 0>}",
                            {"tensor<0x5xf32>"});
  });
}

TEST(IndexRuleOf, DotGeneral) {
  check_rule(6, [](Random& random) {
    const Shape s = random_shape(random, 4);
    const std::string a = type_text({s[0], s[1], s[2]}, "f32"),
                      b = type_text({s[2], s[0], s[3]}, "f32"),
                      c = type_text({s[0], s[1], s[3]}, "f32");
    return Instance{"stablehlo.dot_general",
                    module_text({a, b},
                                "stablehlo.dot_general %a0, %a1, batching_dims = [0] x [1], "
                                "contracting_dims = [2] x [0] : (" +
                                    a + ", " + b + ") -> " + c,
                                {c})};
  });
}

TEST(IndexRuleOf, ReduceByKnownOps) {
  for (const char* op : {"add", "multiply", "maximum", "minimum"})
    check_rule(4, [&](Random& random) {
      const Shape s = random_shape(random, 3);
      const std::string a = type_text(s, "f32"), b = type_text({s[1]}, "f32");
      return Instance{
          "stablehlo.reduce",
          module_text({a, "tensor<f32>"},
                      "stablehlo.reduce(%a0 init: %a1) applies stablehlo." + std::string(op) +
                          " across dimensions = [0, 2] : (" + a + ", tensor<f32>) -> " + b,
                      {b})};
    });
}

TEST(IndexRuleOf, WhileOverRows) {
  check_rule(4, [](Random& random) {
    const Shape s = random_shape(random, 2);
    const std::string a = type_text(s, "f32");
    return Instance{
        "stablehlo.while",
        module_text({a, "tensor<i32>", type_text({s[1], s[1]}, "f32")},
                    "stablehlo.while(%x = %a0, %i = %a1) : " + a +
                        ", tensor<i32>\n"
                        "  cond {\n"
                        "    %n = stablehlo.constant dense<3> : tensor<i32>\n"
                        "    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> "
                        "tensor<i1>\n"
                        "    stablehlo.return %c : tensor<i1>\n"
                        "  } do {\n"
                        "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
                        "    %j = stablehlo.add %i, %one : tensor<i32>\n"
                        "    %y = stablehlo.dot_general %x, %a2, contracting_dims = [1] x [0] : (" +
                        a + ", " + type_text({s[1], s[1]}, "f32") + ") -> " + a +
                        "\n    stablehlo.return %y, %j : " + a + ", tensor<i32>\n  }",
                    {a, "tensor<i32>"})};
  });
}

TEST(IndexRuleOf, Constant) {
  for (const char* value : {"7.0", "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]"})
    check_rule(1, [&](Random&) {
      return generic_instance("stablehlo.constant", {},
                              " {value = dense<" + std::string(value) + "> : tensor<2x3xf32>}",
                              {"tensor<2x3xf32>"});
    });
}

TEST(IndexRuleOf, Iota) {
  for (const char* dtype : {"i32", "f32", "complex<f32>", "ui8"})
    check_rule(3, [&](Random& random) {
      return generic_instance(
          "stablehlo.iota", {},
          " {iota_dimension = " + std::to_string(pick(random, 0, 1)) + " : i64}",
          {type_text(random_shape(random, 2, 5), dtype)});
    });
}

TEST(IndexRuleOf, DynamicIota) {
  check_rule(2, [](Random& random) {
    const Shape shape = random_shape(random, 2, 3);
    Instance instance = generic_instance("stablehlo.dynamic_iota", {"tensor<2xi64>"},
                                         " {iota_dimension = 1 : i64}", {type_text(shape, "i32")});
    instance.given[0] = {shape};
    return instance;
  });
}

TEST(IndexRuleOf, DynamicReshape) {
  const std::pair<Shape, Shape> shapes[] = {
      {{6, 4}, {4, 6}}, {{2, 3, 4}, {6, 4}}, {{3, 2}, {2, 3}}};
  for (const auto& [from, to] : shapes)
    check_rule(1, [&, from = from, to = to](Random&) {
      Instance instance = generic_instance(
          "stablehlo.dynamic_reshape", {type_text(from, "f32"), type_text({std::ssize(to)}, "i64")},
          "", {type_text(to, "f32")});
      instance.given[1] = {to};
      return instance;
    });
}

TEST(IndexRuleOf, Broadcast) {
  check_rule(4, [](Random& random) {
    const Shape s = random_shape(random, 3, 3);
    return generic_instance("stablehlo.broadcast", {type_text({s[2]}, "f32")},
                            " {broadcast_sizes = array<i64: " + list_text({s[0], s[1]}) + ">}",
                            {type_text(s, "f32")});
  });
}

// Dimensions of size 1 are repeated or not.
TEST(IndexRuleOf, BroadcastInDim) {
  check_rule(8, [](Random& random) {
    const Shape to = random_shape(random, 3, 3);
    std::vector<std::int64_t> dims = {0, 1, 2};
    std::shuffle(dims.begin(), dims.end(), random);
    dims.pop_back();
    Shape from;
    for (std::int64_t d : dims)
      from.push_back(pick(random, 0, 1) == 0 ? 1 : to[static_cast<std::size_t>(d)]);
    const std::string words = " {broadcast_dimensions = array<i64: " + list_text(dims) + ">}";
    return generic_instance("stablehlo.broadcast_in_dim", {type_text(from, "f32")}, words,
                            {type_text(to, "f32")});
  });
}

TEST(IndexRuleOf, DynamicBroadcastInDim) {
  check_rule(3, [](Random& random) {
    const Shape to = random_shape(random, 2, 3);
    Instance instance = generic_instance(
        "stablehlo.dynamic_broadcast_in_dim", {type_text({1, to[0]}, "f32"), "tensor<2xi64>"},
        " {broadcast_dimensions = array<i64: 1, 0>}", {type_text(to, "f32")});
    instance.given[1] = {to};
    return instance;
  });
}

TEST(IndexRuleOf, Reverse) {
  for (const char* dims : {"0", "1", "0, 1"})
    check_rule(2, [&](Random& random) {
      const std::string a = type_text(random_shape(random, 2, 4), "f32");
      return generic_instance("stablehlo.reverse", {a},
                              " {dimensions = array<i64: " + std::string(dims) + ">}", {a});
    });
}

TEST(IndexRuleOf, Concatenate) {
  check_rule(8, [](Random& random) {
    const auto dim = static_cast<std::size_t>(pick(random, 0, 1));
    Shape shape = random_shape(random, 2, 3);
    std::vector<std::string> parts;
    std::int64_t total = 0;
    for (std::int64_t i = pick(random, 1, 4); i > 0; --i) {
      shape[dim] = pick(random, 0, 3);
      total += shape[dim];
      parts.push_back(type_text(shape, "f32"));
    }
    shape[dim] = total;
    return generic_instance("stablehlo.concatenate", parts,
                            " {dimension = " + std::to_string(dim) + " : i64}",
                            {type_text(shape, "f32")});
  });
}

TEST(IndexRuleOf, Slice) {
  check_rule(8, [](Random& random) {
    const Shape from = random_shape(random, 2, 6);
    std::vector<std::int64_t> starts, limits, strides;
    Shape to;
    for (std::int64_t size : from) {
      starts.push_back(pick(random, 0, size));
      limits.push_back(pick(random, starts.back(), size));
      strides.push_back(pick(random, 1, 3));
      to.push_back((limits.back() - starts.back() + strides.back() - 1) / strides.back());
    }
    return generic_instance("stablehlo.slice", {type_text(from, "f32")},
                            " {start_indices = array<i64: " + list_text(starts) +
                                ">, limit_indices = array<i64: " + list_text(limits) +
                                ">, strides = array<i64: " + list_text(strides) + ">}",
                            {type_text(to, "f32")});
  });
}

TEST(IndexRuleOf, RealDynamicSlice) {
  check_rule(1, [](Random&) {
    Instance instance =
        generic_instance("stablehlo.real_dynamic_slice",
                         {"tensor<4xf32>", "tensor<1xi64>", "tensor<1xi64>", "tensor<1xi64>"}, "",
                         {"tensor<2xf32>"});
    // Of four elements: neighbours, every second one, and the ends.
    instance.given[1] = {{0}, {1}, {2}, {0}, {1}, {0}};
    instance.given[2] = {{2}, {3}, {4}, {3}, {4}, {4}};
    instance.given[3] = {{1}, {1}, {1}, {2}, {2}, {3}};
    return instance;
  });
}

TEST(IndexRuleOf, DynamicPad) {
  check_rule(1, [](Random&) {
    Instance instance = generic_instance(
        "stablehlo.dynamic_pad",
        {"tensor<2xf32>", "tensor<f32>", "tensor<1xi64>", "tensor<1xi64>", "tensor<1xi64>"}, "",
        {"tensor<3xf32>"});
    instance.given[2] = {{0}, {1}, {2}, {-1}, {0}, {-1}};
    instance.given[3] = {{1}, {0}, {-1}, {2}, {0}, {1}};
    instance.given[4] = {{0}, {0}, {0}, {0}, {1}, {1}};
    return instance;
  });
}

TEST(IndexRuleOf, SizesOfDimensions) {
  check_rule(2, [](Random& random) {
    return generic_instance("stablehlo.get_dimension_size",
                            {type_text(random_shape(random, 2, 3), "f32")},
                            " {dimension = 1 : i64}", {"tensor<i32>"});
  });
  check_rule(2, [](Random& random) {
    const Shape shape = random_shape(random, 2, 3);
    const std::string a = type_text(shape, "f32");
    Instance instance = generic_instance("stablehlo.set_dimension_size", {a, "tensor<i32>"},
                                         " {dimension = 1 : i64}", {a});
    instance.given[1] = {{shape[1]}};
    return instance;
  });
}

}  // namespace
}  // namespace heddle::index_check
