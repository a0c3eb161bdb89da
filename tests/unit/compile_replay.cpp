// Steps that a queue keeps and does again: the same results, and only where all lies where it did.
#include <gmock/gmock.h>

#include "compiled.h"
#include "device/cpu/device.h"
#include "test_device.h"

namespace heddle::replay_tests {
namespace {

// Three products in each turn of a loop, whose values change places from turn to turn.
Program turns_of_products() {
  return read(R"(
  func.func @main(%x: tensor<96x96xf32>, %w: tensor<96x96xf32>, %n: tensor<i32>) -> tensor<96x96xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %acc = %x) : tensor<i32>, tensor<96x96xf32>
      cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %next = stablehlo.add %i, %one : tensor<i32>
        %a = stablehlo.dot_general %acc, %w, contracting_dims = [1] x [0] : (tensor<96x96xf32>, tensor<96x96xf32>) -> tensor<96x96xf32>
        %b = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<96x96xf32>, tensor<96x96xf32>) -> tensor<96x96xf32>
        %d = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0] : (tensor<96x96xf32>, tensor<96x96xf32>) -> tensor<96x96xf32>
        stablehlo.return %next, %d : tensor<i32>, tensor<96x96xf32>
      }
    return %r#1 : tensor<96x96xf32>
  })");
}

std::vector<Array> arguments_of(std::int32_t turns) {
  const Type type = Type::tensor(DType::f32, {96, 96});
  Array x = small_numbers(type), w = small_numbers(type, 7), n(Type::tensor(DType::i32, {}));
  for (float& number : w.as_mutable<float>()) number /= 64;
  n.as_mutable<std::int32_t>()[0] = turns;
  return {x, w, n};
}

TEST(Replay, TurnsOfALoopAreDoneAgainAsTheyWere) {
  CpuDevice cpu;
  test::TestDevice late(cpu, {.one_in = 3});
  CompileOptions options;
  options.device = &late;
  const Executable on_late = compiled(turns_of_products(), options);
  const Executable on_cpu = compiled(turns_of_products());
  for (std::int32_t turns : {0, 1, 2, 7}) {
    const std::uint64_t before = late.replays;
    const auto got = on_late.run(arguments_of(turns)), want = on_cpu.run(arguments_of(turns));
    ASSERT_TRUE(got) << got.reason();
    EXPECT_TRUE(std::ranges::equal((*got)[0].bytes(), (*want)[0].bytes())) << turns;
    // Two places are exchanged: both are seen once before anything is kept.
    const std::uint64_t least = turns <= 2 ? 0 : static_cast<std::uint64_t>(turns) - 2;
    EXPECT_GE(late.replays - before, least) << turns;
    if (turns == 1) {
      EXPECT_EQ(late.replays, 0U);
    }
  }
}

TEST(Replay, TimedRunsGoStepByStep) {
  CpuDevice cpu;
  test::TestDevice late(cpu, {});
  CompileOptions options;
  options.device = &late;
  const Executable executable = compiled(turns_of_products(), options);
  std::vector<StepTime> times;
  RunOptions run;
  run.times = &times;
  ASSERT_TRUE(executable.run(arguments_of(6), run));
  EXPECT_EQ(late.replays, 0U);
  std::int64_t calls = 0;
  for (const StepTime& time : times) calls = std::max(calls, time.calls);
  EXPECT_EQ(calls, 7);  // the condition, once more than the body
}

}  // namespace
}  // namespace heddle::replay_tests
