// What steps wait for, against a comparison of every step with every other.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "runtime/dependences.h"

namespace heddle::runtime {
namespace {

using Steps = std::vector<std::uint32_t>;

bool meet(const Range& a, const Range& b) {
  return a.memory == b.memory && a.begin < b.end && b.begin < a.end && a.begin < a.end &&
         b.begin < b.end;
}

bool any_meet(const std::vector<Range>& some, const std::vector<Range>& others) {
  return std::ranges::any_of(some, [&](const Range& a) {
    return std::ranges::any_of(others, [&](const Range& b) { return meet(a, b); });
  });
}

bool conflict(const Effects& a, const Effects& b) {
  return any_meet(a.writes, b.writes) || any_meet(a.writes, b.reads) || any_meet(a.reads, b.writes);
}

Range random_range(std::mt19937& random) {
  const auto draw = [&](int most) { return static_cast<std::int64_t>(random() % most); };
  const std::int64_t begin = draw(12);
  return {draw(2), begin, begin + draw(5)};  // some of them empty
}

TEST(Dependences, AreWhatEveryPairOfStepsSays) {
  std::mt19937 random(7);
  for (int turn = 0; turn < 200; ++turn) {
    Touches touches;
    std::vector<Effects> all;
    std::vector<std::vector<bool>> reached;  // by a way over `before`
    for (std::uint32_t i = 0; i < 12; ++i) {
      Effects effects;
      for (std::size_t n = random() % 3; n > 0; --n) effects.reads.push_back(random_range(random));
      for (std::size_t n = random() % 3; n > 0; --n) effects.writes.push_back(random_range(random));
      const Steps before = touches.before(effects);
      ASSERT_TRUE(std::ranges::is_sorted(before));
      touches.add(i, effects);
      reached.emplace_back(i, false);
      for (std::uint32_t b : before) {
        ASSERT_LT(b, i);
        ASSERT_TRUE(conflict(all[b], effects)) << b << " and " << i << " in turn " << turn;
        reached[i][b] = true;
        for (std::uint32_t c = 0; c < b; ++c)
          if (reached[b][c]) reached[i][c] = true;
      }
      for (std::uint32_t b = 0; b < i; ++b)
        if (conflict(all[b], effects)) {
          ASSERT_TRUE(reached[i][b]) << b << " and " << i << " in turn " << turn;
        }
      all.push_back(effects);
    }
  }
}

TEST(Dependences, OfAWriteAreAllThatHaveReadSince) {
  Touches touches;
  const Range block{1, 0, 64};
  touches.add(0, {{}, {block}});
  touches.add(1, {{block}, {}});
  touches.add(2, {{{1, 32, 40}}, {}});
  EXPECT_EQ(touches.before({{}, {block}}), (Steps{0, 1, 2}));
  EXPECT_EQ(touches.before({{}, {{1, 0, 8}}}), (Steps{0, 1}));
  EXPECT_EQ(touches.before({{block}, {}}), (Steps{0}));
  EXPECT_EQ(touches.before({{{2, 0, 64}}, {}}), Steps{});
}

// A sum of slot 0 into slot 1 begins, a step touches `slot`, and the sum is waited for.
void verify_with(const SlotTable& slots, SlotId slot, bool writes) {
  const auto op = std::make_shared<const CollectiveOp>();
  StepList list;
  list.steps.push_back({.work = StartStep{.op = op}, .reads = {0}, .writes = {1}});
  list.steps.push_back({.work = CopyStep{}, .info = 1});
  (writes ? list.steps[1].writes : list.steps[1].reads) = {slot};
  list.steps.push_back({.work = WaitStep{.op = op}, .info = 2, .reads = {0}, .writes = {1}});
  verify_overlaps(list, slots);
}

TEST(Dependences, NothingTouchesWhatIsUnderWay) {
  SlotTable slots;
  slots.add({.kind = SlotKind::argument, .bytes = 64});
  slots.add({.kind = SlotKind::arena, .bytes = 64, .offset = 0});
  slots.add({.kind = SlotKind::arena, .bytes = 64, .offset = 32});  // half of it is slot 1's
  slots.add({.kind = SlotKind::arena, .bytes = 64, .offset = 96});
  EXPECT_NO_THROW(verify_with(slots, 0, false));
  EXPECT_NO_THROW(verify_with(slots, 3, true));
  EXPECT_THROW(verify_with(slots, 0, true), InternalError);
  EXPECT_THROW(verify_with(slots, 1, false), InternalError);
  EXPECT_THROW(verify_with(slots, 2, false), InternalError);
}

}  // namespace
}  // namespace heddle::runtime
