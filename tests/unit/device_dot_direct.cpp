// Products by oneDNN give what the interpreter gives.
#include <gtest/gtest.h>

#include "random_conv.h"
#include "run_call.h"
#include "stitch/product_plan.h"

namespace heddle::dot_direct_tests {
namespace {

using random_conv::Dice;
using random_conv::filled;
using random_conv::tensor;

struct Product {
  Program program;
  std::vector<Array> arguments;
  std::string text;
};

// Some batches, or none; either operand may be transposed.
Product draw(Dice& dice, DType type, DType result) {
  const std::int64_t batch = dice.from(0, 3), m = dice.from(1, 70), n = dice.from(1, 70),
                     k = dice.from(1, 70);
  const bool a_turned = dice.from(0, 1) == 1, b_turned = dice.from(0, 1) == 1;
  Shape a = a_turned ? Shape{k, m} : Shape{m, k}, b = b_turned ? Shape{n, k} : Shape{k, n},
        c = {m, n};
  if (batch > 0)
    for (Shape* shape : {&a, &b, &c}) shape->insert(shape->begin(), batch);
  const int first = batch > 0 ? 1 : 0;
  Product product;
  product.text = fmt::format(
      R"(func.func @main(%a: {0}, %b: {1}) -> {2} {{
  %0 = stablehlo.dot_general %a, %b, {3}contracting_dims = [{4}] x [{5}] : ({0}, {1}) -> {2}
  return %0 : {2}
}})",
      tensor(a, type), tensor(b, type), tensor(c, result),
      batch > 0 ? "batching_dims = [0] x [0], " : "", first + (a_turned ? 0 : 1),
      first + (b_turned ? 1 : 0));
  product.program = read_stablehlo(product.text).value();
  product.arguments = {filled(a, type, dice), filled(b, type, dice)};
  return product;
}

// How many the library took.
int expect_as_interpreted(DType type, DType result) {
  int taken = 0;
  for (unsigned seed = 0; seed < 80; ++seed) {
    Dice dice(seed);
    const Product p = draw(dice, type, result);
    const int workers = std::array{1, 2, 3, 7, 16}[seed % 5];
    const Op& op = run_call::only_op(p.program);
    const auto call = cpu::direct_dot_call(p.program, op, dense_views(p.program, op), workers);
    if (!call) continue;
    ++taken;
    const Array want = interpret(p.program, p.program.functions[0], p.arguments).value()[0];
    const Array got = run_call::result_of(*call, p.arguments, want.type(), workers);
    EXPECT_TRUE(run_call::same(got, want)) << "seed " << seed << "\n" << p.text;
  }
  return taken;
}

TEST(DirectDot, IsAsInterpreted) {
  HEDDLE_NEEDS_ONEDNN();
  EXPECT_GT(expect_as_interpreted(DType::f32, DType::f32), 20);
  EXPECT_GT(expect_as_interpreted(DType::bf16, DType::bf16), 20);
  EXPECT_GT(expect_as_interpreted(DType::bf16, DType::f32), 20);
}

// Where the processor has instructions for it.
TEST(DirectDot, OfBytesAndHalvesIsAsInterpreted) {
  HEDDLE_NEEDS_ONEDNN();
  expect_as_interpreted(DType::i8, DType::i32);
  expect_as_interpreted(DType::f16, DType::f16);
  expect_as_interpreted(DType::f16, DType::f32);
}

TEST(DirectDot, NoProductsAreForOthers) {
  for (const char* sizes : {"0x64x64", "2x64x0"}) {
    const std::string a = fmt::format("tensor<{}xbf16>", sizes),
                      b = std::string(sizes).starts_with("0") ? a : "tensor<2x0x64xbf16>",
                      c = fmt::format("tensor<{}x64x64xbf16>", sizes[0]);
    const Program program = read_stablehlo(fmt::format(R"(
      func.func @main(%a: {0}, %b: {1}) -> {2} {{
        %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : ({0}, {1}) -> {2}
        return %0 : {2}
      }})",
                                                       a, b, c))
                                .value();
    const Op& op = run_call::only_op(program);
    EXPECT_EQ(cpu::direct_dot_call(program, op, dense_views(program, op), 2), nullptr) << a;
  }
}

// Sums of the largest products pass 16 bits at once.
TEST(DirectDot, BytesDoNotSaturate) {
  HEDDLE_NEEDS_ONEDNN();
  const Program program = read_stablehlo(std::string(R"(
    func.func @main(%a: tensor<32x64xi8>, %b: tensor<64x32xi8>) -> tensor<32x32xi32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<32x64xi8>, tensor<64x32xi8>) -> tensor<32x32xi32>
      return %0 : tensor<32x32xi32>
    })"))
                              .value();
  const Op& op = run_call::only_op(program);
  const auto call = cpu::direct_dot_call(program, op, dense_views(program, op), 2);
  if (!call) GTEST_SKIP() << "this processor has no sums of bytes";
  const std::array<std::byte, 1> least = {std::byte{0x80}};
  const std::vector<Array> arguments = {Array::splat(Type::tensor(DType::i8, {32, 64}), least),
                                        Array::splat(Type::tensor(DType::i8, {64, 32}), least)};
  const Array got = run_call::result_of(*call, arguments, Type::tensor(DType::i32, {32, 32}), 2);
  for (std::int32_t sum : got.as<std::int32_t>()) ASSERT_EQ(sum, 64 * 128 * 128);
}

}  // namespace
}  // namespace heddle::dot_direct_tests
