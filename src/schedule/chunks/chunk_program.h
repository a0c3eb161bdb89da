// Chunk programs: what every rank does in a collective, chunk by chunk, with the computation that
// is fused into it. They stand between a schedule and the code that runs it: tests interpret them,
// a checker proves that they end and are right, ranks execute them (comm/run_chunks.h).
//
//   a fused all_reduce of 8 elements, two ranks, one chunk a slice; what rank 0 does:
//     send    in[4..8) to 1
//     reduce  sum[0..4) = in[0..4) with what comes from 1
//     compute out[0..4) = finish(sum[0..4))        an optimiser's step on the slice
//     send    out[0..4) to 1
//     receive out[4..8) from 1
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/error.h"
#include "heddle/program.h"

namespace heddle::chunks {

// How a message gets to its receiver.
enum class Protocol : std::uint8_t {
  direct,     // the receiver reads the sender's own buffer, which stays as it is until then
  bandwidth,  // through slots of the receiver's, each with a flag that is raised when it is full
  latency,  // through slots whose words carry four bytes and a flag: no second look, half the room
};
std::string_view name(Protocol protocol);
// Bytes that a message takes in a slot.
std::int64_t bytes_in_slot(Protocol protocol, std::int64_t bytes);

// What a rank holds of a buffer. Elements have the same number on all ranks.
enum class Holds : std::uint8_t { all, own_slice };

struct ChunkBuffer {
  std::string name;
  std::int64_t elements = 0;
  Holds holds = Holds::all;
  bool given = false;  // before the program begins
  std::int64_t element_bytes = 4;
};

// Messages from one rank to another, in order. One lane sends and one receives.
struct Channel {
  int from = 0, to = 0;
  Protocol protocol = Protocol::direct;
  int slots = 1;  // messages that may be under way
  std::int64_t slot_bytes = 0;
};

// A number of a rank that grows; lanes wait until it has come to a value.
struct Counter {
  int rank = 0;
  std::string name;
};

// Some elements of a buffer.
struct Chunk {
  std::uint32_t buffer = kNone;
  std::int64_t first = 0, count = 0;
  std::int64_t end() const { return first + count; }
  friend bool operator==(const Chunk&, const Chunk&) = default;
};

// Computation that the owner of the program supplies.
enum class Function : std::uint8_t {
  none,
  produce,  // makes a chunk of `in`: a product whose chunks come in the order of the ring
  partial,  // adds what a chunk of sums gives to this rank's number: a norm
  total,    // makes one number of those of all ranks
  finish,   // makes the result of a chunk of sums: an optimiser
  consume,  // uses a chunk that has come: a product
};
std::string_view name(Function function);

struct ChunkOp {
  enum class Kind : std::uint8_t {
    send,     // `from` goes to the channel; may wait for room
    receive,  // what comes becomes `to`
    reduce,   // to = from combined with what comes; without a channel, with what `to` holds
    compute,  // `function` reads `reads` and writes `to`
    copy,     // to = from
    signal,   // the counter grows by one
    wait,     // until the counter is at least `value`; with a channel: until that many were taken
  };
  Kind kind = Kind::copy;
  std::uint32_t channel = kNone, counter = kNone;
  Chunk from = {}, to = {};
  Function function = Function::none;
  std::vector<Chunk> reads = {};
  std::int64_t value = 0;
};
std::string_view name(ChunkOp::Kind kind);

// Ops of a rank, one after the other. A rank's lanes run at the same time.
struct Lane {
  int rank = 0;
  std::vector<ChunkOp> ops;
};

// What a buffer holds at the end, for the checker: each element the sum of what all ranks gave, or
// what one rank gave.
struct Result {
  std::uint32_t buffer = kNone;
  Holds holds = Holds::all;
  int at = -1;  // one rank only; -1: every rank
  enum class Of : std::uint8_t { all_ranks, owner, first_rank } of = Of::all_ranks;
  Function last = Function::none;  // that has seen it, once
};

struct ChunkProgram {
  int ranks = 0;
  std::int64_t elements = 0;  // of the whole
  std::vector<ChunkBuffer> buffers;
  std::vector<Channel> channels;
  std::vector<Counter> counters;
  std::vector<Lane> lanes;
  std::vector<Result> results;

  std::uint32_t buffer(std::string_view name) const;  // kNone where there is none
  // The elements that belong to a rank.
  Chunk slice(std::uint32_t buffer, int rank) const;
  // Those that it has.
  Chunk held(std::uint32_t buffer, int rank) const;
  std::int64_t bytes(const Chunk& chunk) const {
    return chunk.count * buffers[chunk.buffer].element_bytes;
  }
};

// Element `first` of part k of n, the same for slices of ranks and chunks of slices.
inline std::int64_t part_begin(std::int64_t elements, std::int64_t k, std::int64_t n) {
  return elements * k / n;
}

// Chunks that an op reads and writes of its rank's memory.
std::vector<Chunk> reads_of(const ChunkOp& op);
std::vector<Chunk> writes_of(const ChunkOp& op);

// Lines for people; one rank, or all.
std::string text(const ChunkProgram& program, const ChunkOp& op);
std::string text(const ChunkProgram& program, int rank);

}  // namespace heddle::chunks
