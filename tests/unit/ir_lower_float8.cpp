// Floats of 8 bits as arithmetic on their bits.
#include <gtest/gtest.h>

#include <random>

#include "heddle/lower.h"
#include "ir_build.h"

namespace heddle {
namespace {

constexpr DType kLowered[] = {DType::f8e4m3fn, DType::f8e5m2, DType::f8e4m3, DType::f8e3m4};

Program conversion(DType from, DType to, std::int64_t count) {
  Builder b;
  b.function("main", {Type::tensor(from, {count})},
             [&](const Vars& in) -> Vars { return {b.convert(in[0], to)}; });
  return b.finish().value();
}

// The reference's conversion, and the one that kernels have, agree in every bit.
void expect_same(const Program& program, const Array& argument) {
  const Program lowered = lower_for_kernels(program).value();
  const auto run = [&](const Program& p) {
    return interpret(p, p.functions[0], {argument}).value()[0];
  };
  const Array a = run(program), b = run(lowered);
  ASSERT_EQ(a.type(), b.type());
  for (std::int64_t i = 0; i < a.elements(); ++i)
    ASSERT_TRUE(std::ranges::equal(a.element(i), b.element(i))) << "element " << i;
}

// What is left of a conversion is a bitcast.
TEST(Float8, OnlyItsBitsAreLeft) {
  const Program lowered = lower_for_kernels(conversion(DType::f32, DType::f8e4m3fn, 8)).value();
  for (OpId id : lowered.region(lowered.functions[0].body).ops) {
    const Op& op = lowered.op(id);
    const bool gives =
        op.result_count == 1 && lowered.type_of(lowered.result(op, 0)).dtype == DType::f8e4m3fn;
    if (gives) {
      EXPECT_EQ(op.def->name, "stablehlo.bitcast_convert");
    }
  }
}

TEST(Float8, AllBfloat16NumbersBecomeTheSame) {
  Array all(Type::tensor(DType::bf16, {1 << 16}));
  for (std::size_t i = 0; i < 1 << 16; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    std::memcpy(all.mutable_bytes().data() + 2 * i, &bits, 2);
  }
  for (DType type : kLowered) {
    SCOPED_TRACE(name(type));
    expect_same(conversion(DType::bf16, type, 1 << 16), all);
  }
}

// Near the steps of the type, where ties are.
TEST(Float8, ManyFloatsBecomeTheSame) {
  std::mt19937 dice(7);
  Array many(Type::tensor(DType::f32, {1 << 16}));
  for (float& x : many.as_mutable<float>()) {
    const std::uint32_t exponent = 100 + dice() % 50, mantissa = (dice() % 256) << 15;
    const std::uint32_t off = dice() % 3, sign = dice() & 0x80000000u;
    x = std::bit_cast<float>((sign | exponent << 23 | mantissa) + off - 1);
  }
  for (DType type : kLowered) {
    SCOPED_TRACE(name(type));
    expect_same(conversion(DType::f32, type, 1 << 16), many);
  }
}

TEST(Float8, AllOfThemAreReadBack) {
  for (DType type : kLowered)
    for (DType to : {DType::f32, DType::bf16, DType::f16, DType::f64, DType::i32}) {
      SCOPED_TRACE(fmt::format("{} to {}", name(type), name(to)));
      const Program program = conversion(type, to, 256);
      Array all(Type::tensor(type, {256}));
      for (std::size_t i = 0; i < 256; ++i) all.mutable_bytes()[i] = static_cast<std::byte>(i);
      expect_same(program, all);
    }
}

}  // namespace
}  // namespace heddle
