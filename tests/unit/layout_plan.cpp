// The planner on known cases; layout_plan_pairs.cpp has every pair of layouts on a small mesh.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "heddle/log.h"
#include "plan_world.h"

namespace heddle {
namespace {

std::vector<std::string> kinds(const Plan& plan) {
  std::vector<std::string> out;
  for (const Move& m : plan.moves) out.emplace_back(name(m.kind));
  return out;
}

TEST(Plan, SameLayoutNeedsNoMove) {
  World w("gpu=8");
  EXPECT_TRUE(w.plan("(64:8@gpu, 128)", "(64:8@gpu, 128)").moves.empty());
}

TEST(Plan, XlaIssue15207TakesAtMostTwoAllToAlls) {
  World w("x=4,y=2");
  Plan p = w.plan("(16:y, 16, 16:x)", "(16, 16:x:y, 16)");
  ASSERT_LE(p.moves.size(), 2U);
  for (const Move& m : p.moves) EXPECT_EQ(m.kind, MoveKind::all_to_all);
  EXPECT_LT(p.bytes, 16 * 16 * 16 * 4);  // less than a full copy
  EXPECT_TRUE(simulate(p, w.mesh, w.axes));
}

TEST(Plan, PendingSumOverNodesBecomesHierarchical) {
  World w("node=4,gpu=8");
  Plan p = w.plan("(4096, 1024) + P[sum node,gpu]", "(4096, 1024)");
  ASSERT_EQ(kinds(p), (std::vector<std::string>{"reduce-scatter", "all-reduce", "all-gather"}));
  EXPECT_EQ(w.axes[p.moves[0].over[0].axis].name, "gpu");
  EXPECT_EQ(w.axes[p.moves[1].over[0].axis].name, "node");
  EXPECT_EQ(w.axes[p.moves[2].over[0].axis].name, "gpu");
}

TEST(Plan, ReplicatedTensorIsCutWithoutTraffic) {
  World w("gpu=8");
  Plan p = w.plan("(64, 128)", "(64:8@gpu, 128)");
  EXPECT_EQ(kinds(p), std::vector<std::string>{"slice"});
  EXPECT_EQ(p.bytes, 0);
}

TEST(Plan, CopiesInsideANodeShareTheTrafficBetweenNodes) {
  World w("node=2,gpu=8");
  Plan p = w.plan("(4096:2@node, 4096)", "(4096, 4096)");
  // Each gpu fetches an eighth of the other node's part, then they exchange inside the node.
  std::int64_t between = 0;
  for (const Move& m : p.moves)
    for (const SubAxis& s : m.over)
      if (w.axes[s.axis].name == "node") between += m.bytes;
  EXPECT_EQ(between, 4096LL * 4096 * 4 / 2 / 8);
}

TEST(Plan, OuterSplitCostsTwiceTheInnerOne) {
  World w("x=2,y=2");
  double inner = w.plan("(64:2@x:2@y)", "(64:2@x)").seconds;
  double outer = w.plan("(64:2@x:2@y)", "(64:2@y)").seconds;
  EXPECT_GT(outer, inner);
}

TEST(Plan, UnevenSplitIsGatheredByBlocks) {
  World w("gpu=4");
  Plan p = w.plan("(10{pad=12}:4@gpu)", "(10)");
  EXPECT_EQ(kinds(p), (std::vector<std::string>{"all-gather", "local-copy"}));
  EXPECT_TRUE(simulate(p, w.mesh, w.axes));
}

TEST(Plan, DifferentPaddingFallsBackToAnExchange) {
  World w("x=2,y=3");
  Plan p = w.plan("(10:2@x)", "(10{pad=12}:3@y)");
  EXPECT_TRUE(simulate(p, w.mesh, w.axes));
  World v("gpu=4");
  Plan q = v.plan("(10{pad=12}:4@gpu)", "(10{pad=16,origin=-3}:4@gpu)");
  EXPECT_EQ(kinds(q), std::vector<std::string>{"exchange"});
  EXPECT_TRUE(simulate(q, v.mesh, v.axes));
}

TEST(Plan, ExchangeFinishesPendingSums) {
  World w("x=4,y=2");
  Plan p = w.plan("(12{pad=12}:4@x) + P[y]", "(12{pad=16,origin=-2}:4@x)");
  EXPECT_EQ(p.moves.front().kind, MoveKind::exchange);
  auto right = simulate(p, w.mesh, w.axes);
  EXPECT_TRUE(right) << right.reason();
}

// Cuts that do not nest need an exchange, and it carries least after sums are scattered and before
// copies are made.
TEST(Plan, AnExchangeIsOneStepAmongCollectives) {
  struct Case {
    const char *mesh, *from, *to, *through;
  };
  for (const Case& c :
       {Case{"a=6,b=4,c=9", "(5184:c, 5184) + P[a,b]", "(5184:a:b, 5184)", "(5184:c:a:b, 5184)"},
        Case{"a=2,b=4,c=3", "(4608:a, 27648) + P[b]", "(4608:c, 27648)", "(4608:a:b, 27648)"},
        Case{"a=8,b=6,c=4", "(576:a, 576, 576) + P[b,c]", "(576:b, 576, 576) + P[a,c]",
             "(576, 576:b, 576) + P[a,c]"},
        Case{"a=4,b=4,c=4", "(4096, 4096:(2:2@a):(2:2@b):(2:2@c)) + P[2:1@a,2:1@b,2:1@c]",
             "(4096:(2:2@c):(2:1@a), 4096)",
             "(4096:(2:1@a):(2:1@b):(2:1@c), 4096:(2:2@a):(2:2@b):(2:2@c))"}}) {
    World w(c.mesh);
    const Plan whole = w.plan(c.from, c.to);
    const double legs = w.plan(c.from, c.through).seconds + w.plan(c.through, c.to).seconds;
    EXPECT_LE(whole.seconds, legs * (1 + 1e-9)) << c.from << " -> " << c.to;
    EXPECT_GT(whole.states, 1);
  }
  World w("a=2,b=4,c=3");
  const Plan small = w.plan("(48:a, 12) + P[b]", "(48:c, 12)");
  EXPECT_FALSE(small.exhaustive);
  auto right = simulate(small, w.mesh, w.axes);
  EXPECT_TRUE(right) << right.reason();
}

TEST(Plan, StencilExchangesOnlyItsHalo) {
  World w("gpu=4");
  Plan p = w.plan("(64:4@gpu, 32)", "(64{halo=1}:4@gpu, 32)");
  ASSERT_FALSE(p.moves.empty());
  EXPECT_EQ(p.moves.back().kind, MoveKind::halo_exchange);
  EXPECT_EQ(p.moves.back().bytes, 2 * 32 * 4);
  EXPECT_EQ(p.bytes, 2 * 32 * 4);
  auto right = simulate(p, w.mesh, w.axes);
  EXPECT_TRUE(right) << right.reason();
}

TEST(Plan, HaloCornersArrive) {
  World w("x=2,y=3");
  for (const char* target : {"(8{halo=1}:2@x, 9{halo=2:1}:3@y)", "(8{halo=1}:2@x, 9{halo=5:4}:3@y)",
                             "(7{pad=8,halo=0:2}:2@x, 9{halo=1})"}) {
    std::string source = target[1] == '7' ? "(7, 9)" : "(8:2@x, 9)";
    Plan p = w.plan(source, target);
    auto right = simulate(p, w.mesh, w.axes);
    EXPECT_TRUE(right) << target << ": " << right.reason();
  }
}

TEST(Plan, HaloThatIsThereIsNotSentAgain) {
  World w("gpu=4");
  Layout wide = w.layout("(64{halo=2}:4@gpu)");
  LayoutParts parts = wide.parts();
  parts.dims[0].halo_lo = 1;
  parts.dims[0].halo_hi = 0;
  Plan p = plan_redistribution(wide, Layout::make(parts).value(), w.mesh, w.axes).value();
  EXPECT_TRUE(p.moves.empty());
}

TEST(Plan, MemoryOrderAloneIsALocalCopy) {
  World w("gpu=4");
  Plan p = w.plan("(8:4@gpu, 6)", "[8, 6] S[(4,2,6):(1@gpu,1@mem,2@mem)]");
  EXPECT_EQ(kinds(p), std::vector<std::string>{"local-copy"});
  EXPECT_EQ(p.bytes, 0);
  EXPECT_TRUE(simulate(p, w.mesh, w.axes));
}

TEST(Plan, MemoryCapIsKeptOrExplained) {
  World w("x=4,y=2");
  PlanOptions free;
  Plan unlimited = w.plan("(16:x:y, 16, 16)", "(16, 16:y:x, 16)", free);
  PlanOptions capped;
  capped.memory_cap = unlimited.peak_bytes;
  EXPECT_LE(w.plan("(16:x:y, 16, 16)", "(16, 16:y:x, 16)", capped).peak_bytes, capped.memory_cap);
  capped.memory_cap = 100;
  auto no = plan_redistribution(w.layout("(16:x:y, 16, 16)"), w.layout("(16, 16:y:x, 16)"), w.mesh,
                                w.axes, capped);
  ASSERT_FALSE(no);
  EXPECT_NE(no.reason().find("the least that works needs"), std::string::npos);
}

TEST(Plan, HalosCountInMemory) {
  World w("gpu=4");
  // 16 rows and 2 of halo, 32 columns of 4 bytes; then a quarter of the columns.
  Plan p = w.plan("(64{halo=1}:4@gpu, 32)", "(64, 32:4@gpu)");
  const std::int64_t with_halo = (16 + 2) * 32 * 4;
  EXPECT_EQ(p.peak_bytes, with_halo + 64 * 8 * 4);
  PlanOptions capped;
  capped.memory_cap = p.peak_bytes - 1;
  auto no = plan_redistribution(p.source, p.target, w.mesh, w.axes, capped);
  ASSERT_FALSE(no);
  EXPECT_NE(no.reason().find(fmt::format("the source has {}", with_halo)), std::string::npos)
      << no.reason();
  Plan q = w.plan("(64, 32)", "(64{halo=1:3}:4@gpu, 32)");
  EXPECT_EQ(q.moves.back().live, (16 + 4) * 32 * 4);
  auto huge = plan_redistribution(w.layout("(64:4@gpu, 8)"),
                                  w.layout("(64{halo=536870912}:4@gpu, 8{halo=536870912})"), w.mesh,
                                  w.axes);
  EXPECT_FALSE(huge);
}

TEST(Plan, NothingIsSentForNoElements) {
  World w("gpu=8");
  Plan p = w.plan("(0:8@gpu)", "(0)");
  EXPECT_TRUE(p.moves.empty());
  EXPECT_EQ(p.bytes, 0);
  EXPECT_TRUE(simulate(p, w.mesh, w.axes));
  EXPECT_EQ(w.plan("(4:4@gpu, 0) + P[sum 2@gpu]", "(4, 0)").bytes, 0);
}

// The slow link has no latency to speak of here; the fast one has.
TEST(Plan, AnExchangeWaitsForTheLongestLatency) {
  World w("x=2:1GB/s:1us,y=3:100GB/s:1ms");
  Plan p = w.plan("(12:2@x:3@y)", "(12{pad=18,origin=-2}:2@x:3@y)");
  EXPECT_GE(p.seconds, 1e-3);
}

TEST(Plan, BoundsWhereBlocksDoNotNest) {
  World w("gpu=4");
  // Blocks of 3 from 0 to blocks of 4 from -3: gpu 1 has 3, 4, 5 and wants 1, 2, 3, 4.
  EXPECT_EQ(w.plan("(10{pad=12}:4@gpu)", "(10{pad=16,origin=-3}:4@gpu)").bound_bytes, 2 * 4);
  // All of a pending sum must come in, padding must not.
  EXPECT_EQ(w.plan("(10) + P[gpu]", "(10{pad=12}:4@gpu)").bound_bytes, 3 * 4);
  // A halo wider than a block: gpu 1 has 2 and 3 and wants 0 to 7.
  EXPECT_EQ(w.plan("(8:4@gpu)", "(8{halo=2:4}:4@gpu)").bound_bytes, 6 * 4);
  // The same on a mesh that is too large to look at every device.
  World v("gpu=1048576");
  EXPECT_EQ(v.plan("(3145728:gpu)", "(3145728{pad=4194304,origin=-3}:gpu)").bound_bytes, 4 * 4);
  EXPECT_EQ(v.plan("(3145728:gpu)", "(3145728{halo=2:4}:gpu)").bound_bytes, 6 * 4);
}

// A pending target can leave a contribution out of one holder and put it into another.
TEST(Plan, APendingTargetIsBoundByTheAverage) {
  World w("x=2,z=2");
  EXPECT_EQ(w.plan("(8:2@x, 8) + P[z]", "(8, 8:2@x) + P[z]").bound_bytes, 8 * 8 / 4 * 4 / 2);
  EXPECT_EQ(w.plan("(8:2@x, 8)", "(8, 8) + P[x]").bound_bytes, 0);
}

TEST(Plan, KernelAxesUseTheirOwnMedia) {
  World w("cluster=2,warp=4,lane=32");
  auto medium = [&](const char* from, const char* to) {
    Plan p = w.plan(from, to);
    EXPECT_FALSE(p.moves.empty());
    EXPECT_TRUE(simulate(p, w.mesh, w.axes));
    return p.moves.empty() ? std::string() : std::string(name(p.moves[0].medium));
  };
  EXPECT_EQ(medium("(64:32@lane) + 0@warp + 0@cluster + P[sum 1@warp]",
                   "(64) + R[lane] + 0@warp + 0@cluster"),
            "shuffle");
  EXPECT_EQ(medium("(64:4@warp) + 0@lane + 0@cluster", "(64) + R[warp] + 0@lane + 0@cluster"),
            "shared memory");
  EXPECT_EQ(
      medium("(64) + P[sum cluster] + 0@lane + 0@warp", "(64) + R[cluster] + 0@lane + 0@warp"),
      "distributed shared memory");
}

TEST(Plan, TheSearchDoesNotGrowWithTheAxes) {
  World small("x=2,y=2,z=2");
  World large("x=65536,y=65536,z=65536");
  auto states = [](World& w) {
    return w.plan("(1048576:x, 65536:y, 65536) + P[z]", "(1048576, 65536:x, 65536:y)").states;
  };
  EXPECT_LE(states(small), 100);
  EXPECT_LE(states(large), 100);
}

TEST(Plan, PlannerRemembers) {
  World w("x=2,y=2");
  Planner planner(w.axes, 2);
  Layout a = w.layout("(8:x, 8:y)");
  Layout b = w.layout("(8, 8:y)");
  Layout c = w.layout("(8:y, 8:x)");
  auto first = planner.plan(a, b, w.mesh).value();
  EXPECT_EQ(planner.plan(a, b, w.mesh).value(), first);
  PlanOptions other;
  other.element_bits = 64;
  EXPECT_NE(planner.plan(a, b, w.mesh, other).value(), first);
  (void)planner.plan(a, c, w.mesh).value();
  EXPECT_LE(planner.size(), 2U);
}

TEST(Plan, PlannerIsSharedBetweenThreads) {
  World w("x=2,y=2,z=2");
  Planner planner(w.axes, 8);
  std::vector<Layout> layouts;
  for (const char* text : {"(8:x, 8:y)", "(8, 8:y)", "(8:y, 8:x)", "(8, 8) + P[z]", "(8:z, 8)"})
    layouts.push_back(w.layout(text));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const Layout& from = layouts[static_cast<std::size_t>(i + t) % layouts.size()];
        const Layout& to = layouts[static_cast<std::size_t>(i * 3 + t) % layouts.size()];
        auto plan = planner.plan(from, to, w.mesh);
        if (!plan || !((*plan)->source == from) || !((*plan)->target == to)) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(planner.size(), 8U);
}

TEST(Plan, LogsPlansAtTwo) {
  World w("gpu=4");
  std::string logged;
  LogSink before = set_log_sink([&](std::string_view text) { logged += text; });
  set_log_level(kLogPlans);
  (void)w.plan("(8:gpu)", "(8)");
  set_log_level(0);
  set_log_sink(before);
  EXPECT_NE(logged.find("all-gather"), std::string::npos);
}

// Where there are too many ways to look at all of them, a plain one is found and found quickly.
TEST(Plan, ManyAxesStillGetCollectives) {
  World w("a=2,b=2,c=2,d=2,e=2,f=2,g=2,h=2");
  Plan p = w.plan("(256:a:b:c:d:e:f:g:h, 256)", "(256, 256:h:g:f:e:d:c:b:a)");
  for (const Move& m : p.moves) EXPECT_NE(m.kind, MoveKind::exchange) << m.why;
  EXPECT_FALSE(p.exhaustive);
  Plan r = w.plan("(65536:a:b:c, 65536:d:e) + P[sum f,g,h]", "(65536:h:g, 65536:f:e:d:c)");
  EXPECT_EQ(r.moves.front().kind, MoveKind::reduce_scatter);
  for (const Move& m : r.moves) EXPECT_NE(m.kind, MoveKind::exchange) << m.why;
  Plan q = w.plan("(256) + P[sum a,b,c,d,e,f,g,h]", "(256)");
  auto right = simulate(q, w.mesh, w.axes);
  EXPECT_TRUE(right) << right.reason();
}

TEST(Plan, RefusesWhatHasNoPlace) {
  World w("gpu=8");
  const auto short_padding =
      plan_redistribution(w.layout("(64)"), w.layout("(64{pad=8}:8@gpu)"), w.mesh, w.axes);
  ASSERT_FALSE(short_padding);
  EXPECT_NE(short_padding.reason().find("pad=64"), std::string::npos) << short_padding.reason();
  PlanOptions tight;
  tight.memory_cap = 31;
  const Layout split = w.layout("(64:8@gpu)");
  EXPECT_FALSE(plan_redistribution(split, split, w.mesh, w.axes, tight));
  tight.memory_cap = 32;
  EXPECT_TRUE(plan_redistribution(split, split, w.mesh, w.axes, tight));
}

// Only two of the four edges of two blocks have a neighbour, and a wide halo ends with the tensor.
TEST(Plan, AHaloEndsWithTheTensor) {
  World two("gpu=2");
  EXPECT_EQ(two.plan("(64:2@gpu)", "(64{halo=10}:2@gpu)").bytes, 10 * 4);
  World eight("gpu=8");
  EXPECT_EQ(eight.plan("(64:8@gpu)", "(64{halo=100}:8@gpu)").bytes, 56 * 4);
  EXPECT_EQ(eight.plan("(64:8@gpu)", "(64{halo=30:9}:8@gpu)").bytes, (30 + 9) * 4);
}

TEST(Plan, OneHolderThatServesManyIsNotFree) {
  World w("gpu=1024");
  Plan p = w.plan("(1048576) + 0@gpu", "(1048576)");
  EXPECT_GT(p.seconds, 1e-3);
}

TEST(Plan, ExplainsWhatWasRejected) {
  World w("x=4,y=2");
  PlanOptions explain;
  explain.explain = true;
  Plan p = w.plan("(16:y, 16, 16:x)", "(16, 16:x:y, 16)", explain);
  ASSERT_FALSE(p.rejected.empty());
  for (const Alternative& a : p.rejected) EXPECT_FALSE(a.why_not.empty());
}

TEST(Plan, SimulatorCatchesAWrongPlan) {
  World w("gpu=4");
  Plan p = w.plan("(8) + P[gpu]", "(8)");
  ASSERT_TRUE(simulate(p, w.mesh, w.axes));
  Plan wrong = p;
  wrong.moves.clear();
  EXPECT_FALSE(simulate(wrong, w.mesh, w.axes));
  wrong = p;
  wrong.moves.back().kind = MoveKind::local_copy;
  EXPECT_FALSE(simulate(wrong, w.mesh, w.axes));
}

}  // namespace
}  // namespace heddle
