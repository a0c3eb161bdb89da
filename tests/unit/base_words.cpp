#include <gtest/gtest.h>

#include "base/words.h"

namespace heddle {
namespace {

using Words = std::vector<std::string>;

TEST(Words, AreCutOutsideOfBracketsAndQuotes) {
  EXPECT_EQ(split_outside("a, b ,c", ','), (Words{"a", "b", "c"}));
  EXPECT_EQ(split_outside("", ','), (Words{""}));
  EXPECT_EQ(split_outside("a,", ','), (Words{"a", ""}));
  EXPECT_EQ(split_outside("[{dp}, {}], x", ','), (Words{"[{dp}, {}]", "x"}));
  EXPECT_EQ(split_outside("params['a, b'],x", ','), (Words{"params['a, b']", "x"}));
}

TEST(Words, NamesKeepTheSigns) {
  const std::string text = R"(p['a=b]'].q["it's"]=dp,_)";
  EXPECT_EQ(text.substr(0, find_outside(text, '=')), R"(p['a=b]'].q["it's"])");
  EXPECT_EQ(find_outside("replicated", '='), std::string::npos);
  EXPECT_EQ(find_outside("x=[{a}], replicated={b}", '='), 1U);
  EXPECT_EQ(find_outside(R"('a\'=' = b)", '='), 7U);
}

TEST(Words, AQuoteThatNothingClosesIsALetter) {
  EXPECT_EQ(find_outside("it's=dp", '='), 4U);
  EXPECT_EQ(find_outside("a]=dp", '='), 2U);
}

}  // namespace
}  // namespace heddle
