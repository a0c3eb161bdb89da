// Chunk programs as CUDA text. It is compiled for the host with a thread for each block, and for a
// GPU by NVRTC where that is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "chunks_on_host.h"
#include "kernel/emit_cuda_chunks.h"
#include "schedule/chunks/check_chunks.h"
#include "schedule/chunks/collective_chunks.h"

namespace heddle {
namespace cuda_chunk_tests {

using namespace chunks;
using testing::HasSubstr;

// Half of a sum, with a norm less the number of all.
constexpr std::string_view kCompute = R"cuda(
__device__ void h_compute(int function, const Memory& m, int rank, i64 from, i64 to, i64 begin, i64 end) {
  const f32* sum = (const f32*)m.at[rank][SUM] + from;
  if (function == PARTIAL) {
    f32 number = 0;
    for (i64 i = begin; i < end; ++i) number += sum[i];
    ((f32*)m.at[rank][NUMBERS])[to] = number;
  } else if (function == TOTAL) {
    f32 number = 0;
    for (i64 i = begin; i < end; ++i) number += ((const f32*)m.at[rank][NUMBERS])[i];
    ((f32*)m.at[rank][TOTALS])[to] = number;
  } else {
    for (i64 i = begin + threadIdx.x; i < end; i += blockDim.x)
      ((f32*)m.at[rank][OUT])[to + i] = SUM_AT / 2 - (TOTALS < 0 ? 0 : ((const f32*)m.at[rank][TOTALS < 0 ? 0 : TOTALS])[0]);
  }
}
)cuda";

// Where the sums are, or are taken: of what all ranks were given.
std::string sum_at(const ChunkProgram& program, const ChunkSums* sums) {
  if (sums == nullptr) return "sum[i]";
  std::string text = "(0";
  for (int r : sums->order)
    text += fmt::format(" + ((const f32*)m.at[{}][{}])[from + i]", r, program.buffer("in"));
  return text + ")";
}

std::string compute_text(const ChunkProgram& program, const ChunkSums* sums) {
  std::string text = fmt::format("#define SUM_AT {}\n", sum_at(program, sums));
  const std::pair<const char*, const char*> names[] = {
      {"SUM", "sum"}, {"OUT", "out"}, {"NUMBERS", "numbers"}, {"TOTALS", "total"}};
  for (const auto& [macro, name] : names) {
    const std::uint32_t b = program.buffer(name);
    text += fmt::format("#define {} {}\n", macro, b == kNone ? -1 : static_cast<int>(b));
  }
  text += fmt::format("#define PARTIAL {}\n#define TOTAL {}\n",
                      static_cast<int>(chunks::Function::partial),
                      static_cast<int>(chunks::Function::total));
  return text + std::string(kCompute);
}

struct Compiled {
  explicit Compiled(chunks_on_host::Library all)
      : library(std::move(all)), chunks(library.chunks[0]) {}
  chunks_on_host::Library library;
  CudaChunks chunks;

  void run_block(const void* memory, int first_rank, unsigned block, std::uint64_t turn) const {
    library.run_block(0, memory, first_rank, block, turn);
  }
  void launch(const void* memory, int first_rank, std::int64_t blocks, std::uint64_t turn) const {
    library.launch(0, memory, first_rank, blocks, turn);
  }
};

CudaChunkWork sums_of_floats(const ChunkProgram& program, int blocks,
                             const ChunkSums* sums = nullptr) {
  return {.blocks = blocks, .grain = 4, .compute = compute_text(program, sums), .sums = sums};
}

Expected<Compiled> for_host(const ChunkProgram& program, const CudaChunkWork& work) {
  std::vector<CudaChunks> one(1);
  HEDDLE_TRY(one[0], emit_cuda_chunks(program, work));
  HEDDLE_TRY(auto library, chunks_on_host::Library::compile(std::move(one)));
  return Compiled{std::move(library)};
}

// The memory of all ranks, as the text has it.
class Ranks {
 public:
  Ranks(const ChunkProgram& program, const CudaChunks& chunks)
      : program_(program),
        slots_(static_cast<std::size_t>(chunks.slot_bytes / 16 + 1)),
        flags_(static_cast<std::size_t>(chunks.flags), 0) {
    for (int r = 0; r < program.ranks; ++r) {
      for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
        const Chunk held = program.held(b, r);
        buffers_.emplace_back(static_cast<std::size_t>(held.count) + 4, -1.0F);
        words_.push_back(reinterpret_cast<std::uint64_t>(buffers_.back().data() - held.first));
      }
    }
    words_.resize(words_.size() + static_cast<std::size_t>(program.ranks), 0);
    words_.push_back(reinterpret_cast<std::uint64_t>(slots_.data()));
    words_.push_back(reinterpret_cast<std::uint64_t>(flags_.data()));
    words_.push_back(reinterpret_cast<std::uint64_t>(&stop_));
    words_.push_back(patience);
  }
  float* at(int rank, std::string_view name) {
    return buffers_[static_cast<std::size_t>(rank) * program_.buffers.size() +
                    program_.buffer(name)]
        .data();
  }
  const void* words() {
    words_.back() = patience;
    return words_.data();
  }
  bool stopped() const { return stop_ != 0; }
  bool something_was_sent() const {
    return std::ranges::any_of(slots_, [](const chunks_on_host::Line& line) {
      return std::ranges::any_of(line.words, [](const std::uint64_t& word) {
        return __atomic_load_n(&word, __ATOMIC_ACQUIRE) != 0;
      });
    });
  }
  std::uint64_t patience = 20'000'000;  // of a clock that counts how often it is asked

 private:
  const ChunkProgram& program_;
  std::vector<std::vector<float>> buffers_;
  std::vector<chunks_on_host::Line> slots_;
  std::vector<std::uint64_t> flags_, words_;
  std::uint64_t stop_ = 0;
};

float given(int rank, std::int64_t i, int turn) {
  return static_cast<float>((rank * 31 + static_cast<int>(i) * 7 + turn) % 64);
}

// Several launches, one after the other, with other numbers each time.
void expect_sums(const ChunkedCollective& wanted, int blocks, bool sums_inside = false) {
  const ChunkProgram program = collective_chunks(wanted).value();
  ASSERT_FALSE(check_chunks(program));
  const auto sums = sums_inside ? chunk_sums(program) : std::nullopt;
  ASSERT_EQ(sums.has_value(), sums_inside);
  const auto made = for_host(program, sums_of_floats(program, blocks, sums ? &*sums : nullptr));
  ASSERT_TRUE(made) << made.reason();
  Ranks ranks(program, made->chunks);
  const bool gathers = wanted.kind == CollectiveKind::all_gather;
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<float> sums(static_cast<std::size_t>(wanted.elements), 0);
    for (int r = 0; r < wanted.ranks; ++r) {
      const Chunk held = program.held(program.buffer("in"), r);
      for (std::int64_t i = 0; i < held.count; ++i) {
        const float one = given(r, held.first + i, turn);
        ranks.at(r, "in")[i] = one;
        sums[static_cast<std::size_t>(held.first + i)] += one;
      }
    }
    float total = 0;
    for (float s : sums) total += s;
    made->launch(ranks.words(), 0, made->chunks.rank_blocks * wanted.ranks,
                 static_cast<std::uint64_t>(turn));
    ASSERT_FALSE(ranks.stopped());
    for (int r = 0; r < wanted.ranks; ++r) {
      const Chunk held = program.held(program.buffer("out"), r);
      for (std::int64_t i = 0; i < held.count; ++i) {
        const float sum = sums[static_cast<std::size_t>(held.first + i)];
        const float due = wanted.finish ? sum / 2 - (wanted.norm ? total : 0) : sum;
        ASSERT_EQ(ranks.at(r, "out")[i], due) << (gathers ? "gathered " : "") << "element " << i
                                              << " of rank " << r << ", turn " << turn;
      }
      // Nothing is written behind the end.
      EXPECT_EQ(ranks.at(r, "out")[held.count], -1.0F);
    }
  }
}

TEST(CudaChunks, AlgorithmsAndProtocolsSumUp) {
  for (const Algorithm algorithm : {Algorithm::direct, Algorithm::ring, Algorithm::tree})
    for (const Protocol protocol : {Protocol::direct, Protocol::bandwidth, Protocol::latency}) {
      SCOPED_TRACE(fmt::format("{} {}", name(algorithm), name(protocol)));
      expect_sums({.algorithm = algorithm,
                   .protocol = protocol,
                   .ranks = 3,
                   .elements = 211,
                   .chunks = 3,
                   .grain = 4,
                   .channels = 2},
                  2);
    }
}

TEST(CudaChunks, ComputationAndNormsGoInside) {
  for (const Protocol protocol : {Protocol::direct, Protocol::latency})
    for (const bool norm : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", name(protocol), norm));
      expect_sums({.algorithm = Algorithm::ring,
                   .protocol = protocol,
                   .ranks = 4,
                   .elements = 410,
                   .chunks = 2,
                   .grain = 4,
                   .channels = norm ? 2 : 1,
                   .finish = true,
                   .norm = norm},
                  2);
    }
}

// What is computed inside loads what all ranks were given, and adds it up by itself.
TEST(CudaChunks, SumsAreTakenByWhatIsInside) {
  for (const int ranks : {2, 3, 5})
    for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter}) {
      SCOPED_TRACE(fmt::format("{} {}", ranks, name(kind)));
      std::vector<int> order;
      for (int r = ranks; r-- > 0;) order.push_back(r);
      expect_sums({.kind = kind,
                   .ranks = ranks,
                   .elements = 411,
                   .chunks = 5,
                   .grain = 4,
                   .channels = ranks == 3 ? 2 : 1,
                   .order = order,
                   .finish = true},
                  2, true);
    }
}

TEST(CudaChunks, SumsThatAreNeededElsewhereAreKept) {
  const auto has_sums = [](const ChunkedCollective& wanted) {
    return chunk_sums(collective_chunks(wanted).value()).has_value();
  };
  EXPECT_TRUE(has_sums({.ranks = 3, .elements = 64, .chunks = 2, .finish = true}));
  // On their way to others; in slots; for a norm as well; not there at all.
  EXPECT_FALSE(
      has_sums({.algorithm = Algorithm::ring, .ranks = 3, .elements = 64, .finish = true}));
  EXPECT_FALSE(
      has_sums({.protocol = Protocol::bandwidth, .ranks = 3, .elements = 64, .finish = true}));
  EXPECT_FALSE(has_sums({.ranks = 3, .elements = 64, .finish = true, .norm = true}));
  EXPECT_FALSE(has_sums({.kind = CollectiveKind::all_gather, .elements = 64, .finish = true}));
}

// A message that is taken as late as the kernel works may be what another waits for.
TEST(CudaChunks, SumsThatWouldBeTakenTooLateAreKept) {
  ChunkProgram program =
      collective_chunks({.ranks = 2, .elements = 64, .slots = 1, .finish = true}).value();
  ASSERT_TRUE(chunk_sums(program));
  // Rank 0 receives the other's result before it makes its own.
  auto& ops = program.lanes[0].ops;
  ASSERT_EQ(ops[2].function, chunks::Function::finish);
  std::ranges::rotate(ops.begin() + 2, ops.end() - 1, ops.end());
  ASSERT_FALSE(check_chunks(program));
  EXPECT_FALSE(chunk_sums(program));
}

TEST(CudaChunks, ScattersAndGathers) {
  expect_sums({.kind = CollectiveKind::reduce_scatter,
               .algorithm = Algorithm::tree,
               .protocol = Protocol::bandwidth,
               .ranks = 4,
               .elements = 99,
               .chunks = 2},
              3);
  expect_sums({.kind = CollectiveKind::all_gather, .ranks = 3, .elements = 100, .chunks = 2}, 1);
}

// Rank 0 sends 5 elements, then 4, of which two blocks have other shares. One block of each rank
// goes through both before the other one of rank 1 begins: what is for that one still lies in the
// slot.
TEST(CudaChunks, ABlockThatIsAheadLeavesWhatIsForOthers) {
  for (const Protocol protocol : {Protocol::bandwidth, Protocol::latency}) {
    SCOPED_TRACE(name(protocol));
    const ChunkProgram program =
        collective_chunks({.protocol = protocol, .ranks = 2, .elements = 9, .grain = 4, .slots = 1})
            .value();
    const auto made = for_host(program, sums_of_floats(program, 2));
    ASSERT_TRUE(made) << made.reason();
    Ranks ranks(program, made->chunks);
    for (int r = 0; r < 2; ++r)
      for (int i = 0; i < 9; ++i) ranks.at(r, "in")[i] = given(r, i, 0);
    const void* words = ranks.words();
    const auto each = static_cast<unsigned>(made->chunks.rank_blocks);
    std::vector<std::jthread> waiting, ahead;
    const auto start = [&](std::vector<std::jthread>& where, unsigned block) {
      where.emplace_back([&, block] { made->run_block(words, 0, block, 0); });
    };
    for (unsigned b = 0; b < each; b += 2) start(waiting, b);
    while (!ranks.something_was_sent()) std::this_thread::yield();
    for (unsigned b = 1; b < 2 * each; b += 2) start(ahead, b);
    ahead.clear();
    for (unsigned b = each; b < 2 * each; b += 2) start(waiting, b);
    waiting.clear();
    ASSERT_FALSE(ranks.stopped());
    for (int r = 0; r < 2; ++r)
      for (int i = 0; i < 9; ++i) ASSERT_EQ(ranks.at(r, "out")[i], given(0, i, 0) + given(1, i, 0));
  }
}

// Some ranks are not launched: the others give up and say so, rather than spin for ever.
TEST(CudaChunks, WhoWaitsInVainGivesUp) {
  for (const Protocol protocol : {Protocol::direct, Protocol::latency}) {
    const ChunkProgram program =
        collective_chunks({.protocol = protocol, .ranks = 2, .elements = 64}).value();
    const auto made = for_host(program, sums_of_floats(program, 2));
    ASSERT_TRUE(made) << made.reason();
    Ranks ranks(program, made->chunks);
    ranks.patience = 100;
    made->launch(ranks.words(), 1, made->chunks.rank_blocks, 0);
    EXPECT_TRUE(ranks.stopped());
  }
}

TEST(CudaChunks, WhatBlocksCannotShareIsRefused) {
  ChunkProgram program = collective_chunks({.ranks = 2, .elements = 64}).value();
  EXPECT_THAT(emit_cuda_chunks(program, {.grain = 3}).reason(), HasSubstr("shares of 3 elements"));
  EXPECT_THAT(emit_cuda_chunks(program, {.dtype = DType::f64}).reason(),
              HasSubstr("sums of 4 bytes are no f64"));
  for (ChunkOp& op : program.lanes[0].ops)
    if (op.kind == ChunkOp::Kind::reduce) op.from.count = op.to.count = op.to.count - 4;
  EXPECT_THAT(emit_cuda_chunks(program, {}).reason(), HasSubstr("is cut in two ways"));
}

}  // namespace cuda_chunk_tests
}  // namespace heddle
