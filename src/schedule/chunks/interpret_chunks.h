// What a chunk program means: all ranks in one thread, lanes taken at random. For tests.
#pragma once

#include <functional>
#include <span>

#include "schedule/chunks/chunk_program.h"

namespace heddle::chunks {

struct ChunkMemory {
  // Bytes by rank and buffer; a rank that holds its slice only has no more than that.
  std::vector<std::vector<std::vector<std::byte>>> bytes;
  std::byte* at(const ChunkProgram& program, int rank, const Chunk& chunk);
};
// Zeros, of the sizes that the program asks for.
ChunkMemory chunk_memory(const ChunkProgram& program);

struct ChunkFunctions {
  // out = a combined with b.
  std::function<void(std::byte* out, const std::byte* a, const std::byte* b, std::int64_t elements)>
      combine;
  std::function<void(int rank, const ChunkOp& op)> compute = {};
};

// Slots are memory, words of the latency protocol carry the number of their message as a flag. A
// reason where nobody can go on, or a word comes that is not of its message.
Verdict interpret_chunks(const ChunkProgram& program, ChunkMemory& memory,
                         const ChunkFunctions& functions, std::uint64_t seed);

}  // namespace heddle::chunks
