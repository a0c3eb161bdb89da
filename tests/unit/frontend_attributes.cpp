// Attributes of all kinds: what is read prints as it was, and reads back as the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heddle/stablehlo.h"

namespace heddle {
namespace {

using ::testing::HasSubstr;

Program with_attribute(const std::string& text) {
  return read_stablehlo("module attributes {a = " + text + "} {\n}\n", "t.mlir").value();
}

// As an attribute of a module, and of an op in both forms.
void expect_printed(const std::string& text, const std::string& printed) {
  const Program p = with_attribute(text);
  EXPECT_EQ(print_stablehlo(p), "module attributes {a = " + printed + "} {\n}\n");
  EXPECT_TRUE(same_program(p, read_stablehlo(print_stablehlo(p)).value())) << text;
  const Program op =
      read_stablehlo("func.func @main(%x: tensor<f32>) {\n  %0 = stablehlo.abs %x {t.a = " + text +
                     "} : tensor<f32>\n  return\n}\n")
          .value();
  for (TextForm form : {TextForm::pretty, TextForm::generic}) {
    EXPECT_THAT(print_stablehlo(op, form), HasSubstr("{t.a = " + printed + "}"));
    EXPECT_TRUE(same_program(op, read_stablehlo(print_stablehlo(op, form)).value())) << text;
  }
}
void expect_kept(const std::string& text) { expect_printed(text, text); }

TEST(Attribute, Indices) {
  expect_kept("dense<[0, 1]> : tensor<2xindex>");
  expect_kept("[dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]");
  expect_kept("5 : index");
  expect_kept("tensor<2xindex>");
  const Program p = with_attribute("dense<[3, -1]> : tensor<2xindex>");
  const auto* kept = p.attrs[0].value.get<Attr::Struct>();
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept->fields[0].value.get<Array>()->as<std::int64_t>()[1], -1);
}

TEST(Attribute, Arrays) {
  expect_kept("array<i64: 1, -2>");
  expect_kept("array<i1: true, false>");
  expect_kept("array<f32: 1.000000e+00, -0.000000e+00, 0x7F800000>");
  expect_kept("array<f64: 0.33333333333333331>");
  expect_kept("array<bf16>");
  expect_printed("array<f8E4M3FN: 500.0>", "array<f8E4M3FN: 0x7F>");
}

TEST(Attribute, TypesOfAllKinds) {
  for (const char* type :
       {"i32", "f8E4M3FN", "index", "none", "complex<f32>", "vector<4xf32>", "tensor<4xf32>",
        "tuple<tensor<f32>>", "!stablehlo.token", "!foo.bar", "!foo.bar<x, [\"]>\"]>",
        "(i32) -> i32", "() -> ()", "(tensor<4xf32>, index) -> (i32, f32)",
        "() -> (() -> !foo.bar<a -> b>)"})
    expect_kept(type);
  expect_printed("(i32) -> (i32)", "(i32) -> i32");
}

// What no one here knows stays as it stands; blanks count as one.
TEST(Attribute, OtherDialects) {
  for (const char* text :
       {"#foo.bar", "#foo.bar<>", "#foo.bar<1 to 2, (a) -> b, [\"x>\\22\"], {c}>", "#foo<a b>",
        "#foo.bar<\"a  b\">", "affine_map<(d0) -> (d0)>",
        "#sdy.op_sharding_rule<([i, j])->([k, l], []) {i=256, j=256}, custom>"})
    expect_kept(text);
  expect_printed("#foo.bar<a =\n    1 >", "#foo.bar<a = 1 >");
}

TEST(Attribute, EmptyListsInStructures) {
  expect_kept("#stablehlo.a<x = [], y = [1]>");
  expect_printed("#stablehlo.a<x = array<i64>>", "#stablehlo.a<x = []>");
}

// Found by fuzzing: such an attribute has no place in the pretty form.
TEST(Attribute, OfAnotherDialectWhereAWordIsExpected) {
  const Program p =
      read_stablehlo(
          "func.func @main(%a: tensor<f32>) {\n%0 = \"stablehlo.compare\"(%a, %a) "
          "<{comparison_direction = #other<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) "
          "-> tensor<i1>\nreturn }")
          .value();
  EXPECT_TRUE(same_program(p, read_stablehlo(print_stablehlo(p)).value()));
}

TEST(Attribute, AliasesInOtherDialectsAreWrittenOut) {
  const Program p = read_stablehlo(
                        "#one = #foo.one<\"#two\">\n!t = tensor<4xf32>\nmodule attributes {a = "
                        "#foo.bar<#one, !t, #none>} {}\n")
                        .value();
  EXPECT_THAT(print_stablehlo(p), HasSubstr("#foo.bar<#foo.one<\"#two\">, tensor<4xf32>, #none>"));
}

TEST(Attribute, WholeNumbers) {
  expect_printed("0xFF : i32", "255 : i32");
  expect_printed("-0x10", "-16 : i64");
  expect_printed("0xFFFFFFFF : i32", "-1 : i32");
  expect_printed("255 : i8", "-1 : i8");
  expect_kept("255 : ui8");
  expect_kept("18446744073709551615 : ui64");
  expect_kept("-9223372036854775808 : i64");
}

// Every pattern of the narrow types; of the wide ones those that are special.
TEST(Attribute, FloatsKeepTheirBits) {
  for (DType dtype : all_dtypes()) {
    if (!is_float(dtype)) continue;
    std::vector<std::uint64_t> patterns;
    const int width = bits(dtype);
    for (std::uint64_t i = 0; i < 512; ++i) {  // from zero on, and around the sign's bit
      patterns.push_back(i);
      patterns.push_back(~i & (~std::uint64_t{0} >> (64 - width)));
      patterns.push_back((std::uint64_t{1} << (width - 1)) + i);
    }
    for (std::uint64_t top = 0; top < 256 && width > 8; ++top)
      patterns.push_back(top << (width - 8));
    for (std::uint64_t pattern : patterns) {
      if (pattern >> (width - 1) > 1) continue;
      const std::string text = fmt::format("0x{:X} : {}", pattern, name(dtype));
      const Program p = with_attribute(text);
      const Program again = read_stablehlo(print_stablehlo(p)).value();
      ASSERT_TRUE(same_program(p, again)) << text << "\n" << print_stablehlo(p);
      // The same pattern as an element of a constant prints as the same number.
      const Program element =
          with_attribute(fmt::format("dense<0x{:X}> : tensor<{}>", pattern, name(dtype)));
      const std::string printed = print_stablehlo(element);
      const std::size_t from = printed.find("dense<") + 6;
      EXPECT_THAT(print_stablehlo(p),
                  HasSubstr("a = " + printed.substr(from, printed.find('>') - from)))
          << text;
    }
  }
}

TEST(Attribute, FloatsInBits) {
  expect_kept("0xFF80 : bf16");
  expect_kept("0x7C01 : f16");
  expect_kept("0x7FF8000000000000 : f64");
  expect_kept("0x7FF0000000000001 : f64");
  expect_kept("0x7FA00000 : f32");
  expect_kept("1.500000e+00");
  expect_printed("500.0 : f8E4M3FN", "0x7F : f8E4M3FN");
  expect_printed("0x3C00 : f16", "1.000000e+00 : f16");
}

}  // namespace
}  // namespace heddle
