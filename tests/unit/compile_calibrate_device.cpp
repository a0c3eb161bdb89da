// Devices measured through their interface; what was measured is kept and used.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "compile/calibrate_device.h"
#include "device/cpu/device.h"
#include "heddle/cost.h"
#include "heddle/device_value.h"
#include "heddle/error.h"
#include "test_device.h"

namespace heddle {
namespace {

constexpr DeviceTrialSizes kSmall{.bytes = 1 << 16, .matrix = 32, .seconds = 1e-4};

void expect_measured(Device& device) {
  if (!device.can_compile()) GTEST_SKIP() << device.can_compile().reason();
  const MeasuredDevice measured = calibrate_device(device, kSmall).value();
  const MachineFigures& m = measured.figures;
  for (const double figure : {m.copy_rate, m.worker_copy_rate, m.launch_seconds, m.light_rate,
                              m.heavy_rate, measured.to_device_rate, measured.from_device_rate})
    EXPECT_GT(figure, 0);
  ASSERT_EQ(measured.matrix_rates.size(), 4U);
  for (const auto& [dtype, rate] : measured.matrix_rates) EXPECT_GT(rate, 0) << name(dtype);
  EXPECT_EQ(measured.name, device.name());
}

TEST(CalibrateDevice, ByItsInterface) {
  CpuDevice cpu;
  expect_measured(cpu);
}

TEST(CalibrateDevice, WhoseMemoryTheHostCannotTouch) {
  CpuDevice cpu;
  test::TestDevice late(cpu, {.one_in = 0});
  expect_measured(late);
}

TEST(CalibrateDevice, FiguresOfAGpuAreKept) {
  const auto folder = std::filesystem::temp_directory_path() / "heddle_gpu_figures";
  const char* before = std::getenv("HEDDLE_CACHE_DIR");
  const std::string old = before == nullptr ? "" : before;
  setenv("HEDDLE_CACHE_DIR", folder.c_str(), 1);
  const GpuSizes gpu{.model = "Some GPU 9000", .multiprocessors = 100};
  MachineFigures measured = figures_of_gpu(gpu, 1);
  EXPECT_NE(measured.copy_rate, 123e9);
  measured.copy_rate = 123e9;
  measured.launch_seconds = 7e-6;
  ASSERT_TRUE(keep_gpu_figures(gpu.model, measured));
  EXPECT_EQ(figures_of_gpu(gpu, 1), measured);
  EXPECT_EQ(figures_of_gpu(gpu, 4).copy_rate, 123e9 / 4);
  EXPECT_EQ(figures_of_gpu(gpu, 4).workers, measured.workers / 4);
  EXPECT_NE(figures_of_gpu({.model = "Another", .multiprocessors = 100}, 1).copy_rate, 123e9);
  std::filesystem::remove_all(folder);
  if (before != nullptr)
    setenv("HEDDLE_CACHE_DIR", old.c_str(), 1);
  else
    unsetenv("HEDDLE_CACHE_DIR");
}

}  // namespace
}  // namespace heddle
