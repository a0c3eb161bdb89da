// Index rules of loops and branches, and that every op of the table has a rule.
#include <map>
#include <set>

#include "index_check.h"

namespace heddle::index_check {
namespace {

// Runs `body` three times over %x: it gives %y from %x, and may use %i and arguments %a2, ….
Instance loop(const std::string& type, const std::vector<std::string>& others,
              const std::string& body) {
  std::vector<std::string> arguments = {type, "tensor<i32>"};
  arguments.insert(arguments.end(), others.begin(), others.end());
  return {"stablehlo.while",
          module_text(arguments,
                      "stablehlo.while(%x = %a0, %i = %a1) : " + type +
                          ", tensor<i32>\n  cond {\n"
                          "    %n = stablehlo.constant dense<3> : tensor<i32>\n"
                          "    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> "
                          "tensor<i1>\n"
                          "    stablehlo.return %c : tensor<i1>\n"
                          "  } do {\n"
                          "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
                          "    %j = stablehlo.add %i, %one : tensor<i32>\n" +
                          body + "    stablehlo.return %y, %j : " + type + ", tensor<i32>\n  }",
                      {type, "tensor<i32>"})};
}

std::int64_t split_factors(const IndexRule& rule) {
  return std::count_if(rule.factors.begin(), rule.factors.end(),
                       [](const Factor& factor) { return factor.kind == FactorKind::parallel; });
}

TEST(IndexRuleOf, WhileWithConstantsInIt) {
  check_rule(3, [](Random& random) {
    const Shape shape = random_shape(random, 2, 3);
    const std::string a = type_text(shape, "f32");
    return loop(a, {},
                "    %k = stablehlo.iota dim = 0 : " + a +
                    "\n    %two = stablehlo.constant dense<2.0> : " + a +
                    "\n    %m = stablehlo.multiply %x, %two : " + a +
                    "\n    %y = stablehlo.add %m, %k : " + a + "\n");
  });
}

TEST(IndexRuleOf, WhileWithRandomNumbersInIt) {
  check_rule(3, [](Random& random) {
    const Shape shape = random_shape(random, 2, 3);
    const std::string a = type_text(shape, "f32");
    Instance instance =
        loop(a, {},
             "    %low = stablehlo.constant dense<0.0> : tensor<f32>\n"
             "    %high = stablehlo.constant dense<1.0> : tensor<f32>\n"
             "    %shape = stablehlo.constant dense<[" +
                 list_text(shape) +
                 "]> : tensor<2xi64>\n"
                 "    %r = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : "
                 "(tensor<f32>, tensor<f32>, tensor<2xi64>) -> " +
                 a + "\n    %y = stablehlo.add %x, %r : " + a + "\n");
    EXPECT_EQ(split_factors(Checker(instance, 1).rule()), 2);
    return instance;
  });
}

TEST(IndexRuleOf, WhileThatSumsRows) {
  check_rule(3, [](Random& random) {
    const Shape shape = random_shape(random, 2, 3);
    const std::string a = type_text(shape, "f32"), b = type_text({shape[0]}, "f32");
    Instance instance =
        loop(a, {},
             "    %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
             "    %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = "
             "[1] : (" +
                 a + ", tensor<f32>) -> " + b +
                 "\n    %t = stablehlo.broadcast_in_dim %s, dims = [0] : (" + b + ") -> " + a +
                 "\n    %y = stablehlo.add %x, %t : " + a + "\n");
    EXPECT_EQ(split_factors(Checker(instance, 1).rule()), 1);
    return instance;
  });
}

// Both dimensions go with each other: a piece would have nothing off the diagonal.
TEST(IndexRuleOf, WhileThatTransposes) {
  check_rule(2, [](Random& random) {
    const std::int64_t n = pick(random, 2, 3);
    const std::string a = type_text({n, n}, "f32");
    Instance instance = loop(a, {},
                             "    %t = stablehlo.transpose %x, dims = [1, 0] : (" + a + ") -> " +
                                 a + "\n    %y = stablehlo.add %x, %t : " + a + "\n");
    instance.exact = false;  // an element and its mirror image only
    EXPECT_EQ(split_factors(Checker(instance, 1).rule()), 0);
    return instance;
  });
}

// What is padded and cut off again is a dimension of another size in between.
TEST(IndexRuleOf, WhileThatPadsAndSlices) {
  check_rule(2, [](Random& random) {
    const std::int64_t n = pick(random, 2, 3);
    const std::string a = type_text({n}, "f32"), b = type_text({n + 2}, "f32");
    Instance instance =
        loop(a, {},
             "    %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
             "    %p = stablehlo.pad %x, %zero, low = [0], high = [2], interior = [0] : (" +
                 a + ", tensor<f32>) -> " + b + "\n    %q = stablehlo.add %p, %p : " + b +
                 "\n    %y = stablehlo.slice %q [0:" + std::to_string(n) + "] : (" + b + ") -> " +
                 a + "\n");
    instance.exact = false;
    return instance;
  });
}

TEST(IndexRuleOf, WhileInAWhile) {
  check_rule(2, [](Random& random) {
    const Shape shape = random_shape(random, 2, 3);
    const std::string a = type_text(shape, "f32"), row = type_text({shape[1]}, "f32");
    Instance instance =
        loop(a, {row},
             "    %in:2 = stablehlo.while(%u = %x, %k = %i) : " + a +
                 ", tensor<i32>\n    cond {\n"
                 "      %n = stablehlo.constant dense<2> : tensor<i32>\n"
                 "      %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> "
                 "tensor<i1>\n"
                 "      stablehlo.return %c : tensor<i1>\n"
                 "    } do {\n"
                 "      %l = stablehlo.add %k, %one : tensor<i32>\n"
                 "      %b = stablehlo.broadcast_in_dim %a2, dims = [1] : (" +
                 row + ") -> " + a + "\n      %v = stablehlo.add %u, %b : " + a +
                 "\n      stablehlo.return %v, %l : " + a + ", tensor<i32>\n    }\n" +
                 "    %y = stablehlo.multiply %in#0, %x : " + a + "\n");
    EXPECT_EQ(split_factors(Checker(instance, 1).rule()), 2);
    return instance;
  });
}

// Rules of inner loops are made once: with twenty levels, three times each would never end.
TEST(IndexRuleOf, LoopsNestedDeeply) {
  std::string loops, ends;
  for (int i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i), outer = i == 0 ? "%a0" : "%x" + std::to_string(i - 1);
    loops += "%r" + n + " = stablehlo.while(%x" + n + " = " + outer + ") : tensor<4xf32> cond {\n" +
             "%t" + n + " = stablehlo.constant dense<false> : tensor<i1>\n" +
             "stablehlo.return %t" + n + " : tensor<i1>\n} do {\n";
    const std::string inner = i == 19 ? "%x19" : "%r" + std::to_string(i + 1);
    ends = "stablehlo.return " + inner + " : tensor<4xf32>\n}\n" + ends;
  }
  auto program = read_stablehlo("func.func @main(%a0: tensor<4xf32>) -> tensor<4xf32> {\n" + loops +
                                ends + "return %r0 : tensor<4xf32>\n}\n");
  ASSERT_TRUE(program) << program.reason();
  const Region& body = program->region(program->functions[0].body);
  EXPECT_EQ(split_factors(index_rule(*program, program->op(body.ops[0]))), 1);
}

std::string branch(const std::string& type, const std::string& op) {
  return "{\n    %y = " + op + " : " + type + "\n    stablehlo.return %y : " + type + "\n  }";
}

TEST(IndexRuleOf, If) {
  check_rule(3, [](Random& random) {
    const std::string a = type_text(random_shape(random, 2, 3), "f32");
    return Instance{
        "stablehlo.if",
        module_text({"tensor<i1>", a, a},
                    "\"stablehlo.if\"(%a0) (" + branch(a, "stablehlo.add %a1, %a1") + ", " +
                        branch(a, "stablehlo.multiply %a1, %a2") + ") : (tensor<i1>) -> " + a,
                    {a})};
  });
}

TEST(IndexRuleOf, Case) {
  check_rule(3, [](Random& random) {
    const Shape shape = random_shape(random, 2, 3);
    const std::string a = type_text(shape, "f32");
    return Instance{
        "stablehlo.case",
        module_text({"tensor<i32>", a, a},
                    "\"stablehlo.case\"(%a0) (" + branch(a, "stablehlo.constant dense<2.0>") +
                        ", " + branch(a, "stablehlo.negate %a1") + ", " +
                        branch(a, "stablehlo.subtract %a2, %a1") + ") : (tensor<i32>) -> " + a,
                    {a})};
  });
}

// One branch turns a dimension around, so that one is whole.
TEST(IndexRuleOf, IfThatReverses) {
  check_rule(3, [](Random& random) {
    const std::string a = type_text(random_shape(random, 2, 3), "f32");
    Instance instance{
        "stablehlo.if",
        module_text({"tensor<i1>", a},
                    "\"stablehlo.if\"(%a0) (" + branch(a, "stablehlo.reverse %a1, dims = [0]") +
                        ", " + branch(a, "stablehlo.negate %a1") + ") : (tensor<i1>) -> " + a,
                    {a})};
    instance.exact = false;
    EXPECT_EQ(split_factors(Checker(instance, 1).rule()), 1);
    return instance;
  });
}

// Ops that have no index rule because nothing finer than "all of it" is true of them, or known.
const std::map<std::string_view, std::string_view> kWholeByNature = {
    {"func.call", "calls are inlined before anything is split"},
    {"heddle.csr_product", "which rows an entry meets is known only when it runs"},
    {"heddle.product_then", "it is made of others when they have been split"},
    {"interpreter.run_parallel", "test programs only: it is several programs at once"},
    {"sdy.manual_computation", "its body is already what one device does"},
    {"sdy.named_computation", "its body is inlined, and each op there has its own"},
    {"stablehlo.after_all", "tokens have no elements"},
    {"stablehlo.composite", "a call with a name; its decomposition is inlined"},
    {"stablehlo.create_token", "tokens have no elements"},
    {"stablehlo.custom_call", "nobody told us what it does"},
    {"stablehlo.get_tuple_element", "tuples are taken apart before anything is split"},
    {"stablehlo.infeed", "what comes from outside comes as it is"},
    {"stablehlo.outfeed", "what goes outside goes as it is"},
    {"stablehlo.recv", "the other side sends all of it"},
    {"stablehlo.send", "the other side receives all of it"},
    {"stablehlo.tuple", "tuples are taken apart before anything is split"}};

TEST(IndexRules, EveryRowHasOneOrIsWholeByNature) {
  for (const OpDef& row : op_table()) {
    if (row.results.most == 0) continue;
    const bool listed = kWholeByNature.count(row.name) != 0;
    EXPECT_NE(row.index_rule != nullptr, listed)
        << row.name
        << (listed ? " has a rule and is on the list of ops without one"
                   : " has neither a rule nor a reason to be whole");
  }
}

}  // namespace
}  // namespace heddle::index_check
