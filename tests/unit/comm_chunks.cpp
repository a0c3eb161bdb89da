// Chunk programs on ranks that are threads: the same bits as the transports' own collectives, and
// what happens where a rank ends inside of one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/on_ranks.h"
#include "comm/run_chunks.h"
#include "schedule/chunks/collective_chunks.h"

namespace heddle::comm {
namespace chunk_rank_tests {

using namespace chunks;
using testing::HasSubstr;

std::vector<int> all_ranks(int ranks) {
  std::vector<int> all;
  for (int r = 0; r < ranks; ++r) all.push_back(r);
  return all;
}

// Buffers of a rank as floats.
struct Floats {
  const ChunkProgram& program;
  int me;
  std::vector<std::vector<float>> of = {};

  Floats(const ChunkProgram& p, int rank) : program(p), me(rank) {
    for (std::uint32_t b = 0; b < p.buffers.size(); ++b)
      of.emplace_back(static_cast<std::size_t>(p.held(b, rank).count));
  }
  float* at(const Chunk& chunk) {
    return of[chunk.buffer].data() + (chunk.first - program.held(chunk.buffer, me).first);
  }
  void fill(std::uint32_t buffer) {
    for (std::size_t i = 0; i < of[buffer].size(); ++i)
      of[buffer][i] = static_cast<float>((me * 31 + static_cast<int>(i) * 7) % 101) / 3.0f;
  }
};

// All ranks sum and halve; `out` of each.
std::vector<std::vector<float>> halved_sums(const ChunkedCollective& c) {
  std::vector<std::vector<float>> results(static_cast<std::size_t>(c.ranks));
  const auto ends = on_ranks(c.ranks, [&](Transport& t) -> Verdict {
    HEDDLE_TRY(ChunkProgram program, collective_chunks(c));
    HEDDLE_TRY(ChunkRunner runner, ChunkRunner::make(std::move(program), t, all_ranks(c.ranks)));
    Floats floats(runner.program(), runner.me());
    floats.fill(runner.program().buffer("in"));
    ChunkRunner::Work work;
    work.at = [&](const Chunk& chunk) { return reinterpret_cast<std::byte*>(floats.at(chunk)); };
    work.compute = [&](const ChunkOp& op) {
      for (std::int64_t i = 0; i < op.to.count; ++i)
        floats.at(op.to)[i] = floats.at(op.reads[0])[i] / 2;
      return yes();
    };
    for (int turn = 0; turn < 3; ++turn) HEDDLE_TRY_VOID(runner.run(t, work));
    results[static_cast<std::size_t>(t.rank())] = floats.of[runner.program().buffer("out")];
    return yes();
  });
  for (const std::string& end : ends) EXPECT_EQ(end, "");
  return results;
}

TEST(ChunksOnThreads, FusedSumsHaveTheBitsOfTransportsInAnyChunks) {
  for (int ranks : {1, 2, 3})
    for (int chunks : {1, 4})
      for (int slots : {1, 8}) {
        const std::size_t count = 1003;
        const auto fused = halved_sums({.ranks = ranks,
                                        .elements = static_cast<std::int64_t>(count),
                                        .chunks = chunks,
                                        .slots = slots,
                                        .finish = true});
        const auto ends = on_ranks(ranks, [&](Transport& t) -> Verdict {
          HEDDLE_TRY(const GroupId group, t.group(all_ranks(ranks)));
          std::vector<float> mine(count), sum(count);
          for (std::size_t i = 0; i < count; ++i)
            mine[i] = static_cast<float>((t.rank() * 31 + static_cast<int>(i) * 7) % 101) / 3.0f;
          Collective c{.kind = CollectiveKind::all_reduce, .group = group};
          c.in = reinterpret_cast<const std::byte*>(mine.data());
          c.out = reinterpret_cast<std::byte*>(sum.data());
          c.in_pieces = {1, static_cast<std::int64_t>(count * sizeof(float))};
          HEDDLE_TRY_VOID(run_collective(t, c));
          for (float& f : sum) f /= 2;
          return sum == fused[static_cast<std::size_t>(t.rank())] ? yes() : reason("others");
        });
        for (const std::string& end : ends) EXPECT_EQ(end, "");
      }
}

// How messages travel, and how many lanes a rank has, changes no bits; sizes are ragged, so that
// words of the latency protocol are not full.
TEST(ChunksOnThreads, ProtocolsAndLanesHaveTheSameBits) {
  for (Algorithm algorithm : {Algorithm::direct, Algorithm::ring, Algorithm::tree}) {
    const auto wanted = halved_sums(
        {.algorithm = algorithm, .ranks = 3, .elements = 1003, .chunks = 5, .finish = true});
    for (Protocol protocol : {Protocol::direct, Protocol::bandwidth, Protocol::latency})
      for (int lanes : {1, 2, 4})
        EXPECT_EQ(halved_sums({.algorithm = algorithm,
                               .protocol = protocol,
                               .ranks = 3,
                               .elements = 1003,
                               .chunks = 5,
                               .channels = lanes,
                               .finish = true}),
                  wanted)
            << name(algorithm) << " through " << name(protocol) << " on " << lanes << " lanes";
  }
}

// One end of a channel by itself: bytes that fill no word, and programs with other slots after it.
TEST(ChunkSlots, KeepWhatTravels) {
  std::vector<std::uint64_t> room(1024);
  auto* memory = reinterpret_cast<std::byte*>(room.data());
  for (Protocol protocol : {Protocol::latency, Protocol::bandwidth}) {
    std::ranges::fill(room, 0);
    for (int run = 0; run < 3; ++run) {
      Channel channel{.from = 0, .to = 1, .protocol = protocol, .slots = 1 + run};
      channel.slot_bytes = bytes_in_slot(protocol, 103 + run);
      ASSERT_LE(ChunkSlots::room_bytes(channel), 8192);
      ChunkSlots sender(memory, channel), receiver(memory, channel);
      sender.begin(true);
      receiver.begin(false);
      for (int message = 0; message < 5; ++message) {
        std::vector<std::byte> sent(static_cast<std::size_t>(103 + run - message));
        for (std::size_t i = 0; i < sent.size(); ++i)
          sent[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(message));
        const auto bytes = static_cast<std::int64_t>(sent.size());
        EXPECT_FALSE(receiver.has_come(bytes));
        ASSERT_TRUE(sender.may_send());
        sender.send(sent.data(), bytes);
        if (channel.slots == 1) {
          EXPECT_FALSE(sender.may_send());
        }
        ASSERT_TRUE(receiver.has_come(bytes));
        EXPECT_TRUE(std::equal(sent.begin(), sent.end(), receiver.look(bytes)));
        receiver.taken();
      }
    }
  }
}

TEST(ChunksOnThreads, RingsAndTreesAgreeUpToRounding) {
  const auto wanted = halved_sums({.ranks = 4, .elements = 999, .finish = true});
  for (Algorithm algorithm : {Algorithm::ring, Algorithm::tree}) {
    const auto one =
        halved_sums({.algorithm = algorithm, .ranks = 4, .elements = 999, .finish = true});
    const auto three = halved_sums(
        {.algorithm = algorithm, .ranks = 4, .elements = 999, .chunks = 3, .finish = true});
    EXPECT_EQ(one, three);
    for (std::size_t i = 0; i < 999; ++i) EXPECT_NEAR(one[3][i], wanted[0][i], 1e-4);
  }
}

void expect_named(Protocol protocol, int lanes) {
  const auto ends = on_ranks(
      3,
      [&](Transport& t) -> Verdict {
        HEDDLE_TRY(ChunkProgram program, collective_chunks({.algorithm = Algorithm::ring,
                                                            .protocol = protocol,
                                                            .ranks = 3,
                                                            .elements = 300,
                                                            .chunks = 2,
                                                            .channels = lanes,
                                                            .finish = true}));
        HEDDLE_TRY(ChunkRunner runner, ChunkRunner::make(std::move(program), t, all_ranks(3)));
        Floats floats(runner.program(), runner.me());
        ChunkRunner::Work work;
        work.what = "fused all_reduce";
        work.at = [&](const Chunk& chunk) {
          return reinterpret_cast<std::byte*>(floats.at(chunk));
        };
        work.compute = [&](const ChunkOp&) -> Verdict {
          return t.rank() == 1 ? Verdict(reason("out of luck")) : yes();
        };
        const Verdict done = runner.run(t, work);
        if (!done) t.abort(done.reason());  // before its memory goes
        return done;
      },
      1);
  EXPECT_EQ(ends[1], "out of luck");
  for (std::size_t r : {0UL, 2UL}) {
    EXPECT_THAT(ends[r], HasSubstr("rank 1 of 3"));
    EXPECT_THAT(ends[r], HasSubstr("fused all_reduce"));
  }
}

TEST(ChunksOnThreads, ARankThatEndsInsideIsNamed) { expect_named(Protocol::direct, 1); }
TEST(ChunksOnThreads, ARankThatEndsBeforeASlotIsNamed) { expect_named(Protocol::bandwidth, 1); }
TEST(ChunksOnThreads, ARankThatEndsBesideLanesIsNamed) {
  expect_named(Protocol::direct, 2);
  expect_named(Protocol::latency, 2);
}

TEST(ChunksOnThreads, WrongProgramsAreRefusedBeforeTheyRun) {
  const auto ends = on_ranks(2, [&](Transport& t) -> Verdict {
    HEDDLE_TRY(ChunkProgram program, collective_chunks({.ranks = 2, .elements = 8}));
    program.lanes[0].ops.pop_back();
    HEDDLE_TRY(ChunkRunner runner, ChunkRunner::make(std::move(program), t, all_ranks(2)));
    return yes();
  });
  for (const std::string& end : ends) EXPECT_THAT(end, HasSubstr("is wrong (coverage): out[4..8)"));
}

}  // namespace chunk_rank_tests
}  // namespace heddle::comm
