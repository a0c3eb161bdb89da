// Index rules of windows and products.
#include <fmt/format.h>

#include "index_check.h"

namespace heddle::index_check {
namespace {

// One dimension of a window that fits, with its number of places.
struct Axis {
  std::int64_t input, window, stride, low, high, base, dilation;
  std::int64_t places() const {
    const std::int64_t padded = (input - 1) * base + 1 + low + high;
    const std::int64_t extent = (window - 1) * dilation + 1;
    return padded < extent || padded <= 0 ? 0 : (padded - extent) / stride + 1;
  }
};

Axis random_axis(Random& random, bool dilates) {
  Axis axis{};
  do {
    axis = {pick(random, 1, 6),
            pick(random, 1, 3),
            pick(random, 1, 3),
            pick(random, -1, 2),
            pick(random, -1, 2),
            dilates ? pick(random, 1, 3) : 1,
            dilates ? pick(random, 1, 2) : 1};
  } while (axis.places() == 0);
  return axis;
}

std::string per_axis(const std::vector<Axis>& axes, std::int64_t Axis::* member) {
  std::vector<std::int64_t> values;
  for (const Axis& axis : axes) values.push_back(axis.*member);
  return list_text(values);
}

std::string padding_text(const std::vector<Axis>& axes) {
  std::string text;
  for (const Axis& axis : axes)
    text += fmt::format("{}[{}, {}]", text.empty() ? "" : ", ", axis.low, axis.high);
  return fmt::format("dense<[{}]> : tensor<{}x2xi64>", text, axes.size());
}

std::string body_text(std::string_view op, std::string_view type, std::string_view name = "x") {
  return fmt::format(
      "({{\n  ^bb0(%{0}: tensor<{2}>, %{0}y: tensor<{2}>):\n    %{0}z = {1} %{0}, %{0}y : "
      "tensor<{2}>\n    stablehlo.return %{0}z : tensor<{2}>\n  }})",
      name, op, type);
}

Instance reduce_window(Random& random, std::string_view op, bool dilates) {
  std::vector<Axis> axes;
  for (std::int64_t d = 0, rank = pick(random, 1, 2); d < rank; ++d)
    axes.push_back(random_axis(random, dilates));
  Shape from, to;
  for (const Axis& axis : axes) {
    from.push_back(axis.input);
    to.push_back(axis.places());
  }
  const std::string a = type_text(from, "i32"), b = type_text(to, "i32");
  Instance instance{
      "stablehlo.reduce_window",
      module_text({a, "tensor<i32>"},
                  fmt::format("\"stablehlo.reduce_window\"(%a0, %a1) <{{window_dimensions = "
                              "array<i64: {}>, window_strides = array<i64: {}>, base_dilations = "
                              "array<i64: {}>, window_dilations = array<i64: {}>, padding = {}}}> "
                              "{} : ({}, tensor<i32>) -> {}",
                              per_axis(axes, &Axis::window), per_axis(axes, &Axis::stride),
                              per_axis(axes, &Axis::base), per_axis(axes, &Axis::dilation),
                              padding_text(axes), body_text(op, "i32"), a, b),
                  {b})};
  return instance;
}

TEST(IndexRuleOf, ReduceWindow) {
  check_rule(30, [](Random& random) { return reduce_window(random, "stablehlo.add", false); });
}

TEST(IndexRuleOf, ReduceWindowMaximum) {
  check_rule(10, [](Random& random) { return reduce_window(random, "stablehlo.maximum", false); });
}

// Holes between elements count as the initial value, which must be neutral for a split.
TEST(IndexRuleOf, ReduceWindowDilated) {
  check_rule(30, [](Random& random) {
    Instance instance = reduce_window(random, "stablehlo.add", true);
    instance.given[1] = {{0}};
    return instance;
  });
}

TEST(IndexRuleOf, ReduceWindowByItsBody) {
  check_rule(10, [](Random& random) {
    Instance instance = reduce_window(random, "stablehlo.xor", true);
    instance.given[1] = {{0}};
    return instance;
  });
}

TEST(IndexRuleOf, SelectAndScatter) {
  check_rule(20, [](Random& random) {
    std::vector<Axis> axes;
    Shape from, to;
    for (std::int64_t d = 0, rank = pick(random, 1, 2); d < rank; ++d) {
      // No window has a single element: then nothing would be selected.
      const std::int64_t window = pick(random, 2, 3), most = window == 2 ? 0 : 1;
      axes.push_back({pick(random, 3, rank == 1 ? 6 : 4), window, pick(random, 1, 3),
                      pick(random, 0, most), pick(random, 0, most), 1, 1});
      from.push_back(axes.back().input);
      to.push_back(axes.back().places());
    }
    const std::string a = type_text(from, "f32"), b = type_text(to, "f32");
    return Instance{
        "stablehlo.select_and_scatter",
        module_text(
            {a, b, "tensor<f32>"},
            fmt::format(
                "\"stablehlo.select_and_scatter\"(%a0, %a1, %a2) <{{window_dimensions = "
                "array<i64: {}>, window_strides = array<i64: {}>, padding = {}}}> ({{\n"
                "  ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n    %c = stablehlo.compare GE, %p, %q "
                ": (tensor<f32>, tensor<f32>) -> tensor<i1>\n    stablehlo.return %c : "
                "tensor<i1>\n  }}, {{\n  ^bb0(%u: tensor<f32>, %v: tensor<f32>):\n    %w = "
                "stablehlo.add %u, %v : tensor<f32>\n    stablehlo.return %w : tensor<f32>\n  }}) "
                ": ({}, {}, tensor<f32>) -> {}",
                per_axis(axes, &Axis::window), per_axis(axes, &Axis::stride), padding_text(axes), a,
                b, a),
            {a})};
  });
}

Instance convolution(Random& random, bool dynamic) {  // dynamic: without padding
  std::vector<Axis> axes;
  const std::int64_t rank = pick(random, 0, 2);
  for (std::int64_t d = 0; d < rank; ++d) {
    axes.push_back(random_axis(random, true));
    axes.back().input = pick(random, 2, 4);
    if (dynamic) axes.back().low = axes.back().high = 0;
    while (axes.back().places() == 0) ++axes.back().input;
  }
  const std::int64_t groups = pick(random, 1, 3);
  const bool by_batch = pick(random, 0, 1) == 1;
  const std::int64_t batch = pick(random, 1, 2), inputs = pick(random, 1, 2),
                     outputs = pick(random, 1, 2);
  Shape lhs{by_batch ? groups * batch : batch, by_batch ? inputs : groups * inputs},
      rhs{groups * outputs, inputs}, out{batch, groups * outputs};
  std::string spatial;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    lhs.push_back(axes[d].input);
    rhs.push_back(axes[d].window);
    out.push_back(axes[d].places());
    spatial += fmt::format(", {}", d);
  }
  std::string reversal;
  for (std::size_t d = 0; d < axes.size(); ++d)
    reversal += fmt::format("{}{}", d == 0 ? "" : ", ", pick(random, 0, 1) == 1);
  const std::string a = type_text(lhs, "f32"), b = type_text(rhs, "f32"), c = type_text(out, "f32");
  const std::string pads = fmt::format("tensor<{}x2xi64>", rank);
  const std::string name = dynamic ? "stablehlo.dynamic_conv" : "stablehlo.convolution";
  std::string window = fmt::format(
      "window_strides = array<i64{}{}>, lhs_dilation = array<i64{}{}>, rhs_dilation = "
      "array<i64{}{}>, window_reversal = array<i1{}{}>",
      rank ? ": " : "", per_axis(axes, &Axis::stride), rank ? ": " : "",
      per_axis(axes, &Axis::base), rank ? ": " : "", per_axis(axes, &Axis::dilation),
      rank ? ": " : "", reversal);
  if (!dynamic && rank > 0) window += ", padding = " + padding_text(axes);
  Instance instance{
      name,
      module_text(
          dynamic ? std::vector<std::string>{a, b, pads} : std::vector<std::string>{a, b},
          fmt::format("\"{}\"(%a0, %a1{}) <{{{}, dimension_numbers = #stablehlo.conv<[b, f{}]x[o, "
                      "i{}]->[b, f{}]>, feature_group_count = {} : i64, batch_group_count = {} : "
                      "i64}}> : ({}, {}{}) -> {}",
                      name, dynamic ? ", %a2" : "", window, spatial, spatial, spatial,
                      by_batch ? 1 : groups, by_batch ? groups : 1, a, b,
                      dynamic ? ", " + pads : "", c),
          {c})};
  return instance;
}

TEST(IndexRuleOf, Convolution) {
  check_rule(60, [](Random& random) { return convolution(random, false); });
}

// The padding is data; here it is 0 everywhere.
TEST(IndexRuleOf, DynamicConv) {
  check_rule(6, [](Random& random) {
    Instance instance = convolution(random, true);
    instance.given[2] = {{0, 0, 0, 0}};
    instance.exact = false;
    return instance;
  });
}

TEST(IndexRuleOf, Dot) {
  check_rule(6, [](Random& random) {
    const Shape s = random_shape(random, 3);
    const bool matrix = pick(random, 0, 1) == 1;
    const std::string a = type_text({s[0], s[1]}, "f32"),
                      b = matrix ? type_text({s[1], s[2]}, "f32") : type_text({s[1]}, "f32"),
                      c = matrix ? type_text({s[0], s[2]}, "f32") : type_text({s[0]}, "f32");
    return Instance{
        "stablehlo.dot",
        module_text({a, b}, fmt::format("stablehlo.dot %a0, %a1 : ({}, {}) -> {}", a, b, c), {c})};
  });
}

TEST(IndexRuleOf, Einsum) {
  for (const char* equation : {"ab,bc->ac", "ab,ab->a", "aab,bc->ca", "abc,d->ad", "ab,ba->"})
    check_rule(3, [&](Random& random) {
      const Shape sizes = random_shape(random, 4, 3);
      std::vector<Shape> shapes(1);
      for (const char* c = equation; *c != 0; ++c) {
        if (*c == ',' || *c == '-') shapes.emplace_back();
        if (*c >= 'a' && *c <= 'd')
          shapes.back().push_back(sizes[static_cast<std::size_t>(*c - 'a')]);
      }
      const std::string a = type_text(shapes[0], "f32"), b = type_text(shapes[1], "f32"),
                        c = type_text(shapes[2], "f32");
      return Instance{"stablehlo.einsum",
                      module_text({a, b},
                                  fmt::format("\"stablehlo.einsum\"(%a0, %a1) <{{einsum_config = "
                                              "\"{}\"}}> : ({}, {}) -> {}",
                                              equation, a, b, c),
                                  {c})};
    });
}

TEST(IndexRuleOf, UnaryEinsum) {
  for (const char* equation : {"ab->a", "aa->a", "abc->ca"})
    check_rule(3, [&](Random& random) {
      const Shape sizes = random_shape(random, 3, 3);
      std::vector<Shape> shapes(1);
      for (const char* c = equation; *c != 0; ++c) {
        if (*c == '-') shapes.emplace_back();
        if (*c >= 'a' && *c <= 'd')
          shapes.back().push_back(sizes[static_cast<std::size_t>(*c - 'a')]);
      }
      const std::string a = type_text(shapes[0], "f32"), b = type_text(shapes[1], "f32");
      return Instance{"stablehlo.unary_einsum",
                      module_text({a},
                                  fmt::format("\"stablehlo.unary_einsum\"(%a0) <{{einsum_config = "
                                              "\"{}\"}}> : ({}) -> {}",
                                              equation, a, b),
                                  {b})};
    });
}

// Sums of two values at once: the index of the largest goes along with it.
TEST(IndexRuleOf, ReduceByItsBody) {
  check_rule(6, [](Random& random) {
    const Shape s = random_shape(random, 2, 5);
    const std::string a = type_text(s, "i32"), b = type_text({s[0]}, "i32");
    Instance instance{
        "stablehlo.reduce",
        module_text({a, a, "tensor<i32>", "tensor<i32>"},
                    fmt::format("\"stablehlo.reduce\"(%a0, %a1, %a2, %a3) <{{dimensions = "
                                "array<i64: 1>}}> ({{\n"
                                "  ^bb0(%v: tensor<i32>, %i: tensor<i32>, %w: tensor<i32>, %j: "
                                "tensor<i32>):\n"
                                "    %c = stablehlo.compare GE, %v, %w : (tensor<i32>, "
                                "tensor<i32>) -> tensor<i1>\n"
                                "    %x = stablehlo.select %c, %v, %w : tensor<i1>, tensor<i32>\n"
                                "    %k = stablehlo.select %c, %i, %j : tensor<i1>, tensor<i32>\n"
                                "    stablehlo.return %x, %k : tensor<i32>, tensor<i32>\n  }}) : "
                                "({0}, {0}, tensor<i32>, tensor<i32>) -> ({1}, {1})",
                                a, b),
                    {b, b})};
    instance.given = {{2, {{-1000}}}, {3, {{0}}}};
    instance.exact = false;  // the largest value does not depend on any index
    return instance;
  });
}

}  // namespace
}  // namespace heddle::index_check
