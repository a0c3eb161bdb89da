// A GPU that is lost while it works: every call says so, nothing hangs, and the CPU goes on. In a
// process of its own, which cannot use the GPU afterwards.
#include <gmock/gmock.h>

#include <cstdlib>

#include "device/cuda/nvrtc.h"
#include "device/cuda/queue.h"
#include "gpu_device.h"
#include "heddle/compile.h"
#include "heddle/stablehlo.h"

namespace heddle::lost_tests {
namespace {

constexpr const char* kText = R"(
  func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
    %0 = stablehlo.add %x, %x : tensor<1000xf32>
    return %0 : tensor<1000xf32>
  })";

// Work that goes where it must not.
Verdict break_the_gpu(cuda::CudaQueue& queue) {
  cuda::Context& context = queue.context();
  HEDDLE_TRY(const CudaObject object,
             compile_cuda("extern \"C\" __global__ void broken(int* x) { *x = 1; }",
                          context.facts().arch));
  cuda::Handle module = nullptr, function = nullptr;
  const cuda::Driver& driver = context.driver();
  HEDDLE_TRY_VOID(driver.checked(driver.load(&module, object.code.data()), "load"));
  HEDDLE_TRY_VOID(driver.checked(driver.function(&function, module, "broken"), "find"));
  cuda::Pointer nowhere = 16;
  void* arguments[] = {&nowhere};
  return driver.checked(
      driver.launch(function, 1, 1, 1, 1, 1, 1, 0, queue.stream(), arguments, nullptr), "launch");
}

[[noreturn]] void lose_it() {
  const auto fail = [](const std::string& what) {
    fmt::print(stderr, "{}\n", what);
    std::_Exit(1);
  };
  const Program program = read_stablehlo(std::string(kText)).value();
  Target target;
  target.options.device = *gpu::device();
  const Executable on_gpu = compile(program, target).value();
  const Array x(Type::tensor(DType::f32, {1000}));
  if (const auto ran = on_gpu.run({x}); !ran) fail(ran.reason());
  const auto queue = (*gpu::device())->queue();
  if (const Verdict broken = break_the_gpu(static_cast<cuda::CudaQueue&>(*queue)); !broken)
    fail(broken.reason());
  const Verdict over = queue->finish();
  if (over) fail("the queue has not noticed");
  const auto again = on_gpu.run({x});
  if (again) fail("a run on a lost GPU has succeeded");
  fmt::print(stderr, "{}\n{}\n", over.reason(), again.reason());
  if (const auto ran = compile(program, Target{}).value().run({x}); !ran) fail(ran.reason());
  fmt::print(stderr, "the CPU goes on\n");
  std::_Exit(0);
}

TEST(GpuLostDeathTest, IsSaidByEveryCall) {
  if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      lose_it(), ::testing::ExitedWithCode(0),
      "the GPU is lost to this process.*\n.*the GPU is lost to this process.*\nthe CPU goes on");
}

}  // namespace
}  // namespace heddle::lost_tests
