#include "test_chunks.h"

#include <cstring>

#include "comm/combine.h"
#include "schedule/chunks/interpret_chunks.h"

namespace heddle::test {

using chunks::Chunk;
using chunks::ChunkOp;

std::vector<DeviceAddress> TestChunkLaunch::of_kernel(const Launch& launch,
                                                      const DeviceAddress* slots) const {
  std::vector<DeviceAddress> all;
  for (const auto& used : static_cast<const TestLaunch&>(launch).used)
    all.push_back(slots[used.slot]);
  return all;
}

Verdict TestChunkLaunch::run(Queue& queue, std::span<const ChunkAddresses> ranks,
                             DeviceAddress slots, DeviceAddress flags, std::uint64_t turn) const {
  ++device_.chunk_runs;
  std::vector<ChunkAddresses> all(ranks.begin(), ranks.end());
  return static_cast<TestQueue&>(queue).do_late(
      [this, all = std::move(all), slots, flags, turn](Queue& inner) -> Verdict {
        HEDDLE_TRY([[maybe_unused]] const std::byte* room, memory_->find(slots, slot_bytes()));
        HEDDLE_TRY(const std::byte* counted, memory_->find(flags, flag_bytes()));
        std::uint64_t turns = 0;
        std::memcpy(&turns, counted, sizeof turns);
        if (turns != turn) return reason("launch {} after {} with this memory", turn, turns);
        HEDDLE_TRY_VOID(interpret(inner, all, turn));
        HEDDLE_TRY(std::byte * counts, memory_->find(flags, flag_bytes()));
        std::memcpy(counts, &++turns, sizeof turns);
        return yes();
      });
}

Verdict TestChunkLaunch::interpret(Queue& inner, const std::vector<ChunkAddresses>& ranks,
                                   std::uint64_t seed) const {
  chunks::ChunkMemory memory = chunks::chunk_memory(program_);
  const auto bytes = [&](const Chunk& chunk) {
    return static_cast<std::size_t>(program_.bytes(chunk));
  };
  const auto there = [&](int rank, const Chunk& chunk) {
    const DeviceAddress base = ranks[static_cast<std::size_t>(rank)].buffers[chunk.buffer];
    return memory_->find(base + chunk.first * program_.buffers[chunk.buffer].element_bytes,
                         program_.bytes(chunk));
  };
  const std::uint32_t in = program_.buffer("in"), out = program_.buffer("out");
  for (int r = 0; r < program_.ranks; ++r) {
    const Chunk held = program_.held(in, r);
    HEDDLE_TRY(const std::byte* from, there(r, held));
    std::memcpy(memory.at(program_, r, held), from, bytes(held));
  }
  Verdict trouble = yes();
  const auto compute = [&](int rank, const ChunkOp& op) -> Verdict {
    const Chunk& sums = op.reads[0];
    if (sums.buffer != in) {
      HEDDLE_TRY(std::byte * place, there(rank, sums));
      std::memcpy(place, memory.at(program_, rank, sums), bytes(sums));
    }
    HEDDLE_TRY_VOID(finish(inner, ranks[static_cast<std::size_t>(rank)],
                           sums.first - program_.slice(sums.buffer, rank).first, sums.count));
    if (ranks[static_cast<std::size_t>(rank)].buffers[out].value == 0) return yes();
    HEDDLE_TRY(const std::byte* made, there(rank, op.to));
    std::memcpy(memory.at(program_, rank, op.to), made, bytes(op.to));
    return yes();
  };
  const chunks::ChunkFunctions functions{
      [combine = comm::combine_function(work_.reduce, work_.dtype)](
          std::byte* to, const std::byte* a, const std::byte* b, std::int64_t count) {
        combine(to, a, b, count);
      },
      [&](int rank, const ChunkOp& op) {
        if (trouble) trouble = compute(rank, op);
      }};
  HEDDLE_TRY_VOID(chunks::interpret_chunks(program_, memory, functions, seed));
  HEDDLE_TRY_VOID(trouble);
  for (int r = 0; r < program_.ranks; ++r) {
    if (ranks[static_cast<std::size_t>(r)].buffers[out].value == 0) continue;
    const Chunk held = program_.held(out, r);
    HEDDLE_TRY(std::byte * to, there(r, held));
    std::memcpy(to, memory.at(program_, r, held), bytes(held));
  }
  return yes();
}

Verdict TestChunkLaunch::finish(Queue& inner, const ChunkAddresses& rank, std::int64_t first,
                                std::int64_t count) const {
  const auto& launch = static_cast<const TestLaunch&>(*work_.finish);
  std::vector<DeviceAddress> table;
  for (std::size_t i = 0; i < launch.used.size(); ++i) {
    HEDDLE_TRY(const std::byte* at, memory_->find(rank.kernel[i], launch.used[i].bytes));
    table.push_back(address_of(at));
  }
  return inner.launch_blocks(*launch.inner, table.data(), first / work_.grain,
                             (first + count + work_.grain - 1) / work_.grain);
}

}  // namespace heddle::test
