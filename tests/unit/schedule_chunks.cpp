// Chunk programs of collectives: what they compute, in whatever order ranks come; and that both
// checkers find what is wrong with programs that were spoilt on purpose.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "schedule/chunks/check_chunks.h"
#include "schedule/chunks/collective_chunks.h"
#include "schedule/chunks/interpret_chunks.h"

namespace heddle::chunks {

namespace chunk_tests {

using Kind = ChunkOp::Kind;

constexpr Algorithm kAlgorithms[] = {Algorithm::direct, Algorithm::ring, Algorithm::tree};
constexpr Protocol kProtocols[] = {Protocol::direct, Protocol::bandwidth, Protocol::latency};

float number(int rank, std::int64_t element) {
  return static_cast<float>(1 + (rank * 37 + element * 11) % 23) / 7.0f;
}

float* floats(const ChunkProgram& program, ChunkMemory& memory, int rank, const Chunk& chunk) {
  return reinterpret_cast<float*>(memory.at(program, rank, chunk));
}

void combine_floats(std::byte* out, const std::byte* a, const std::byte* b, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    reinterpret_cast<float*>(out)[i] =
        reinterpret_cast<const float*>(a)[i] + reinterpret_cast<const float*>(b)[i];
}

// What every function of a fused program does here.
void compute_floats(const ChunkProgram& program, ChunkMemory& memory, int rank, const ChunkOp& op) {
  float* to = floats(program, memory, rank, op.to);
  const auto read = [&](std::size_t i) { return floats(program, memory, rank, op.reads[i]); };
  switch (op.function) {
    case Function::produce:
      for (std::int64_t i = 0; i < op.to.count; ++i) to[i] = number(rank, op.to.first + i);
      return;
    case Function::partial:
    case Function::total:
      to[0] = 0;
      for (std::int64_t i = 0; i < op.reads[0].count; ++i) to[0] += read(0)[i];
      return;
    case Function::finish: {
      const float by = op.reads.size() > 1 ? *read(1) : 3.0f;
      for (std::int64_t i = 0; i < op.to.count; ++i) to[i] = read(0)[i] / by;
      return;
    }
    case Function::consume:
      for (std::int64_t i = 0; i < op.to.count; ++i) to[i] = read(0)[i] * 2.0f;
      return;
    case Function::none:
      return;
  }
}

// Runs it in a random order and gives all bytes of all ranks.
ChunkMemory run(const ChunkProgram& program, std::uint64_t seed) {
  ChunkMemory memory = chunk_memory(program);
  const std::uint32_t in = program.buffer("in");
  for (int r = 0; r < program.ranks; ++r) {
    const bool whole = program.buffers[in].holds == Holds::all;
    const Chunk mine = whole ? Chunk{in, 0, program.elements} : program.slice(in, r);
    if (!program.buffers[in].given) continue;
    float* to = floats(program, memory, r, mine);
    for (std::int64_t i = 0; i < mine.count; ++i) to[i] = number(r, mine.first + i);
  }
  const ChunkFunctions functions{combine_floats, [&](int rank, const ChunkOp& op) {
                                   compute_floats(program, memory, rank, op);
                                 }};
  const Verdict verdict = interpret_chunks(program, memory, functions, seed);
  EXPECT_TRUE(verdict.ok()) << (verdict.ok() ? "" : verdict.reason());
  return memory;
}

std::string words(const ChunkedCollective& c) {
  return fmt::format("{} {} {} ranks {} elements {} chunks {} channels {} slots {}", name(c.kind),
                     name(c.algorithm), name(c.protocol), c.ranks, c.elements, c.chunks, c.channels,
                     c.slots);
}

void expect_right(const ChunkProgram& program, const std::string& what) {
  const auto fault = check_chunks(program);
  EXPECT_FALSE(fault) << what << ": " << (fault ? fault->text : "");
}

// The result as plain loops have it, up to rounding.
double wanted_of(const ChunkedCollective& c, std::int64_t element) {
  const auto sum_at = [&](std::int64_t e) {
    double sum = 0;
    for (int r = 0; r < c.ranks; ++r) sum += number(r, e);
    return sum;
  };
  if (c.kind == CollectiveKind::send) return number(0, element);
  if (c.kind == CollectiveKind::all_gather) {
    int owner = 0;
    while (part_begin(c.elements, owner + 1, c.ranks) <= element) ++owner;
    return c.finish ? number(owner, element) / 3 : number(owner, element);
  }
  if (!c.finish) return sum_at(element);
  double by = 3;
  if (c.norm) {
    by = 0;
    for (std::int64_t e = 0; e < c.elements; ++e) by += sum_at(e);
  }
  return sum_at(element) / by;
}

void expect_values(const ChunkedCollective& c, const ChunkProgram& program, ChunkMemory& memory) {
  for (int r = 0; r < c.ranks; ++r) {
    if (c.kind == CollectiveKind::send && r + 1 < c.ranks) continue;
    const std::uint32_t out = program.buffer("out");
    const bool scatters = c.kind == CollectiveKind::reduce_scatter;
    const Chunk mine = scatters ? program.slice(out, r) : Chunk{out, 0, c.elements};
    for (std::int64_t i = 0; i < mine.count; ++i) {
      const double wanted = wanted_of(c, mine.first + i);
      EXPECT_NEAR(floats(program, memory, r, mine)[i], wanted, 1e-4 * wanted) << words(c);
      if (const std::uint32_t used = program.buffer("used"); used != kNone) {
        EXPECT_EQ(floats(program, memory, r, {used, mine.first + i, 1})[0],
                  2 * floats(program, memory, r, mine)[i])
            << words(c);
      }
    }
  }
}

// All ways to cut one collective and to carry its messages.
template <typename Visit>
void for_each_way(ChunkedCollective c, Visit visit) {
  for (Protocol protocol : kProtocols)
    for (int chunks : {1, 3})
      for (int channels : {1, 2})
        for (int slots : {1, 2}) {
          c.protocol = protocol;
          c.chunks = chunks;
          c.channels = channels;
          c.slots = slots;
          visit(c);
        }
}

TEST(ChunkPrograms, EveryCollectiveGivesTheSameBitsInAllChunksProtocolsAndOrders) {
  std::uint64_t seed = 1;
  for (CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                              CollectiveKind::all_gather, CollectiveKind::send})
    for (Algorithm algorithm : kAlgorithms)
      for (int ranks : {1, 2, 3, 5}) {
        if (kind == CollectiveKind::send && ranks == 1) continue;
        std::vector<std::vector<std::byte>> bits;
        for_each_way({.kind = kind, .algorithm = algorithm, .ranks = ranks, .elements = 17},
                     [&](const ChunkedCollective& c) {
                       const ChunkProgram program = collective_chunks(c).value();
                       expect_right(program, words(c));
                       ChunkMemory memory = run(program, seed++);
                       expect_values(c, program, memory);
                       std::vector<std::vector<std::byte>> now;
                       for (auto& of_rank : memory.bytes)
                         now.push_back(of_rank[program.buffer("out")]);
                       if (kind == CollectiveKind::send) now.erase(now.begin(), now.end() - 1);
                       if (bits.empty()) bits = now;
                       EXPECT_EQ(bits, now) << words(c);
                     });
      }
}

TEST(ChunkPrograms, FusedComputationSeesEveryElementOnce) {
  std::uint64_t seed = 1;
  for (Algorithm algorithm : kAlgorithms)
    for (int ranks : {2, 3, 4})
      for (int fused = 0; fused < 6; ++fused) {
        ChunkedCollective c{.algorithm = algorithm, .ranks = ranks, .elements = 14};
        c.kind = fused == 1                 ? CollectiveKind::reduce_scatter
                 : fused == 2 || fused == 5 ? CollectiveKind::all_gather
                                            : CollectiveKind::all_reduce;
        c.produce = fused == 1 || fused == 2 || fused == 4;  // product -> reduce_scatter
        c.consume = fused == 2 || fused == 4;                // all_gather -> product
        c.finish = fused == 0 || fused >= 3;                 // an optimiser; 5: behind its norm
        c.norm = fused == 3;                                 // with a norm
        for_each_way(c, [&](const ChunkedCollective& way) {
          const ChunkProgram program = collective_chunks(way).value();
          expect_right(program, words(way));
          ChunkMemory memory = run(program, seed++);
          expect_values(way, program, memory);
        });
      }
}

TEST(ChunkPrograms, DirectSumsAreThoseOfTransports) {
  const ChunkedCollective c{.ranks = 4, .elements = 9, .chunks = 2};
  const ChunkProgram program = collective_chunks(c).value();
  ChunkMemory memory = run(program, 5);
  for (std::int64_t e = 0; e < c.elements; ++e) {
    float sum = number(0, e);
    for (int r = 1; r < c.ranks; ++r) sum += number(r, e);
    EXPECT_EQ(floats(program, memory, 2, {program.buffer("out"), e, 1})[0], sum);
  }
}

TEST(ChunkPrograms, SumsMayBeTakenInAnotherOrderAndChunksMayHaveAGrain) {
  const ChunkedCollective c{
      .ranks = 3, .elements = 33, .chunks = 3, .grain = 4, .order = {2, 0, 1}};
  const ChunkProgram program = collective_chunks(c).value();
  expect_right(program, words(c));
  for (const Lane& lane : program.lanes)
    for (const ChunkOp& op : lane.ops)
      EXPECT_EQ((op.to.count > 0 ? op.to : op.from).first % 11 % 4, 0);
  ChunkMemory memory = run(program, 3);
  for (std::int64_t e = 0; e < c.elements; ++e)
    EXPECT_EQ(floats(program, memory, 1, {program.buffer("out"), e, 1})[0],
              number(2, e) + number(0, e) + number(1, e));
  EXPECT_FALSE(collective_chunks({.ranks = 2, .order = {0, 0}}).ok());
}

TEST(ChunkPrograms, AllOrdersOfSmallOnesAreWalked) {
  std::size_t states = 0;
  for (Algorithm algorithm : kAlgorithms)
    for (Protocol protocol : kProtocols)
      for (const auto& [ranks, chunks] : {std::pair(2, 3), std::pair(3, 2), std::pair(4, 1)}) {
        ChunkedCollective c{.algorithm = algorithm,
                            .protocol = protocol,
                            .ranks = ranks,
                            .elements = 12,
                            .chunks = chunks,
                            .slots = 1};
        c.finish = ranks < 4;
        if (ranks == 4) c.kind = CollectiveKind::reduce_scatter;
        const ChunkProgram program = collective_chunks(c).value();
        const Walked walked = walk_chunks(program);
        EXPECT_TRUE(walked.all) << words(c);
        EXPECT_FALSE(walked.fault) << words(c) << (walked.fault ? walked.fault->text : "");
        states += walked.states;
      }
  EXPECT_GT(states, 1000u);
}

TEST(ChunkPrograms, TwoLanesWithANormAreWalked) {
  const ChunkProgram program = collective_chunks({.algorithm = Algorithm::ring,
                                                  .ranks = 2,
                                                  .elements = 8,
                                                  .chunks = 2,
                                                  .channels = 2,
                                                  .finish = true,
                                                  .norm = true})
                                   .value();
  const Walked walked = walk_chunks(program);
  EXPECT_TRUE(walked.all);
  EXPECT_FALSE(walked.fault) << (walked.fault ? walked.fault->text : "");
}

TEST(ChunkPrograms, AreCheckedForManyRanks) {
  for (Algorithm algorithm : kAlgorithms)
    expect_right(
        collective_chunks(
            {.algorithm = algorithm, .ranks = 24, .elements = 1000, .chunks = 2, .finish = true})
            .value(),
        "24 ranks");
}

TEST(ChunkPrograms, ReadAsText) {
  const ChunkProgram program =
      collective_chunks({.ranks = 2, .elements = 8, .finish = true}).value();
  EXPECT_EQ(text(program, 0),
            "rank 0, lane 0\n"
            "  send in[4..8) to 1\n"
            "  reduce sum[0..4) = in[0..4) with what comes from 1\n"
            "  compute out[0..4) = finish(sum[0..4))\n"
            "  send out[0..4) to 1\n"
            "  receive out[4..8) from 1\n");
}

TEST(ChunkPrograms, WhatMakesNoSenseIsRefused) {
  const auto why = [](const ChunkedCollective& c) {
    const auto program = collective_chunks(c);
    return program.ok() ? std::string() : program.reason();
  };
  EXPECT_EQ(why({.ranks = 0}), "ranks 0: at least 1 is needed");
  EXPECT_EQ(why({.chunks = 0}), "chunks 0: at least 1 is needed");
  EXPECT_EQ(why({.slots = 0}), "slots 0: at least 1 is needed");
  EXPECT_EQ(why({.kind = CollectiveKind::send, .finish = true}), "a send has no sums to finish");
  EXPECT_EQ(why({.kind = CollectiveKind::all_gather, .finish = true, .norm = true}),
            "a all_gather has no sums to finish");
  EXPECT_EQ(
      why({.kind = CollectiveKind::all_to_all}),
      "a all_to_all has no chunk program: all_reduce, reduce_scatter, all_gather and send have");
  EXPECT_EQ(why({.norm = true}), "a norm is there for what finishes the sums");
}

// ---- programs that were spoilt

ChunkProgram ring_of_three() {
  return collective_chunks(
             {.algorithm = Algorithm::ring, .ranks = 3, .elements = 6, .chunks = 2, .finish = true})
      .value();
}

void expect_fault(const ChunkProgram& program, FaultKind kind, std::string_view part) {
  const auto by_order = check_chunks(program);
  ASSERT_TRUE(by_order) << part;
  EXPECT_EQ(name(by_order->kind), name(kind)) << by_order->text;
  EXPECT_NE(by_order->text.find(part), std::string::npos) << by_order->text;
  const Walked walked = walk_chunks(program);
  ASSERT_TRUE(walked.fault) << part;
  EXPECT_EQ(name(walked.fault->kind), name(kind)) << walked.fault->text;
}

std::size_t find(const std::vector<ChunkOp>& ops, Kind kind, std::size_t number = 0) {
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (ops[i].kind == kind && number-- == 0) return i;
  ADD_FAILURE() << "no such op";
  return 0;
}

TEST(SpoiltChunkPrograms, AMessageThatIsNeverSent) {
  ChunkProgram program = ring_of_three();
  auto& ops = program.lanes[1].ops;
  for (std::size_t i = ops.size(); i-- > 0;)
    if (ops[i].kind == Kind::send) {
      ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  expect_fault(program, FaultKind::deadlock, "rank 2 waits at \"receive out[");
}

TEST(SpoiltChunkPrograms, RanksThatAllReceiveFirst) {
  ChunkProgram program =
      collective_chunks({.kind = CollectiveKind::all_gather, .ranks = 2, .elements = 4}).value();
  for (Lane& lane : program.lanes) {
    const std::size_t receives = find(lane.ops, Kind::receive), sends = find(lane.ops, Kind::send);
    std::swap(lane.ops[receives], lane.ops[sends]);
  }
  expect_fault(program, FaultKind::deadlock, "nobody can go on:");
}

TEST(SpoiltChunkPrograms, MoreMessagesUnderWayThanSlots) {
  // All chunks of a step at once need as many slots.
  ChunkProgram program = collective_chunks({.kind = CollectiveKind::all_gather,
                                            .algorithm = Algorithm::ring,
                                            .protocol = Protocol::bandwidth,
                                            .ranks = 2,
                                            .elements = 12,
                                            .chunks = 3,
                                            .slots = 3})
                             .value();
  for (Channel& channel : program.channels) channel.slots = 2;
  expect_fault(program, FaultKind::deadlock, "for one of 2 slots");
}

TEST(SpoiltChunkPrograms, ASumWithoutTheOwnShare) {
  ChunkProgram program = ring_of_three();
  ChunkOp& op = program.lanes[0].ops[find(program.lanes[0].ops, Kind::reduce)];
  op.kind = Kind::receive;
  expect_fault(program, FaultKind::coverage, "has what rank 0 gave 0 times");
}

TEST(SpoiltChunkPrograms, AShareThatCountsTwice) {
  ChunkProgram program = ring_of_three();
  auto& ops = program.lanes[2].ops;
  const std::size_t at = find(ops, Kind::reduce);
  const ChunkOp again{.kind = Kind::reduce, .from = ops[at].from, .to = ops[at].to};
  ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(at) + 1, again);
  expect_fault(program, FaultKind::coverage, "has what rank 2 gave 2 times");
}

TEST(SpoiltChunkPrograms, AChunkThatIsNotFinished) {
  ChunkProgram program = ring_of_three();
  auto& ops = program.lanes[1].ops;
  ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(find(ops, Kind::compute)));
  expect_fault(program, FaultKind::coverage, "nothing has been written to out[2] before");
  program = ring_of_three();
  ChunkOp& op = program.lanes[1].ops[find(program.lanes[1].ops, Kind::compute)];
  op = {.kind = Kind::copy, .from = op.reads[0], .to = op.to};
  expect_fault(program, FaultKind::coverage, "has seen nothing last, not finish");
}

TEST(SpoiltChunkPrograms, AChunkThatIsFinishedTwice) {
  ChunkProgram program = ring_of_three();
  auto& ops = program.lanes[1].ops;
  const std::size_t at = find(ops, Kind::compute);
  ChunkOp again = ops[at];
  again.reads = {again.to};
  ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(at) + 1, again);
  expect_fault(program, FaultKind::coverage, "finished a second time");
}

TEST(SpoiltChunkPrograms, AResultThatIsUsedBeforeItIsThere) {
  ChunkProgram program = collective_chunks({.kind = CollectiveKind::all_gather,
                                            .protocol = Protocol::bandwidth,
                                            .ranks = 2,
                                            .elements = 4})
                             .value();
  auto& ops = program.lanes[0].ops;
  std::rotate(ops.begin(), ops.begin() + 1, ops.end());  // the copy comes last
  expect_fault(program, FaultKind::coverage, "nothing has been written to out[0] before");
}

TEST(SpoiltChunkPrograms, AnElementAtAnothersPlace) {
  ChunkProgram program = collective_chunks({.ranks = 2, .elements = 8, .chunks = 2}).value();
  auto& ops = program.lanes[0].ops;
  std::swap(ops[find(ops, Kind::receive)].to, ops[find(ops, Kind::receive, 1)].to);
  expect_fault(program, FaultKind::coverage, "what comes is not element");
}

TEST(SpoiltChunkPrograms, ABufferThatChangesBeforeItWasRead) {
  // The sender writes again to what it has sent; only a wait would keep it from that.
  ChunkProgram program;
  program.ranks = 2;
  program.elements = 4;
  program.buffers = {{"in", 4, Holds::all, true}, {"out", 4, Holds::all, false}};
  program.channels = {{0, 1, Protocol::direct, 2, 0}};
  const Chunk in{0, 0, 4}, out{1, 0, 4};
  program.lanes = {{0,
                    {{.kind = Kind::send, .channel = 0, .from = in},
                     {.kind = Kind::compute, .to = in, .function = Function::produce}}},
                   {1, {{.kind = Kind::receive, .channel = 0, .to = out}}}};
  expect_fault(program, FaultKind::race, "in[0..4) of rank 0: nothing keeps");
  auto& ops = program.lanes[0].ops;
  ops.insert(ops.begin() + 1, ChunkOp{.kind = Kind::wait, .channel = 0, .value = 1});
  EXPECT_FALSE(check_chunks(program));
  EXPECT_FALSE(walk_chunks(program).fault);
  // Slots hold a copy.
  ops.erase(ops.begin() + 1);
  program.channels[0] = {0, 1, Protocol::latency, 2, 32};
  EXPECT_FALSE(check_chunks(program));
  EXPECT_FALSE(walk_chunks(program).fault);
}

TEST(SpoiltChunkPrograms, ALaneThatDoesNotWaitForAnother) {
  ChunkProgram program =
      collective_chunks(
          {.ranks = 2, .elements = 8, .chunks = 2, .channels = 2, .finish = true, .norm = true})
          .value();
  auto& ops = program.lanes[0].ops;
  ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(find(ops, Kind::wait)));
  expect_fault(program, FaultKind::race, "of rank 0: nothing keeps");
}

TEST(SpoiltChunkPrograms, ACounterThatNeverComes) {
  ChunkProgram program =
      collective_chunks(
          {.ranks = 2, .elements = 8, .chunks = 2, .channels = 2, .finish = true, .norm = true})
          .value();
  auto& ops = program.lanes[1].ops;
  ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(find(ops, Kind::signal)));
  expect_fault(program, FaultKind::deadlock, "wait for summed >= 2\", which is 1");
}

TEST(SpoiltChunkPrograms, SlotsAndBuffersThatAreTooSmall) {
  ChunkProgram program =
      collective_chunks({.protocol = Protocol::latency, .ranks = 2, .elements = 8}).value();
  for (Channel& channel : program.channels) channel.slot_bytes = 16;  // as bandwidth would have it
  expect_fault(program, FaultKind::too_small, "a slot of 16 bytes cannot hold 32");
  program = collective_chunks({.kind = CollectiveKind::reduce_scatter, .ranks = 2, .elements = 8})
                .value();
  program.lanes[0].ops[find(program.lanes[0].ops, Kind::reduce)].to.first = 2;
  expect_fault(program, FaultKind::too_small, "rank 0 has out[0..4) and uses [2..6)");
}

TEST(SpoiltChunkPrograms, WhatIsNotThere) {
  ChunkProgram program = ring_of_three();
  program.lanes[0].ops[0].channel = 99;
  expect_fault(program, FaultKind::malformed, "channel 99, which is not there");
  program = ring_of_three();
  program.lanes[0].rank = 1;
  expect_fault(program, FaultKind::malformed, "which is for rank 0");
  program = ring_of_three();
  program.lanes.push_back({0, {program.lanes[0].ops[0]}});
  expect_fault(program, FaultKind::malformed, "two lanes of rank 0 share a channel");
}

// The check along one order, and the walk through all of them, say the same of programs that were
// spoilt at random.
TEST(SpoiltChunkPrograms, OneOrderSaysAsMuchAsAll) {
  std::mt19937_64 random(7);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::size_t faulty = 0;
  for (int round = 0; round < 250; ++round) {
    ChunkedCollective c{.algorithm = kAlgorithms[below(3)],
                        .protocol = kProtocols[below(3)],
                        .ranks = static_cast<int>(2 + below(2)),
                        .elements = 6,
                        .chunks = static_cast<int>(1 + below(2)),
                        .slots = static_cast<int>(1 + below(2))};
    c.finish = below(2) == 0;
    c.produce = below(4) == 0;
    if (c.ranks == 2) c.channels = c.chunks;
    if (c.finish && c.ranks == 2) c.norm = below(2) == 0;
    ChunkProgram program = collective_chunks(c).value();
    for (std::size_t changes = 1 + below(2); changes > 0; --changes) {
      auto& ops = program.lanes[below(program.lanes.size())].ops;
      if (ops.size() < 2) continue;
      const std::size_t at = below(ops.size() - 1);
      switch (below(3)) {
        case 0:
          std::swap(ops[at], ops[at + 1]);
          break;
        case 1:
          ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        default:
          ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(at), ChunkOp(ops[at + 1]));
      }
    }
    const auto one = check_chunks(program);
    const Walked all = walk_chunks(program, 200'000);
    if (!all.all) continue;
    faulty += one ? 1 : 0;
    EXPECT_EQ(one.has_value(), all.fault.has_value())
        << words(c) << "\n"
        << (one ? one->text : "") << (all.fault ? all.fault->text : "") << "\n"
        << text(program, 0) << text(program, 1);
  }
  EXPECT_GT(faulty, 60u);
  EXPECT_LT(faulty, 245u);
}

}  // namespace chunk_tests

}  // namespace heddle::chunks
