// Figures of machines of any size, and what the model makes of them.
#include <gtest/gtest.h>

#include "cost/piece.h"
#include "cost/rates.h"
#include "heddle/cost.h"
#include "heddle/thread_pool.h"

namespace heddle {
namespace {

constexpr int kWorkers[] = {1, 2, 4, 16, 64, 192};

TEST(Figures, TwoWorkersAreThoseOfTheHeader) {
  const MachineFigures m = default_figures(2), plain;
  EXPECT_DOUBLE_EQ(m.copy_rate, plain.copy_rate);
  EXPECT_DOUBLE_EQ(m.launch_seconds, plain.launch_seconds);
  EXPECT_EQ(m.far_cache, plain.far_cache);
}

TEST(Figures, MemoryGrowsMoreSlowlyThanWorkers) {
  for (std::size_t i = 1; i < std::size(kWorkers); ++i) {
    const MachineFigures less = default_figures(kWorkers[i - 1]),
                         more = default_figures(kWorkers[i]);
    EXPECT_GT(more.copy_rate, less.copy_rate);
    EXPECT_LE(more.copy_rate / more.workers, less.copy_rate / less.workers);
    EXPECT_LE(more.copy_rate, more.workers * more.worker_copy_rate);
    EXPECT_GE(more.far_cache, less.far_cache);
    EXPECT_GE(more.launch_seconds, less.launch_seconds);
    EXPECT_DOUBLE_EQ(more.light_rate, less.light_rate);
  }
}

TEST(Figures, ThisMachineHasTheWorkersOfThePool) {
  const MachineFigures m = figures_of_this_machine();
  EXPECT_EQ(m.workers, ThreadPool::shared().threads());
  EXPECT_GT(m.near_cache, 0);
  EXPECT_GE(m.far_cache, m.near_cache);
}

TEST(Figures, APartOfTheMachineHasItsShareOfMemory) {
  const MachineFigures whole = figures_of_this_machine();
  const MachineFigures one = figures_of_this_machine(1);
  EXPECT_EQ(one.workers, 1);
  EXPECT_DOUBLE_EQ(one.copy_rate, whole.copy_rate / whole.workers);
  EXPECT_DOUBLE_EQ(one.light_rate, whole.light_rate);
  EXPECT_EQ(figures_of_this_machine(whole.workers + 5).workers, whole.workers);
}

// Memory is as fast with a few workers as with all; computing is not.
TEST(Rates, WorkersShareMemory) {
  const MachineFigures m = default_figures(64);
  const double few = std::ceil(m.copy_rate / m.worker_copy_rate);
  EXPECT_LT(few, m.workers);
  const cost::Traffic all{.memory = 1e9};
  EXPECT_DOUBLE_EQ(cost::traffic_seconds(all, few, m), cost::traffic_seconds(all, m.workers, m));
  EXPECT_GT(cost::traffic_seconds(all, 1, m), cost::traffic_seconds(all, few, m));
  EXPECT_DOUBLE_EQ(cost::traffic_seconds(all, 1, m), 1e9 / m.worker_copy_rate);
  EXPECT_DOUBLE_EQ(cost::busy_workers(1, 1e6, m), 64);
  EXPECT_DOUBLE_EQ(cost::busy_workers(1, 1, m), 1);
}

TEST(Rates, NobodyIsWokenForNextToNothing) {
  const MachineFigures m = default_figures(192);
  EXPECT_DOUBLE_EQ(cost::busy_workers(1e-6, 1e6, m), 1);
  EXPECT_DOUBLE_EQ(cost::busy_workers(10 * cost::kWorthSharing, 1e6, m), 10);
}

TEST(Rates, SmallValuesComeFromACache) {
  const MachineFigures m = default_figures(16);
  cost::Traffic small, large;
  small.add_value(1e4, m);
  large.add_value(1e10, m);
  EXPECT_GT(small.cached, 0.99e4);
  EXPECT_DOUBLE_EQ(large.memory, 1e10);
  EXPECT_DOUBLE_EQ(cost::overlapped(2, 1), cost::overlapped(1, 2));
  EXPECT_LT(cost::overlapped(2, 1), 3);
}

TEST(Pieces, ContractionsAreBoundByProductsOrByBytes) {
  const Mesh mesh;
  const cost::Piece many{.bytes = 1e6, .steps = 1e12}, few{.bytes = 1e9, .steps = 1e6};
  EXPECT_GT(cost::piece_seconds(OpClass::contract, many, mesh),
            cost::piece_seconds(OpClass::light, many, mesh));
  EXPECT_DOUBLE_EQ(cost::piece_seconds(OpClass::contract, few, mesh),
                   cost::piece_seconds(OpClass::light, few, mesh));
  EXPECT_GT(cost::sort_seconds(1e9, 1 << 20, mesh), cost::sort_seconds(1e9, 1 << 10, mesh));
}

// Groups are compared by the same figures on machines of every size.
TEST(Figures, TwoWorkersAreTheSameOfAnyNumber) {
  const MachineFigures two = cost::of_two_workers(default_figures(2));
  EXPECT_EQ(two, default_figures(2));
  for (int workers : {1, 4, 16, 64, 192}) {
    EXPECT_EQ(cost::of_two_workers(default_figures(workers)), two) << workers;
    EXPECT_EQ(cost::of_many_workers(default_figures(workers)), default_figures(192)) << workers;
  }
}

// A measured machine keeps its own rates, and two of its workers draw no more than they can.
// Its launches would count for nothing beside what two of its many workers take.
TEST(Figures, AGpuIsTakenAsItIs) {
  const MachineFigures gpu = figures_of_gpu({.multiprocessors = 132}, 1);
  EXPECT_EQ(cost::of_two_workers(gpu), gpu);
  EXPECT_EQ(cost::of_many_workers(gpu), gpu);
}

TEST(Figures, TwoWorkersDrawNoMoreThanTheyCan) {
  MachineFigures measured = default_figures(16);
  measured.worker_copy_rate = 12e9;
  measured.light_rate = 7e9;
  const MachineFigures two = cost::of_two_workers(measured);
  EXPECT_EQ(two.copy_rate, 24e9);
  EXPECT_EQ(two.light_rate, 7e9);
  EXPECT_EQ(two.workers, 2);
}

}  // namespace
}  // namespace heddle
