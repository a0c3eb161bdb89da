// The CUDA text of kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "heddle/notation.h"
#include "kernel/cuda_exchange.h"
#include "kernel/cuda_layout.h"
#include "kernel/cuda_resident.h"
#include "kernel/cuda_ways.h"
#include "kernel/emit_cuda_stage.h"
#include "kernel/needless_guards.h"
#include "kernel/rows_apart.h"
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

// ---- which loops threads share

TEST(CudaLoops, StoresShareAllOfThem) {
  const Kernel kernel = examples::softmax(8, 16, 2);
  EXPECT_EQ(shared_loops(kernel.phases[0].stages[3]), (std::vector{true, true}));
}

TEST(CudaLoops, ReducedLoopsRunInOneThread) {
  const Kernel kernel = examples::softmax(8, 16, 2);
  EXPECT_EQ(shared_loops(kernel.phases[0].stages[1]), (std::vector{true, false}));
  EXPECT_EQ(shared_loops(kernel.phases[0].stages[2]), (std::vector{true, false}));
  const Kernel columns = examples::column_sum(9, 6, 3);
  EXPECT_EQ(shared_loops(columns.phases[0].stages[0]), (std::vector{false, true}));
}

TEST(CudaLoops, PlacesFromDataAreOneThreads) {
  const Kernel kernel = examples::scatter_add(4, 5, true);
  EXPECT_EQ(shared_loops(kernel.phases[1].stages[0]), (std::vector{false}));
}

TEST(CudaLoops, PlacesThatMeetAreOneThreads) {
  Kernel kernel = named_kernel("meeting");
  const auto x = add_buffer(kernel, Reach::input, DType::f32, 12);
  const auto y = add_buffer(kernel, Reach::output, DType::f32, 12);
  for (std::int64_t factor : {2, 3}) {
    // i * factor + j with j < 3: apart only where the factor is 3.
    StageBuilder writer(kernel, {{4, -1}, {3, -1}});
    const NodeId at = writer.add(writer.scaled(writer.loop(0), factor), writer.loop(1));
    writer.update(y, at, ScalarOp::add, writer.load(x, at));
    EXPECT_EQ(shared_loops(writer.stage)[0], factor == 3);
    EXPECT_EQ(shared_loops(writer.stage)[1], factor == 3);
  }
}

// ---- how threads share a stage

CudaMapping mapping_of(const Kernel& kernel, std::size_t stage) {
  const Phase& phase = kernel.phases[0];
  return cuda_mapping(kernel, phase, phase.stages[stage], 256);
}

TEST(CudaMapping, ThreadsOfAGroupShareARow) {
  // Two rows a block: 128 threads for each, which need no more than 64 for 256 elements by fours.
  const CudaMapping mapping = mapping_of(examples::softmax(8, 256, 2), 1);
  EXPECT_EQ(mapping.vectors.count, 4);
  EXPECT_EQ(mapping.round.threads(CudaMapping::kOthers), 64);
  EXPECT_EQ(mapping.accumulated, std::vector{true});
}

TEST(CudaMapping, AccessesAreAsWideAsTheNarrowestTypeAllows) {
  EXPECT_EQ(mapping_of(examples::softmax(8, 256, 2), 3).vectors.count, 4);
  EXPECT_EQ(mapping_of(examples::softmax(8, 256, 2, DType::bf16), 3).vectors.count, 8);
  EXPECT_EQ(mapping_of(examples::softmax(8, 6, 2), 3).vectors.count, 2);
}

TEST(CudaMapping, ColumnsThatAreNoPowerOfTwoLeaveFewThreadsIdle) {
  Kernel kernel = named_kernel("columns");
  const auto x = add_buffer(kernel, Reach::input, DType::bf16, 4096 * 320);
  const auto sum = add_buffer(kernel, Reach::block, DType::f32, 320);
  Phase phase;
  StageBuilder w(kernel, {{4096, -1}, {320, -1}});
  const NodeId at = w.add(w.scaled(w.loop(0), 320), w.loop(1));
  w.update(sum, w.loop(1), ScalarOp::add, w.cast(w.load(x, at), DType::f32));
  phase.stages.push_back(w.stage);
  const CudaMapping mapping = cuda_mapping(kernel, phase, w.stage, 256);
  EXPECT_EQ(mapping.vectors.count, 8);
  EXPECT_EQ(mapping.round.threads(CudaMapping::kPoints), 40);
  EXPECT_EQ(mapping.round.threads(CudaMapping::kOthers), 6);  // 240 of 256
}

TEST(CudaMapping, OddRowsAreReadElementByElement) {
  EXPECT_EQ(mapping_of(examples::softmax(8, 255, 2), 1).vectors.count, 1);
  EXPECT_EQ(mapping_of(examples::softmax(8, 255, 2), 3).vectors.count, 1);
}

TEST(CudaMapping, OddRowsThatBeginEvenlyLeaveATail) {
  const Kernel kernel = examples::odd_rows(40, 3, 1001, 1008);
  const CudaMapping sums = mapping_of(kernel, 1);
  EXPECT_EQ(sums.vectors.count, 8);
  EXPECT_EQ(sums.vectors.tail, 1);
  EXPECT_EQ(mapping_of(examples::odd_rows(40, 3, 1001, 1001), 1).vectors.count, 1);
}

// A row's sum is loaded once for neighbours, since it is there behind the row too; what lies
// beyond the buffer is not looked at.
TEST(NeedlessGuards, AreDroppedWhereTheElementExistsAndNobodyLooks) {
  const auto guarded = [](const Kernel& kernel, std::size_t stage) {
    const Phase& phase = kernel.phases[0];
    const Stage made = without_needless_guards(kernel, phase, phase.stages[stage]);
    return std::ranges::count_if(made.nodes, [](const Node& node) {
      return node.kind == NodeKind::load && node.in[1] != kNone;
    });
  };
  EXPECT_EQ(guarded(examples::odd_rows(40, 3, 1001, 1008), 2), 0);
  EXPECT_EQ(guarded(examples::joined(300, 64, 128, 20), 0), 2);
  Kernel looked_at = examples::odd_rows(40, 3, 1001, 1008);
  Stage& last = looked_at.phases[0].stages[2];
  last.statements[0].values[0] = last.nodes[last.statements[0].values[0]].in[1];  // not the select
  EXPECT_EQ(guarded(looked_at, 2), 2);
}

// Parts of 512 chunks for 24 columns a block: a third of them is a sector of memory still.
TEST(CudaSpread, LongSumsFillTheDevice) {
  const auto block_of = [](std::int64_t chunks, std::int64_t block, int multiprocessors) {
    Kernel kernel = named_kernel("total");
    const auto parts = add_buffer(kernel, Reach::input, DType::f32, chunks * 768);
    const auto y = add_buffer(kernel, Reach::output, DType::f32, 768);
    const Phase phase = examples::total_of_parts(kernel, parts, y, 768, chunks, block);
    return cuda_spread(kernel, phase, {.multiprocessors = multiprocessors}).outer[0].block;
  };
  EXPECT_EQ(block_of(512, 24, 132), 8);
  EXPECT_EQ(block_of(512, 16, 132), 8);
  EXPECT_EQ(block_of(512, 4, 132), 4);
  EXPECT_EQ(block_of(512, 24, 16), 24);  // which has enough blocks
  EXPECT_EQ(block_of(16, 24, 132), 24);  // short sums: whole lines of memory
}

TEST(RowsApart, WhereEachHasItsOwnNumbersAndIsLong) {
  const auto apart = [](Kernel kernel) {
    return with_rows_apart(kernel, kernel.phases[0]).outer.size() > kernel.phases[0].outer.size();
  };
  EXPECT_TRUE(apart(examples::odd_rows(40, 3, 5001, 5008)));
  EXPECT_FALSE(apart(examples::odd_rows(40, 3, 1001, 1008)));  // they lie in caches together
  EXPECT_FALSE(apart(examples::softmax(8, 5000, 2)));          // a block has one row already
  EXPECT_FALSE(apart(examples::inner_sum(2, 3000, 320)));      // rows share what they add up
  Kernel together = examples::odd_rows(40, 3, 5001, 5008);     // one sum of all rows
  Stage& add = together.phases[0].stages[1];
  add.nodes.push_back({.type = DType::i64});
  add.statements[0].index = static_cast<NodeId>(add.nodes.size() - 1);
  EXPECT_FALSE(apart(together));
}

TEST(CudaMapping, ARunningSumOfARowIsOfAllThreads) {
  const Kernel kernel = examples::running_sum(4, 64);
  int scans = 0;
  for (const Stage& stage : kernel.phases[0].stages)
    for (const Statement& statement : stage.statements) {
      if (statement.kind != Statement::Kind::scan) continue;
      EXPECT_TRUE(cuda_mapping(kernel, kernel.phases[0], stage, 256).is_scan);
      ++scans;
    }
  EXPECT_EQ(scans, 1);
}

// Rows that data name: columns are told apart by their place in them. One block must not change
// what another of its cluster may still have to write.
TEST(CudaMapping, ColumnsOfScatteredRowsAreShared) {
  const Kernel kernel = examples::scatter_rows(2000, 900, 64, 16);
  ASSERT_TRUE(verify(kernel));
  const Phase& phase = kernel.phases[0];
  EXPECT_EQ(shared_loops(phase.stages[1]), (std::vector<bool>{false, true}));
  EXPECT_EQ(cuda_cluster(kernel, phase, {}), 1);
}

// The notation of docs/layouts.md, and a picture of the first.
TEST(CudaLayout, SaysWhoHasWhat) {
  const auto said = [](const Kernel& kernel) {
    return describe_cuda_mapping(kernel, {.shared_bytes = 227 << 10});
  };
  const auto rows = said(examples::softmax(70, 40));
  EXPECT_EQ(rows[0],
            "rows by points lie at (70{pad=80}:5@block:8@warp:2@lane, 40{pad=64}:16@lane:4@vec)");
  EXPECT_THAT(rows, testing::Contains("sums along a row meet: 4 in registers, 16 by shuffles"));
  EXPECT_THAT(said(examples::softmax(512, 131072, 1, DType::bf16)),
              testing::Contains(HasSubstr("32 by shuffles, 16 through shared memory, 8 through the "
                                          "shared memory of other blocks")));
  EXPECT_THAT(rows, testing::Contains(HasSubstr("0,0,17")));
  EXPECT_THAT(rows, testing::Contains(HasSubstr("position on block,warp,lane")));
  EXPECT_EQ(
      said(examples::running_sum(4, 3000))[1],
      "stage 1: points by others lie at (1, 3000{pad=4096}:2@step:8@warp:2@reg:32@lane:4@vec)");
  EXPECT_EQ(said(examples::squares(40003, 512))[0],
            "elements lie at (40003{pad=40960}:40@block:8@warp:32@lane:4@vec)");
  EXPECT_THAT(said(examples::softmax(5, 40000)),
              testing::ElementsAre(HasSubstr("which 512 threads do not divide")));
}

// What two layouts have to exchange follows from them alone.
TEST(CudaExchange, IsWhatTheLayoutsDifferIn) {
  AxisRegistry axes = kernel_axes();
  const auto layout = [&](std::string_view text) { return parse_layout(text, axes).value(); };
  const auto words = [&](std::string_view there, std::string_view wanted) {
    return words_of(cuda_exchange(layout(there), layout(wanted), axes).value());
  };
  const std::string by_warps = "(2048:2@reg:8@warp:32@lane:4@vec)";
  EXPECT_EQ(words(by_warps, by_warps), "nothing");
  // A thread's own elements in another order are still its own.
  EXPECT_EQ(words(by_warps, "(2048:2@turn:8@warp:32@lane:4@reg)"), "nothing");
  EXPECT_EQ(words("(256:8@warp:32@lane)", "(256:8@warp:4@reg:8@lane)"), "4 by shuffles");
  EXPECT_EQ(words("(256:8@warp:32@lane)", "(256:32@lane:8@warp)"),
            "32 by shuffles, 8 through shared memory");
  EXPECT_EQ(words("(64:4@cluster:16@reg)", "(64:16@reg:4@cluster)"),
            "4 through the shared memory of other blocks");
  EXPECT_EQ(words("(64:4@block:16@reg)", "(64:16@reg:4@block)"), "4 through memory");
  // A sum that threads have parts of, for all of them.
  EXPECT_EQ(words("(8:8@warp) + P[sum 32@lane]", "(8:8@warp) + R[32@lane]"), "32 by shuffles");
  EXPECT_EQ(words("(8) + P[sum 4@warp,32@lane]", "(8) + R[4@warp,32@lane]"),
            "32 by shuffles, 4 through shared memory");
}

// What a stage leaves in scratch, and who reads it there: column sums that warps and half warps
// have parts of, for threads with four columns each.
TEST(CudaExchange, OfStagesThatShareScratch) {
  const CudaLimits limits{.shared_bytes = 227 << 10, .clusters = false};
  EXPECT_THAT(describe_cuda_mapping(examples::inner_sum(2, 64, 128), limits),
              testing::Contains("stage 1 leaves scratch 2 for 2: 32 by shuffles, 8 through shared "
                                "memory"));
  AxisRegistry axes = kernel_axes();
  Stage stage;
  stage.loops = {{8}, {32}};
  const Layout mapping = parse_layout("(256:8@warp:32@lane, 1)", axes).value();
  const auto values = [&](std::vector<std::int64_t> tile, CudaUse use) {
    CudaPlace place;
    place.tile = std::move(tile);
    return cuda_value_layout(stage, {true, true}, mapping, place, use, axes);
  };
  const auto print = [&](const Expected<Layout>& layout) {
    return layout ? print_layout(*layout, axes) : layout.reason();
  };
  EXPECT_EQ(print(values({32, 1}, CudaUse::stores)), "(256:8@warp:32@lane)");
  EXPECT_EQ(print(values({1, 8}, CudaUse::stores)), "(256:32@lane:8@warp)");
  EXPECT_EQ(print(values({1, 0}, CudaUse::adds)), "(8:8@warp) + P[sum lane]");
  EXPECT_EQ(print(values({0, 1}, CudaUse::loads)), "(32:32@lane) + R[8@warp]");
  EXPECT_EQ(print(values({0, 1}, CudaUse::stores)), "several points store one element");
  EXPECT_EQ(print(values({33, 1}, CudaUse::loads)), "its elements do not lie side by side");
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

// Columns have several threads each where they are long enough; blocks of a cluster have stretches
// of them.
TEST(CudaMapping, RunningSumsOfColumnsAreOfSeveralThreads) {
  const auto scans = [](const Kernel& kernel) {
    const Phase& phase = kernel.phases[0];
    return is_column_scan(kernel, phase, phase.stages[1], kCudaThreads);
  };
  const Kernel long_one = examples::running_columns(4096, 1024, 16);
  EXPECT_TRUE(scans(long_one));
  EXPECT_FALSE(scans(examples::running_columns(20, 1024, 16)));
  EXPECT_FALSE(scans(examples::running_sum(4, 64)));
  Kernel without = long_one;
  without.phases[0].stages[1].loops[1].size = 0;
  EXPECT_FALSE(scans(without));
  EXPECT_EQ(cuda_share(long_one, long_one.phases[0], long_one.phases[0].stages[1], kCudaThreads),
            CudaShare::others);
  EXPECT_THAT(emit_cuda(long_one), HasSubstr("get_far<i32>(&far[who], k)"));
  // What stays in the scratch of a block is there for that block alone.
  EXPECT_GT(cuda_cluster(long_one, long_one.phases[0], {}), 1);
  Kernel kept = long_one;
  kept.buffers[kept.phases[0].stages[1].statements[0].buffers[1]].reach = Reach::block;
  EXPECT_EQ(cuda_cluster(kept, kept.phases[0], {}), 1);
}

}  // namespace
}  // namespace heddle
