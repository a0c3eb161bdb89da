#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "heddle/builder.h"
#include "heddle/executable_cache.h"
#include "ir/eval/scalar.h"

namespace heddle {
namespace {

Program times(double factor) {
  Builder b;
  b.function("main", {Type::tensor(DType::f32, {4})},
             [&](const Vars& in) -> Vars { return {in[0] * factor}; });
  return b.finish().value();
}

Target interpreted() {
  Target target;
  target.options.machine_code = false;
  return target;
}
const Target kInterpreted = interpreted();

// Copies of one executable have their steps in one place.
bool share_code(const Executable& a, const Executable& b) { return &a.steps() == &b.steps(); }

TEST(ExecutableCache, EqualProgramsShareCode) {
  ExecutableCache cache;
  EXPECT_FALSE(cache.find(times(2), kInterpreted));
  const Executable first = cache.compile(times(2), kInterpreted).value();
  const Executable again = cache.compile(times(2), kInterpreted).value();
  const Executable other = cache.compile(times(3), kInterpreted).value();
  EXPECT_TRUE(share_code(first, again));
  EXPECT_FALSE(share_code(first, other));
  EXPECT_TRUE(share_code(first, *cache.find(times(2), kInterpreted)));
  EXPECT_EQ(cache.size(), 2U);
  const Array x = make_array<float>(Shape{4}, {1, 2, 3, 4});
  EXPECT_EQ(other.run({x}).value()[0], make_array<float>(Shape{4}, {3, 6, 9, 12}));
  EXPECT_EQ(again.run({x}).value()[0], make_array<float>(Shape{4}, {2, 4, 6, 8}));
}

TEST(ExecutableCache, EveryOptionCounts) {
  ExecutableCache cache;
  const Executable plain = cache.compile(times(2), kInterpreted).value();
  auto changed = [&](const std::function<void(Target&)>& change) {
    Target target = kInterpreted;
    change(target);
    return !cache.find(times(2), target).has_value();
  };
  EXPECT_FALSE(changed([](Target&) {}));
  EXPECT_TRUE(changed([](Target& t) { t.options.machine_code = true; }));
  EXPECT_TRUE(changed([](Target& t) { t.options.async = true; }));
  EXPECT_TRUE(changed([](Target& t) { t.options.entry = "other"; }));
  EXPECT_TRUE(changed([](Target& t) { t.options.stitch.fuse = false; }));
  EXPECT_TRUE(changed([](Target& t) { t.options.stitch.machine.workers += 1; }));
  EXPECT_TRUE(changed([](Target& t) { t.options.stitch.explain = true; }));
  EXPECT_TRUE(changed([](Target& t) { t.options.donated = {true}; }));
  EXPECT_TRUE(changed([](Target& t) { t.options.memory_limit = 1 << 30; }));
  EXPECT_TRUE(changed([](Target& t) { t.options.machine = MachineFigures{}; }));
  EXPECT_TRUE(changed([](Target& t) { t.mesh = "x=2"; }));
  EXPECT_TRUE(changed([](Target& t) { t.ranks = true; }));
  EXPECT_TRUE(changed([](Target& t) { t.carried = {{0, 0}}; }));
  EXPECT_TRUE(changed([](Target& t) { t.layouts.closed = true; }));
  EXPECT_TRUE(changed([](Target& t) { t.layouts.shards = {shard_entry("arg0=x").value()}; }));
}

TEST(ExecutableCache, WhoWatchesSeesItHappen) {
  ExecutableCache cache;
  CompileReport report;
  Target target = kInterpreted;
  target.options.report = &report;
  for (int i = 0; i < 2; ++i) {
    report = {};
    ASSERT_TRUE(cache.compile(times(2), target).ok());
    EXPECT_FALSE(report.stages.empty());
  }
  EXPECT_EQ(cache.size(), 0U);
}

TEST(ExecutableCache, KeepsNoReasons) {
  ExecutableCache cache;
  Target missing;
  missing.options.entry = "none";
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(cache.compile(times(2), missing).reason(), testing::HasSubstr("@none"));
  EXPECT_EQ(cache.size(), 0U);
}

TEST(ExecutableCache, ThreadsShareIt) {
  ExecutableCache cache(3);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const float factor = static_cast<float>(i % 5 + 1);
        const Executable e = cache.compile(times(factor), kInterpreted).value();
        const auto got = e.run({make_array<float>(Shape{4}, {1, 2, 3, 4})}).value();
        if (got[0].as<float>()[3] != 4 * factor) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cache.size(), 3U);
}

}  // namespace
}  // namespace heddle
