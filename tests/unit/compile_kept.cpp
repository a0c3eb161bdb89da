// What compiled programs keep in memory, and for how long.
#include <gtest/gtest.h>

#include "compiled.h"
#include "heddle/builder.h"

namespace heddle::kept_tests {
namespace {

constexpr std::int64_t kSide = 256;
constexpr std::int64_t kSquare = kSide * kSide * 4;  // bytes
const Shape kShape = {kSide, kSide};
const Type kMatrix = Type::tensor(DType::f32, kShape);

std::int64_t peak(const Program& program, std::vector<bool> donated = {}) {
  CompileOptions options;
  options.machine_code = false;
  options.donated = std::move(donated);
  return compiled(program, options).peak().bytes;
}

// A chain of products, each of which needs its own result alone.
Var products(Var x, int count) {
  for (int i = 0; i < count; ++i) x = x.builder()->dot(x, x);
  return x;
}

TEST(Kept, RepeatedValuesAreWrittenAnewBehindAProduct) {
  Builder b;
  b.function("main", {kMatrix}, [&](const Vars& in) -> Vars {
    const Var e = b.op("exponential", {in[0]});
    const Var sums = b.broadcast(b.reduce(e, {1}, "add"), kShape, {0});
    return {products(e / sums, 3) * sums};
  });
  const Program program = b.finish().value();
  // The place of the result, operand and result of a product, and the row of sums.
  EXPECT_LE(peak(program), 3 * kSquare + kSide * 64);
}

TEST(Kept, WidenedValuesAreWrittenAnewBehindAProduct) {
  Builder b;
  b.function("main", {Type::tensor(DType::bf16, kShape)}, [&](const Vars& in) -> Vars {
    const Var narrow = b.op("exponential", {in[0]});
    const Var wide = b.convert(narrow, DType::f32);
    return {products(wide + wide, 3) * wide};
  });
  const Program program = b.finish().value();
  EXPECT_LE(peak(program), 3 * kSquare + kSquare / 2 + 64);
}

TEST(Kept, AResultTakesThePlaceOfAnArgumentThatNobodyReadsAnyMore) {
  Builder b;
  b.function("main", {kMatrix, kMatrix},
             [&](const Vars& in) -> Vars { return {products(products(in[0], 1) + in[1], 3)}; });
  const Program program = b.finish().value();
  EXPECT_EQ(peak(program) - peak(program, {true, false}), kSquare);
}

// Written early it would be kept over all products.
TEST(Kept, AKernelWaitsUntilItsLargeResultIsNeeded) {
  Builder b;
  b.function("main", {kMatrix, Type::tensor(DType::f32, {kSide, 1})}, [&](const Vars& in) -> Vars {
    const Var wide = b.op("exponential", {b.broadcast(in[1], kShape, {0, 1})});
    return {b.dot(products(in[0], 4), wide)};
  });
  EXPECT_LE(peak(b.finish().value()), 3 * kSquare + 64);
}

// Behind a barrier stands what is to be computed there and no earlier.
TEST(Kept, WhatStandsBehindABarrierIsNotComputedBefore) {
  Builder b;
  b.function("main", {kMatrix, kMatrix}, [&](const Vars& in) -> Vars {
    const Var last = products(in[0], 4);
    const Var again = products(b.op("optimization_barrier", {in[1]}), 1);
    return {b.dot(last, again)};
  });
  EXPECT_LE(peak(b.finish().value()), 3 * kSquare + 64);
}

}  // namespace
}  // namespace heddle::kept_tests
