#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "heddle/log.h"

namespace heddle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Collects messages; restores level and sink at the end.
class Log : public ::testing::Test {
 protected:
  Log() {
    set_log_sink([this](std::string_view line) { lines_.emplace_back(line); });
    set_log_level(0);
  }
  ~Log() override {
    set_log_level(0);
    set_log_sink({});
  }
  std::vector<std::string> lines_;
};

TEST(LogLevel, IsADigitFromZeroToThree) {
  EXPECT_EQ(parse_log_level("").value(), 0);
  EXPECT_EQ(parse_log_level("0").value(), 0);
  EXPECT_EQ(parse_log_level("3").value(), 3);
}

TEST(LogLevel, AnythingElseIsRefusedWithTheSyntax) {
  for (const char* text : {"4", "-1", "1 ", "01", "debug", "3.0"}) {
    const Expected<int> level = parse_log_level(text);
    ASSERT_FALSE(level.ok()) << text;
    EXPECT_THAT(level.reason(), HasSubstr("HEDDLE_LOG is `" + std::string(text) + "`"));
    EXPECT_THAT(level.reason(), HasSubstr("0 (warnings only), 1 (one line per kernel or plan)"));
  }
}

TEST_F(Log, IsSilentAtZeroExceptForWarnings) {
  log(kLogSteps, "kernel {}", 1);
  warn("careful with {}", "that");
  EXPECT_THAT(lines_, ElementsAre("heddle: warning: careful with that\n"));
}

TEST_F(Log, WritesUpToItsLevel) {
  set_log_level(kLogPlans);
  log(kLogSteps, "step");
  log(kLogPlans, "plan");
  log(kLogSources, "source");
  EXPECT_THAT(lines_, ElementsAre("heddle: step\n", "heddle: plan\n"));
}

TEST_F(Log, EndsEveryMessageWithOneNewline) {
  write_log("a\n");
  write_log("b");
  EXPECT_THAT(lines_, ElementsAre("heddle: a\n", "heddle: b\n"));
}

TEST_F(Log, MessagesOfThreadsDoNotMix) {
  set_log_level(kLogSteps);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 250; ++i) log(kLogSteps, "{}", std::string(100, 'x'));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lines_.size(), 1000U);
  for (const std::string& line : lines_) EXPECT_EQ(line, "heddle: " + std::string(100, 'x') + "\n");
}

}  // namespace
}  // namespace heddle
