// Whole programs on a CUDA device, through the runtime, give what the reference gives.
#include <gmock/gmock.h>

#include "../property/random_kernel.h"
#include "../property/random_program.h"
#include "gpu_device.h"
#include "heddle/compile.h"
#include "heddle/inputs.h"
#include "heddle/interpreter.h"
#include "heddle/signature.h"
#include "heddle/stablehlo.h"

namespace heddle {
namespace {

using property::Decisions;
using property::Dice;
using property::RandomProgram;

class GpuProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  }
  static Target target() {
    Target target;
    target.options.device = *gpu::device();
    return target;
  }
};

// HEDDLE_GPU_PROGRAMS: how many.
int random_programs() {
  const char* text = std::getenv("HEDDLE_GPU_PROGRAMS");
  return text == nullptr ? 200 : std::atoi(text);
}

TEST_F(GpuProgram, RandomProgramsAgree) {
  const std::int64_t before = (*gpu::device())->live_bytes();
  int compared = 0;
  for (int seed = 0; seed < random_programs(); ++seed) {
    Dice dice(static_cast<std::uint64_t>(seed));
    const auto made = RandomProgram(Decisions(dice), {.most_ops = 30}).make();
    ASSERT_TRUE(made) << made.reason();
    const auto reference = interpret(made->program, made->program.functions[0], made->arguments);
    ASSERT_TRUE(reference) << reference.reason();
    Target on = target();
    on.options.entry = made->program.functions[0].name;
    const auto executable = compile(made->program, on);
    ASSERT_TRUE(executable) << "seed " << seed << ": " << executable.reason();
    for (int turn = 0; turn < 2; ++turn) {
      const auto got = executable->run(made->arguments);
      ASSERT_TRUE(got) << "seed " << seed << ": " << got.reason();
      const Verdict same = property::agree(*reference, *got, made->errors);
      EXPECT_TRUE(same) << "seed " << seed << ": " << same.reason();
    }
    ++compared;
  }
  EXPECT_EQ(compared, random_programs());
  EXPECT_EQ((*gpu::device())->live_bytes(), before);
}

Program read(std::string_view text) { return read_stablehlo(std::string(text)).value(); }

Array numbered(const Type& type) {
  Array array(type);
  float next = -1;
  for (float& number : array.as_mutable<float>()) number = next = next > 1 ? -1 : next + 0.013f;
  return array;
}

void expect_near(const Array& a, const Array& b) {
  ASSERT_EQ(a.as<float>().size(), b.as<float>().size());
  for (std::size_t i = 0; i < a.as<float>().size(); ++i)
    ASSERT_NEAR(a.as<float>()[i], b.as<float>()[i], 1e-3) << i;
}

TEST_F(GpuProgram, ProductsAreCallsAndAgree) {
  for (const char* dims : {"[1] x [0]", "[0] x [0]", "[1] x [1]", "[0] x [1]"}) {
    const Program program = read(fmt::format(R"(
      func.func @main(%a: tensor<160x160xf32>, %b: tensor<160x160xf32>) -> tensor<160x160xf32> {{
        %0 = stablehlo.dot_general %a, %b, contracting_dims = {} :
          (tensor<160x160xf32>, tensor<160x160xf32>) -> tensor<160x160xf32>
        return %0 : tensor<160x160xf32>
      }})",
                                             dims));
    const Type type = Type::tensor(DType::f32, {160, 160});
    const std::vector<Array> arguments{numbered(type), numbered(type)};
    const auto executable = compile(program, target());
    ASSERT_TRUE(executable) << executable.reason();
    const auto got = executable->run(arguments);
    ASSERT_TRUE(got) << got.reason();
    expect_near(interpret(program, program.functions[0], arguments).value()[0], (*got)[0]);
  }
}

TEST_F(GpuProgram, BatchesOfProductsAgree) {
  const Program program = read(R"(
    func.func @main(%a: tensor<6x40x5x64xf32>, %b: tensor<6x48x5x64xf32>) -> tensor<6x5x40x48xf32> {
      %0 = stablehlo.dot_general %a, %b, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3]
        : (tensor<6x40x5x64xf32>, tensor<6x48x5x64xf32>) -> tensor<6x5x40x48xf32>
      return %0 : tensor<6x5x40x48xf32>
    })");
  const std::vector<Array> arguments{numbered(Type::tensor(DType::f32, {6, 40, 5, 64})),
                                     numbered(Type::tensor(DType::f32, {6, 48, 5, 64}))};
  const auto got = compile(program, target()).value().run(arguments);
  ASSERT_TRUE(got) << got.reason();
  expect_near(interpret(program, program.functions[0], arguments).value()[0], (*got)[0]);
}

// Every element of every type comes where it belongs: tiles that fit, and those that are cut off.
TEST_F(GpuProgram, TransposesAgree) {
  struct Case {
    const char *from, *permutation, *to;
  };
  for (const Case& c :
       {Case{"256x320", "1, 0", "320x256"}, Case{"250x331", "1, 0", "331x250"},
        Case{"3x64x40x24", "0, 2, 3, 1", "3x40x24x64"},
        Case{"4x72x5x48", "0, 2, 3, 1", "4x5x48x72"}, Case{"6x48x56", "2, 1, 0", "56x48x6"}})
    for (const char* type : {"f64", "f32", "bf16", "i8", "i1"}) {
      const Program program = read(fmt::format(R"(
        func.func @main(%x: tensor<{0}x{3}>) -> tensor<{2}x{3}> {{
          %0 = stablehlo.transpose %x, dims = [{1}] : (tensor<{0}x{3}>) -> tensor<{2}x{3}>
          return %0 : tensor<{2}x{3}>
        }})",
                                               c.from, c.permutation, c.to, type));
      const Type in = argument_types(program, program.functions[0])[0];
      const std::vector<Array> arguments{random_array(in, 3)};
      const auto got = compile(program, target()).value().run(arguments);
      ASSERT_TRUE(got) << got.reason();
      EXPECT_EQ(interpret(program, program.functions[0], arguments).value()[0], (*got)[0])
          << c.from << " of " << type;
    }
}

// Channels first, normalised, channels last: a tile in shared memory, turned.
TEST_F(GpuProgram, ATransposedNormAgrees) {
  const Program program = read(R"(
    func.func @main(%x: tensor<4x256x320xf32>) -> tensor<4x320x256xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.transpose %x, dims = [0, 2, 1] : (tensor<4x256x320xf32>) -> tensor<4x320x256xf32>
      %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [2]
        : (tensor<4x320x256xf32>, tensor<f32>) -> tensor<4x320xf32>
      %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<4x320xf32>) -> tensor<4x320x256xf32>
      %3 = stablehlo.subtract %0, %2 : tensor<4x320x256xf32>
      return %3 : tensor<4x320x256xf32>
    })");
  const std::vector<Array> arguments{numbered(Type::tensor(DType::f32, {4, 256, 320}))};
  const auto got = compile(program, target()).value().run(arguments);
  ASSERT_TRUE(got) << got.reason();
  expect_near(interpret(program, program.functions[0], arguments).value()[0], (*got)[0]);
}

// Values that stay on the device from one run to the next.
TEST_F(GpuProgram, BuffersStayThere) {
  const Program program = read(R"(
    func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
      %0 = stablehlo.add %x, %x : tensor<1000xf32>
      return %0 : tensor<1000xf32>
    })");
  const Executable executable = compile(program, target()).value();
  const auto queue = (*gpu::device())->queue();
  const Array start = numbered(Type::tensor(DType::f32, {1000}));
  Buffer x = to_device(*queue, start).value();
  for (int step = 0; step < 10; ++step) x = executable.run_on_device({x}).value()[0];
  const Array end = to_host(*queue, x, start.type()).value();
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(end.as<float>()[i], 1024 * start.as<float>()[i]);
}

TEST_F(GpuProgram, TooMuchMemoryIsSaid) {
  const auto buffer = (*gpu::device())->allocate(std::int64_t{1} << 50);
  ASSERT_FALSE(buffer);
  EXPECT_THAT(buffer.reason(), testing::HasSubstr("has no room for"));
  EXPECT_TRUE((*gpu::device())->allocate(1000));
}

}  // namespace
}  // namespace heddle
