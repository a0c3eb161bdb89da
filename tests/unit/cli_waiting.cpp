#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "waiting.h"

namespace heddle::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(Waiting, SaysTheStageAndThenKernels) {
  CompileProgress progress;
  EXPECT_EQ(waiting_text(progress, 2), "compiles for 2.0 s: verify");
  progress.done = "simplify";
  EXPECT_EQ(waiting_text(progress, 12), "compiles for 12 s: stitch");
  progress.kernels = 120;
  progress.coded = 34;
  EXPECT_EQ(waiting_text(progress, 12), "compiles for 12 s: machine code, 34 of 120 kernels");
}

TEST(Waiting, SaysCostAndBoundOfASearch) {
  CompileProgress progress;
  progress.done = "client";
  progress.searched_bound = 0.409;
  EXPECT_EQ(waiting_text(progress, 3),
            "searches for 3.0 s: no plan that fits yet, none takes less than 409 ms; Ctrl-C takes "
            "the best so far");
  progress.searched_cost = 0.412;
  EXPECT_THAT(waiting_text(progress, 3), HasSubstr(": 412 ms a step, none takes less than 409 ms"));
}

TEST(Waiting, IsSilentWhereThereIsNoTerminal) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  {
    Waiting waiting(ends[1], 0);
  }
  char byte = 0;
  EXPECT_LT(::read(ends[0], &byte, 1), 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Waiting, TakesItsLineAway) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0)
    GTEST_SKIP() << "this machine has no pseudo terminals";
  const int stream = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
  ASSERT_GE(stream, 0);
  std::string seen;
  const auto look = [&] {
    char block[256];
    for (ssize_t got; (got = ::read(terminal, block, sizeof block)) > 0;)
      seen.append(block, static_cast<std::size_t>(got));
  };
  {
    Waiting waiting(stream, 0);
    while (seen.find("compiles for") == std::string::npos) look();
  }
  look();
  EXPECT_THAT(seen, HasSubstr("verify"));
  EXPECT_THAT(seen, EndsWith("\r\x1b[K"));
  ::close(stream);
  ::close(terminal);
}

}  // namespace
}  // namespace heddle::cli
