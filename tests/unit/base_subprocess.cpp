#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <thread>

#include "base/subprocess.h"

namespace heddle {
namespace {

using namespace std::chrono_literals;

TEST(RunCommand, GivesTheOutput) {
  const CommandOutcome outcome = run_command({"echo", "hello"}, 10s);
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.output, "hello\n");
}

TEST(RunCommand, SaysWhatWentWrong) {
  EXPECT_EQ(run_command({"heddle-no-such-program"}, 10s).problem, "not found");
  EXPECT_EQ(run_command({"false"}, 10s).problem, "ended with status 1");
  EXPECT_EQ(run_command({"sh", "-c", "kill -9 $$"}, 10s).problem, "ended by signal 9");
}

TEST(RunCommand, EndsWhatHangs) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run_command({"sleep", "100"}, 100ms).problem, "did not answer within 0.1 s");
  // Also what closes its output and goes on, and what leaves the work to a child.
  EXPECT_FALSE(run_command({"sh", "-c", "exec >&-; sleep 100"}, 100ms).finished);
  EXPECT_FALSE(run_command({"sh", "-c", "sleep 100 & echo x"}, 100ms).finished);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
}

TEST(RunCommand, BoundsTheOutput) {
  const CommandOutcome outcome = run_command({"head", "-c", "5000000", "/dev/zero"}, 30s);
  EXPECT_TRUE(outcome.finished);
  EXPECT_LT(outcome.output.size(), 2'000'000U);
}

TEST(RunIsolated, SurvivesCrashesAndHangs) {
  EXPECT_EQ(run_isolated([] { return std::string("fine"); }, 10s).output, "fine");
  EXPECT_FALSE(run_isolated([]() -> std::string { throw std::runtime_error("no"); }, 10s).finished);
  const auto die = []() -> std::string {
    ::signal(SIGTERM, SIG_DFL);
    ::raise(SIGTERM);
    return "";
  };
  EXPECT_EQ(run_isolated(die, 10s).problem, "ended by signal 15");
  const auto hang = []() -> std::string {
    std::this_thread::sleep_for(100s);
    return "";
  };
  EXPECT_FALSE(run_isolated(hang, 100ms).finished);
}

}  // namespace
}  // namespace heddle
