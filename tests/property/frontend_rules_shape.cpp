// Index rules of elementwise ops, of ops that put elements elsewhere, and of the plain reductions.
#include "index_check.h"

namespace heddle::index_check {
namespace {

Instance elementwise(std::string_view op, std::string_view in, std::string_view out, int operands,
                     Random& random, std::string_view words = "") {
  const Shape shape = random_shape(random, static_cast<std::size_t>(pick(random, 0, 2)), 3);
  std::vector<std::string> args(static_cast<std::size_t>(operands), type_text(shape, in));
  std::string text = "\"" + std::string(op) + "\"(", types;
  for (int i = 0; i < operands; ++i) {
    text += (i == 0 ? "%a" : ", %a") + std::to_string(i);
    types += (i == 0 ? "" : ", ") + args[0];
  }
  text += ")" + std::string(words) + " : (" + types + ") -> " + type_text(shape, out);
  return {std::string(op), module_text(args, text, {type_text(shape, out)})};
}

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

TEST(IndexRuleOf, Add) {
  check_rule(5, [](Random& r) { return elementwise("stablehlo.add", "f32", "f32", 2, r); });
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

}  // namespace
}  // namespace heddle::index_check
