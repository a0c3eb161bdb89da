// Loops that stages take apart.
#include <gtest/gtest.h>

#include "kernel/emit_cuda.h"
#include "kernel/split_loop.h"
#include "kernel_examples.h"

namespace heddle {
namespace {

// out[j / by, k] += x[j, k]
Kernel grouped_sum(std::int64_t columns, std::int64_t by, std::int64_t depth) {
  Kernel kernel = named_kernel("grouped_sum");
  const auto x = add_buffer(kernel, Reach::input, DType::f32, columns * depth);
  const auto y = add_buffer(kernel, Reach::output, DType::f32, columns / by * depth);
  StageBuilder w(kernel, {{columns, -1}, {depth, -1}});
  const NodeId group = w.op(ScalarOp::divide, w.loop(0), w.index(by));
  const NodeId rest = w.op(ScalarOp::remainder, w.loop(0), w.index(by));
  const NodeId value =
      w.op(ScalarOp::multiply, w.load(x, w.add(w.scaled(w.loop(0), depth), w.loop(1))),
           w.cast(rest, DType::f32));
  w.update(y, w.add(w.scaled(group, depth), w.loop(1)), ScalarOp::add, value);
  StageBuilder zero(kernel, {{columns / by * depth, -1}});
  zero.store(y, zero.loop(0), zero.number(0, DType::f32));
  Phase phase;
  phase.stages = {zero.stage, w.stage};
  kernel.phases.push_back(phase);
  return kernel;
}

std::vector<float> run(const Kernel& kernel) {
  KernelData data(kernel);
  std::vector<float> numbers(static_cast<std::size_t>(kernel.buffers[0].elements));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0.37f * static_cast<float>(i % 91);
  data.set<float>(0, numbers);
  const Verdict ran = data.run(kernel);
  EXPECT_TRUE(ran) << ran.reason();
  return data.get<float>(1);
}

TEST(SplitLoop, GivesTheSameBitsAndThreadsOfTheirOwn) {
  Kernel kernel = grouped_sum(30, 5, 3);
  const std::vector<float> expected = run(kernel);
  Stage& stage = kernel.phases[0].stages[1];
  EXPECT_FALSE(shared_loops(stage)[0]);  // two points meet
  stage = split_divided_loop(stage);
  ASSERT_EQ(stage.loops.size(), 3u);
  EXPECT_EQ(stage.loops[0].size, 6);
  EXPECT_EQ(stage.loops[1].size, 5);
  EXPECT_EQ(shared_loops(stage), (std::vector<bool>{true, false, true}));
  EXPECT_TRUE(verify(kernel));
  EXPECT_EQ(run(kernel), expected);
}

TEST(SplitLoop, OnlyWhatDivides) {
  const Stage stage = grouped_sum(30, 5, 3).phases[0].stages[1];
  Stage uneven = stage;
  uneven.loops[0].size = 31;
  EXPECT_EQ(split_divided_loop(uneven).loops.size(), 2u);
  Stage stores = stage;
  stores.statements[0].kind = Statement::Kind::store;
  EXPECT_EQ(split_divided_loop(stores).loops.size(), 2u);
}

// rows[i] += x[i, j] and columns[j] += x[i, j]
Kernel both_sums(std::int64_t rows, std::int64_t columns) {
  Kernel kernel = named_kernel("both_sums");
  const auto x = add_buffer(kernel, Reach::input, DType::f32, rows * columns);
  const auto by_column = add_buffer(kernel, Reach::output, DType::f32, columns);
  const auto by_row = add_buffer(kernel, Reach::output, DType::f32, rows);
  Phase phase;
  for (const auto& [buffer, size] : {std::pair(by_column, columns), std::pair(by_row, rows)}) {
    StageBuilder zero(kernel, {{size, -1}});
    zero.store(buffer, zero.loop(0), zero.number(0, DType::f32));
    phase.stages.push_back(zero.stage);
  }
  StageBuilder w(kernel, {{rows, -1}, {columns, -1}});
  const NodeId value = w.load(x, w.add(w.scaled(w.loop(0), columns), w.loop(1)));
  w.update(by_column, w.loop(1), ScalarOp::add, value);
  w.update(by_row, w.loop(0), ScalarOp::add, value);
  phase.stages.push_back(w.stage);
  kernel.phases.push_back(phase);
  return kernel;
}

TEST(SplitSums, OfRowsAndColumnsGiveTheSameBitsAndHaveThreadsEach) {
  Kernel kernel = both_sums(8, 48);
  const std::vector<float> expected = run(kernel);
  std::vector<Stage>& stages = kernel.phases[0].stages;
  const Stage both = stages.back();
  EXPECT_EQ(shared_loops(both), (std::vector<bool>{false, false}));
  const std::vector<Stage> apart = split_sums(both);
  ASSERT_EQ(apart.size(), 2u);
  EXPECT_EQ(shared_loops(apart[0]), (std::vector<bool>{false, true}));
  EXPECT_EQ(shared_loops(apart[1]), (std::vector<bool>{true, false}));
  stages.pop_back();
  stages.insert(stages.end(), apart.begin(), apart.end());
  EXPECT_TRUE(verify(kernel));
  EXPECT_EQ(run(kernel), expected);
}

TEST(SplitSums, NotWhatIsSmallOrReadsWhatItWrites) {
  EXPECT_EQ(split_sums(both_sums(4, 8).phases[0].stages.back()).size(), 1u);
  Stage own = both_sums(8, 48).phases[0].stages.back();
  for (Node& node : own.nodes)
    if (node.kind == NodeKind::load) node.number = own.statements[0].buffers[0];
  EXPECT_EQ(split_sums(own).size(), 1u);
}

}  // namespace
}  // namespace heddle
