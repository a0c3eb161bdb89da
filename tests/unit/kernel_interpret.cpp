// What kernels mean.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heddle/builder.h"
#include "heddle/interpreter.h"
#include "heddle/op.h"
#include "ir/eval/scalar.h"
#include "kernel_examples.h"

namespace heddle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(KernelInterpret, SoftmaxOfRowsInBlocks) {
  const std::int64_t rows = 5, columns = 7;
  const Kernel kernel = examples::softmax(rows, columns, 2);
  KernelData data(kernel);
  std::vector<float> x;
  for (int i = 0; i < 35; ++i) x.push_back(std::sin(static_cast<float>(i)) * 3);
  data.set(0, x);
  const Verdict ran = data.run(kernel);
  ASSERT_TRUE(ran) << ran.reason();
  const auto y = data.get<float>(1);
  for (std::size_t r = 0; r < 5; ++r) {
    float most = x[r * 7], sum = 0;
    for (std::size_t j = 0; j < 7; ++j) most = std::max(most, x[r * 7 + j]);
    for (std::size_t j = 0; j < 7; ++j) sum += std::exp(x[r * 7 + j] - most);
    for (std::size_t j = 0; j < 7; ++j)
      EXPECT_NEAR(y[r * 7 + j], std::exp(x[r * 7 + j] - most) / sum, 1e-6) << r << ", " << j;
  }
}

TEST(KernelInterpret, ChunksBeginAndPhasesFollow) {
  for (std::int64_t chunks : {1, 3, 8}) {
    const Kernel kernel = examples::column_sum(9, 6, chunks);
    KernelData data(kernel);
    std::vector<float> x;
    for (int i = 0; i < 54; ++i) x.push_back(static_cast<float>(i));
    data.set(0, x);
    const Verdict ran = data.run(kernel);
    ASSERT_TRUE(ran) << ran.reason();
    // 9 rows of 6: column j sums j, j+6, …, j+48.
    EXPECT_THAT(data.get<float>(1), ElementsAre(216, 225, 234, 243, 252, 261)) << chunks;
  }
}

TEST(KernelInterpret, ScansKeepEveryStep) {
  const Kernel kernel = examples::running_sum(2, 4);
  KernelData data(kernel);
  data.set<std::int32_t>(0, {1, 2, 3, 4, 10, -20, 30, -40});
  ASSERT_TRUE(data.run(kernel));
  EXPECT_THAT(data.get<std::int32_t>(1), ElementsAre(1, 3, 6, 10, 10, -10, 20, -20));
}

TEST(KernelInterpret, GraphsCombineSeveralValues) {
  const Kernel kernel = examples::largest_place(4, 3);
  KernelData data(kernel);
  data.set<float>(0, {1, 5, 5, -1, -2, -3, 0, 0, 4, 9, 2, 9});
  const Verdict ran = data.run(kernel);
  ASSERT_TRUE(ran) << ran.reason();
  EXPECT_THAT(data.get<float>(1), ElementsAre(5, -1, 4, 9));
  EXPECT_THAT(data.get<std::int32_t>(2), ElementsAre(1, 0, 2, 0));
}

TEST(KernelInterpret, GuardsKeepUpdatesInside) {
  const Kernel kernel = examples::scatter_add(4, 5, false);
  KernelData data(kernel);
  data.set<float>(0, {1, 2, 3, 4});
  data.set<std::int32_t>(1, {3, -1, 0, 3, 4});
  data.set<float>(2, {10, 20, 30, 40, 50});
  const Verdict ran = data.run(kernel);
  ASSERT_TRUE(ran) << ran.reason();
  EXPECT_THAT(data.get<float>(3), ElementsAre(31, 2, 3, 54));
}

TEST(KernelInterpret, LoadsOutsideTheirGuardGiveTheOther) {
  const Kernel kernel = examples::padded(3, 2, 1);
  KernelData data(kernel);
  data.set<BF16>(0, {BF16(1.0), BF16(2.5), BF16(-3.0)});
  const Verdict ran = data.run(kernel);
  ASSERT_TRUE(ran) << ran.reason();
  std::vector<double> got;
  for (BF16 y : data.get<BF16>(1)) got.push_back(double(y));
  EXPECT_THAT(got, ElementsAre(7, 7, 2, 5, -6, 7));
}

TEST(KernelInterpret, NothingRunsWhereAnExtentIsZero) {
  const Kernel kernel = examples::softmax(0, 4);
  KernelData data(kernel);
  EXPECT_TRUE(data.run(kernel));
}

// ---- what it refuses

TEST(KernelInterpret, AnAccessOutsideIsAReason) {
  Kernel kernel = examples::padded(3, 2, 1);
  Node& load = kernel.phases[0].stages[2].nodes.back();
  load.in = {load.in[0], kNone, kNone};
  KernelData data(kernel);
  const Verdict ran = data.run(kernel);
  ASSERT_FALSE(ran);
  EXPECT_THAT(ran.reason(), HasSubstr("phase 0, stage 2"));
  EXPECT_THAT(ran.reason(), HasSubstr("reads element -2 of buffer 2, which has 3"));
}

TEST(KernelInterpret, WhatNobodyWroteIsNotRead) {
  Kernel kernel = examples::running_sum(2, 4);
  kernel.phases[0].stages.erase(kernel.phases[0].stages.begin());
  KernelData data(kernel);
  const Verdict ran = data.run(kernel);
  ASSERT_FALSE(ran);
  EXPECT_THAT(ran.reason(), HasSubstr("reads element 0 of buffer 2, which nobody has written"));
}

TEST(KernelInterpret, BlocksForgetWhatOthersLeft) {
  Kernel kernel = examples::running_sum(2, 4);
  // The total is cleared for each chunk only, but scratch lasts for one block.
  Phase& phase = kernel.phases[0];
  phase.chunks = 1;
  phase.begin.push_back(phase.stages[0]);
  phase.stages.erase(phase.stages.begin());
  KernelData data(kernel);
  EXPECT_THAT(data.run(kernel).reason(), HasSubstr("nobody has written"));
}

TEST(KernelInterpret, BuffersMustHaveTheirSize) {
  const Kernel kernel = examples::running_sum(2, 4);
  KernelData data(kernel);
  data.bytes[1].pop_back();
  EXPECT_THAT(data.run(kernel).reason(), HasSubstr("buffer 1 has 32 bytes, but 31 were given"));
}

// ---- elementwise ops are the reference's, bit by bit

std::vector<std::byte> interesting(DType type, std::int64_t n, std::uint64_t seed) {
  std::vector<std::byte> bytes;
  const auto size = static_cast<std::size_t>(byte_size(type));
  for (std::int64_t i = 0; i < n; ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    const double special[] = {0,   -0.0, 1,    -1,     0.5,      2.5,       -2.5,         3.5,
                              127, -128, 1e30, -1e-30, HUGE_VAL, -HUGE_VAL, std::nan(""), 65504};
    std::uint64_t bits = seed >> 11 ^ seed << 40;
    if (seed >> 60 < 9)
      bits = dispatch(type, [&](auto tag) -> std::uint64_t {
        using T = typename decltype(tag)::type;
        const T value = convert_scalar<T>(special[seed >> 40 & 15]);
        std::uint64_t out = 0;
        std::memcpy(&out, static_cast<const void*>(&value), std::min<std::size_t>(sizeof(T), 8));
        return out;
      });
    if (type == DType::i1) bits &= 1;
    for (std::size_t b = 0; b < size; ++b)
      bytes.push_back(static_cast<std::byte>(bits >> (8 * b) & 0xff));
  }
  return bytes;
}

// The op of a program that computes it; compare by its word.
Array reference(ScalarOp op, const std::vector<Array>& in, DType to) {
  Builder b;
  std::vector<Type> types;
  for (const Array& array : in) types.push_back(array.type());
  const Type result = Type::tensor(to, in.back().shape());
  b.function("main", types, [&](const Vars& x) -> Vars {
    const std::pair<ScalarOp, std::string_view> directions[] = {
        {ScalarOp::equal, "EQ"},      {ScalarOp::not_equal, "NE"}, {ScalarOp::less, "LT"},
        {ScalarOp::less_equal, "LE"}, {ScalarOp::greater, "GT"},   {ScalarOp::greater_equal, "GE"}};
    for (const auto& [comparison, word] : directions)
      if (comparison == op) return {b.compare(word, x[0], x[1])};
    if (op == ScalarOp::bitcast) return {b.bitcast(x[0], to)};
    for (const OpDef& def : op_table())
      if (def.scalar == op) return {b.op(def.name, x, result)};
    return {};
  });
  const Program program = b.finish().value();
  return interpret(program, program.functions[0], in).value()[0];
}

TEST(KernelInterpret, EveryOperationIsTheReferences) {
  const std::int64_t n = 64;
  for (DType from : all_dtypes())
    for (DType to : all_dtypes()) {
      const Kernel kernel = examples::all_operations(from, to, n);
      if (kernel.buffers.size() == 3) continue;
      KernelData data(kernel);
      std::vector<Array> in;
      for (std::uint32_t k = 0; k < 3; ++k) {
        data.bytes[k] = interesting(from, n, 77 * k + static_cast<std::uint64_t>(from));
        in.emplace_back(Type::tensor(from, {n}), data.bytes[k]);
      }
      const Verdict ran = data.run(kernel);
      ASSERT_TRUE(ran) << ran.reason();
      for (const Statement& statement : kernel.phases[0].stages[0].statements) {
        const Node& node = kernel.phases[0].stages[0].nodes[statement.values[0]];
        // Programs have no abs and sign of unsigned numbers; select stands in a graph above.
        const bool is_unsigned = from >= DType::ui8 && from <= DType::ui64;
        if (is_unsigned && (node.op == ScalarOp::abs || node.op == ScalarOp::sign)) continue;
        if (node.op == ScalarOp::select) continue;
        std::vector<Array> operands(in.begin(), in.begin() + operand_count(node.op));
        EXPECT_EQ(Array(Type::tensor(to, {n}), data.bytes[statement.buffers[0]]),
                  reference(node.op, operands, to))
            << name(node.op) << " of " << name(from) << " to " << name(to);
      }
    }
}

// ---- neutral values

TEST(KernelNeutral, ChangesNothing) {
  for (DType type : all_dtypes())
    for (ScalarOp op : {ScalarOp::add, ScalarOp::multiply, ScalarOp::minimum, ScalarOp::maximum,
                        ScalarOp::bit_and, ScalarOp::bit_or, ScalarOp::bit_xor}) {
      const ScalarFunction combine = scalar_function(op, type, type);
      if (!combine) continue;
      const std::uint64_t neutral = neutral_bits(op, type);
      const auto bytes = interesting(type, 200, 5);
      const auto size = static_cast<std::size_t>(byte_size(type));
      for (std::size_t i = 0; i < 200; ++i) {
        std::uint64_t x = 0;
        std::memcpy(&x, bytes.data() + i * size, size);
        const bool nan =
            is_float(type) && scalar_function(ScalarOp::not_equal, type, DType::i1)(x, x, 0);
        if (nan) continue;
        EXPECT_EQ(combine(neutral, x, 0), x) << name(op) << " of " << name(type);
        EXPECT_EQ(combine(x, neutral, 0), x) << name(op) << " of " << name(type);
      }
    }
}

}  // namespace
}  // namespace heddle
