// Texts that would take too much time, stack or memory: each is refused, and soon.
#include "heddle/interpreter.h"
#include "heddle/npy.h"
#include "heddle/stablehlo.h"
#include "heddle/verify.h"
#include "wrong_use.h"

namespace heddle {
namespace {

Expected<Program> text(const std::string& content) { return read_stablehlo(content, "t.mlir"); }
Expected<Program> constant(const std::string& dense) {
  return text("func.func @main() {\n  %0 = stablehlo.constant " + dense + "\n  return\n}");
}
std::string repeat(const std::string& part, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += part;
  return all;
}

// ---- shapes and constants

WRONG_USE(LimitError, MoreElementsThanCanBe, constant("dense<0> : tensor<16777216x33554432xi8>"),
          "t.mlir:2:", "too large: 2^48 elements")
WRONG_USE(LimitError, SizeThatIsNoNumber, constant("dense<0> : tensor<99999999999999999999xi8>"),
          "too large")
WRONG_USE(LimitError, MoreDimensionsThanCanBe,
          constant("dense<0> : tensor<" + repeat("1x", 65) + "i8>"), "more than 64 dimensions")
WRONG_USE(LimitError, HugeList, constant("dense<[0, 1]> : tensor<281474976710656xi8>"),
          "too large for a list")
WRONG_USE(LimitError, FewHexDigitsForAHugeTensor,
          constant("dense<\"0x0001\"> : tensor<281474976710656xi32>"), "has 2 bytes", "needs")
WRONG_USE(LimitError, TruncatedHex,
          text("func.func @main() {\n  %0 = stablehlo.constant dense<\"0x" + repeat("00", 1000)),
          "t.mlir:2:", "does not end")
WRONG_USE(LimitError, HexWithOneDigitTooFew, constant("dense<\"0x0000000\"> : tensor<1xf32>"),
          "odd number of digits")
WRONG_USE(LimitError, HexWithOneByteTooFew,
          constant("dense<\"0x" + repeat("00", 15) + "\"> : tensor<4xf32>"), "has 15 bytes",
          "needs 16")
WRONG_USE(LimitError, HexWithALetterTooMuch, constant("dense<\"0x0000000G\"> : tensor<1xf32>"),
          "no hex digit")
WRONG_USE(LimitError, HexWithAControlCharacter,
          constant("dense<\"0x000000\x10\x10\"> : tensor<1xf32>"), "no hex digit")

// A splat is one element, however large its tensor: reading, verifying and printing need no more.
TEST(Limit, HugeSplatsAreSmall) {
  const Program p = constant("dense<1.5> : tensor<281474976710656xf32>").value();
  EXPECT_TRUE(verify(p));
  const std::string printed = print_stablehlo(p);
  EXPECT_THAT(printed, ::testing::HasSubstr("dense<1.500000e+00> : tensor<281474976710656xf32>"));
  EXPECT_TRUE(same_program(p, text(printed).value()));
}

Expected<std::vector<Array>> run(const std::string& content) {
  const Program p = text(content).value();
  return interpret(p, *p.find_function("main"), {});
}
WRONG_USE(LimitError, HugeSplatThatIsUsed,
          run("func.func @main() {\n  %0 = stablehlo.constant dense<1.5> : "
              "tensor<1000000000000xf32>\n  %1 = stablehlo.add %0, %0 : tensor<1000000000000xf32>"
              "\n  return\n}"),
          "t.mlir:3:8", "[add]", "memory", "limit")
WRONG_USE(LimitError, FunctionsThatCallOneAnother,
          run("func.func @main() {\n  func.call @g() : () -> ()\n  return\n}\nfunc.func @g() {\n  "
              "func.call @main() : () -> ()\n  return\n}"),
          "[call]", "in a circle", "@main -> @g -> @main")

// ---- nesting

WRONG_USE(LimitError, DeepLists, text("module attributes {x = " + repeat("[", 100000)),
          "nested too deeply: 200")
WRONG_USE(LimitError, DeepDictionaries, text("module attributes {x = " + repeat("{a = ", 100000)),
          "nested too deeply")
WRONG_USE(LimitError, DeepStructs,
          text("module attributes {x = #stablehlo.a" + repeat("<a = ", 100000)),
          "nested too deeply")
WRONG_USE(LimitError, DeepTuples, text("func.func @f(%a: " + repeat("tuple<", 100000)),
          "nested too deeply")
WRONG_USE(LimitError, DeepRegions,
          text("func.func @f(%a: tensor<i1>) {\n" + repeat("\"stablehlo.if\"(%a) ({\n", 10000)),
          "t.mlir:402:", "nested too deeply: 400 regions")
WRONG_USE(LimitError, DeepModules, text(repeat("module {\n", 10000)), "nested too deeply")
WRONG_USE(LimitError, DeepLocations,
          text("func.func @f() { return loc(" + repeat("callsite(", 100000)),
          "nested too deeply: 1000")
WRONG_USE(LimitError, DeepBrackets, constant("dense<" + repeat("[", 100000)), "does not end")

// ---- aliases

std::string doubling(char mark, const std::string& first, const std::string& open, char close) {
  std::string all = fmt::format("{}a0 = {}\n", mark, first);
  for (int i = 1; i < 64; ++i)
    all += fmt::format("{0}a{1} = {3}{0}a{2}, {0}a{2}{4}\n", mark, i, i - 1, open, close);
  return all;
}
WRONG_USE(LimitError, AttributesThatDouble,
          text(doubling('#', "[\"x\"]", "[", ']') + "module attributes {x = #a63} {}"),
          "aliases stand for too much")
WRONG_USE(LimitError, TypesThatDouble,
          text(doubling('!', "tensor<f32>", "tuple<", '>') + "func.func @f(%a: !a63) { return }"),
          "aliases stand for too much")
WRONG_USE(LimitError, AttributeOfItself, text("#a = [#a]\nmodule attributes {x = #a} {}"),
          "nested too deeply")
WRONG_USE(LimitError, TypeOfItself, text("!a = tuple<!a>\nfunc.func @f(%a: !a) { return }"),
          "nested too deeply")
WRONG_USE(LimitError, LocationOfItself,
          text("#loc1 = loc(callsite(#loc1 at #loc1))\nfunc.func @f() { return loc(#loc1) }"),
          "nested too deeply")

// ---- other

WRONG_USE(LimitError, AttributeWithoutAKind, text("module attributes {x = #foo.<a = 1>} {}"),
          "t.mlir:1:24", "'#foo.' names no kind")
WRONG_USE(LimitError, FieldTwiceInADictionary,
          text("module attributes {x = #foo.bar<s = <a = 1, a = 2>>} {}"), "a is given twice")

WRONG_USE(
    LimitError, MeshesWithoutEnd,
    [] {
      std::string all;
      for (int i = 0; i < 1001; ++i) all += fmt::format("sdy.mesh @m{} = <[]>\n", i);
      return text(all);
    }(),
    "t.mlir:1001:10", "more than 1000 meshes")
WRONG_USE(LimitError, ResultsWithoutEnd, text("func.func @f() { %0:99999999 = \"x\"() }"),
          "1 to 1048576 results")
std::string npy_of_shape(std::string_view shape) {
  std::string header =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': {}}}", shape);
  header.resize(118, ' ');
  std::string file("\x93NUMPY\x01\x00\x76\x00", 10);
  return file.append(header);
}
WRONG_USE(LimitError, NpyOfAHugeShape, parse_npy(npy_of_shape("(99999999999, 99999999999)")),
          "2^63 bytes")

// Each name of an inner region hides one from outside; the time stays linear.
TEST(Limit, ManyHiddenNames) {
  std::string values;
  for (int i = 0; i < 20000; ++i)
    values += fmt::format("%v{} = stablehlo.constant dense<true> : tensor<i1>\n", i);
  const std::string end = "\"stablehlo.return\"() : () -> ()\n";
  EXPECT_TRUE(text("func.func @f(%p: tensor<i1>) {\n" + values + "\"stablehlo.if\"(%p) ({\n" +
                   values + end + "}, {\n" + values + end + "}) : (tensor<i1>) -> ()\nreturn }"));
}

// A deep call stack of the user is a long chain of locations.
TEST(Limit, LongChainsOfLocations) {
  std::string all;
  for (int i = 0; i < 400; ++i)
    all += fmt::format("#loc{} = loc(callsite(#loc{} at \"g.py\":2:1))\n", i, i + 1);
  const Program p =
      text(all + "#loc400 = loc(\"f.py\":7:1)\nfunc.func @f() { return loc(#loc0) }").value();
  EXPECT_EQ(p.location(p.op(0).loc).user, "f.py:7");
}

}  // namespace
}  // namespace heddle
