#include "schedule/chunks/chunk_program.h"

#include <algorithm>

namespace heddle::chunks {

namespace {

std::string chunk_text(const ChunkProgram& program, const Chunk& chunk) {
  return fmt::format("{}[{}..{})", program.buffers[chunk.buffer].name, chunk.first, chunk.end());
}

std::string joined(const ChunkProgram& program, const std::vector<Chunk>& all) {
  std::string text;
  for (const Chunk& c : all) text += (text.empty() ? "" : ", ") + chunk_text(program, c);
  return text;
}

}  // namespace

std::string_view name(Protocol protocol) {
  constexpr std::string_view kNames[] = {"direct", "bandwidth", "latency"};
  return kNames[static_cast<std::size_t>(protocol)];
}

std::string_view name(Function function) {
  constexpr std::string_view kNames[] = {"nothing", "produce", "partial",
                                         "total",   "finish",  "consume"};
  return kNames[static_cast<std::size_t>(function)];
}

std::string_view name(ChunkOp::Kind kind) {
  constexpr std::string_view kNames[] = {"send", "receive", "reduce", "compute",
                                         "copy", "signal",  "wait"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::int64_t bytes_in_slot(Protocol protocol, std::int64_t bytes) {
  if (protocol == Protocol::direct) return 0;
  return protocol == Protocol::bandwidth ? bytes : (bytes + 3) / 4 * 8;
}

std::uint32_t ChunkProgram::buffer(std::string_view wanted) const {
  const auto at = std::ranges::find(buffers, wanted, &ChunkBuffer::name);
  return at == buffers.end() ? kNone : static_cast<std::uint32_t>(at - buffers.begin());
}

Chunk ChunkProgram::slice(std::uint32_t of, int rank) const {
  const std::int64_t all = buffers[of].elements;
  const std::int64_t first = part_begin(all, rank, ranks);
  return {of, first, part_begin(all, rank + 1, ranks) - first};
}

Chunk ChunkProgram::held(std::uint32_t of, int rank) const {
  return buffers[of].holds == Holds::all ? Chunk{of, 0, buffers[of].elements} : slice(of, rank);
}

std::vector<Chunk> reads_of(const ChunkOp& op) {
  switch (op.kind) {
    case ChunkOp::Kind::send:
    case ChunkOp::Kind::copy:
      return {op.from};
    case ChunkOp::Kind::reduce:
      if (op.channel == kNone) return {op.from, op.to};
      return {op.from};
    case ChunkOp::Kind::compute:
      return op.reads;
    default:
      return {};
  }
}

std::vector<Chunk> writes_of(const ChunkOp& op) {
  switch (op.kind) {
    case ChunkOp::Kind::receive:
    case ChunkOp::Kind::reduce:
    case ChunkOp::Kind::compute:
    case ChunkOp::Kind::copy:
      return {op.to};
    default:
      return {};
  }
}

std::string text(const ChunkProgram& program, const ChunkOp& op) {
  const auto of = [&](const Chunk& chunk) { return chunk_text(program, chunk); };
  const bool meets = op.channel != kNone;
  switch (op.kind) {
    case ChunkOp::Kind::send:
      return fmt::format("send {} to {}", of(op.from), program.channels[op.channel].to);
    case ChunkOp::Kind::receive:
      return fmt::format("receive {} from {}", of(op.to), program.channels[op.channel].from);
    case ChunkOp::Kind::reduce:
      return meets ? fmt::format("reduce {} = {} with what comes from {}", of(op.to), of(op.from),
                                 program.channels[op.channel].from)
                   : fmt::format("reduce {} with {}", of(op.to), of(op.from));
    case ChunkOp::Kind::compute:
      return fmt::format("compute {} = {}({})", of(op.to), name(op.function),
                         joined(program, op.reads));
    case ChunkOp::Kind::copy:
      return fmt::format("copy {} = {}", of(op.to), of(op.from));
    case ChunkOp::Kind::signal:
      return fmt::format("signal {} of {}", program.counters[op.counter].name,
                         program.counters[op.counter].rank);
    case ChunkOp::Kind::wait:
      return meets ? fmt::format("wait until {} has taken {}", program.channels[op.channel].to,
                                 op.value)
                   : fmt::format("wait for {} >= {}", program.counters[op.counter].name, op.value);
  }
  return {};
}

std::string text(const ChunkProgram& program, int rank) {
  std::string lines;
  for (std::size_t l = 0, number = 0; l < program.lanes.size(); ++l) {
    if (program.lanes[l].rank != rank) continue;
    lines += fmt::format("rank {}, lane {}\n", rank, number++);
    for (const ChunkOp& op : program.lanes[l].ops) lines += "  " + text(program, op) + "\n";
  }
  return lines;
}

}  // namespace heddle::chunks
