#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "heddle/builder.h"
#include "ir/program_cache.h"

namespace heddle {
namespace {

struct Level {
  int level = 0;
  std::uint64_t hash() const { return static_cast<std::uint64_t>(level); }
  friend bool operator==(const Level&, const Level&) = default;
};
using Cache = ProgramCache<Level, int>;

// x added to itself this many times.
Program sums(int times) {
  Builder b;
  b.function("main", {Type::tensor(DType::f32, {4})}, [&](const Vars& in) -> Vars {
    Var sum = in[0];
    for (int i = 0; i < times; ++i) sum = sum + in[0];
    return {sum};
  });
  return b.finish().value();
}

TEST(ProgramCache, FindsEqualPrograms) {
  Cache cache(8);
  EXPECT_EQ(cache.find(sums(1), {}), nullptr);
  cache.put(sums(1), {}, 10);
  cache.put(sums(2), {}, 20);
  cache.put(sums(1), {7}, 17);
  EXPECT_EQ(*cache.find(sums(1), {}), 10);
  EXPECT_EQ(*cache.find(sums(2), {}), 20);
  EXPECT_EQ(*cache.find(sums(1), {7}), 17);
  EXPECT_EQ(cache.find(sums(2), {7}), nullptr);
  EXPECT_EQ(cache.find(sums(3), {}), nullptr);
}

// Programs whose hashes are equal are told apart.
TEST(ProgramCache, ComparesInFull) {
  Cache cache(8, [](const Program&) { return std::uint64_t{1}; });
  for (int i = 0; i < 6; ++i) cache.put(sums(i), {}, i);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(*cache.find(sums(i), {}), i);
  EXPECT_EQ(cache.find(sums(6), {}), nullptr);
  EXPECT_EQ(cache.size(), 6U);
}

TEST(ProgramCache, KeepsTheFirstOfTwoEqualOnes) {
  Cache cache(8);
  const auto first = cache.put(sums(1), {}, 10);
  EXPECT_EQ(cache.put(sums(1), {}, 11), first);
  EXPECT_EQ(*cache.find(sums(1), {}), 10);
  EXPECT_EQ(cache.size(), 1U);
}

TEST(ProgramCache, DropsWhatWasNotAskedForLongest) {
  for (auto hash : {+[](const Program& p) { return p.hash(); },
                    +[](const Program&) { return std::uint64_t{1}; }}) {
    Cache cache(3, hash);
    for (int i = 0; i < 3; ++i) cache.put(sums(i), {}, i);
    const auto held = cache.find(sums(0), {});
    cache.put(sums(3), {}, 3);
    EXPECT_EQ(cache.find(sums(1), {}), nullptr);
    EXPECT_NE(cache.find(sums(0), {}), nullptr);
    EXPECT_EQ(cache.size(), 3U);
    for (int i = 4; i < 8; ++i) cache.put(sums(i), {}, i);
    EXPECT_EQ(cache.find(sums(0), {}), nullptr);
    EXPECT_EQ(*held, 0);  // who holds a value keeps it
  }
}

TEST(ProgramCache, IsSafeForThreads) {
  Cache cache(4);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        const int which = (i * (t + 3)) % 7;
        const Program program = sums(which);
        auto found = cache.find(program, {});
        if (!found) found = cache.put(program, {}, which);
        if (*found != which) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(cache.size(), 4U);
}

}  // namespace
}  // namespace heddle
