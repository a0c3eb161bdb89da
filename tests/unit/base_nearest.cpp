#include <gtest/gtest.h>

#include "base/nearest.h"

namespace heddle {
namespace {

using Words = std::vector<std::string>;

TEST(Nearest, CountsLettersThatAreTypedAnew) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("docotr", "doctor"), 1U);
  EXPECT_EQ(edit_distance("agr2", "arg2"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Nearest, BestComesFirstAndEachOnce) {
  const Words known = {"params['k']", "params['q']", "params['q']", "x"};
  EXPECT_EQ(nearest("params[q]", known), (Words{"params['q']", "params['k']"}));
  EXPECT_EQ(nearest("params[q]", known, 1), (Words{"params['q']"}));
}

TEST(Nearest, PartsOfNamesAreNear) {
  const Words known = {"params['layers'][0]['attention']['query']", "batch"};
  EXPECT_EQ(nearest("query", known), (Words{known[0]}));
  EXPECT_EQ(nearest("Query", known), (Words{known[0]}));
  const Words letters = {"params['q']", "params['k']", "params"};
  EXPECT_EQ(nearest("q", letters), (Words{letters[0]}));
  EXPECT_EQ(nearest("params.k", letters, 1), (Words{letters[1]}));
}

TEST(Nearest, NothingIsNearToWhatIsFar) {
  const Words known = {"doctor", "run", "x"};
  EXPECT_TRUE(nearest("weave", known).empty());
  EXPECT_TRUE(nearest("", known).empty());
  EXPECT_TRUE(nearest("y", known).empty());
  EXPECT_TRUE(nearest(std::string(1000, 'r'), known).empty());
}

TEST(Nearest, ShortNamesAreNearWhereTheyBeginAlike) {
  const Words known = {"w", "b", "dp", "-n"};
  EXPECT_EQ(nearest("ww", known), (Words{"w"}));
  EXPECT_EQ(nearest("dq", known), (Words{"dp"}));
  EXPECT_TRUE(nearest("tp", known).empty());
  EXPECT_TRUE(nearest("c", known).empty());
  EXPECT_TRUE(nearest("-k", known).empty());
}

TEST(Nearest, IsSaidAsAQuestion) {
  const Words known = {"ab1", "ab2", "ab3", "ab4"};
  EXPECT_EQ(did_you_mean("ab0", known), "; did you mean `ab1`, `ab2` or `ab3`?");
  EXPECT_EQ(did_you_mean("ab0", known, 2), "; did you mean `ab1` or `ab2`?");
  EXPECT_EQ(did_you_mean("zzz", known), "");
}

}  // namespace
}  // namespace heddle
