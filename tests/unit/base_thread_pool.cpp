#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "heddle/thread_pool.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEDDLE_HAS_TSAN
#endif
#endif

namespace heddle {
namespace {

TEST(ThreadPool, EveryChunkRunsOnce) {
  ThreadPool pool(4);
  for (int turn = 0; turn < 200; ++turn) {
    std::vector<std::atomic<int>> seen(turn);
    pool.parallel_for(turn, [&](std::int64_t chunk, int worker) {
      EXPECT_GE(worker, 0);
      EXPECT_LT(worker, pool.threads());
      ++seen[static_cast<std::size_t>(chunk)];
    });
    for (const auto& count : seen) EXPECT_EQ(count, 1);
  }
}

TEST(ThreadPool, NoTwoWorkersHaveOneNumber) {
  ThreadPool pool(3);
  std::vector<std::atomic<int>> inside(3);
  std::atomic<bool> clash = false;
  pool.parallel_for(2000, [&](std::int64_t, int worker) {
    auto& mine = inside[static_cast<std::size_t>(worker)];
    if (mine.fetch_add(1) != 0) clash = true;
    mine.fetch_sub(1);
  });
  EXPECT_FALSE(clash);
}

TEST(ThreadPool, NothingToDoIsDone) {
  ThreadPool pool(2);
  pool.parallel_for(0, [&](std::int64_t, int) { FAIL(); });
  pool.parallel_for(-3, [&](std::int64_t, int) { FAIL(); });
}

TEST(ThreadPool, OneThreadIsTheCaller) {
  ThreadPool pool(1);
  EXPECT_EQ(pool.threads(), 1);
  const auto me = std::this_thread::get_id();
  pool.parallel_for(10, [&](std::int64_t, int) { EXPECT_EQ(std::this_thread::get_id(), me); });
}

TEST(ThreadPool, FailuresComeBackAndThePoolGoesOn) {
  ThreadPool pool(3);
  for (int turn = 0; turn < 20; ++turn) {
    EXPECT_THROW(pool.parallel_for(100,
                                   [&](std::int64_t chunk, int) {
                                     if (chunk == 17) throw std::runtime_error("no");
                                   }),
                 std::runtime_error);
    std::atomic<int> sum = 0;
    pool.parallel_for(10, [&](std::int64_t chunk, int) { sum += static_cast<int>(chunk); });
    EXPECT_EQ(sum, 45);
  }
}

TEST(ThreadPool, LoopsInsideLoopsRunOnTheSpot) {
  ThreadPool pool(2);
  std::atomic<int> count = 0;
  pool.parallel_for(8, [&](std::int64_t, int) {
    pool.parallel_for(8, [&](std::int64_t, int worker) {
      EXPECT_EQ(worker, 0);
      ++count;
    });
  });
  EXPECT_EQ(count, 64);
}

TEST(ThreadPool, SeveralCallersAtOnce) {
  ThreadPool pool(2);
  std::atomic<int> count = 0;
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn)
        pool.parallel_for(16, [&](std::int64_t, int) { ++count; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(count, 4 * 50 * 16);
}

TEST(ThreadPool, CountsThreadsFromText) {
  EXPECT_EQ(parse_thread_count("6").value(), 6);
  for (const char* wrong : {"", "0", "-1", "two", "4x", "9999"})
    EXPECT_EQ(parse_thread_count(wrong).reason(),
              "HEDDLE_THREADS=" + std::string(wrong) + " is no number of threads: write 1 to 1024");
}

// A child of fork has none of its parent's threads: its loops have workers of their own, and it
// ends.
TEST(ThreadPool, WorkersComeAnewInAForkedChild) {
#if defined(__SANITIZE_THREAD__) || defined(HEDDLE_HAS_TSAN)
  GTEST_SKIP() << "the thread sanitizer ends a child that starts threads";
#endif
  auto pool = std::make_unique<ThreadPool>(3);
  std::atomic<int> done = 0;
  pool->parallel_for(10, [&](std::int64_t, int) { ++done; });
  const pid_t child = fork();
  if (child == 0) {
    std::set<std::thread::id> seen;
    std::mutex mutex;
    std::atomic<int> inside = 0;
    pool->parallel_for(3, [&](std::int64_t, int) {  // none leaves before all are there
      ++inside;
      while (inside < 3) std::this_thread::yield();
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
    pool.reset();
    _exit(seen.size() == 3 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace heddle
