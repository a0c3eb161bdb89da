// Stencils one after the other as one kernel: what it computes, and how a GPU runs it.
#include <gtest/gtest.h>

#include "../property/random_sweeps.h"
#include "heddle/cost.h"
#include "heddle/interpreter.h"
#include "kernel/cuda_march.h"
#include "stitched.h"

namespace heddle::sweep_tests {
namespace {

using property::Dice;
using property::jacobi;
using property::RandomSweeps;
using property::WholeSweeps;

MachineFigures gpu() {
  return figures_of_gpu({.multiprocessors = 132,
                         .clock = 1.98e9,
                         .memory_rate = 4.8e12,
                         .shared_bytes = 227 << 10,
                         .far_cache = 60 << 20},
                        1);
}

Array random_matrix(const Type& type, Dice& dice) {
  Array array(type);
  for (float& x : array.as_mutable<float>()) x = static_cast<float>(dice.between(-64, 64)) / 8;
  return array;
}

std::vector<Array> arguments_of(const Program& program, Dice& dice) {
  std::vector<Array> all;
  for (ValueId v : program.region(program.functions[0].body).args)
    all.push_back(random_matrix(program.type_of(v), dice));
  return all;
}

TEST(Sweeps, RandomStencilsGiveTheBitsOfTheReference) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Dice dice(seed);
    const std::string text = RandomSweeps<Dice>(dice).make(
        dice.between(24, 50), dice.between(40, 90), dice.between(2, 5));
    WholeSweeps whole(text);
    if (!whole.sweeps) continue;
    ++found;
    const Kernel kernel = whole.kernel(dice.between(3, 30));
    const Verdict fine = verify(kernel);
    ASSERT_TRUE(fine) << fine.reason() << text;
    EXPECT_TRUE(cuda_march(kernel, kernel.phases[0])) << print(kernel);
    const auto arguments = arguments_of(whole.program, dice);
    const auto expected = interpret(whole.program, whole.program.functions[0], arguments).value();
    std::vector<std::vector<std::byte>> bytes(kernel.buffers.size());
    for (std::size_t b = 0; b < bytes.size(); ++b) {
      const KernelBuffer& buffer = kernel.buffers[b];
      bytes[b].resize(static_cast<std::size_t>(buffer.elements) * 4);
      const auto& args = whole.program.region(whole.program.functions[0].body).args;
      const auto at = std::ranges::find(args, buffer.value);
      if (buffer.reach == Reach::input && at != args.end()) {
        const auto from = arguments[static_cast<std::size_t>(at - args.begin())].bytes();
        bytes[b].assign(from.begin(), from.end());
      }
    }
    std::vector<std::span<std::byte>> spans(bytes.begin(), bytes.end());
    const Verdict ran = interpret(kernel, spans);
    ASSERT_TRUE(ran) << ran.reason() << text << print(kernel);
    for (std::size_t b = 0; b < bytes.size(); ++b) {
      if (kernel.buffers[b].reach != Reach::output) continue;
      ASSERT_TRUE(std::ranges::equal(bytes[b], expected[0].bytes())) << "seed " << seed << "\n"
                                                                     << text << print(kernel);
    }
  }
  EXPECT_GT(found, 40);
}

TEST(Sweeps, EightOnAGpuAreOneKernelAndOnACpuAreNot) {
  Dice dice(1);
  const Program program = read_stablehlo(jacobi(96, 8)).value();
  const auto arguments = arguments_of(program, dice);
  const auto expected = interpret(program, program.functions[0], arguments).value();
  StitchOptions options;
  options.machine = gpu();
  const Stitched got = run_stitched(program, arguments, options);
  ASSERT_EQ(got.kernels.size(), 1u);
  EXPECT_EQ(got.kernels[0].phases[0].stages.size(), 8u);
  EXPECT_TRUE(std::ranges::equal(got.results[0].bytes(), expected[0].bytes()));
  const Stitched plain = run_stitched(program, arguments);
  EXPECT_GT(plain.kernels.size(), 1u);
}

TEST(Sweeps, ARowIsHeldAsLongAsItIsNeeded) {
  WholeSweeps whole(jacobi(1024, 8));
  ASSERT_TRUE(whole.sweeps);
  EXPECT_EQ(whole.sweeps->kept.size(), 7u);
  const Kernel kernel = whole.kernel(256);
  const auto march = cuda_march(kernel, kernel.phases[0]);
  ASSERT_TRUE(march);
  for (const CudaMarch::Source& source : march->sources) EXPECT_EQ(source.window, 3);
  EXPECT_EQ(march->left, 2);
  EXPECT_EQ(march->right, 2);
  // From eight rows before the block's first on; the last sweep is eight rows behind.
  EXPECT_EQ(march->begin, -8);
  EXPECT_EQ(march->steps.back().lag, 8);
  // Nothing is asked where all guards hold.
  const std::string text = emit_cuda(kernel, {});
  EXPECT_NE(text.find("= true;"), std::string::npos);
  EXPECT_EQ(cuda_plan(kernel, {}).scratch_bytes, 0);
}

TEST(Sweeps, OtherProgramsAreNone) {
  const auto is_one = [](const std::string& text) { return WholeSweeps(text).sweeps.has_value(); };
  EXPECT_TRUE(is_one(jacobi(64, 2)));
  EXPECT_FALSE(is_one(jacobi(64, 1)));  // nothing is computed again
  EXPECT_FALSE(is_one(jacobi(64, 9)));  // more than registers hold
}

}  // namespace
}  // namespace heddle::sweep_tests
