#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "heddle/hash.h"

namespace heddle {
namespace {

TEST(Hash, IsTheSameOnEveryMachine) {
  static_assert(hash_mix(0) == 0xe220a8397b1dcdafULL);
  EXPECT_EQ(hash_mix(0), 0xe220a8397b1dcdafULL);
}

TEST(Hash, OrderMatters) {
  EXPECT_NE(hash_combine(hash_combine(0, 1), 2), hash_combine(hash_combine(0, 2), 1));
}

TEST(Hash, NeighboursDifferInAboutHalfTheBits) {
  int changed = 0;
  for (std::uint64_t v = 0; v < 1000; ++v) changed += std::popcount(hash_mix(v) ^ hash_mix(v + 1));
  EXPECT_NEAR(changed / 1000.0, 32.0, 1.0);
}

TEST(Hash, SmallValuesDoNotCollide) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t a = 0; a < 100; ++a) {
    for (std::uint64_t b = 0; b < 100; ++b) seen.insert(hash_combine(hash_combine(7, a), b));
  }
  EXPECT_EQ(seen.size(), 10'000U);
}

TEST(Hash, TextsHashAlikeWhenCompilingAndWhenRunning) {
  constexpr std::uint64_t of_long = hash_combine(3, "a text of more than two words, and a rest");
  constexpr std::uint64_t of_word = hash_combine(3, "\x80word\xff..");
  std::string text = "a text of more than two words, and a rest", word = "\x80word\xff..";
  EXPECT_EQ(hash_combine(3, text), of_long);
  EXPECT_EQ(hash_combine(3, word), of_word);
}

TEST(Hash, TextsOfZerosDifferByLength) {
  using namespace std::string_view_literals;
  EXPECT_NE(hash_combine(0, "\0"sv), hash_combine(0, "\0\0"sv));
  EXPECT_NE(hash_combine(0, ""sv), hash_combine(0, "\0"sv));
  EXPECT_NE(hash_combine(0, "12345678"sv), hash_combine(0, "123456789"sv));
  EXPECT_EQ(hash_combine(3, "dp"sv), hash_combine(3, "dp"sv));
}

}  // namespace
}  // namespace heddle
