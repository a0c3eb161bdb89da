// How threads of a block share stages: which loops, how many threads a point has, what lies where.
#include <gmock/gmock.h>

#include "heddle/notation.h"
#include "kernel/cuda_exchange.h"
#include "kernel/cuda_layout.h"
#include "kernel/emit_cuda_stage.h"
#include "kernel/needless_guards.h"
#include "kernel/rows_apart.h"
#include "kernel_examples.h"

namespace heddle {
namespace {

using ::testing::HasSubstr;

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
