// Machine code that comes while the program runs: whatever is there at a launch, the results are
// the same.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <random>
#include <thread>

#include "compiled.h"
#include "device/cpu/device.h"
#include "device/lazy_code.h"
#include "heddle/log.h"

namespace heddle {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// Several kernels that hand on to one another around products: sums and products of whole numbers,
// which every order gives alike.
Program layers(int count) {
  std::string text =
      "func.func @main(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>) -> "
      "tensor<16x16xf32> {\n  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "  %c = stablehlo.constant dense<3.0> : tensor<16x16xf32>\n";
  std::string x = "%x";
  for (int i = 0; i < count; ++i) {
    text += fmt::format(R"(
      %a{0} = stablehlo.maximum {1}, %w : tensor<16x16xf32>
      %s{0} = stablehlo.reduce(%a{0} init: %z) applies stablehlo.maximum across dimensions = [{2}] :
          (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
      %b{0} = stablehlo.broadcast_in_dim %s{0}, dims = [{3}] : (tensor<16xf32>) -> tensor<16x16xf32>
      %d{0} = stablehlo.subtract %a{0}, %b{0} : tensor<16x16xf32>
      %m{0} = stablehlo.minimum %d{0}, %c : tensor<16x16xf32>)",
                        i, x, i % 2, 1 - i % 2);
    // Ops that no kernel computes stand between the layers.
    text += fmt::format(
        "%p{0} = stablehlo.dot_general %m{0}, %c, contracting_dims = [1] x [0] : "
        "(tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>\n"
        "%q{0} = stablehlo.negate %p{0} : tensor<16x16xf32>\n"
        "%r{0} = stablehlo.clamp %w, %q{0}, %c : tensor<16x16xf32>\n"
        "%t{0} = \"stablehlo.sort\"(%r{0}) <{{dimension = 1 : i64}}> ({{\n"
        "^bb0(%u: tensor<f32>, %v: tensor<f32>):\n"
        "  %l = stablehlo.compare LT, %u, %v : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "  stablehlo.return %l : tensor<i1>\n"
        "}}) : (tensor<16x16xf32>) -> tensor<16x16xf32>\n",
        i);
    x = fmt::format("%t{}", i);
  }
  return read(text + "  return " + x + " : tensor<16x16xf32>\n}\n");
}

// The CPU with a compiler of the test's choice.
class DeviceWithCompiler : public CpuDevice {
 public:
  using Code = Expected<std::shared_ptr<const DeviceCode>>;
  using Make = std::function<Code(CpuDevice&, const Kernel&)>;
  explicit DeviceWithCompiler(Make make) : make_(std::move(make)) {}

  Verdict can_compile() const override { return yes(); }
  Code compile(const Kernel& kernel) override { return make_(own_, kernel); }

 private:
  Make make_;
  CpuDevice own_;
};
using Code = DeviceWithCompiler::Code;

Executable compiled_later(const Program& program, Device& device) {
  CompileOptions options;
  options.async = true;
  options.device = &device;
  return compile(program, options).value();
}

#define HEDDLE_NEEDS_COMPILER() \
  if (const Verdict can = CpuDevice().can_compile(); !can) GTEST_SKIP() << can.reason()

void expect_equal(const std::vector<Array>& got, const std::vector<Array>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const Verdict same = compare_close(got[i], wanted[i], 0, 0);
    EXPECT_TRUE(same) << (same ? "" : same.reason());
  }
}

TEST(Async, EveryMixtureOfInterpretedAndCompiledKernelsGivesTheSame) {
  HEDDLE_NEEDS_COMPILER();
  const Program program = layers(4);
  const std::vector<Array> arguments = arguments_for(program);
  const auto wanted = interpret(program, *program.find_function("main"), arguments).value();
  std::mt19937 random(5);
  for (int turn = 0; turn < 12; ++turn) {
    const auto delay = std::chrono::microseconds(random() % 1500);
    std::atomic<int> made = 0;
    DeviceWithCompiler device([&, delay](CpuDevice& own, const Kernel& kernel) {
      std::this_thread::sleep_for(delay);
      ++made;
      return own.compile(kernel);
    });
    const Executable executable = compiled_later(program, device);
    for (int run = 0; run < 20; ++run) expect_equal(executable.run(arguments).value(), wanted);
    ASSERT_TRUE(executable.finish_compiling());
    EXPECT_GT(made, 1);
    expect_equal(executable.run(arguments).value(), wanted);
  }
}

TEST(Async, RunsBeforeAnyCodeIsThere) {
  const Program program = layers(2);
  const std::vector<Array> arguments = arguments_for(program);
  const auto wanted = interpret(program, *program.find_function("main"), arguments).value();
  std::atomic<bool> open = false;
  DeviceWithCompiler device([&](CpuDevice& own, const Kernel& kernel) {
    while (!open) std::this_thread::sleep_for(1ms);
    return own.compile(kernel);
  });
  const Executable executable = compiled_later(program, device);
  expect_equal(executable.run(arguments).value(), wanted);
  open = true;
  (void)executable.finish_compiling();
}

TEST(Async, FailureIsSaidOnceAndTheKernelsStayInterpreted) {
  const Program program = layers(3);
  const std::vector<Array> arguments = arguments_for(program);
  const auto wanted = interpret(program, *program.find_function("main"), arguments).value();
  static std::atomic<int> warnings;
  warnings = 0;
  const LogSink before = set_log_sink([](std::string_view) { ++warnings; });
  {
    DeviceWithCompiler device(
        [](CpuDevice&, const Kernel&) -> Code { return reason("no compiler today"); });
    const Executable executable = compiled_later(program, device);
    const Verdict finished = executable.finish_compiling();
    ASSERT_FALSE(finished);
    EXPECT_THAT(finished.reason(), HasSubstr("no compiler today"));
    for (int run = 0; run < 3; ++run) expect_equal(executable.run(arguments).value(), wanted);
  }
  set_log_sink(before);
  EXPECT_EQ(warnings, 1);
}

TEST(Async, DestroyedWhileCompilingLeavesTheRest) {
  const Program program = layers(4);
  static std::atomic<int> made;
  made = 0;
  {
    DeviceWithCompiler device([](CpuDevice&, const Kernel&) -> Code {
      ++made;
      std::this_thread::sleep_for(20ms);
      return reason("too late");
    });
    const Executable executable = compiled_later(program, device);
    while (made == 0) std::this_thread::sleep_for(1ms);
  }
  EXPECT_GE(made, 1);
}

// What would take long to interpret is compiled first.
TEST(Async, LargeKernelsAreWaitedFor) {
  HEDDLE_NEEDS_COMPILER();
  const Program program =
      read(R"(func.func @main(%a: tensor<4096x512xf32>) -> tensor<4096x512xf32> {
    %0 = stablehlo.add %a, %a : tensor<4096x512xf32>
    %1 = stablehlo.multiply %0, %a : tensor<4096x512xf32>
    return %1 : tensor<4096x512xf32>
  })");
  std::atomic<int> made = 0;
  DeviceWithCompiler device([&](CpuDevice& own, const Kernel& kernel) {
    std::this_thread::sleep_for(5ms);
    ++made;
    return own.compile(kernel);
  });
  const Executable executable = compiled_later(program, device);
  (void)executable.run(arguments_for(program)).value();
  EXPECT_EQ(made, 1);
}

TEST(LazyCode, MadeOnceByWhoeverComesFirst) {
  std::atomic<int> made = 0;
  DeviceWithCompiler device([&](CpuDevice&, const Kernel&) -> Code {
    ++made;
    std::this_thread::sleep_for(2ms);
    return std::shared_ptr<const DeviceCode>(std::make_shared<const CpuKernel>());
  });
  LazyCode code(Kernel{}, device);
  EXPECT_EQ(code.get(), nullptr);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      code.wait();
      EXPECT_NE(code.get(), nullptr);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(made, 1);
}

}  // namespace
}  // namespace heddle
