// What steps take by figures of a device: each class of work at its own rate.
#include <gtest/gtest.h>

#include "heddle/step_work.h"
#include "heddle/timed_move.h"

namespace heddle {
namespace {

StepFigures device() {
  StepFigures d;
  d.workers = 2;
  d.together = 1.5;
  d.products_together = 2;
  d.call = 1e-7;
  d.wake = 2e-6;
  d.light_rate = 1e11;
  d.heavy_rate = 5e9;
  d.lane_rate = 2e9;
  d.product_call = 1e-7;
  d.pack_rate = d.result_rate = 1e10;
  d.product_rate = 1e11;
  d.first_cache = 5e4;
  d.near_cache = 1e6;
  d.near_rate = 4e11;
  d.far_cache = 1e7;
  d.far_rate = 1e11;
  d.memory_rate = 2e10;
  return d;
}

TEST(StepSeconds, WorkOfAllWorkersTakesAWakingAndLessTime) {
  StepWork alone, shared;
  alone.alone.light = shared.shared.light = 1e6;
  shared.launches = 1;
  EXPECT_DOUBLE_EQ(step_seconds(alone, device(), 0), 1e-7 + 1e-5);
  EXPECT_DOUBLE_EQ(step_seconds(shared, device(), 0), 1e-7 + 2e-6 + 1e-5 / 1.5);
  StepFigures one = device();
  one.workers = one.together = 1;
  EXPECT_DOUBLE_EQ(step_seconds(shared, one, 0), step_seconds(alone, one, 0));
}

TEST(StepSeconds, AccessesHideByHalfBehindWhatIsComputed) {
  StepFigures d = device();
  d.access_rate = 2e11;
  StepWork work;
  work.alone.light = 1e6;
  work.alone.accesses = 1e6;
  EXPECT_DOUBLE_EQ(step_seconds(work, d, 0), 1e-7 + 1e-5 + 0.5e-5 / 2);
}

TEST(StepSeconds, BytesCostByWhatHoldsTheProgram) {
  StepWork copy;
  copy.bytes = 1e6;
  copy.launches = 1;
  const double first = step_seconds(copy, device(), 1e4), near = step_seconds(copy, device(), 1e6),
               far = step_seconds(copy, device(), 5e6), memory = step_seconds(copy, device(), 1e9);
  EXPECT_DOUBLE_EQ(first, 1e-7 + 2e-6);
  EXPECT_NEAR(near, first + 0.95 * copy.bytes / device().near_rate, 1e-12);
  EXPECT_LT(near, far);
  EXPECT_LT(far, memory);
  EXPECT_NEAR(memory - first, copy.bytes / device().memory_rate, 2e-6);
}

TEST(StepSeconds, AThinProductTakesLongerThanItsSumsDo) {
  const ProductWork thin{256, 256, 4}, thick{64, 64, 64};
  EXPECT_DOUBLE_EQ(thin.m * thin.n * thin.k, thick.m * thick.n * thick.k);
  EXPECT_GT(product_seconds(thin, device()), 1.5 * product_seconds(thick, device()));
  ProductWork many = thick;
  many.count = 8;
  EXPECT_DOUBLE_EQ(product_seconds(many, device()), 8 * product_seconds(thick, device()));
  many.parts = 8;
  EXPECT_DOUBLE_EQ(product_seconds(many, device()), 2e-6 + 4 * product_seconds(thick, device()));
}

TEST(TimedSeconds, LiesOnTheLineBetweenTwoSizesAndGoesOnBeyondThem) {
  const std::vector<TimedMove> moves = {{CollectiveKind::all_reduce, 1e3, 1e-5},
                                        {CollectiveKind::all_reduce, 1e5, 3e-5},
                                        {CollectiveKind::permute, 1e3, 1e-6}};
  EXPECT_DOUBLE_EQ(timed_seconds(moves, CollectiveKind::all_reduce, 10), 1e-5);
  EXPECT_DOUBLE_EQ(timed_seconds(moves, CollectiveKind::all_reduce, 5.05e4), 2e-5);
  EXPECT_NEAR(timed_seconds(moves, CollectiveKind::all_reduce, 1e6), 3e-5 + 9e5 * 2e-5 / 9.9e4,
              1e-12);
  EXPECT_DOUBLE_EQ(timed_seconds(moves, CollectiveKind::permute, 1e4), 1e-5);
  EXPECT_EQ(timed_seconds(moves, CollectiveKind::all_gather, 1e4), 0);
}

}  // namespace
}  // namespace heddle
