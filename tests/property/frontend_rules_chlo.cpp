// Index rules of the client dialect's ops that are not elementwise.
#include "index_check.h"

namespace heddle::index_check {
namespace {

TEST(IndexRuleOf, ChloBroadcasts) {
  struct Case {
    Shape a, b, result;
    const char* attributes = "";
  };
  const Case cases[] = {
      {{2, 3}, {2, 3}, {2, 3}}, {{2, 3}, {3}, {2, 3}},
      {{}, {2, 3}, {2, 3}},     {{2, 1}, {1, 3}, {2, 3}},
      {{1, 1}, {1}, {1, 1}},    {{2, 3}, {2}, {2, 3}, " {broadcast_dimensions = array<i64: 0>}"}};
  for (const OpDef& row : op_table()) {
    if (!row.name.starts_with("chlo.broadcast_")) continue;
    for (const Case& c : cases)
      check_rule(1, [&](Random&) {
        return generic_instance(std::string(row.name),
                                {type_text(c.a, "f32"), type_text(c.b, "f32")}, c.attributes,
                                {type_text(c.result, "f32")});
      });
  }
}

TEST(IndexRuleOf, TopK) {
  check_rule(8, [](Random& random) {
    const Shape from = random_shape(random, static_cast<std::size_t>(pick(random, 1, 3)), 4);
    Shape to = from;
    to.back() = pick(random, 0, from.back());
    return generic_instance("chlo.top_k", {type_text(from, "f32")},
                            " {k = " + std::to_string(to.back()) + " : i64}",
                            {type_text(to, "f32"), type_text(to, "i32")});
  });
}

// group_sizes may be anything from none to more rows than there are.
Instance ragged(const Shape& lhs, const Shape& rhs, std::int64_t groups, const Shape& result,
                const std::string& dims) {
  Instance instance = generic_instance(
      "chlo.ragged_dot", {type_text(lhs, "f32"), type_text(rhs, "f32"), type_text({groups}, "i64")},
      " {ragged_dot_dimension_numbers = #chlo.ragged_dot<" + dims + ">}",
      {type_text(result, "f32")});
  instance.low = 0;
  instance.high = 3;
  return instance;
}

TEST(IndexRuleOf, RaggedDotWithRaggedRows) {
  check_rule(4, [](Random& random) {
    const Shape s = random_shape(random, 5, 3);  // batch, rows, inner, columns, groups
    return ragged({s[0], s[1], s[2]}, {s[4], s[0], s[2], s[3]}, s[4], {s[0], s[1], s[3]},
                  "lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], "
                  "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], "
                  "lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]");
  });
}

TEST(IndexRuleOf, RaggedDotWithARaggedSum) {
  check_rule(4, [](Random& random) {
    const Shape s = random_shape(random, 5, 3);  // batch, rows, ragged inner, columns, groups
    return ragged({s[0], s[1], s[2]}, {s[0], s[2], s[3]}, s[4], {s[4], s[0], s[1], s[3]},
                  "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
                  "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], "
                  "lhs_ragged_dimensions = [2], rhs_group_dimensions = []");
  });
}

TEST(IndexRuleOf, RaggedDotWithARaggedBatch) {
  check_rule(4, [](Random& random) {
    const Shape s = random_shape(random, 5, 3);
    return ragged({s[0], s[1], s[2]}, {s[0], s[2], s[3]}, s[4], {s[0], s[1], s[3]},
                  "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
                  "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], "
                  "lhs_ragged_dimensions = [0], rhs_group_dimensions = []");
  });
}

// Sums along a dimension of a matrix; the carry is one row.
Instance running_sums(std::int64_t dim, bool reverse, const Shape& shape, const std::string& body) {
  const std::string slice = type_text({shape[dim == 0 ? 1 : 0]}, "f32"),
                    a = type_text(shape, "f32");
  return generic_instance("chlo.scan", {a, slice},
                          " <{dimension = " + std::to_string(dim) +
                              " : i64, is_reverse = " + (reverse ? "true" : "false") +
                              ", operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = "
                              "array<i32: 1, 1>}> ({\n  ^bb0(%x: " +
                              slice + ", %c: " + slice + "):\n" + body +
                              "    stablehlo.return %y, %z : " + slice + ", " + slice + "\n  })",
                          {a, slice});
}

TEST(IndexRuleOf, Scan) {
  for (std::int64_t dim : {0, 1})
    for (bool reverse : {false, true})
      check_rule(2, [&](Random& random) {
        const Shape shape = random_shape(random, 2, 3);
        const std::string slice = type_text({shape[dim == 0 ? 1 : 0]}, "f32");
        return running_sums(dim, reverse, shape,
                            "    %y = stablehlo.add %x, %c : " + slice +
                                "\n    %z = stablehlo.add %c, %x : " + slice + "\n");
      });
}

// The rows mix, so nothing can be split.
TEST(IndexRuleOf, ScanThatReverses) {
  check_rule(3, [](Random& random) {
    const Shape shape = random_shape(random, 2, 3);
    const std::string slice = type_text({shape[1]}, "f32");
    Instance instance = running_sums(0, false, shape,
                                     "    %y = stablehlo.reverse %c, dims = [0] : " + slice +
                                         "\n    %z = stablehlo.add %y, %x : " + slice + "\n");
    instance.exact = false;
    return instance;
  });
}

}  // namespace
}  // namespace heddle::index_check
