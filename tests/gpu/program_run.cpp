// Programs, stitched into kernels that run on a CUDA device, give what the reference gives.
#include <gtest/gtest.h>

#include "../property/random_kernel.h"
#include "../property/random_program.h"
#include "../unit/nvrtc_environment.h"
#include "../unit/stitched.h"
#include "device/cuda/driver.h"
#include "device/cuda/nvrtc.h"
#include "heddle/simplify.h"

namespace heddle {
namespace {

using property::Decisions;
using property::Dice;
using property::RandomProgram;

TEST(GpuProgram, RandomProgramsAgree) {
  use_build_environment();
  if (const auto nvrtc = find_nvrtc(); !nvrtc) GTEST_SKIP() << nvrtc.reason();
  const auto device = CudaDevice::open();
  if (!device) GTEST_SKIP() << device.reason();
  int kernels = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Dice dice(seed);
    const auto made = RandomProgram(Decisions(dice), {.most_ops = 30}).make();
    ASSERT_TRUE(made) << made.reason();
    const auto reference = interpret(made->program, made->program.functions[0], made->arguments);
    ASSERT_TRUE(reference) << reference.reason();
    Stitched got;
    try {
      got = run_stitched(simplify(made->program).value(), made->arguments, {},
                         [&](const Kernel& kernel, std::span<const std::span<std::byte>> buffers) {
                           return device->run(kernel, buffers);
                         });
    } catch (const Error&) {
      continue;  // a group that is no kernel
    }
    kernels += static_cast<int>(got.kernels.size());
    const Verdict same = property::agree(*reference, got.results, made->errors);
    EXPECT_TRUE(same) << "seed " << seed << ": " << same.reason();
  }
  EXPECT_GT(kernels, 50);
}

}  // namespace
}  // namespace heddle
