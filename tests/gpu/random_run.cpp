// Random programs on a CUDA device, through the runtime, give what the reference gives, and the
// same bits every time.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>

#include "../property/random_kernel.h"
#include "../property/random_program.h"
#include "gpu_device.h"
#include "heddle/compile.h"
#include "heddle/interpreter.h"
#include "heddle/stablehlo.h"

namespace heddle::random_run_tests {
namespace {

using property::Decisions;
using property::Dice;
using property::RandomProgram;

// Each part is a test of its own, so that several processes share the work.
constexpr int kParts = 16;

// HEDDLE_GPU_PROGRAMS: how many in all; HEDDLE_GPU_SEED: this one alone.
int from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

// Most are small and of all kinds; some sort, scan and slide, and some have more elements than a
// block has threads.
property::RandomProgramOptions options_of(int seed) {
  property::RandomProgramOptions options{.most_ops = 30, .rounds_late = true};
  options.lines = seed % 4 == 1;
  if (seed % 4 == 2) options.most_elements = 4000;
  return options;
}

class GpuRandomPrograms : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  }
};

bool same_bits(const std::vector<Array>& a, const std::vector<Array>& b) {
  return std::ranges::equal(a, b, [](const Array& x, const Array& y) {
    return std::ranges::equal(x.bytes(), y.bytes());
  });
}

// What is wrong with the program of a seed on the GPU; empty: nothing.
std::string complaint(int seed) {
  Dice dice(static_cast<std::uint64_t>(seed));
  const auto made = RandomProgram(Decisions(dice), options_of(seed)).make();
  if (!made) return made.reason();
  const auto reference = interpret(made->program, made->program.functions[0], made->arguments);
  if (!reference) return reference.reason();
  Target target;
  target.options.device = *gpu::device();
  const auto executable = compile(made->program, target);
  if (!executable) return executable.reason();
  std::vector<Array> first;
  for (int turn = 0; turn < 3; ++turn) {
    const auto got = executable->run(made->arguments);
    if (!got) return got.reason();
    if (const Verdict same = property::agree(*reference, *got, made->errors); !same)
      return same.reason() + "\n" + print_stablehlo(made->program);
    if (turn == 0) first = *got;
    if (!same_bits(first, *got)) return fmt::format("run {} gives other bits than the first", turn);
  }
  return "";
}

TEST_P(GpuRandomPrograms, Agree) {
  const std::int64_t before = (*gpu::device())->live_bytes();
  const int programs = from_environment("HEDDLE_GPU_PROGRAMS", 480);
  const int only = from_environment("HEDDLE_GPU_SEED", -1);
  int agree = 0;
  for (int seed = GetParam(); seed < std::max(programs, only + 1); seed += kParts) {
    if (only >= 0 && seed != only) continue;
    const std::string found = complaint(seed);
    EXPECT_EQ(found, "") << "seed " << seed;
    agree += found.empty() ? 1 : 0;
    if (agree % 20 == 0) std::printf("%d programs agree\n", agree), std::fflush(stdout);
  }
  EXPECT_EQ((*gpu::device())->live_bytes(), before);
}

INSTANTIATE_TEST_SUITE_P(Part, GpuRandomPrograms, ::testing::Range(0, kParts));

}  // namespace
}  // namespace heddle::random_run_tests
