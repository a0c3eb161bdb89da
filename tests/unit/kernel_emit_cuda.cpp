// The CUDA text of kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "kernel/cuda_resident.h"
#include "kernel/cuda_ways.h"
#include "kernel/emit_cuda_stage.h"
#include "kernel_tiers.h"

namespace heddle {
namespace {

using ::testing::HasSubstr;

TEST(EmitCuda, APhaseIsAFunctionThatIsLaunched) {
  const Kernel kernel = examples::column_sum(9, 6, 3);
  const CudaPlan launch = cuda_plan(kernel);
  ASSERT_EQ(launch.phases.size(), 2u);
  EXPECT_EQ(launch.phases[0].grid, 3);  // the chunks
  EXPECT_EQ(launch.phases[1].grid, 2);  // blocks of 4 of 6 columns
  for (const CudaPhase& phase : launch.phases)
    EXPECT_THAT(emit_cuda(kernel), HasSubstr("__global__ void " + phase.function + "("));
}

// Every element goes to the place before it, which another thread may have.
Kernel shifted(std::int64_t rows, std::int64_t columns) {
  Kernel kernel = named_kernel("shifted");
  const auto x = add_buffer(kernel, Reach::input, DType::f32, rows * columns);
  const auto y = add_buffer(kernel, Reach::output, DType::f32, rows * columns);
  const auto kept = add_buffer(kernel, Reach::block, DType::f32, columns + 1);
  kernel.scratch_bytes = (columns + 1) * 4;
  Phase phase{.outer = {{rows, 1}}, .begin = {}, .stages = {}};
  for (const bool first : {true, false}) {
    StageBuilder writer(kernel, {{columns, -1}});
    const NodeId row = writer.scaled(writer.outer(0), columns);
    const NodeId at = writer.add(writer.loop(0), row);
    if (first)
      writer.store(kept, writer.loop(0), writer.load(x, at));
    else
      writer.store(y, at, writer.load(kept, writer.add(writer.loop(0), writer.index(1))));
    phase.stages.push_back(std::move(writer.stage));
  }
  kernel.phases.push_back(std::move(phase));
  return kernel;
}

TEST(EmitCuda, WhatOtherThreadsReadLiesInSharedMemory) {
  const Kernel kernel = shifted(8, 64);
  EXPECT_FALSE(cuda_resident(kernel, kernel.phases[0], {}));
  EXPECT_EQ(cuda_plan(kernel).phases[0].grid, 8);
  EXPECT_EQ(cuda_plan(kernel).phases[0].shared_bytes, kernel.scratch_bytes);
  EXPECT_EQ(cuda_plan(kernel).scratch_bytes, 0);
  EXPECT_THAT(emit_cuda(kernel), HasSubstr("extern __shared__"));
}

TEST(EmitCuda, ScratchThatIsTooLargeLiesElsewhere) {
  const Kernel kernel = shifted(8, 64);
  const CudaLimits little{.shared_bytes = kernel.scratch_bytes - 1};
  EXPECT_EQ(cuda_plan(kernel, little).phases[0].shared_bytes, 0);
  EXPECT_GE(cuda_plan(kernel, little).scratch_bytes, 8 * kernel.scratch_bytes);
  EXPECT_THAT(emit_cuda(kernel, little), testing::Not(HasSubstr("extern __shared__")));
}

// ---- rows that stay in registers

std::optional<CudaResident> resident(const Kernel& kernel, const CudaLimits& limits = {}) {
  return cuda_resident(kernel, kernel.phases[0], limits);
}

TEST(CudaResident, AShortRowBelongsToAWarp) {
  const auto made = resident(examples::softmax(65536, 256, 4, DType::bf16));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->vector, 8);
  EXPECT_EQ(made->group, 32);
  EXPECT_EQ(made->rows(), 8);
  EXPECT_EQ(made->turns(), 1);
  EXPECT_EQ(made->phase.blocks(), 65536);  // blocks of four rows are taken apart
  EXPECT_EQ(cuda_plan(examples::softmax(65536, 256, 4, DType::bf16)).phases[0].grid, 65536 / 8);
}

TEST(CudaResident, ALongerRowBelongsToABlockAndTheLongestToSeveral) {
  const auto block = resident(examples::softmax(16384, 4096, 1, DType::bf16));
  ASSERT_TRUE(block);
  EXPECT_EQ(block->cluster, 1);
  EXPECT_EQ(block->group, block->threads);
  EXPECT_GT(block->group, 32);
  const auto cluster = resident(examples::softmax(512, 131072, 1, DType::bf16));
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->cluster, 8);
  EXPECT_TRUE(cluster->in_registers);
  const auto without =
      resident(examples::softmax(512, 131072, 1, DType::bf16), {.clusters = false});
  ASSERT_TRUE(without);
  EXPECT_EQ(without->cluster, 1);
  EXPECT_FALSE(without->in_registers);
}

TEST(CudaResident, WhatTwoStagesReadIsLoadedOnce) {
  const auto made = resident(examples::softmax(16384, 4096, 1), {.clusters = false});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->kept.size(), 1u);
  EXPECT_EQ(std::ranges::count(made->homes, CudaHome::row), 2);
  EXPECT_EQ(std::ranges::count(made->homes, CudaHome::column), 1);
}

TEST(CudaResident, RowsOfOddLengthAreMasked) {
  const auto made = resident(examples::softmax(4096, 4099, 1));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->vector, 1);
  EXPECT_THAT(emit_cuda(examples::softmax(4096, 4099, 1)), HasSubstr("if (at < 4099)"));
}

TEST(CudaResident, ColumnsAndScansAreOfAnotherKind) {
  EXPECT_FALSE(resident(examples::running_sum(4, 64)));
  const Kernel columns = examples::column_sum(9, 6, 3);
  EXPECT_FALSE(cuda_resident(columns, columns.phases[1], {}));
}

TEST(CudaResident, SumsOverRowsOfAChunkStayInRegisters) {
  const auto made = resident(examples::column_sum(4096, 512, 128));
  ASSERT_TRUE(made);
  EXPECT_EQ(std::ranges::count(made->homes, CudaHome::chunk_column), 1);
  EXPECT_EQ(cuda_plan(examples::column_sum(4096, 512, 128)).phases[0].grid, 128);
}

// ---- rows that fly to shared memory

constexpr CudaLimits kHopper{.shared_bytes = 227 << 10};

TEST(CudaFlights, LongRowsFlyWhileOthersAreWorkedOn) {
  const Kernel kernel = examples::softmax(2048, 32768, 1, DType::bf16);
  const auto made = resident(kernel, kHopper);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->flights.size(), 1u);
  EXPECT_EQ(made->flights[0].buffer, 0u);
  EXPECT_TRUE(made->kept.empty());  // it lies in shared memory
  EXPECT_GE(made->slots, 2);
  EXPECT_EQ(made->slot_bytes, 32768 * 2);
  const CudaPhase launch = cuda_plan(kernel, kHopper).phases[0];
  EXPECT_EQ(launch.grid, made->workers);  // they stay
  EXPECT_LT(launch.grid, 2048);
  EXPECT_EQ(launch.shared_bytes, made->slots * made->slot_bytes);
  EXPECT_THAT(emit_cuda(kernel, kHopper), HasSubstr("arrive(&gates[slot], turn);"));
}

TEST(CudaFlights, BlocksOfAMultiprocessorHaveRoomTogether) {
  for (std::int64_t columns : {16384, 32768, 40000, 128256, 131072}) {
    const auto made = resident(examples::softmax(4096, columns, 1, DType::bf16), kHopper);
    ASSERT_TRUE(made && made->slots >= 2) << columns;
    EXPECT_LE(made->at_once * (made->slots * made->slot_bytes + 1024), 228 << 10) << columns;
    EXPECT_GE(made->slot_bytes * made->cluster, columns * 2) << columns;
    EXPECT_LE(made->at_once * made->threads, 2048) << columns;
  }
}

TEST(CudaFlights, OnlyRowsThatCopiesCanTakeFly) {
  // Not whole pieces of 16 bytes; too short; too old a device.
  EXPECT_EQ(resident(examples::softmax(4096, 40003, 1, DType::bf16), kHopper)->slots, 0);
  EXPECT_EQ(resident(examples::softmax(4096, 40004, 1, DType::bf16), kHopper)->slots, 0);
  EXPECT_EQ(resident(examples::softmax(65536, 4096, 1, DType::bf16), kHopper)->slots, 0);
  EXPECT_EQ(resident(examples::softmax(4096, 40000, 1), {.clusters = false})->slots, 0);
  EXPECT_GT(resident(examples::softmax(4096, 40008, 1, DType::bf16), kHopper)->slots, 0);
}

TEST(CudaFlights, RowsOfChunksFlyAlsoWhereTheyAreShort) {
  const auto made = resident(examples::column_sum(65536, 2048, 528), kHopper);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->flights.size(), 1u);
  EXPECT_GE(made->slots, 2);
  EXPECT_EQ(cuda_plan(examples::column_sum(65536, 2048, 528), kHopper).phases[0].grid, 528);
}

TEST(CudaFlights, FewerClustersDoAsWell) {
  const Kernel kernel = examples::softmax(512, 131072, 1, DType::bf16);
  const auto made = resident(kernel, kHopper);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->cluster, 8);
  EXPECT_EQ(made->workers, 132 * made->at_once / 8);
  EXPECT_TRUE(cuda_plan(kernel, kHopper).phases[0].stays);
  // A chunk has a block of its own.
  EXPECT_FALSE(cuda_plan(examples::column_sum(4096, 512, 128), kHopper).phases[0].stays);
}

TEST(CudaFlights, WhatTheAssemblerSaysDoesNotChangeTheLaunch) {
  const Kernel kernel = examples::softmax(512, 131072, 1, DType::bf16);
  CudaLimits spilled = kHopper;
  spilled.spare_registers = 128;
  const auto a = resident(kernel, kHopper), b = resident(kernel, spilled);
  ASSERT_TRUE(a && b);
  EXPECT_GT(a->at_once, b->at_once);
  EXPECT_EQ(a->slots, b->slots);
  EXPECT_EQ(cuda_plan(kernel, kHopper).phases[0].grid, cuda_plan(kernel, spilled).phases[0].grid);
}

TEST(CudaFlights, NoRowWaitsForWhatTheLastOneWrote) {
  // A barrier of the cluster would: there is one before all rows and one after.
  const std::string text = emit_cuda(examples::softmax(512, 131072, 1, DType::bf16), kHopper);
  const std::size_t rows = text.find("for (i64 first = begin");
  ASSERT_NE(rows, std::string::npos);
  EXPECT_LT(text.rfind("  cluster_barrier();", rows), rows);
  EXPECT_EQ(text.find("  cluster_barrier();", rows), text.rfind("  cluster_barrier();"));
  EXPECT_EQ(text.find("    cluster_barrier();", rows), std::string::npos);
}

// ---- values that stay

// Two sums of a row over the same function of its points, and a result of it.
Kernel computed_thrice(ScalarOp op) {
  Kernel kernel = named_kernel("thrice");
  const auto x = add_buffer(kernel, Reach::input, DType::f32, 1024 * 2048);
  const auto y = add_buffer(kernel, Reach::output, DType::f32, 1024 * 2048);
  const auto sum = add_buffer(kernel, Reach::block, DType::f32, 1);
  const auto most = add_buffer(kernel, Reach::block, DType::f32, 1);
  Phase phase = phase_over({{1024, 1}});
  StageBuilder clear(kernel), first(kernel, {{2048, -1}}), second(kernel, {{2048, -1}}),
      third(kernel, {{2048, -1}});
  for (auto b : {sum, most}) clear.store(b, clear.index(0), clear.number(0, DType::f32));
  const auto at = [](StageBuilder& w) { return w.add(w.scaled(w.outer(0), 2048), w.loop(0)); };
  const auto value = [&](StageBuilder& w) { return w.op(op, w.load(x, at(w))); };
  first.update(sum, first.index(0), ScalarOp::add, value(first));
  second.update(most, second.index(0), ScalarOp::maximum,
                second.op(ScalarOp::subtract, value(second), second.load(sum, second.index(0))));
  third.store(y, at(third),
              third.op(ScalarOp::subtract, value(third), third.load(most, third.index(0))));
  for (StageBuilder* w : {&clear, &first, &second, &third}) phase.stages.push_back(w->stage);
  kernel.phases.push_back(phase);
  return kernel;
}

TEST(CudaValues, WhatIsDearIsComputedOnce) {
  const Kernel kernel = computed_thrice(ScalarOp::exp);
  const auto made = resident(kernel, kHopper);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->values.size(), 1u);
  EXPECT_EQ(made->values[0].first(), 1u);
  const std::string text = emit_cuda(kernel, kHopper);
  std::size_t exps = 0;
  for (std::size_t i = text.find("= h_exp("); i != std::string::npos;
       i = text.find("= h_exp(", i + 1))
    ++exps;
  EXPECT_EQ(exps, static_cast<std::size_t>(made->vector));
}

TEST(CudaValues, WhatIsCheapIsComputedAgain) {
  EXPECT_TRUE(resident(computed_thrice(ScalarOp::negate), kHopper)->values.empty());
}

TEST(CudaValues, WhatChangedInBetweenIsAnother) {
  Kernel kernel = computed_thrice(ScalarOp::exp);
  // The sum grows between two stages that subtract it.
  std::vector<Stage>& stages = kernel.phases[0].stages;
  stages = {stages[0], stages[1], stages[2], stages[1], stages[2], stages[3]};
  const auto made = resident(kernel, kHopper);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->values.size(), 1u);
  EXPECT_EQ(stages[4].nodes[made->values[0].nodes[4]].op, ScalarOp::exp);
}

TEST(EmitCuda, DividingByAPowerOfTwoIsAProduct) {
  Kernel kernel = named_kernel("halves");
  const auto x = add_buffer(kernel, Reach::input, DType::f32, 64);
  const auto y = add_buffer(kernel, Reach::output, DType::f32, 64);
  Phase phase;
  StageBuilder w(kernel, {{64, -1}});
  const NodeId half = w.op(ScalarOp::divide, w.load(x, w.loop(0)), w.number(-2, DType::f32));
  w.store(y, w.loop(0), w.op(ScalarOp::divide, half, w.number(3, DType::f32)));
  phase.stages.push_back(w.stage);
  kernel.phases.push_back(phase);
  EXPECT_THAT(emit_cuda(kernel), HasSubstr("h_constant<f32>(0xbf000000ull))"));
  EXPECT_THAT(emit_cuda(kernel), HasSubstr("divide_by("));
}

TEST(EmitCuda, ALogisticFunctionIsKnown) {
  for (double one : {1.0, 1.5}) {
    Kernel kernel = named_kernel("logistic");
    const auto x = add_buffer(kernel, Reach::input, DType::f32, 64);
    const auto y = add_buffer(kernel, Reach::output, DType::f32, 64);
    Phase phase;
    StageBuilder w(kernel, {{64, -1}});
    const NodeId power = w.op(ScalarOp::exp, w.load(x, w.loop(0)));
    const NodeId sum = w.add(power, w.number(one, DType::f32));
    w.store(y, w.loop(0), w.op(ScalarOp::divide, w.number(1, DType::f32), sum));
    phase.stages.push_back(w.stage);
    kernel.phases.push_back(phase);
    const std::string text = emit_cuda(kernel);
    EXPECT_EQ(text.find("= inverse_of(") != std::string::npos, one == 1.0);
  }
}

// x / (1 + exp(x)), narrowed or not, and with something added before.
TEST(EmitCuda, APowerNeedsFewDigitsWhereOnlyTheyCount) {
  const auto is_near = [](DType type, bool adds) {
    Kernel kernel = named_kernel("logistic");
    const auto x = add_buffer(kernel, Reach::input, DType::f32, 64);
    const auto y = add_buffer(kernel, Reach::output, type, 64);
    Phase phase;
    StageBuilder w(kernel, {{64, -1}});
    const NodeId value = w.load(x, w.loop(0)), one = w.number(1, DType::f32);
    const NodeId gate = w.op(ScalarOp::divide, one, w.add(w.op(ScalarOp::exp, value), one));
    NodeId made = w.op(ScalarOp::multiply, value, gate);
    if (adds) made = w.add(made, value);
    w.store(y, w.loop(0), type == DType::f32 ? made : w.cast(made, type));
    phase.stages.push_back(w.stage);
    kernel.phases.push_back(phase);
    return emit_cuda(kernel).find("= near_exp(") != std::string::npos;
  };
  EXPECT_TRUE(is_near(DType::bf16, false));
  EXPECT_FALSE(is_near(DType::f32, false));
  EXPECT_FALSE(is_near(DType::bf16, true));
}

// ---- threads that stay with columns

TEST(CudaColumns, WhatBelongsToColumnsIsLoadedBeforeRows) {
  // 40 accesses a row: six rows abreast, of 256 threads.
  const std::string text = emit_cuda(examples::gained(64, 4096, 320, true));
  EXPECT_THAT(text, HasSubstr("const int part = (int)threadIdx.x / 40;"));
  EXPECT_THAT(text, HasSubstr("if (part < 6) {"));
  EXPECT_LT(text.find("(b1 + "), text.find("for (int row = part"));
  EXPECT_GT(text.find("(b0 + "), text.find("for (int row = part"));
}

TEST(CudaColumns, OnlyWhereColumnsAreFewAndRowsMany) {
  for (const Kernel& kernel :
       {examples::gained(64, 4096, 320, false), examples::gained(64, 4096, 4096, true),
        examples::gained(64, 16, 320, true)})
    EXPECT_THAT(emit_cuda(kernel), testing::Not(HasSubstr("for (int row = part")));
}

// What is thought best comes first; others share the same rows otherwise, and launch as they say.
TEST(CudaWays, AFewAreWorthTiming) {
  for (const Kernel& kernel : {examples::softmax(16384, 4096, 1, DType::bf16),
                               examples::softmax(2048, 32768, 1, DType::bf16),
                               examples::softmax(512, 131072, 1, DType::bf16)}) {
    const auto ways = cuda_ways(kernel, kHopper);
    ASSERT_GE(ways.size(), 2u);
    ASSERT_LE(ways.size(), 3u);
    EXPECT_FALSE(ways[0].rows);
    std::set<std::string> texts;
    for (const CudaLimits& way : ways) {
      texts.insert(emit_cuda(kernel, way));
      if (!way.rows) continue;
      const auto made = resident(kernel, way);
      EXPECT_EQ(made->group, way.rows->threads);
      EXPECT_EQ(made->cluster, way.rows->cluster);
      EXPECT_EQ(made->slots > 0, way.rows->flies);
    }
    EXPECT_EQ(texts.size(), ways.size());
  }
  // Short rows belong to warps, and elements one after the other to nobody.
  EXPECT_EQ(cuda_ways(examples::softmax(65536, 256, 4, DType::bf16), kHopper).size(), 1u);
  EXPECT_EQ(cuda_ways(examples::squares(40003, 512), kHopper).size(), 1u);
}

TEST(CudaMapping, EveryTierIsEmitted) {
  for (const examples::CudaTier& tier : examples::cuda_tiers()) {
    ASSERT_TRUE(verify(tier.kernel)) << tier.name;
    const std::string text = emit_cuda(tier.kernel, {.shared_bytes = 227 << 10});
    EXPECT_THAT(text.substr(text.find("struct Buffers")), HasSubstr(tier.words)) << tier.name;
  }
}

}  // namespace
}  // namespace heddle
