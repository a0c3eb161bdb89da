// The full evaluator sees what the plan of a kernel's loops makes of it.
#include <gtest/gtest.h>

#include <algorithm>

#include "heddle/builder.h"
#include "heddle/cost.h"
#include "heddle/op.h"
#include "stitch/group.h"
#include "stitch/latency.h"

namespace heddle {
namespace {

// A program whose ops are all one group.
struct Whole {
  explicit Whole(Builder& b) : program(b.finish().value()) {
    const RegionId body = program.functions[0].body;
    const Readers readers(program, body);
    std::vector<OpId> ops;
    for (OpId id : program.region(body).ops)
      if (is_work(program.op(id))) ops.push_back(id);
    group = make_group(program, readers, std::move(ops));
  }
  KernelEstimate with(LaunchChoice choice = {}) {
    group.choice = choice;
    return estimate(program, group, plan_loops(program, group, machine).value(), machine);
  }
  Program program;
  StitchGroup group;
  MachineFigures machine;
};

void softmax(Builder& b, std::int64_t rows, std::int64_t width) {
  const Shape shape = {rows, width};
  b.function("main", {Type::tensor(DType::f32, shape)}, [&](const Vars& in) -> Vars {
    const Var top = b.broadcast(b.reduce(in[0], {1}, "maximum"), shape, {0});
    const Var e = b.op("exponential", {in[0] - top});
    return {e / b.broadcast(b.reduce(e, {1}, "add"), shape, {0})};
  });
}

TEST(Latency, ExpensiveValuesAreKeptOrComputedAgain) {
  Builder b;
  softmax(b, 4096, 1024);
  Whole w(b);
  const KernelEstimate kept = w.with(), again = w.with({.keep_heavy = false});
  const double n = 4096 * 1024;
  EXPECT_DOUBLE_EQ(kept.heavy, n);
  EXPECT_DOUBLE_EQ(again.heavy, 2 * n);
  EXPECT_GT(kept.stores, again.stores);
  EXPECT_LT(kept.seconds, again.seconds);
  const ScheduledGroup chosen = choose_launch(w.program, w.group, w.machine).value();
  EXPECT_TRUE(chosen.choice.keep_heavy);
  EXPECT_TRUE(std::ranges::any_of(chosen.others, [&](const ScheduledGroup::Other& o) {
    return !o.choice.keep_heavy && o.seconds > chosen.best.seconds;
  }));
}

// Of two axes that the last sum goes over, eight sequences of many places, one is outer: where
// there are more workers than sequences, it is the places.
TEST(Latency, SumsOverSeveralAxesKeepAllWorkersBusy) {
  Builder b;
  const Shape shape = {8, 1024, 500};
  const std::vector<Type> types = {Type::tensor(DType::f32, shape), Type::tensor(DType::f32, {8})};
  b.function("main", types, [&](const Vars& in) -> Vars {
    const Var x = in[0] * b.broadcast(in[1], shape, {0});
    const Var top = b.reduce(x, {2}, "maximum");
    const Var e = b.op("exponential", {x - b.broadcast(top, shape, {0, 1})});
    const Var sum = b.reduce(e, {2}, "add");
    return {b.reduce(b.op("log", {sum}), {0, 1}, "add"), e / b.broadcast(sum, shape, {0, 1})};
  });
  Whole w(b);
  const auto outer_size = [&](int workers) {
    w.machine.workers = workers;
    const LoopPlan loop_plan = plan_loops(w.program, w.group, w.machine).value();
    return loop_plan.axes[static_cast<std::size_t>(loop_plan.outer.at(0))].size;
  };
  EXPECT_EQ(outer_size(4), 8);
  EXPECT_EQ(outer_size(512), 1024);
}

// Where functions cost next to nothing, a tile costs more than it saves.
TEST(Latency, TilesAreDroppedWhereFunctionsAreCheap) {
  Builder b;
  softmax(b, 4096, 1024);
  Whole w(b);
  w.machine.heavy_rate = 1e15;
  w.machine.copy_rate = w.machine.worker_copy_rate = 1e15;
  EXPECT_FALSE(choose_launch(w.program, w.group, w.machine).value().choice.keep_heavy);
}

TEST(Latency, RowsThatDoNotFitTheCacheComeFromMemoryAgain) {
  Builder small, large;
  softmax(small, 4096, 1 << 10);
  softmax(large, 4, 1 << 20);
  Whole a(small), b(large);
  EXPECT_LE(a.with().block_bytes, a.machine.near_cache);
  EXPECT_GT(b.with().block_bytes, b.machine.near_cache);
  EXPECT_GT(b.with().memory, 1.2 * a.with().memory);
}

TEST(Latency, FewBlocksLeaveWorkersIdle) {
  Builder few, many;
  softmax(few, 4, 1 << 18);
  softmax(many, 1024, 1 << 10);
  Whole a(few), b(many);
  a.machine.workers = b.machine.workers = 32;
  EXPECT_EQ(a.with().blocks, 4);
  EXPECT_GT(a.with().work, 4 * b.with().work);
}

// Sums of many values that are all needed until the end.
TEST(Latency, ValuesThatDoNotFitTheRegistersAreCounted) {
  auto build = [](Builder& b, int values) {
    const Type type = Type::tensor(DType::f32, {1 << 20});
    b.function("main", {type}, [&](const Vars& in) -> Vars {
      Vars all;
      for (int i = 0; i < values; ++i) all.push_back(in[0] * static_cast<double>(i + 2));
      Var sum = all.back();
      for (std::size_t i = all.size() - 1; i-- > 0;) sum = sum + all[i];
      return {sum};
    });
  };
  Builder few, many;
  build(few, 8);
  build(many, 60);
  Whole a(few), b(many);
  EXPECT_LE(a.with().registers, 10);
  EXPECT_GE(b.with().registers, 50);
  EXPECT_DOUBLE_EQ(a.with().loads, 1 << 20);
  EXPECT_GT(b.with().loads, 20 * (1 << 20));
}

// A stencil of a stencil computes and loads the inner one five times.
TEST(Latency, NeighboursAreComputedAgain) {
  auto build = [](Builder& b, int sweeps) {
    b.function("main", {Type::tensor(DType::f32, {1 << 20})}, [&](const Vars& in) -> Vars {
      Var x = in[0];
      for (int i = 0; i < sweeps; ++i) {
        const std::int64_t n = x.type().shape[0];
        x = b.slice(x, {0}, {n - 2}) + b.slice(x, {1}, {n - 1}) + b.slice(x, {2}, {n});
      }
      return {x};
    });
  };
  Builder one, two;
  build(one, 1);
  build(two, 2);
  Whole a(one), b(two);
  EXPECT_NEAR(a.with().loads / (1 << 20), 3, 0.1);
  EXPECT_NEAR(b.with().loads / (1 << 20), 9, 0.1);
  EXPECT_NEAR(b.with().light / a.with().light, 4, 0.5);
}

// Channels over all pixels: a block of whole channels is enough for two workers, and not for many.
TEST(Latency, ReductionsRunAcrossAllBlocksWhereWorkersWouldWait) {
  Builder b;
  const Shape shape = {32, 32, 32, 64};
  b.function("main", {Type::tensor(DType::f32, shape)}, [&](const Vars& in) -> Vars {
    const Var mean = b.reduce(in[0], {0, 1, 2}, "add") / 32768.0;
    return {in[0] - b.broadcast(mean, shape, {3})};
  });
  Whole w(b);
  for (int workers : {2, 4, 16, 64}) {
    w.machine = default_figures(workers);
    const ScheduledGroup chosen = choose_launch(w.program, w.group, w.machine).value();
    EXPECT_EQ(chosen.choice.across, workers > 4) << workers;
    EXPECT_GE(chosen.best.parts, std::min(workers, 16));
  }
}

// Bytes that move once more: by the phase behind all blocks, and by stages of blocks that no cache
// holds.
TEST(Latency, WhatIsReadTwiceCountsTwice) {
  const Shape shape = {32, 32, 32, 64};
  const double bytes = 4.0 * 32 * 32 * 32 * 64;
  Builder b;
  b.function("main", {Type::tensor(DType::f32, shape)}, [&](const Vars& in) -> Vars {
    const Var mean = b.reduce(in[0], {0, 1, 2}, "add") / 32768.0;
    return {in[0] - b.broadcast(mean, shape, {3})};
  });
  Whole w(b);
  w.machine = default_figures(64);
  const KernelEstimate across = w.with({.across = true}), inside = w.with();
  EXPECT_GE(across.bytes_again, bytes);
  EXPECT_LE(across.bytes_again, 1.1 * bytes);  // and what chunks leave
  EXPECT_EQ(across.bytes_by_stages, 0);
  EXPECT_EQ(inside.bytes_by_stages, inside.block_bytes > w.machine.near_cache ? bytes : 0);
  Builder rows;
  softmax(rows, 4096, 1 << 10);
  EXPECT_EQ(Whole(rows).with().bytes_again, 0);
}

// A masked sum that a norm's gradient needs before and behind its sums over rows.
Whole masked_gradient(Builder& b, bool gives_it) {
  const Shape shape = {32, 32, 32, 64};
  const Type numbers = Type::tensor(DType::f32, shape), mask = Type::tensor(DType::i1, shape);
  b.function("main", {numbers, numbers, numbers, mask}, [&](const Vars& in) -> Vars {
    const Var sum = in[0] + in[1];
    const Var gradient = b.select(in[3], sum, b.full_like(sum, 0));
    const Var mean = b.reduce(gradient * in[2], {0, 1, 2}, "add");
    const Var result = gradient - in[2] * b.broadcast(mean, shape, {3});
    return gives_it ? Vars{gradient, result} : Vars{result};
  });
  Whole w(b);
  w.machine = default_figures(64);
  w.group.choice = {.across = true};
  return w;
}

TEST(Latency, WhatIsWrittenInAnyCaseIsReadBack) {
  const double numbers = 4.0 * 32 * 32 * 32 * 64;
  Builder one, two;
  Whole gives = masked_gradient(one, true), alone = masked_gradient(two, false);
  const LoopPlan loop_plan = plan_loops(gives.program, gives.group, gives.machine).value();
  EXPECT_EQ(loop_plan.read_back, std::unordered_set<ValueId>{gives.group.outputs[0]});
  // Both sums and the mask are read once, the third operand twice.
  const double again = gives.with({.across = true}).bytes_again;
  EXPECT_GE(again, 2 * numbers);
  EXPECT_LE(again, 2.1 * numbers);
  EXPECT_GE(alone.with({.across = true}).bytes_again, 3 * numbers);
  EXPECT_TRUE(plan_loops(alone.program, alone.group, alone.machine).value().read_back.empty());
}

// What the tail has to read for another reason is no reason to read more.
TEST(Latency, WhatFollowsFromAnOperandIsNotReadBack) {
  const Shape shape = {32, 32, 32, 64};
  Builder b;
  b.function("main", {Type::tensor(DType::f32, shape)}, [&](const Vars& in) -> Vars {
    const Var twice = in[0] * 2.0;
    const Var sum = b.broadcast(b.reduce(twice, {0, 1, 2}, "add"), shape, {3});
    return {twice, twice * in[0] + sum};
  });
  Whole w(b);
  w.machine = default_figures(64);
  w.group.choice = {.across = true};
  EXPECT_TRUE(plan_loops(w.program, w.group, w.machine).value().read_back.empty());
}

// A kernel of one block takes as long with many workers as with two.
TEST(Latency, WorkersWithoutABlockDoNotHelp) {
  Builder b;
  softmax(b, 1, 1 << 15);
  Whole w(b);
  const KernelEstimate two = w.with();
  ASSERT_EQ(two.parts, 1);
  w.machine = default_figures(64);
  EXPECT_DOUBLE_EQ(w.with().work, two.work);
}

}  // namespace
}  // namespace heddle
