// Transports by themselves: every collective on threads, and what happens where a rank does not
// come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <thread>

#include "../support/on_ranks.h"
#include "comm/board.h"
#include "comm/combine.h"
#include "comm/shared_transport.h"
#include "heddle/transport.h"

namespace heddle {
namespace {

using testing::HasSubstr;

void expect_all_well(const std::vector<std::string>& ends) {
  for (const std::string& end : ends) EXPECT_EQ(end, "");
}

std::vector<int> everyone(const Transport& t) {
  std::vector<int> ranks(static_cast<std::size_t>(t.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

const std::byte* in(const std::vector<float>& v) {
  return reinterpret_cast<const std::byte*>(v.data());
}
std::byte* out(std::vector<float>& v) { return reinterpret_cast<std::byte*>(v.data()); }

// Values that tell rank and place.
std::vector<float> numbered(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(rank * 1000) + static_cast<float>(i % 997);
  return values;
}

// A rank that is ahead by as many collectives as a group may have under way must not write over a
// barrier that another one still has to look at.
TEST(Transports, ABarrierIsThereUntilAllHaveSeenIt) {
  std::atomic<bool> ahead = false;
  expect_all_well(on_ranks(2, [&](Transport& t) -> Verdict {
    HEDDLE_TRY(const GroupId group, t.group(everyone(t)));
    std::vector<float> mine = numbered(t.rank(), 4), all(8);
    Collective gather{.kind = CollectiveKind::all_gather, .group = group};
    gather.in = in(mine);
    gather.out = out(all);
    gather.in_pieces = gather.out_pieces = {1, 16};
    HEDDLE_TRY(const RequestId barrier, t.start({.kind = CollectiveKind::barrier, .group = group}));
    if (t.rank() == 1) {
      while (!ahead) std::this_thread::yield();
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // the other one may go on
    }
    HEDDLE_TRY_VOID(t.wait(barrier));
    std::vector<RequestId> requests;
    for (int i = 0; i < 10; ++i) {
      if (i == 7) ahead = true;
      HEDDLE_TRY(const RequestId request, t.start(gather));
      requests.push_back(request);
    }
    for (RequestId request : requests) HEDDLE_TRY_VOID(t.wait(request));
    return yes();
  }));
}

class Ranks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Of, Ranks, testing::Values(1, 2, 3, 5));

TEST_P(Ranks, AllReduceSmallLargeAndInPlace) {
  for (std::size_t count : {1UL, 7UL, 5000UL, 300'001UL})
    for (bool in_place : {false, true})
      expect_all_well(on_ranks(GetParam(), [&](Transport& t) -> Verdict {
        HEDDLE_TRY(const GroupId group, t.group(everyone(t)));
        std::vector<float> mine = numbered(t.rank(), count), sum(count);
        Collective c{.kind = CollectiveKind::all_reduce, .group = group};
        c.in = in(mine);
        c.out = in_place ? out(mine) : out(sum);
        c.in_pieces = {1, static_cast<std::int64_t>(count * sizeof(float))};
        HEDDLE_TRY_VOID(run_collective(t, c));
        const auto& got = in_place ? mine : sum;
        const int n = t.size();
        for (std::size_t i = 0; i < count; ++i) {
          const float wanted =
              static_cast<float>(n * (n - 1) / 2 * 1000) + static_cast<float>(n) * (i % 997);
          if (got[i] != wanted) return reason("{} at {} instead of {}", got[i], i, wanted);
        }
        return yes();
      }));
}

TEST_P(Ranks, PiecesAlongADimension) {
  // Tensors of 3 rows; pieces are 4 columns wide.
  expect_all_well(on_ranks(GetParam(), [](Transport& t) -> Verdict {
    const auto n = static_cast<std::size_t>(t.size());
    HEDDLE_TRY(const GroupId group, t.group(everyone(t)));
    const std::vector<float> mine = numbered(t.rank(), 12);
    std::vector<float> all(12 * n), back(12), sum(12);
    Collective gather{.kind = CollectiveKind::all_gather, .group = group};
    gather.in = in(mine);
    gather.out = out(all);
    gather.in_pieces = {1, 12 * 4};
    gather.out_pieces = {3, 4 * 4};
    HEDDLE_TRY_VOID(run_collective(t, gather));
    for (std::size_t row = 0; row < 3; ++row)
      for (std::size_t r = 0; r < n; ++r)
        for (std::size_t k = 0; k < 4; ++k)
          if (all[(row * n + r) * 4 + k] != numbered(static_cast<int>(r), 12)[row * 4 + k])
            return reason("all_gather: {} {} {}", row, r, k);
    Collective scatter{.kind = CollectiveKind::reduce_scatter, .group = group};
    scatter.in = in(all);
    scatter.out = out(sum);
    scatter.in_pieces = {3, 4 * 4};
    HEDDLE_TRY_VOID(run_collective(t, scatter));
    for (std::size_t i = 0; i < 12; ++i)
      if (sum[i] != static_cast<float>(n) * mine[i]) return reason("reduce_scatter at {}", i);
    // Columns to the others, rows from them.
    std::vector<float> turned(12 * n);
    Collective exchange{.kind = CollectiveKind::all_to_all, .group = group};
    exchange.in = in(all);
    exchange.out = out(turned);
    exchange.in_pieces = {3, 4 * 4};
    exchange.out_pieces = {1, 12 * 4};
    HEDDLE_TRY_VOID(run_collective(t, exchange));
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t i = 0; i < 12; ++i)
        if (turned[r * 12 + i] != mine[i]) return reason("all_to_all: {} from {}", i, r);
    return yes();
  }));
}

TEST_P(Ranks, PermuteBroadcastExchangeAndMessages) {
  expect_all_well(on_ranks(GetParam(), [](Transport& t) -> Verdict {
    const int n = t.size(), next = (t.rank() + 1) % n, before = (t.rank() + n - 1) % n;
    HEDDLE_TRY(const GroupId group, t.group(everyone(t)));
    const std::vector<float> mine = numbered(t.rank(), 100);
    std::vector<float> got(100, -1);
    Collective c{.kind = CollectiveKind::permute, .group = group};
    c.in = in(mine);
    c.out = out(got);
    c.in_pieces = {1, 400};
    c.from = before == 0 ? -1 : before;  // nobody gets what rank 0 has
    c.to = t.rank() == 0 ? -1 : next;
    HEDDLE_TRY_VOID(run_collective(t, c));
    if (got != (before == 0 ? std::vector<float>(100, 0) : numbered(before, 100)))
      return reason("permute");
    c.kind = CollectiveKind::broadcast;
    c.from = n - 1;
    HEDDLE_TRY_VOID(run_collective(t, c));
    if (got != numbered(n - 1, 100)) return reason("broadcast");
    // Rank r sends s elements to rank s.
    std::vector<SendPart> sends;
    std::vector<ReceivePart> receives;
    std::vector<float> received(static_cast<std::size_t>(n * (t.rank() + 1)));
    for (int s = 0; s < n; ++s) {
      sends.push_back({in(mine), (s + 1) * 4});
      receives.push_back({out(received) + 4 * s * (t.rank() + 1), (t.rank() + 1) * 4});
    }
    Collective parts{.kind = CollectiveKind::exchange, .group = group};
    parts.sends = sends;
    parts.receives = receives;
    HEDDLE_TRY_VOID(run_collective(t, parts));
    for (int s = 0; s < n; ++s)
      if (received[static_cast<std::size_t>(s * (t.rank() + 1) + t.rank())] !=
          static_cast<float>(s * 1000 + t.rank()))
        return reason("exchange from {}", s);
    if (n == 1) return yes();
    // Around the ring, three messages in order.
    const int there[] = {t.rank(), next}, here[] = {before, t.rank()};
    HEDDLE_TRY(const GroupId to, t.group(there, 1));
    HEDDLE_TRY(const GroupId from, t.group(here, 1));
    std::vector<RequestId> requests;
    for (int m = 0; m < 3; ++m) {
      Collective send{.kind = CollectiveKind::send, .group = to};
      send.in = in(mine) + 4 * m;
      send.in_pieces = {1, 4};
      send.to = 1;
      HEDDLE_TRY(const RequestId request, t.start(send));
      requests.push_back(request);
    }
    for (int m = 0; m < 3; ++m) {
      float value = -1;
      Collective receive{.kind = CollectiveKind::receive, .group = from};
      receive.out = reinterpret_cast<std::byte*>(&value);
      receive.in_pieces = {1, 4};
      receive.from = 0;
      HEDDLE_TRY_VOID(run_collective(t, receive));
      if (value != static_cast<float>(before * 1000 + m)) return reason("message {}", m);
    }
    for (RequestId request : requests) HEDDLE_TRY_VOID(t.wait(request));
    return yes();
  }));
}

TEST(Transport, SeveralAtATimeAndSmallerGroups) {
  expect_all_well(on_ranks(4, [](Transport& t) -> Verdict {
    HEDDLE_TRY(const GroupId all, t.group(everyone(t)));
    const std::vector<int> pair = {t.rank() / 2 * 2 + 1, t.rank() / 2 * 2};  // not in order
    HEDDLE_TRY(const GroupId two, t.group(pair));
    for (int turn = 0; turn < 200; ++turn) {
      std::vector<std::vector<float>> sums(12, std::vector<float>(20));
      std::vector<std::vector<float>> mine(12);
      std::vector<RequestId> requests;
      for (std::size_t i = 0; i < sums.size(); ++i) {
        mine[i] = numbered(t.rank() + static_cast<int>(i), 20);
        Collective c{.kind = CollectiveKind::all_reduce, .group = i % 2 == 0 ? all : two};
        c.in = in(mine[i]);
        c.out = out(sums[i]);
        c.in_pieces = {1, 80};
        HEDDLE_TRY(const RequestId request, t.start(c));
        requests.push_back(request);
      }
      for (std::size_t i = requests.size(); i-- > 0;) HEDDLE_TRY_VOID(t.wait(requests[i]));
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const float ranks = i % 2 == 0 ? 6 : static_cast<float>(t.rank() / 2 * 4 + 1);
        const float members = i % 2 == 0 ? 4 : 2;
        const float wanted = 1000 * (ranks + members * static_cast<float>(i));
        if (sums[i][0] != wanted) return reason("{} instead of {}", sums[i][0], wanted);
      }
    }
    return yes();
  }));
}

TEST(Transport, EveryReductionOfEveryType) {
  for (DType dtype : all_dtypes()) {
    EXPECT_TRUE(can_reduce(ReduceOp::sum, dtype)) << name(dtype);
    EXPECT_TRUE(can_reduce(ReduceOp::max, dtype)) << name(dtype);
    EXPECT_EQ(can_reduce(ReduceOp::logical_and, dtype), is_integer(dtype) || dtype == DType::i1);
  }
}

// ---- what goes wrong

Verdict reduce_in(Transport& t, std::string_view what, std::int64_t floats = 1) {
  HEDDLE_TRY(const GroupId group, t.group(everyone(t)));
  std::vector<float> value(static_cast<std::size_t>(floats));
  Collective c{.kind = CollectiveKind::all_reduce, .group = group};
  c.in = in(value);
  c.out = out(value);
  c.in_pieces = {1, 4 * floats};
  c.what = what;
  return run_collective(t, c);
}

TEST(Transport, ARankThatFailsEndsAll) {
  const auto ends = on_ranks(3, [](Transport& t) -> Verdict {
    HEDDLE_TRY_VOID(reduce_in(t, "first"));
    t.at_step(7);
    if (t.rank() != 1) return reduce_in(t, "f.mlir:3:5, step 8");
    t.abort("there is no memory");
    return yes();
  });
  for (std::size_t r : {0UL, 2UL}) {
    EXPECT_THAT(ends[r], HasSubstr("rank 1 of 3 failed in step 7: there is no memory"));
    EXPECT_THAT(ends[r], HasSubstr("was in all_reduce 2, f.mlir:3:5, step 8"));
  }
}

// Copies only when the other rank is about to fail, and then as late as it may.
class LateMemory : public comm::PeerMemory {
 public:
  std::atomic<bool> copies = false, fails = false, has_gone = false;

  Verdict copy(int rank, const std::byte* from, const comm::Runs& source, std::byte* to,
               const comm::Runs& target) override {
    copies = true;
    while (!fails) std::this_thread::yield();
    for (int i = 0; i < 1000 && !has_gone; ++i) std::this_thread::yield();
    return PeerMemory::copy(rank, from, source, to, target);
  }
};

// Whoever is in the middle of copying what it has brought gets all of it.
TEST(Transport, MemoryOfARankThatFailsIsReadUntilItHasSaidSo) {
  const auto memory = std::make_shared<LateMemory>();
  const comm::SharedWorld world{
      std::make_shared<comm::Board>(comm::private_board(2), 2, true), memory, {}, "late"};
  std::vector<float> mine = numbered(7, 100), came(100);
  const auto message = [&](CollectiveKind kind, Transport& t) {
    Collective m{.kind = kind, .group = t.group(everyone(t)).value()};
    m.in_pieces = {1, 400};
    return m;
  };
  std::thread other([&] {
    comm::SharedTransport t(world, 1);
    Collective takes = message(CollectiveKind::receive, t);
    takes.out = out(came);
    takes.from = 0;
    (void)run_collective(t, takes);
  });
  {
    comm::SharedTransport t(world, 0);
    Collective gives = message(CollectiveKind::send, t);
    gives.in = in(mine);
    gives.to = 1;
    EXPECT_TRUE(t.start(gives).ok());
    while (!memory->copies) std::this_thread::yield();
    memory->fails = true;
    t.abort("out of luck");
    std::ranges::fill(mine, -1.0f);
    memory->has_gone = true;
    other.join();
  }
  EXPECT_EQ(came, numbered(7, 100));
}

TEST(Transport, ALongReasonKeepsItsBeginningAndItsEnd) {
  comm::Board board(comm::private_board(2), 2, true);
  board.fail("rank 1 failed: " + std::string(5000, 'x') + " in the last line");
  EXPECT_THAT(board.failure(), testing::StartsWith("rank 1 failed: xxx"));
  EXPECT_THAT(board.failure(), testing::EndsWith("xxx in the last line"));
  EXPECT_LT(board.failure().size(), 2000U);
}

TEST(Transport, ARankThatHasEndedIsNamed) {
  const auto ends = on_ranks(3, [](Transport& t) -> Verdict {
    return t.rank() == 2 ? yes() : reduce_in(t, "f.mlir:3:5, step 8");
  });
  EXPECT_THAT(ends[0], HasSubstr("rank 2 of 3 has not reached all_reduce 1 (f.mlir:3:5, step 8)"));
  EXPECT_THAT(ends[1], HasSubstr("it has ended its part of the run"));
}

TEST(Transport, RanksThatWaitForOneAnotherAreNamed) {
  const auto ends = on_ranks(
      2,
      [](Transport& t) -> Verdict {
        if (t.rank() == 0) return reduce_in(t, "here");
        const int ranks[] = {0, 1};
        HEDDLE_TRY(const GroupId messages, t.group(ranks, 3));
        float value = 0;
        Collective c{.kind = CollectiveKind::receive, .group = messages};
        c.out = reinterpret_cast<std::byte*>(&value);
        c.in_pieces = {1, 4};
        c.from = 0;
        return run_collective(t, c);
      },
      0.2);
  EXPECT_THAT(ends[0], HasSubstr("no rank moves"));
  EXPECT_THAT(ends[1], HasSubstr("no rank moves"));
}

TEST(Transport, AnotherCollectiveThanTheOthers) {
  const auto ends =
      on_ranks(2, [](Transport& t) { return reduce_in(t, "here", t.rank() == 0 ? 1 : 2); }, 0.2);
  EXPECT_THAT(ends[0],
              HasSubstr("rank 1 came to all_reduce of 8 bytes (sum of f32) where rank 0 is "
                        "in all_reduce of 4 bytes (sum of f32)"));
}

TEST(Transport, WrongGroups) {
  auto t = solo_transport();
  const int other[] = {1}, beyond[] = {0, 7};
  EXPECT_EQ(t->group(other).reason(), "rank 0 is not in the group");
  EXPECT_EQ(t->group(beyond).reason(), "the group has rank 7, but there are 1 ranks");
}

TEST(Watchdog, Times) {
  EXPECT_EQ(parse_watchdog("2.5").value(), 2.5);
  EXPECT_THAT(parse_watchdog("soon").reason(), HasSubstr("write seconds"));
  EXPECT_FALSE(parse_watchdog("0"));
}

}  // namespace
}  // namespace heddle
