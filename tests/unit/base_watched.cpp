#include <gtest/gtest.h>

#include <stdexcept>

#include "base/watched.h"

namespace heddle {
namespace {

TEST(RunWatched, GivesWhatTheWorkGives) {
  auto result = run_watched([](const std::stop_token&) { return 7; }, [] { return false; });
  EXPECT_EQ(result.get(), 7);
}

TEST(RunWatched, GivesWhatTheWorkThrows) {
  auto result =
      run_watched([](const std::stop_token&) -> int { throw std::runtime_error("broken"); },
                  [] { return false; });
  EXPECT_THROW(result.get(), std::runtime_error);
}

// Work that looks at `stop` only after it was allowed to, which is after the caller has gone on.
TEST(RunWatched, DoesNotWaitForWorkThatIsToEnd) {
  auto may_end = std::make_shared<std::promise<void>>();
  auto seen = std::make_shared<std::promise<bool>>();
  auto stopped = seen->get_future();
  const auto result = run_watched(
      [may_end, seen](const std::stop_token& stop) {
        may_end->get_future().wait();
        seen->set_value(stop.stop_requested());
        return 0;
      },
      [] { return true; });
  EXPECT_FALSE(result.valid());
  may_end->set_value();
  EXPECT_TRUE(stopped.get());
  wait_for_left_work([] { return false; });
}

TEST(RunWatched, WaitingForLeftWorkCanBeEnded) {
  auto may_end = std::make_shared<std::promise<void>>();
  const auto owned = std::make_shared<int>(1);
  (void)run_watched(
      [may_end, owned](const std::stop_token&) {
        may_end->get_future().wait();
        return 0;
      },
      [] { return true; });
  wait_for_left_work([] { return true; });
  EXPECT_EQ(owned.use_count(), 2);
  may_end->set_value();
  wait_for_left_work([] { return false; });
  EXPECT_EQ(owned.use_count(), 1);
}

}  // namespace
}  // namespace heddle
