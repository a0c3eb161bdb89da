// The CUDA text of random chunk programs, with a thread for each block that comes late at random,
// against the interpreter: the same bits, turn after turn.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "chunks_on_host.h"
#include "schedule/chunks/check_chunks.h"
#include "schedule/chunks/collective_chunks.h"
#include "schedule/chunks/interpret_chunks.h"

namespace heddle {
namespace random_chunk_tests {

using namespace chunks;

// What both compute inside.
constexpr std::string_view kCompute = R"cuda(
__device__ void h_compute(int function, const Memory& m, int rank, i64 from, i64 to, i64 begin, i64 end) {
  f32* in = (f32*)m.at[rank][IN];
  f32* out = (f32*)m.at[rank][OUT];
  if (function == PRODUCE) {
    for (i64 i = to + begin; i < to + end; ++i) in[i] = (f32)((rank * 37 + i * 11) % 23) / 7.0f;
  } else if (function == PARTIAL || function == TOTAL) {
    const f32* read = (const f32*)m.at[rank][function == PARTIAL ? SUM : NUMBERS] + from;
    f32 number = 0;
    for (i64 i = begin; i < end; ++i) number += read[i];
    if (blockIdx.x % BLOCKS == 0) ((f32*)m.at[rank][function == PARTIAL ? NUMBERS : TOTALS])[to] = number;
  } else if (function == FINISH) {
    const f32* sum = (const f32*)m.at[rank][FINISHED] + from;
    for (i64 i = begin; i < end; ++i)
      out[to + i] = SUM_AT / 3.0f - (TOTALS < 0 ? 0.0f : *(const f32*)m.at[rank][TOTALS < 0 ? 0 : TOTALS]);
  } else {
    for (i64 i = begin; i < end; ++i) ((f32*)m.at[rank][USED])[to + i] = out[from + i] * 2.0f + 1.0f;
  }
}
)cuda";

void compute(const ChunkProgram& program, ChunkMemory& memory, int rank, const ChunkOp& op) {
  const auto floats = [&](const Chunk& chunk) {
    return reinterpret_cast<float*>(memory.at(program, rank, chunk));
  };
  float* to = floats(op.to);
  const float* read = op.reads.empty() ? nullptr : floats(op.reads[0]);
  switch (op.function) {
    case chunks::Function::produce:
      for (std::int64_t i = 0; i < op.to.count; ++i)
        to[i] = static_cast<float>((rank * 37 + (op.to.first + i) * 11) % 23) / 7.0F;
      return;
    case chunks::Function::partial:
    case chunks::Function::total: {
      float number = 0;
      for (std::int64_t i = 0; i < op.reads[0].count; ++i) number += read[i];
      *to = number;
      return;
    }
    case chunks::Function::finish: {
      const float total = op.reads.size() > 1 ? *floats(op.reads[1]) : 0.0F;
      for (std::int64_t i = 0; i < op.to.count; ++i) to[i] = read[i] / 3.0F - total;
      return;
    }
    case chunks::Function::consume:
      for (std::int64_t i = 0; i < op.to.count; ++i) to[i] = read[i] * 2.0F + 1.0F;
      return;
    case chunks::Function::none:
      return;
  }
}

struct Case {
  ChunkedCollective wanted;
  ChunkProgram program;
  std::optional<ChunkSums> sums;
  int blocks = 1;
  std::string words;

  std::string compute_text() const {
    std::string text;
    const auto define = [&](std::string_view macro, std::string_view buffer) {
      const std::uint32_t b = program.buffer(buffer);
      text += fmt::format("#define {} {}\n", macro, b == kNone ? -1 : static_cast<int>(b));
    };
    const bool has_sum = program.buffer("sum") != kNone;
    define("IN", "in");
    define("OUT", "out");
    define("SUM", has_sum ? "sum" : "out");
    define("FINISHED", has_sum ? "sum" : "in");
    define("NUMBERS", "numbers");
    define("TOTALS", "total");
    define("USED", "used");
    for (const auto& [macro, function] : {std::pair("PRODUCE", chunks::Function::produce),
                                          std::pair("PARTIAL", chunks::Function::partial),
                                          std::pair("TOTAL", chunks::Function::total),
                                          std::pair("FINISH", chunks::Function::finish)})
      text += fmt::format("#define {} {}\n", macro, static_cast<int>(function));
    std::string sum = "sum[i]";
    if (sums) {
      sum.clear();
      for (int r : sums->order)
        sum += fmt::format("{}((const f32*)m.at[{}][IN])[from + i]", sum.empty() ? "(" : " + ", r);
      sum += ")";
    }
    text += fmt::format("#define SUM_AT {}\n", sum);
    // A buffer that is not there has no place.
    std::string body(kCompute);
    for (const char* name : {"NUMBERS", "TOTALS", "USED"})
      text += fmt::format("#define PLACE_{0} ({0} < 0 ? 0 : {0})\n", name);
    const auto replace = [&](std::string_view what, std::string_view by) {
      for (std::size_t at; (at = body.find(what)) != std::string::npos;)
        body.replace(at, what.size(), by);
    };
    replace("? NUMBERS : TOTALS]", "? PLACE_NUMBERS : PLACE_TOTALS]");
    replace("? SUM : NUMBERS]", "? SUM : PLACE_NUMBERS]");
    replace("m.at[rank][USED]", "m.at[rank][PLACE_USED]");
    return text + body;
  }
};

Case random_case(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto one_of = [&](std::initializer_list<int> all) {
    return *(all.begin() + static_cast<std::ptrdiff_t>(random() % all.size()));
  };
  Case made;
  ChunkedCollective& c = made.wanted;
  constexpr CollectiveKind kKinds[] = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                       CollectiveKind::all_gather, CollectiveKind::send};
  c.kind = kKinds[random() % 4];
  c.algorithm = static_cast<Algorithm>(random() % 3);
  c.protocol = static_cast<Protocol>(random() % 3);
  c.ranks = one_of({2, 3, 4, 5});
  c.elements = one_of({1, 7, 33, 64, 100, 257});
  c.chunks = one_of({1, 2, 3, 5});
  c.grain = one_of({1, 3, 4, 16});
  c.channels = one_of({1, 1, 2, 3});
  c.slots = one_of({1, 2, 3});
  const bool sums =
      c.kind == CollectiveKind::all_reduce || c.kind == CollectiveKind::reduce_scatter;
  c.finish = c.kind != CollectiveKind::send && random() % 2 == 0;
  c.norm = sums && c.finish && random() % 2 == 0;
  c.produce = random() % 4 == 0;
  c.consume = c.kind != CollectiveKind::reduce_scatter && random() % 4 == 0;
  if (random() % 2 == 0)
    for (int r = c.ranks; r-- > 0;) c.order.push_back(r);
  made.program = collective_chunks(c).value();
  made.blocks = one_of({1, 2, 3, 4});
  if (!c.produce && random() % 2 == 0) made.sums = chunk_sums(made.program);
  made.words = fmt::format(
      "seed {}: {} {} {}, {} ranks, {} elements, {} chunks, grain {}, {} channels, {} slots, {} "
      "blocks{}{}{}{}{}",
      seed, name(c.kind), name(c.algorithm), name(c.protocol), c.ranks, c.elements, c.chunks,
      c.grain, c.channels, c.slots, made.blocks, c.finish ? " finish" : "", c.norm ? " norm" : "",
      c.produce ? " produce" : "", c.consume ? " consume" : "", made.sums ? " sums inside" : "");
  return made;
}

constexpr std::size_t kBehind = 64;  // bytes that nobody may touch

// The memory of all ranks as the text has it, and what the interpreter makes of the same.
class Turns {
 public:
  Turns(const Case& given, const CudaChunks& chunks)
      : given_(given),
        program_(given.program),
        chunks_(chunks),
        memory_(chunk_memory(program_)),
        slots_(static_cast<std::size_t>(chunks.slot_bytes / 16 + 1)),
        flags_(static_cast<std::size_t>(chunks.flags), 0) {
    for (auto& of_rank : memory_.bytes)
      for (auto& bytes : of_rank) bytes.resize(bytes.size() + kBehind, std::byte{0xa5});
  }

  // What is wrong with this turn; empty: nothing.
  std::string complaint(const chunks_on_host::Library& library, std::size_t number,
                        std::uint64_t turn) {
    ChunkMemory wanted = chunk_memory(program_);
    const std::uint32_t in = program_.buffer("in");
    for (int r = 0; r < program_.ranks; ++r) {
      const Chunk held = program_.held(in, r);
      auto* theirs = reinterpret_cast<float*>(wanted.at(program_, r, held));
      for (std::int64_t i = 0; i < held.count; ++i)
        theirs[i] =
            static_cast<float>(
                (static_cast<std::uint64_t>(r * 31 + (held.first + i) * 7) + turn * 13) % 61) /
            9.0F;
      std::memcpy(memory_.at(program_, r, held), theirs,
                  static_cast<std::size_t>(program_.bytes(held)));
    }
    const ChunkFunctions functions{
        [](std::byte* to, const std::byte* a, const std::byte* b, std::int64_t count) {
          for (std::int64_t i = 0; i < count; ++i)
            reinterpret_cast<float*>(to)[i] =
                reinterpret_cast<const float*>(a)[i] + reinterpret_cast<const float*>(b)[i];
        },
        [&](int rank, const ChunkOp& op) { compute(program_, wanted, rank, op); }};
    if (const Verdict ran = interpret_chunks(program_, wanted, functions, turn + 1); !ran)
      return ran.reason();
    launch(library, number, turn);
    if (stop_ != 0) return "somebody has given up";
    return difference(wanted);
  }

 private:
  std::vector<std::uint64_t> words() {
    std::vector<std::uint64_t> all;
    for (int r = 0; r < program_.ranks; ++r)
      for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
        const std::int64_t before = program_.held(b, r).first * program_.buffers[b].element_bytes;
        all.push_back(
            reinterpret_cast<std::uint64_t>(memory_.bytes[static_cast<std::size_t>(r)][b].data()) -
            static_cast<std::uint64_t>(before));
      }
    all.resize(all.size() + static_cast<std::size_t>(program_.ranks), 0);
    all.push_back(reinterpret_cast<std::uint64_t>(slots_.data()));
    all.push_back(reinterpret_cast<std::uint64_t>(flags_.data()));
    all.push_back(reinterpret_cast<std::uint64_t>(&stop_));
    all.push_back(3'000'000);  // of a clock that counts how often it is asked
    return all;
  }

  // All ranks at once, or each by itself.
  void launch(const chunks_on_host::Library& library, std::size_t number, std::uint64_t turn) {
    const std::vector<std::uint64_t> memory = words();
    if (turn % 2 == 0)
      return library.launch(number, memory.data(), 0, chunks_.rank_blocks * program_.ranks, turn);
    std::vector<std::jthread> ranks;
    for (int r = program_.ranks; r-- > 0;)
      ranks.emplace_back(
          [&, r] { library.launch(number, memory.data(), r, chunks_.rank_blocks, turn); });
  }

  std::string difference(const ChunkMemory& wanted) const {
    for (const Result& result : program_.results)
      for (int r = 0; r < program_.ranks; ++r) {
        if (result.at >= 0 && result.at != r) continue;
        const auto& got = memory_.bytes[static_cast<std::size_t>(r)][result.buffer];
        const auto& due = wanted.bytes[static_cast<std::size_t>(r)][result.buffer];
        for (std::size_t i = 0; i < due.size(); i += sizeof(float))
          if (std::memcmp(&got[i], &due[i], sizeof(float)) != 0)
            return fmt::format("{}[{}] of rank {} is {}, not {}",
                               program_.buffers[result.buffer].name, i / sizeof(float), r,
                               reinterpret_cast<const float&>(got[i]),
                               reinterpret_cast<const float&>(due[i]));
      }
    for (const auto& of_rank : memory_.bytes)
      for (const auto& bytes : of_rank)
        if (std::ranges::any_of(bytes.end() - kBehind, bytes.end(),
                                [](std::byte b) { return b != std::byte{0xa5}; }))
          return "something was written behind the end of a buffer";
    return {};
  }

  const Case& given_;
  const ChunkProgram& program_;
  const CudaChunks& chunks_;
  ChunkMemory memory_;
  std::vector<chunks_on_host::Line> slots_;
  std::vector<std::uint64_t> flags_;
  std::uint64_t stop_ = 0;
};

// HEDDLE_CHUNK_PROGRAMS: how many; HEDDLE_CHUNK_SEED: from which one on.
std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

constexpr std::size_t kTogether = 12;  // that are compiled at once

// Some random programs and their texts, from `seed` on.
void make(std::uint64_t& seed, std::uint64_t end, std::vector<Case>& cases,
          std::vector<CudaChunks>& texts) {
  for (; seed < end && cases.size() < kTogether; ++seed) {
    Case made = random_case(seed);
    ASSERT_FALSE(check_chunks(made.program)) << made.words;
    auto text = emit_cuda_chunks(made.program, {.blocks = made.blocks,
                                                .grain = 4,
                                                .compute = made.compute_text(),
                                                .sums = made.sums ? &*made.sums : nullptr});
    ASSERT_TRUE(text) << made.words << ": " << text.reason();
    texts.push_back(*std::move(text));
    cases.push_back(std::move(made));
  }
}

TEST(RandomCudaChunks, GiveWhatTheInterpreterGives) {
  std::uint64_t seed = from_environment("HEDDLE_CHUNK_SEED", 1);
  const std::uint64_t end = seed + from_environment("HEDDLE_CHUNK_PROGRAMS", kTogether);
  while (seed < end) {
    std::vector<Case> cases;
    std::vector<CudaChunks> texts;
    ASSERT_NO_FATAL_FAILURE(make(seed, end, cases, texts));
    const auto library = chunks_on_host::Library::compile(std::move(texts), true);
    ASSERT_TRUE(library) << library.reason();
    for (std::size_t c = 0; c < cases.size(); ++c) {
      Turns turns(cases[c], library->chunks[c]);
      for (std::uint64_t turn = 0; turn < 4; ++turn)
        ASSERT_EQ(turns.complaint(*library, c, turn), "") << cases[c].words << ", turn " << turn;
    }
  }
}

TEST(RandomCudaChunks, HaveNoRaces) {
  std::uint64_t seed = from_environment("HEDDLE_CHUNK_SEED", 1);
  const std::uint64_t end = seed + from_environment("HEDDLE_CHUNK_PROGRAMS", kTogether / 2);
  while (seed < end) {
    std::vector<Case> cases;
    std::vector<CudaChunks> texts;
    ASSERT_NO_FATAL_FAILURE(make(seed, end, cases, texts));
    std::vector<const ChunkProgram*> programs;
    std::string words;
    for (const Case& one : cases) {
      programs.push_back(&one.program);
      words += one.words + "\n";
    }
    const auto races = chunks_on_host::races_of(programs, texts);
    if (!races) GTEST_SKIP() << races.reason();
    ASSERT_EQ(*races, "") << words;
  }
}

// That the sanitizer sees what it looks for: a receiver that does not wait for what is sent.
TEST(RandomCudaChunks, AWaitThatIsMissingIsFound) {
  const ChunkProgram program =
      collective_chunks({.algorithm = Algorithm::ring, .ranks = 3, .elements = 64}).value();
  const std::string nothing = "void h_compute(int, const Memory&, int, i64, i64, i64, i64) {}\n";
  std::vector<CudaChunks> texts = {
      emit_cuda_chunks(program, {.blocks = 2, .grain = 4, .compute = nothing}).value()};
  std::string& text = texts[0].text;
  const std::string wait = "if (way.protocol != LATENCY) h_await(";
  const auto at = text.find(wait);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, wait.size(), "if (false) h_await(");
  const auto races = chunks_on_host::races_of({&program}, texts);
  if (!races) GTEST_SKIP() << races.reason();
  EXPECT_NE(races->find("data race"), std::string::npos) << *races;
}

}  // namespace random_chunk_tests
}  // namespace heddle
