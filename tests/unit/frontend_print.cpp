// What the printer writes is what StableHLO's own printer writes, but for the names of values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heddle/stablehlo.h"
#include "heddle/verify.h"

namespace heddle {
namespace {

using ::testing::HasSubstr;

// Lines of the body of a function that print as they are.
void expect_kept(const std::string& arguments, const std::string& body) {
  const std::string text = "module {\n  func.func public @main(" + arguments + ") {\n" + body +
                           "    return\n  }\n  func.func private @f(%arg0: tensor<4xf32>) -> "
                           "tensor<4xf32> {\n    return %arg0 : tensor<4xf32>\n  }\n}\n";
  auto program = read_stablehlo(text, "t.mlir");
  ASSERT_TRUE(program) << program.reason();
  EXPECT_EQ(print_stablehlo(*program), text);
  auto again = read_stablehlo(print_stablehlo(*program, TextForm::generic));
  ASSERT_TRUE(again) << again.reason();
  auto same = same_program(*program, *again);
  EXPECT_TRUE(same) << same.reason();
}

TEST(Printer, OpsOfOneType) {
  expect_kept("%arg0: tensor<4xf32>, %arg1: tensor<4xi1>",
              "    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>\n"
              "    %1 = stablehlo.exponential %0 {result_accuracy = 5 : i32} : tensor<4xf32>\n"
              "    %2 = stablehlo.select %arg1, %0, %1 : tensor<4xi1>, tensor<4xf32>\n"
              "    %3 = stablehlo.clamp %0, %1, %2 : tensor<4xf32>\n"
              "    %4 = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xi32>\n"
              "    %5 = stablehlo.complex %0, %1 : tensor<4xcomplex<f32>>\n"
              "    %6 = stablehlo.reverse %0, dims = [0] : tensor<4xf32>\n"
              "    %7 = stablehlo.reshape %0 : (tensor<4xf32>) -> tensor<4xf32>\n"
              "    %8:2 = stablehlo.optimization_barrier %0, %4 : tensor<4xf32>, tensor<4xi32>\n"
              "    %9 = chlo.square %0 : tensor<4xf32> -> tensor<4xf32>\n"
              "    %10 = chlo.next_after %0, %1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>\n"
              "    %11 = stablehlo.reduce_precision %0, format = e8m10 : tensor<4xf32>\n"
              "    %12 = stablehlo.partition_id : tensor<ui32>\n");
}

TEST(Printer, OpsWithWords) {
  expect_kept(
      "%arg0: tensor<4xf32>, %arg1: tensor<i32>, %arg2: tensor<f32>",
      "    %0 = stablehlo.iota dim = 0 : tensor<4x2xi32>\n"
      "    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>\n"
      "    %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>\n"
      "    %3 = stablehlo.concatenate %1, %1, dim = 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> "
      "tensor<2x8xf32>\n"
      "    %4 = stablehlo.pad %arg0, %arg2, low = [1], high = [-1], interior = [0] : "
      "(tensor<4xf32>, tensor<f32>) -> tensor<4xf32>\n"
      "    %5 = stablehlo.slice %1 [0:2, 0:4:2] : (tensor<2x4xf32>) -> tensor<2x2xf32>\n"
      "    %6 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [2] : (tensor<4xf32>, tensor<i32>) "
      "-> tensor<2xf32>\n"
      "    %7 = stablehlo.compare LT, %arg0, %arg0, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> "
      "tensor<4xi1>\n"
      "    %8 = stablehlo.fft %5, type = RFFT, length = [2] : (tensor<2x2xf32>) -> "
      "tensor<2x2xcomplex<f32>>\n"
      "    %9 = stablehlo.cholesky %5, lower = true : tensor<2x2xf32>\n"
      "    %10:2 = chlo.top_k(%arg0, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)\n"
      "    check.expect_close %arg0, %4, max_ulp_difference = 3 : tensor<4xf32>\n");
}

TEST(Printer, ProductsAndConvolutions) {
  expect_kept(
      "%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>, %arg2: tensor<1x8x8x4xf32>, %arg3: "
      "tensor<3x3x4x2xf32>",
      "    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = "
      "[2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> "
      "tensor<2x3x5xf32>\n"
      "    %1 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [] x [], algorithm = "
      "<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, "
      "lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, "
      "allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> "
      "tensor<2x3x4x2x4x5xf32>\n"
      "    %2 = stablehlo.convolution(%arg2, %arg3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, "
      "0, 1, f], window = {stride = [1, 2], pad = [[0, 0], [1, 1]], lhs_dilate = [1, 1], "
      "rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, "
      "feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, "
      "#stablehlo<precision DEFAULT>]} : (tensor<1x8x8x4xf32>, tensor<3x3x4x2xf32>) -> "
      "tensor<1x6x4x2xf32>\n");
}

TEST(Printer, Regions) {
  expect_kept(
      "%arg0: tensor<4xf32>, %arg1: tensor<f32>, %arg2: tensor<4xi32>, %arg3: tensor<i32>",
      "    %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across dimensions = "
      "[0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
      "    %1:2 = stablehlo.reduce(%arg0 init: %arg1), (%arg2 init: %arg3) across dimensions = "
      "[0] : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, "
      "tensor<i32>)\n"
      "      reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: "
      "tensor<i32>) {\n"
      "      %3 = stablehlo.add %arg4, %arg6 : tensor<f32>\n"
      "      %4 = stablehlo.add %arg5, %arg7 : tensor<i32>\n"
      "      stablehlo.return %3, %4 : tensor<f32>, tensor<i32>\n"
      "    }\n"
      "    %2:2 = stablehlo.while(%arg4 = %arg0, %arg5 = %arg3) : tensor<4xf32>, tensor<i32>\n"
      "    cond {\n"
      "      %3 = stablehlo.compare LT, %arg5, %arg3 : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "      stablehlo.return %3 : tensor<i1>\n"
      "    } do {\n"
      "      %3 = func.call @f(%arg4) : (tensor<4xf32>) -> tensor<4xf32>\n"
      "      stablehlo.return %3, %arg5 : tensor<4xf32>, tensor<i32>\n"
      "    }\n");
}

TEST(Printer, CallsAndTuples) {
  expect_kept(
      "%arg0: tensor<4xf32>",
      "    %0 = stablehlo.custom_call @target(%arg0) {api_version = 2 : i32, backend_config = "
      "\"a\\22b\", has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>\n"
      "    %1 = stablehlo.composite \"my.op\" %arg0 {composite_attributes = {n = 1 : i64}, "
      "decomposition = @f, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>\n"
      "    %2 = stablehlo.tuple %0, %1 : tuple<tensor<4xf32>, tensor<4xf32>>\n"
      "    %3 = stablehlo.get_tuple_element %2[1] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> "
      "tensor<4xf32>\n"
      "    %4 = stablehlo.create_token : !stablehlo.token\n");
}

// Six digits where they are enough, then as many as the type has, then bits.
TEST(Printer, Numbers) {
  expect_kept("",
              "    %0 = stablehlo.constant dense<[1.000000e+00, 0.333333343, -0.000000e+00, "
              "9.99999993E-9, 1.17549435E-38, 0x4B800000]> : tensor<6xf32>\n"
              "    %1 = stablehlo.constant dense<[0x7F800000, 0xFFC00000]> : tensor<2xf32>\n"
              "    %2 = stablehlo.constant dense<[0.33333333333333331, 1.000000e+00]> : "
              "tensor<2xf64>\n"
              "    %3 = stablehlo.constant dense<[8.984370e-01, 3.300780e-01]> : tensor<2xbf16>\n"
              "    %4 = stablehlo.constant dense<(1.000000e+00,-2.000000e+00)> : "
              "tensor<complex<f32>>\n"
              "    %5 = stablehlo.constant dense<true> : tensor<i1>\n"
              "    %6 = stablehlo.constant dense<> : tensor<0xf32>\n"
              "    %7 = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807]> : "
              "tensor<2xi64>\n");
}

// A form that cannot say all of an op is not used.
TEST(Printer, OddOpsAreGeneric) {
  for (const char* op :
       {"%0 = \"stablehlo.constant\"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i64>",
        "%0 = \"stablehlo.compare\"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
        "%0 = \"stablehlo.iota\"() <{iota_dimension = 0 : i32}> : () -> tensor<4xf32>",
        "%0 = \"stablehlo.dot_general\"(%a, %a) <{dot_dimension_numbers = "
        "#stablehlo.dot<rhs_contracting_dimensions = [0], lhs_contracting_dimensions = [0]>}> : "
        "(tensor<4xf32>, tensor<4xf32>) -> tensor<f32>",
        "%0 = \"stablehlo.reduce_precision\"(%a) <{exponent_bits = -1 : i32, mantissa_bits = 5 : "
        "i32}> : (tensor<4xf32>) -> tensor<4xf32>",
        "%0 = \"stablehlo.get_tuple_element\"(%a) : (tensor<4xf32>) -> tensor<f32>"}) {
    auto program =
        read_stablehlo("func.func @main(%a: tensor<4xf32>) {\n" + std::string(op) + "\nreturn }");
    ASSERT_TRUE(program) << program.reason();
    const std::string text = print_stablehlo(*program);
    EXPECT_THAT(text, HasSubstr(" = \"stablehlo.")) << op;
    auto again = read_stablehlo(text);
    ASSERT_TRUE(again) << again.reason();
    EXPECT_TRUE(same_program(*program, *again)) << op;
  }
}

// Attributes of any dialect keep its name; nameless ones of known dialects are dictionaries.
TEST(Printer, AttributesOfOtherDialects) {
  expect_kept(
      "%arg0: tensor<4xf32>",
      "    %0 = stablehlo.abs %arg0 {a = #foo.bar<z = 1, y = [2, 3]>, b = #foo<kind WORD>, c "
      "= #stablehlo.baz<x = {p = 1 : i64, q = 2 : i64}>} : tensor<4xf32>\n");
  const Program p =
      read_stablehlo("module attributes {a = #chlo.y<s = <q = 2, p = 1>>} {}").value();
  EXPECT_THAT(print_stablehlo(p), HasSubstr("#chlo.y<s = {p = 1 : i64, q = 2 : i64}>"));
  EXPECT_TRUE(same_program(p, read_stablehlo(print_stablehlo(p)).value()));
}

TEST(Printer, Declarations) {
  const std::string text =
      "module {\n"
      "  func.func private @f(tensor<4xf32> {t.x = 1 : i64}, tensor<i32>) -> tensor<4xf32>\n"
      "  func.func private @g() attributes {t.y}\n"
      "  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<i32>) -> tensor<4xf32> {\n"
      "    %0 = call @f(%arg0, %arg1) : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>\n"
      "    return %0 : tensor<4xf32>\n"
      "  }\n"
      "}\n";
  const Program p = read_stablehlo(text, "t.mlir").value();
  EXPECT_EQ(print_stablehlo(p), text);
  EXPECT_TRUE(verify(p));
  const Program generic =
      read_stablehlo(
          "\"func.func\"() <{function_type = (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>, "
          "sym_name = \"f\", sym_visibility = \"private\", arg_attrs = [{t.x = 1 : i64}, {}]}> "
          "({\n}) : () -> ()\n")
          .value();
  EXPECT_THAT(print_stablehlo(generic),
              HasSubstr("@f(tensor<4xf32> {t.x = 1 : i64}, tensor<i32>) -> tensor<4xf32>\n"));
  EXPECT_FALSE(same_program(
      p, read_stablehlo(std::string(text).replace(text.find("i32"), 3, "i64")).value()));
}

// What an op came from stands behind it where that is wanted, and reads back as the same.
TEST(Printer, Locations) {
  const std::string text =
      "module {\n"
      "  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> tensor<f32> {\n"
      "    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32> loc(\"model.py\":57:0)\n"
      "    %1 = stablehlo.abs %0 : tensor<4xf32>\n"
      "    %2 = stablehlo.reduce(%1 init: %arg1) across dimensions = [0] : (tensor<4xf32>, "
      "tensor<f32>) -> tensor<f32>\n"
      "      reducer(%arg2: tensor<f32>, %arg3: tensor<f32>) {\n"
      "      %3 = stablehlo.add %arg2, %arg3 : tensor<f32> loc(\"sum\")\n"
      "      stablehlo.return %3 : tensor<f32>\n"
      "    } loc(\"a\\22b:007\")\n"
      "    return %2 : tensor<f32> loc(\"c:d\":0:0)\n"
      "  } loc(\"model.py\":3:0)\n"
      "}\n";
  const Program p = read_stablehlo(text).value();
  EXPECT_EQ(print_stablehlo(p, {.locations = true}), text);
  EXPECT_EQ(p.location(p.functions[0].loc).user, "model.py:3");
  for (TextForm form : {TextForm::pretty, TextForm::generic}) {
    const Program again =
        read_stablehlo(print_stablehlo(p, {.form = form, .locations = true})).value();
    ASSERT_EQ(again.op_count(), p.op_count());
    for (OpId id = 0; id < p.op_count(); ++id)
      EXPECT_EQ(again.location(again.op(id).loc).user, p.location(p.op(id).loc).user);
  }
  EXPECT_EQ(print_stablehlo(p).find("loc("), std::string::npos);
  EXPECT_THAT(print_stablehlo(p), HasSubstr("applies stablehlo.add"));
}

// Properties stand in <{}>, what other dialects hang on an op in {} behind its regions.
TEST(Printer, GenericFormKeepsPropertiesApart) {
  const Program p = read_stablehlo(
                        "func.func @main(%a: tensor<4xf32>) {\n%0 = stablehlo.iota dim = 0 "
                        "{mhlo.x = 1 : i64} : tensor<4xf32>\nreturn }")
                        .value();
  EXPECT_THAT(print_stablehlo(p, TextForm::generic),
              HasSubstr("%0 = \"stablehlo.iota\"() <{iota_dimension = 0 : i64}> {mhlo.x = 1 : i64} "
                        ": () -> tensor<4xf32>\n    \"func.return\"() : () -> ()"));
}

Array constant_of(const std::string& text) {
  const auto program = read_stablehlo(
      "func.func @main() {\n%0 = stablehlo.constant " + text + "\nreturn\n}\n", "t.mlir");
  return *program.value().attr(program->op(0), "value")->get<Array>();
}

// A text means the nearest number, as MLIR reads it; the least one for zero, which there is not.
TEST(Printer, NumbersOfExponentsOnlyComeBack) {
  EXPECT_EQ(constant_of("dense<0.0> : tensor<f8E8M0FNU>").bytes()[0], std::byte{0});
  EXPECT_EQ(constant_of("dense<5.9e-39> : tensor<f8E8M0FNU>").bytes()[0], std::byte{0});
  EXPECT_EQ(constant_of("dense<1.2e-38> : tensor<f8E8M0FNU>").bytes()[0], std::byte{1});
  for (unsigned bits = 0; bits < 256; ++bits) {
    const std::string text = fmt::format(
        "func.func @main() {{\n%0 = stablehlo.constant dense<0x{:02X}>"
        " : tensor<f8E8M0FNU>\nreturn\n}}\n",
        bits);
    const auto program = read_stablehlo(text, "t.mlir").value();
    const auto again = read_stablehlo(print_stablehlo(program), "again.mlir").value();
    const Array* value = again.attr(again.op(0), "value")->get<Array>();
    EXPECT_EQ(value->bytes()[0], std::byte{static_cast<unsigned char>(bits)});
  }
}

}  // namespace
}  // namespace heddle
