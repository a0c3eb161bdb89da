// Collectives of ranks that are threads on one GPU.
#include "../support/device_collectives.h"
#include "gpu_device.h"

namespace heddle::collective_tests {
namespace {

TEST(GpuCollectives, HaveTheBitsOfTheHostsWay) {
  if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  for (int ranks : {1, 2, 3, 8}) test::expect_same_collectives(**gpu::device(), ranks);
}

}  // namespace
}  // namespace heddle::collective_tests
