#include "schedule/chunks/interpret_chunks.h"

#include <cstring>
#include <random>

#include "schedule/chunks/chunk_machine.h"

namespace heddle::chunks {

namespace {

using Kind = ChunkOp::Kind;

class Interpreter {
 public:
  Interpreter(const ChunkProgram& program, ChunkMemory& memory, const ChunkFunctions& functions)
      : program_(program),
        memory_(memory),
        functions_(functions),
        machine_(program),
        slots_(program.channels.size()),
        sent_(program.channels.size()) {
    for (std::size_t c = 0; c < slots_.size(); ++c)
      slots_[c].resize(static_cast<std::size_t>(program.channels[c].slot_bytes) *
                       static_cast<std::size_t>(program.channels[c].slots));
  }

  Verdict run(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::size_t> able;
    while (!machine_.is_done()) {
      able.clear();
      for (std::size_t l = 0; l < machine_.lanes(); ++l)
        if (machine_.may_step(l)) able.push_back(l);
      if (able.empty()) return reason("nobody can go on: {}", machine_.waits_for(first_waiting()));
      const std::size_t lane = able[random() % able.size()];
      if (machine_.next_moment(lane) == Moment::end)
        HEDDLE_TRY_VOID(do_op(program_.lanes[lane].rank, machine_.op(lane)));
      machine_.step(lane);
    }
    return yes();
  }

 private:
  std::size_t first_waiting() const {
    std::size_t lane = 0;
    while (machine_.lane_is_done(lane)) ++lane;
    return lane;
  }
  std::byte* at(int rank, const Chunk& chunk) { return memory_.at(program_, rank, chunk); }
  std::size_t bytes_of(const Chunk& chunk) const {
    return static_cast<std::size_t>(program_.bytes(chunk));
  }
  std::byte* slot(std::uint32_t channel, std::int64_t message) {
    const Channel& way = program_.channels[channel];
    return slots_[channel].data() + message % way.slots * way.slot_bytes;
  }

  void send(int rank, const ChunkOp& op) {
    const std::int64_t message = machine_.sent(op.channel);
    sent_[op.channel].push_back(op.from);
    const std::byte* data = at(rank, op.from);
    const std::size_t bytes = bytes_of(op.from);
    std::byte* to = slot(op.channel, message);
    switch (program_.channels[op.channel].protocol) {
      case Protocol::direct:
        return;
      case Protocol::bandwidth:
        if (bytes > 0) std::memcpy(to, data, bytes);
        return;
      case Protocol::latency:
        for (std::size_t w = 0; w * 4 < bytes; ++w) {
          const auto flag = static_cast<std::uint32_t>(message + 1);
          std::memcpy(to + w * 8, data + w * 4, std::min<std::size_t>(4, bytes - w * 4));
          std::memcpy(to + w * 8 + 4, &flag, 4);
        }
        return;
    }
  }

  Expected<std::vector<std::byte>> take(const ChunkOp& op) {
    const std::int64_t message = machine_.taken(op.channel);
    const Channel& way = program_.channels[op.channel];
    const Chunk& from_chunk = sent_[op.channel][static_cast<std::size_t>(message)];
    if (from_chunk.count != op.to.count)
      return reason("{} elements come where {} are expected", from_chunk.count, op.to.count);
    std::vector<std::byte> data(bytes_of(op.to));
    if (way.protocol == Protocol::direct) {
      std::memcpy(data.data(), at(way.from, from_chunk), data.size());
      return data;
    }
    const std::byte* from = slot(op.channel, message);
    if (way.protocol == Protocol::bandwidth) {
      std::memcpy(data.data(), from, data.size());
      return data;
    }
    for (std::size_t w = 0; w * 4 < data.size(); ++w) {
      std::uint32_t flag = 0;
      std::memcpy(&flag, from + w * 8 + 4, 4);
      if (flag != static_cast<std::uint32_t>(message + 1))
        return reason("word {} of message {} has flag {}", w, message + 1, flag);
      std::memcpy(data.data() + w * 4, from + w * 8, std::min<std::size_t>(4, data.size() - w * 4));
    }
    return data;
  }

  Verdict do_op(int rank, const ChunkOp& op) {
    switch (op.kind) {
      case Kind::send:
        send(rank, op);
        return yes();
      case Kind::receive: {
        HEDDLE_TRY(const auto data, take(op));
        std::memcpy(at(rank, op.to), data.data(), data.size());
        return yes();
      }
      case Kind::reduce:
        if (op.channel == kNone) {
          functions_.combine(at(rank, op.to), at(rank, op.to), at(rank, op.from), op.to.count);
        } else {
          HEDDLE_TRY(const auto data, take(op));
          functions_.combine(at(rank, op.to), at(rank, op.from), data.data(), op.to.count);
        }
        return yes();
      case Kind::copy:
        std::memmove(at(rank, op.to), at(rank, op.from), bytes_of(op.to));
        return yes();
      case Kind::compute:
        if (functions_.compute) functions_.compute(rank, op);
        return yes();
      default:
        return yes();
    }
  }

  const ChunkProgram& program_;
  ChunkMemory& memory_;
  const ChunkFunctions& functions_;
  ChunkMachine machine_;
  std::vector<std::vector<std::byte>> slots_;
  std::vector<std::vector<Chunk>> sent_;
};

}  // namespace

std::byte* ChunkMemory::at(const ChunkProgram& program, int rank, const Chunk& chunk) {
  const std::int64_t first = chunk.first - program.held(chunk.buffer, rank).first;
  return bytes[static_cast<std::size_t>(rank)][chunk.buffer].data() +
         first * program.buffers[chunk.buffer].element_bytes;
}

ChunkMemory chunk_memory(const ChunkProgram& program) {
  ChunkMemory memory;
  memory.bytes.resize(static_cast<std::size_t>(program.ranks));
  for (int r = 0; r < program.ranks; ++r)
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b)
      memory.bytes[static_cast<std::size_t>(r)].emplace_back(
          static_cast<std::size_t>(program.bytes(program.held(b, r))));
  return memory;
}

Verdict interpret_chunks(const ChunkProgram& program, ChunkMemory& memory,
                         const ChunkFunctions& functions, std::uint64_t seed) {
  return Interpreter(program, memory, functions).run(seed);
}

}  // namespace heddle::chunks
