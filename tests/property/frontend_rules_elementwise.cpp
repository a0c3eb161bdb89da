// Index rules of elementwise ops, for every row of the table that has that rule and all kinds of
// elements that it takes.
#include <set>

#include "index_check.h"
#include "ir/rules/index_rules.h"

namespace heddle::index_check {
namespace {

struct Kinds {
  std::string_view in, out;
};
// Whichever of these an op takes is tried.
constexpr Kinds kKinds[] = {{"f32", "f32"}, {"i32", "i32"}, {"i1", "i1"},   {"c64", "c64"},
                            {"ui8", "ui8"}, {"f64", "f64"}, {"bf16", "i1"}, {"f32", "i1"},
                            {"i32", "i1"},  {"f32", "f16"}, {"i32", "f32"}, {"f32", "i32"},
                            {"i8", "f32"},  {"c64", "f32"}, {"f32", "c64"}, {"f64", "c128"}};

std::string dtype_text(std::string_view kind) {
  if (kind == "c64") return "complex<f32>";
  return kind == "c128" ? "complex<f64>" : std::string(kind);
}

// What an op needs besides operands.
std::string attributes_of(std::string_view op) {
  if (op == "stablehlo.compare")
    return " {comparison_direction = #stablehlo<comparison_direction NE>}";
  if (op == "stablehlo.reduce_precision")
    return " {exponent_bits = 5 : i32, mantissa_bits = 3 : i32}";
  return "";
}

Instance elementwise(const std::string& op, Kinds kinds, int operands, Random& random) {
  const Shape shape = random_shape(random, static_cast<std::size_t>(pick(random, 0, 2)), 3);
  const std::string in = type_text(shape, dtype_text(kinds.in));
  const std::vector<std::string> args(static_cast<std::size_t>(operands), in);
  return generic_instance(op, args, attributes_of(op), {type_text(shape, dtype_text(kinds.out))});
}

// Some types pass the verifier, but have no meaning that the specification gives: the remainder of
// complex numbers.
bool can_run(const Instance& instance) {
  auto program = read_stablehlo(instance.text, "instance.mlir");
  if (!program || !verify(*program)) return false;
  const Function& main = program->functions[0];
  std::vector<Array> zeros;
  for (ValueId v : program->region(main.body).args) zeros.emplace_back(program->type_of(v));
  return bool(interpret(*program, main, zeros));
}

TEST(IndexRuleOf, EveryElementwiseRow) {
  const std::set<std::string_view> own_tests = {"stablehlo.map", "stablehlo.select"};
  int tried = 0;
  for (const OpDef& row : op_table()) {
    const bool elementwise_row =
        row.index_rule == elementwise_index_rule || row.index_rule == imag_index_rule;
    if (!elementwise_row || own_tests.count(row.name) != 0) continue;
    int kinds_taken = 0;
    for (const Kinds& kinds : kKinds) {
      Random random(5);
      const std::string name(row.name);
      if (!can_run(elementwise(name, kinds, row.operands.least, random))) continue;
      ++kinds_taken;
      check_rule(2, [&](Random& r) { return elementwise(name, kinds, row.operands.least, r); });
      ASSERT_FALSE(HasFailure()) << name << " of " << kinds.in;
    }
    EXPECT_GT(kinds_taken, 0) << row.name << ": none of the kinds of elements was right";
    ++tried;
  }
  EXPECT_GT(tried, 70);
}

TEST(IndexRuleOf, CompareInEveryDirection) {
  for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"})
    check_rule(2, [&](Random& random) {
      const Shape shape = random_shape(random, 2, 3);
      const std::string a = type_text(shape, "i32");
      return generic_instance("stablehlo.compare", {a, a},
                              " {comparison_direction = #stablehlo<comparison_direction " +
                                  std::string(direction) + ">}",
                              {type_text(shape, "i1")});
    });
}

TEST(IndexRuleOf, SelectByOneOrByEach) {
  for (bool scalar : {false, true})
    check_rule(3, [&](Random& random) {
      const Shape shape = random_shape(random, 2, 3);
      const std::string a = type_text(shape, "f32");
      return generic_instance("stablehlo.select", {type_text(scalar ? Shape{} : shape, "i1"), a, a},
                              "", {a});
    });
}

TEST(IndexRuleOf, ClampByScalars) {
  for (int scalars : {0, 1, 2, 3})
    check_rule(3, [&](Random& random) {
      const Shape shape = random_shape(random, 2, 3);
      const std::string a = type_text(shape, "f32"), scalar = "tensor<f32>";
      return generic_instance("stablehlo.clamp",
                              {(scalars & 1) != 0 ? scalar : a, a, (scalars & 2) != 0 ? scalar : a},
                              "", {a});
    });
}

TEST(IndexRuleOf, BitcastConvert) {
  struct Case {
    const char *from, *to;
    std::int64_t parts;  // > 0: the result has a dimension of so many more; < 0: the operand
  };
  for (const Case& c : {Case{"f32", "i32", 0}, Case{"i32", "i8", 4}, Case{"i8", "i32", -4},
                        Case{"f64", "f32", 2}, Case{"ui16", "i64", -4}})
    check_rule(2, [&](Random& random) {
      Shape from = random_shape(random, static_cast<std::size_t>(pick(random, 0, 2)), 3), to = from;
      if (c.parts != 0) (c.parts > 0 ? to : from).push_back(std::abs(c.parts));
      Instance instance = generic_instance("stablehlo.bitcast_convert", {type_text(from, c.from)},
                                           "", {type_text(to, c.to)});
      instance.low = -100000;  // so that every byte of an integer changes
      instance.high = 100000;
      return instance;
    });
}

TEST(IndexRuleOf, Map) {
  check_rule(3, [](Random& random) {
    const Shape shape = random_shape(random, 2, 3);
    const std::string a = type_text(shape, "f32");
    return generic_instance("stablehlo.map", {a, a},
                            " <{dimensions = array<i64: 0, 1>}> ({\n"
                            "  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
                            "    %z = stablehlo.multiply %x, %y : tensor<f32>\n"
                            "    stablehlo.return %z : tensor<f32>\n"
                            "  })",
                            {a});
  });
}

TEST(IndexRuleOf, OptimizationBarrier) {
  check_rule(3, [](Random& random) {
    const std::string a = type_text(random_shape(random, 2, 3), "f32"),
                      b = type_text(random_shape(random, 1, 4), "i32");
    return generic_instance("stablehlo.optimization_barrier", {a, b}, "", {a, b});
  });
}

}  // namespace
}  // namespace heddle::index_check
