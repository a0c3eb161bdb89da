#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heddle/version.h"

namespace heddle {
namespace {

TEST(Version, NamesCompilerAndBuild) {
  EXPECT_THAT(version_line(),
              ::testing::MatchesRegex("heddle [0-9]+\\.[0-9]+\\.[0-9]+ \\((clan)?g\\+\\+ "
                                      "[0-9]+\\.[0-9]+\\.[0-9]+, [a-z]+\\)"));
}

}  // namespace
}  // namespace heddle
