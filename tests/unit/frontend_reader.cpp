// The reader of StableHLO text: forms, locations, constants, and what it says of mistakes.
#include <gtest/gtest.h>

#include "heddle/op.h"
#include "heddle/stablehlo.h"
#include "heddle/value_names.h"

namespace heddle {
namespace {

std::string body(const std::string& ops,
                 const std::string& args = "%a: tensor<4xf32>, %b: tensor<4xf32>") {
  return "func.func @main(" + args + ") {\n" + ops + "\n  func.return\n}\n";
}

// The one op before the return of main.
struct OneOp {
  Program program;
  const Op& op() const { return program.op(program.region(program.functions[0].body).ops[0]); }
};
OneOp one(const std::string& ops) { return {read_stablehlo(body(ops), "t.mlir").value()}; }

std::string refusal(const std::string& text) {
  auto p = read_stablehlo(text, "t.mlir");
  return p ? "it was read" : p.reason();
}

TEST(Reader, PrettyAndGenericAreTheSameProgram) {
  const std::pair<const char*, const char*> pairs[] = {
      {"%0 = stablehlo.add %a, %b : tensor<4xf32>",
       "%0 = \"stablehlo.add\"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"},
      {"%0 = stablehlo.slice %a [0:4:2] : (tensor<4xf32>) -> tensor<2xf32>",
       "%0 = \"stablehlo.slice\"(%a) <{start_indices = array<i64: 0>, limit_indices = array<i64: "
       "4>, strides = array<i64: 2>}> : "
       "(tensor<4xf32>) -> tensor<2xf32>"},
      {"%0 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
       "%0 = \"stablehlo.compare\"(%a, %b) <{compare_type = #stablehlo<comparison_type FLOAT>, "
       "comparison_direction = "
       "#stablehlo<comparison_direction LT>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>"},
      {"%0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [0] : "
       "(tensor<4xf32>, tensor<f32>) -> tensor<f32>",
       "%0 = \"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> ({\n^bb0(%x: tensor<f32>, "
       "%y: tensor<f32>):\n  %1 = stablehlo.add "
       "%x, %y : tensor<f32>\n  stablehlo.return %1 : tensor<f32>\n}) : (tensor<4xf32>, "
       "tensor<f32>) -> tensor<f32>"},
  };
  const std::string args = "%a: tensor<4xf32>, %b: tensor<4xf32>, %s: tensor<f32>";
  for (const auto& [pretty, generic] : pairs) {
    const Program p = read_stablehlo(body(pretty, args)).value();
    const Program g = read_stablehlo(body(generic, args)).value();
    auto same = same_program(p, g);
    EXPECT_TRUE(same) << pretty << ": " << same.reason();
  }
}

TEST(Reader, AByteOrderMarkIsSkipped) {
  const auto program = read_stablehlo(
      "\xEF\xBB\xBF"
      "func.func @main() { return }");
  ASSERT_TRUE(program.ok()) << program.reason();
  EXPECT_EQ(program->functions.size(), 1U);
  EXPECT_FALSE(read_stablehlo("func.func @main() {\xEF\xBB\xBF return }").ok());
}

TEST(Reader, ConstantsAreExact) {
  auto floats =
      one("%0 = stablehlo.constant dense<[0x7F800000, -0.0, 1.0e-45, 3.5]> : tensor<4xf32>");
  const auto values = floats.program.attr(floats.op(), "value")->get<Array>()->as<float>();
  EXPECT_TRUE(std::isinf(values[0]));
  EXPECT_TRUE(std::signbit(values[1]));
  EXPECT_EQ(values[2], 1.0e-45F);
  EXPECT_EQ(values[3], 3.5F);
  auto hex = one("%0 = stablehlo.constant dense<\"0x01000000FFFFFFFF\"> : tensor<2xi32>");
  EXPECT_EQ(hex.program.attr(hex.op(), "value")->get<Array>()->as<std::int32_t>()[1], -1);
  auto bits = one("%0 = stablehlo.constant dense<\"0x05\"> : tensor<3xi1>");
  EXPECT_EQ(bits.program.attr(bits.op(), "value")->get<Array>()->as<std::uint8_t>()[2], 1);
  auto huge = one("%0 = stablehlo.constant dense<0.0> : tensor<1000000x1000000xf32>");
  EXPECT_TRUE(huge.program.attr(huge.op(), "value")->get<Array>()->is_splat());
}

// All bytes, in both spellings; and each character that is no digit, at each of eight places.
TEST(Reader, HexIsExact) {
  std::string upper, lower;
  for (int b = 0; b < 259; ++b) {
    upper += fmt::format("{:02X}", b % 256);
    lower += fmt::format("{:02x}", b % 256);
  }
  for (const std::string& digits : {upper, lower}) {
    auto c = one("%0 = stablehlo.constant dense<\"0x" + digits + "\"> : tensor<259xui8>");
    const auto values = c.program.attr(c.op(), "value")->get<Array>()->as<std::uint8_t>();
    for (std::size_t b = 0; b < 259; ++b) EXPECT_EQ(values[b], b % 256);
  }
  for (int c = 1; c < 256; ++c) {
    if (std::isxdigit(c) != 0 || c == '"' || c == '\\') continue;
    for (std::size_t at : {0U, 1U, 5U, 7U, 8U}) {
      std::string digits = "0123456789";
      digits[at] = static_cast<char>(c);
      EXPECT_NE(refusal(body("%0 = stablehlo.constant dense<\"0x" + digits + "\"> : tensor<5xui8>"))
                    .find("no hex digit"),
                std::string::npos)
          << c << " at " << at;
    }
  }
}

TEST(Reader, LocationsLeadBackToTheUser) {
  const Program p =
      read_stablehlo(body("  %0 = stablehlo.add %a, %b : tensor<4xf32> loc(#loc1)") +
                         "#loc1 = loc(\"add\"(#loc2))\n#loc2 = loc(\"model.py\":57:3)\n",
                     "t.mlir")
          .value();
  const Op& op = p.op(p.region(p.functions[0].body).ops[0]);
  EXPECT_EQ(p.location(op.loc).user, "model.py:57");
  EXPECT_EQ(p.where(op.loc), "t.mlir:2:8");
}

// Arguments are called what JAX calls them, in its older attributes and in its locations.
TEST(Reader, ArgumentsAndResultsHaveNames) {
  const Program p = read_stablehlo(R"(
#loc1 = loc("params['q']")
    func.func public @main(%a: tensor<f32> {z.last = 1 : i32} loc("params['b'][0]"), %b: tensor<f32> loc(#loc1),
        %c: tensor<f32> {jax.arg_info = "old"} loc("new"), %d: tensor<f32> loc("x"(#loc2)),
        %e: tensor<f32> loc("model.py":3:4), %f: tensor<f32> loc(unknown), %g: tensor<f32>)
        -> (tensor<f32> {jax.result_info = "result['loss']"}, tensor<f32>) {
      %0 = stablehlo.add %a, %b : tensor<f32> loc(#loc1)
      return %0, %a : tensor<f32>, tensor<f32>
    }
    func.func private @inner(%a: tensor<f32> loc("jit(f)/add")) { return }
    "func.func"() <{function_type = (tensor<f32>) -> (), sym_name = "generic"}> ({
    ^bb0(%a: tensor<f32> loc(#loc1)):
      "func.return"() : () -> ()
    }) : () -> ()
#loc2 = loc("model.py":1:2)
  )")
                        .value();
  auto names = [](const Program& program, std::size_t count) {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < count; ++i)
      found.emplace_back(argument_name(program.functions[0], i));
    return found;
  };
  const std::vector<std::string> expected = {
      "params['b'][0]", "params['q']", "old", "x", "", "", "", ""};
  EXPECT_EQ(names(p, 8), expected);
  EXPECT_EQ(result_name(p.functions[0], 0), "result['loss']");
  EXPECT_EQ(result_name(p.functions[0], 1), "");
  EXPECT_EQ(argument_name(p.functions[1], 0), "");
  EXPECT_EQ(argument_name(p.functions[2], 0), "params['q']");
  for (TextForm form : {TextForm::pretty, TextForm::generic})
    EXPECT_EQ(names(read_stablehlo(print_stablehlo(p, {.form = form})).value(), 8), expected);
}

// An op is placed where it begins, also behind its regions and over several lines.
TEST(Reader, PlacesAreWhereOpsBegin) {
  const Program p =
      read_stablehlo(
          "func.func @main(%p: tensor<i1>,\n  %a: tensor<4xf32>, %s: tensor<f32>) {\n"
          "  \"stablehlo.if\"(%p) ({\n\n    \"stablehlo.return\"() : () -> ()\n  }, "
          "{\n    \"stablehlo.return\"() : () -> ()\n  }) : (tensor<i1>) -> ()\n"
          "  %0 = stablehlo.reduce(%a init: %s)\n    applies stablehlo.add\n    across "
          "dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n  return\n}")
          .value();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;
  for (OpId id : p.region(p.functions[0].body).ops) {
    const Location& l = p.location(p.op(id).loc);
    places.emplace_back(l.line, l.column);
  }
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> expected = {{3, 3}, {9, 8}, {12, 3}};
  EXPECT_EQ(places, expected);
}

TEST(Reader, PartsKeepTheLinesOfTheFile) {
  auto parts =
      read_stablehlo_all(
          body("") + "\n// -----\n" + body("%0 = stablehlo.add %a, %b : tensor<4xf32>"), "t.mlir")
          .value();
  ASSERT_EQ(parts.size(), 2U);
  const Program& p = parts[1];
  EXPECT_EQ(p.location(p.op(p.region(p.functions[0].body).ops[0]).loc).line, 8U);
}

// Columns count from the line's start, however many ops stand on it and between them.
TEST(Reader, PlacesOnOneLine) {
  const std::string region =
      "\"stablehlo.if\"(%p) ({ stablehlo.return\n }, { stablehlo.return }) : "
      "(tensor<i1>) -> () ";
  const Program p =
      read_stablehlo("func.func @main(%p: tensor<i1>) { " + region + region + "\nreturn }").value();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;
  for (OpId id : p.region(p.functions[0].body).ops)
    places.emplace_back(p.location(p.op(id).loc).line, p.location(p.op(id).loc).column);
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> expected = {{1, 35}, {2, 48}, {4, 1}};
  EXPECT_EQ(places, expected);
}

// Editors may put a byte order mark first, and MLIR a section of resources last.
TEST(Reader, WhatStandsAroundAModule) {
  EXPECT_EQ(read_stablehlo("\xEF\xBB\xBFmodule @a {}").value().name, "a");
  EXPECT_EQ(read_stablehlo_all("\xEF\xBB\xBFmodule @a {}\n// -----\n").value().size(), 1U);
  EXPECT_EQ(read_stablehlo("module @a {}\n{-# dialect_resources: {} #-}\n").value().name, "a");
}

// ---- one mistake each: where, the line, a caret, and what was expected

TEST(ReaderError, ShowsThePlace) {
  const std::string why = refusal(body("  %0 = stablehlo.add %a, %c : tensor<4xf32>"));
  EXPECT_NE(why.find("t.mlir:2:26: %c is not defined here"), std::string::npos) << why;
  EXPECT_NE(why.find("\n  2 |   %0 = stablehlo.add"), std::string::npos) << why;
  EXPECT_NE(why.find("^"), std::string::npos) << why;
}

struct Mistake {
  const char* text;
  const char* says;
};

TEST(ReaderError, EachMistakeIsNamed) {
  const Mistake mistakes[] = {
      {"%0 = stablehlo.frobnicate %a : tensor<4xf32>", "unknown operation 'stablehlo.frobnicate'"},
      {"%0 = stablehlo.ad %a, %b : tensor<4xf32>", "did you mean `stablehlo.add`"},
      {"%0 = mhlo.add %a, %b : tensor<4xf32>", "'mhlo.add'; did you mean `stablehlo.add`?"},
      {"%0 = stablehlo.add %a, %b : tensor<5xf32>", "is used as tensor<5xf32>"},
      {"%0 = stablehlo.add %a : tensor<4xf32>", "takes 2 operands and has 1"},
      {"%0, %1 = stablehlo.add %a, %b : tensor<4xf32>", "gives 1 results and 2 are named"},
      {"%a = stablehlo.add %a, %b : tensor<4xf32>", "%a is defined twice"},
      {"%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<3xf32>", "elements"},
      {"%0 = stablehlo.constant dense<\"0x0\"> : tensor<3xf32>", "odd number of digits"},
      {"%0 = stablehlo.constant dense<\"0x00\"> : tensor<3xf32>", "needs 12"},
      {"%0 = stablehlo.constant dense<300> : tensor<i8>", "does not fit i8"},
      {"%0 = stablehlo.constant dense<1> : tensor<4xfoo>", "unknown element type 'foo'"},
      {"%0 = stablehlo.constant dense<1> : tensor<?xi32>", "shapes must be static"},
      {"%0 = stablehlo.constant dense<1> : tensor<99999999999x99999999999xi8>", "too large"},
      {"%0 = stablehlo.gather %a, %b : tensor<4xf32>", "only written in quotes"},
      {"%0 = stablehlo.add %a#1, %b : tensor<4xf32>", "#1 is not one of them"},
      {"%0 = stablehlo.add %a, %b", "expected ':'"},
      {"%0 = stablehlo.transpose %a : (tensor<4xf32>) -> tensor<4xf32>", "dims"},
      {"\"stablehlo.return\"(%a", "expected"},
  };
  for (const Mistake& m : mistakes) {
    const std::string why = refusal(body(m.text));
    EXPECT_NE(why.find(m.says), std::string::npos) << m.text << "\n" << why;
  }
}

TEST(ReaderError, DeepNestingIsRefused) {
  std::string attrs;
  for (int i = 0; i < 5000; ++i) attrs += "[";
  EXPECT_NE(refusal("module attributes {x = " + attrs).find("nested too deeply"),
            std::string::npos);
}

TEST(ReaderError, TruncatedTextIsRefused) {
  const std::string whole = body("  %0 = stablehlo.add %a, %b : tensor<4xf32>");
  for (std::size_t n = 1; n + 2 < whole.size(); ++n)
    EXPECT_FALSE(read_stablehlo(whole.substr(0, n)).ok()) << whole.substr(0, n);
}

}  // namespace
}  // namespace heddle
