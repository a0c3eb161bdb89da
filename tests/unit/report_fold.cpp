#include <gmock/gmock.h>

#include "report/fold.h"

namespace heddle::report {
namespace {

using testing::ElementsAre;

std::vector<std::uint64_t> entries(std::string_view letters) {
  return {letters.begin(), letters.end()};
}

// As text: (abc)4 for what comes four times.
std::string folded(std::string_view letters) {
  std::string out;
  const auto write = [&](auto&& self, const std::vector<Fold>& folds) -> void {
    for (const Fold& fold : folds) {
      if (fold.times == 1) {
        out += letters.substr(fold.first, fold.count);
        continue;
      }
      out += "(";
      self(self, fold.inside);
      out += ")" + std::to_string(fold.times);
    }
  };
  write(write, fold_repeats(entries(letters)));
  return out;
}

TEST(Fold, WhatComesOnceStays) {
  EXPECT_EQ(folded(""), "");
  EXPECT_EQ(folded("abcdefgh"), "abcdefgh");
}

TEST(Fold, LayersAreOne) {
  EXPECT_EQ(folded("xabcdabcdabcdabcdy"), "x(abcd)4y");
  EXPECT_EQ(folded("abcdefabcdefghghghghghghgh"), "(abcdef)2(gh)7");
}

TEST(Fold, RepeatsInsideOfLayersFoldToo) {
  EXPECT_EQ(folded("xababababababycxababababababycz"), "(x(ab)6yc)2z");
}

TEST(Fold, ShortRepeatsStay) { EXPECT_EQ(folded("aabbab"), "aabbab"); }

TEST(Fold, ManyLayersTakeNoTime) {
  std::vector<std::uint64_t> all;
  for (int layer = 0; layer < 96; ++layer)
    for (std::uint64_t op = 0; op < 700; ++op) all.push_back(op % 5 == 0 ? 1000 + op : op % 7);
  const std::vector<Fold> folds = fold_repeats(all);
  ASSERT_FALSE(folds.empty());
  std::size_t covered = 0;
  for (const Fold& fold : folds) covered += fold.count * fold.times;
  EXPECT_EQ(covered, all.size());
  EXPECT_EQ(folds[0].times, 96U);
}

}  // namespace
}  // namespace heddle::report
