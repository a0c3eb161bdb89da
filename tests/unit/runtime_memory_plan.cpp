#include <gtest/gtest.h>

#include "runtime/memory_plan.h"

namespace heddle::runtime {
namespace {

TEST(MemoryPlan, NothingNeedsNothing) {
  std::vector<PlannedBuffer> none;
  EXPECT_EQ(plan_memory(none), 0);
  EXPECT_EQ(memory_peak(none).bytes, 0);
}

TEST(MemoryPlan, WhatDiesMakesRoom) {
  std::vector<PlannedBuffer> chain = {{1000, 0, 1}, {1000, 1, 2}, {1000, 2, 3}, {1000, 3, 4}};
  EXPECT_EQ(plan_memory(chain), 2 * 1024);
  EXPECT_EQ(chain[0].offset, chain[2].offset);
}

TEST(MemoryPlan, LargeOnesFirstWhereThatIsBetter) {
  // In the order of time the small buffer splits the gap that the large one needs.
  std::vector<PlannedBuffer> buffers = {{256, 0, 1}, {64, 0, 3}, {256, 0, 1}, {512, 2, 3}};
  EXPECT_EQ(plan_memory(buffers), least_memory(buffers));
}

TEST(MemoryPlan, ThePeakNamesTheLargest) {
  const std::vector<PlannedBuffer> buffers = {{100, 0, 2}, {5000, 1, 2}, {300, 2, 4}, {9000, 5, 6}};
  const MemoryPeak peak = memory_peak(buffers);
  EXPECT_EQ(peak.step, 5);
  EXPECT_EQ(peak.bytes, 9024);
  EXPECT_EQ(peak.buffers, std::vector<std::size_t>{3});
}

TEST(MemoryPlan, NoBytesStillHaveAPlace) {
  std::vector<PlannedBuffer> buffers = {{0, 0, 1}, {0, 0, 1}};
  EXPECT_EQ(plan_memory(buffers), 128);
  EXPECT_NE(buffers[0].offset, buffers[1].offset);
}

}  // namespace
}  // namespace heddle::runtime
