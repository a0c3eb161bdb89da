// How long the turns of a loop are, by the calls that it makes.
#include <gtest/gtest.h>

#include "heddle/past_calls.h"
#include "heddle/recorder.h"
#include "ir/eval/scalar.h"

namespace heddle {
namespace {

using record::PastCalls;
using Calls = std::vector<std::uint64_t>;

// One distance after the other.
std::size_t turn_of(const Calls& calls) {
  std::size_t best = 0, longest = 0;
  for (std::size_t d = 1; d < calls.size(); ++d) {
    std::size_t length = 0;
    while (d + length < calls.size() &&
           calls[calls.size() - 1 - length] == calls[calls.size() - 1 - length - d])
      ++length;
    if (length >= d && length > longest) {
      best = d;
      longest = length;
    }
  }
  return best;
}

TEST(PastCalls, SayWhetherTurnsGoOn) {
  PastCalls past;
  past.add(Calls{1, 2, 3, 1, 2, 3, 1, 2});
  EXPECT_TRUE(past.repeats(3, 5));
  EXPECT_FALSE(past.repeats(3, 6));  // as many are not known
  EXPECT_FALSE(past.repeats(2, 4));
  past.add(Calls{4});
  EXPECT_FALSE(past.repeats(3, 1));
}

TEST(PastCalls, FindTheTurnsThatTheOracleFinds) {
  std::uint64_t random = 7;
  for (int round = 0; round < 300; ++round) {
    Calls calls;
    for (int i = 0; i < 60; ++i) {
      random = random * 6364136223846793005 + 1442695040888963407;
      const std::size_t back = 1 + (random >> 40) % 13;
      const bool repeats = (random >> 60) != 0 && calls.size() >= back;
      calls.push_back(repeats ? calls[calls.size() - back] : (random >> 50) % 3);
    }
    PastCalls past;
    past.add(calls);
    EXPECT_EQ(past.turn(), turn_of(calls));
  }
}

TEST(PastCalls, ALoopInsideOfATurnIsNoTurn) {
  Calls turn;
  for (int i = 0; i < 150; ++i) turn.insert(turn.end(), {1, 2, 3});
  turn.push_back(9);
  PastCalls past;
  past.add(Calls{5, 6, 7});
  past.add(turn);
  EXPECT_EQ(past.turn(), 0U);
  past.add(turn);
  EXPECT_EQ(past.turn(), turn.size());
  past.add(std::span(turn).first(100));
  EXPECT_EQ(past.turn(), turn.size());
}

TEST(PastCalls, OldOnesAreForgotten) {
  PastCalls past;
  for (std::uint64_t i = 0; i < 20000; ++i) past.add(Calls{i});
  EXPECT_EQ(past.turn(), 0U);
  for (int i = 0; i < 3; ++i) past.add(Calls{1, 2, 3});
  EXPECT_EQ(past.turn(), 3U);
}

// A turn of so many calls, of which every 50th is another one.
class LongTurns : public testing::TestWithParam<int> {};

TEST_P(LongTurns, AreKnownFromTheFourthOn) {
  RecordOptions options;
  options.target.options.machine_code = false;
  Recorder recorder(options);
  StorePtr x = recorder.store(make_array<double>({2}, std::vector<double>{1, 2}));
  std::int64_t compiled = 0;
  for (int turn = 0; turn < 8; ++turn) {
    for (int i = 0; i < GetParam(); ++i)
      x = recorder.keep([&](Builder& b) {
        const Var v = recorder.read(*x);
        return b.op(i % 50 == 7 ? "multiply" : i > GetParam() / 2 ? "subtract" : "add", {v, v});
      });
    if (turn == 3) compiled = recorder.counts().compiled;
  }
  EXPECT_EQ(recorder.counts().compiled, compiled);
  EXPECT_GT(recorder.counts().found, 0);
}

INSTANTIATE_TEST_SUITE_P(Calls, LongTurns, testing::Values(300, 601, 2000));

}  // namespace
}  // namespace heddle
