#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/source_path.h"
#include "heddle/error.h"

namespace heddle {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

std::string message_of(void (*action)()) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(InternalError, SaysThatItIsOursAndWhere) {
  const std::string message = message_of([] {
    const int two = 2;
    HEDDLE_CHECK(two == 3, "two is {}", two);
  });
  EXPECT_THAT(message,
              MatchesRegex("internal error in Heddle \\(a defect of ours, not of your program\\): "
                           "two == 3 does not hold at tests/unit/base_error\\.cpp:[0-9]+: "
                           "two is 2\\. Please report it with the command that led here\\."));
}

TEST(InternalError, NeedsNoDetail) {
  const std::string message = message_of([] { HEDDLE_CHECK(1 + 1 == 3); });
  EXPECT_THAT(message, MatchesRegex(".*base_error\\.cpp:[0-9]+\\. Please report .*"));
}

TEST(SourcePath, StartsAtTheRootOfTheTree) {
  EXPECT_EQ(source_path("src/base/log.cpp"), "src/base/log.cpp");
  EXPECT_EQ(source_path("/home/me/src/heddle/src/base/log.cpp"), "src/base/log.cpp");
  EXPECT_EQ(source_path("/home/me/heddle/include/heddle/log.h"), "include/heddle/log.h");
  EXPECT_EQ(source_path("/home/me/notsrc/log.cpp"), "log.cpp");
  EXPECT_EQ(source_path(""), "");
}

Expected<int> half(int value) {
  if (value % 2 != 0) return reason("{} is odd", value);
  return value / 2;
}

Expected<int> quarter(int value) {
  HEDDLE_TRY(const int once, half(value));
  return half(once);
}

TEST(Expected, CarriesAValueOrAReason) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_FALSE(quarter(6).ok());
  EXPECT_EQ(quarter(6).reason(), "3 is odd");
}

TEST(Expected, AskingANoForItsValueThrowsTheReason) {
  EXPECT_EQ(message_of([] { quarter(6).value(); }), "3 is odd");
}

}  // namespace
}  // namespace heddle
