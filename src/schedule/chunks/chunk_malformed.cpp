#include <algorithm>

#include "schedule/chunks/chunk_faults.h"

namespace heddle::chunks {

namespace {

using Kind = ChunkOp::Kind;

class FormCheck {
 public:
  explicit FormCheck(const ChunkProgram& program)
      : program_(program),
        senders_(program.channels.size(), kNone),
        receivers_(program.channels.size(), kNone) {}

  std::optional<Fault> find() {
    for (std::size_t c = 0; c < program_.channels.size(); ++c) {
      const Channel& channel = program_.channels[c];
      if (!is_rank(channel.from) || !is_rank(channel.to) || channel.from == channel.to)
        return malformed(fmt::format("channel {} goes from rank {} to rank {} of {}", c,
                                     channel.from, channel.to, program_.ranks));
      if (channel.slots < 1)
        return Fault{FaultKind::too_small, fmt::format("channel {} has no slots", c)};
    }
    for (std::uint32_t l = 0; l < program_.lanes.size(); ++l)
      for (const ChunkOp& op : program_.lanes[l].ops)
        if (auto fault = check(l, op)) return fault;
    return std::nullopt;
  }

 private:
  static Fault malformed(std::string text) { return {FaultKind::malformed, std::move(text)}; }
  bool is_rank(int rank) const { return rank >= 0 && rank < program_.ranks; }

  std::optional<Fault> check(std::uint32_t lane, const ChunkOp& op) {
    const int rank = program_.lanes[lane].rank;
    if (!is_rank(rank)) return malformed(fmt::format("lane {} is rank {}'s", lane, rank));
    const bool counts = op.kind == Kind::signal || (op.kind == Kind::wait && op.channel == kNone);
    if (counts && op.counter >= program_.counters.size())
      return malformed(
          fmt::format("rank {} uses counter {}, which is not there", rank, op.counter));
    const bool meets = op.kind == Kind::send || op.kind == Kind::receive || op.channel != kNone;
    if (meets && op.channel >= program_.channels.size())
      return malformed(
          fmt::format("rank {} uses channel {}, which is not there", rank, op.channel));
    for (const auto& chunks : {reads_of(op), writes_of(op)})
      for (const Chunk& chunk : chunks)
        if (auto fault = check_held(rank, chunk)) return fault;
    if (!meets) return std::nullopt;
    return op.kind == Kind::receive || op.kind == Kind::reduce
               ? check_end(receivers_[op.channel], lane, program_.channels[op.channel].to, op)
               : check_sender(lane, op);
  }

  std::optional<Fault> check_sender(std::uint32_t lane, const ChunkOp& op) {
    const Channel& channel = program_.channels[op.channel];
    const std::int64_t bytes =
        op.kind == Kind::send ? bytes_in_slot(channel.protocol, program_.bytes(op.from)) : 0;
    if (bytes > channel.slot_bytes)
      return Fault{FaultKind::too_small,
                   fmt::format("rank {}, \"{}\": a slot of {} bytes cannot hold {}", channel.from,
                               text(program_, op), channel.slot_bytes, bytes)};
    return check_end(senders_[op.channel], lane, channel.from, op);
  }

  std::optional<Fault> check_end(std::uint32_t& known, std::uint32_t lane, int rank,
                                 const ChunkOp& op) {
    if (program_.lanes[lane].rank != rank)
      return malformed(fmt::format("rank {} does \"{}\", which is for rank {}",
                                   program_.lanes[lane].rank, text(program_, op), rank));
    if (known != kNone && known != lane)
      return malformed(
          fmt::format("two lanes of rank {} share a channel: \"{}\"", rank, text(program_, op)));
    known = lane;
    return std::nullopt;
  }

  std::optional<Fault> check_held(int rank, const Chunk& chunk) const {
    if (chunk.buffer >= program_.buffers.size())
      return malformed(
          fmt::format("rank {} uses buffer {}, which is not there", rank, chunk.buffer));
    const ChunkBuffer& buffer = program_.buffers[chunk.buffer];
    const Chunk held = program_.held(chunk.buffer, rank);
    if (chunk.count >= 0 && chunk.first >= held.first && chunk.end() <= held.end())
      return std::nullopt;
    return Fault{FaultKind::too_small,
                 fmt::format("rank {} has {}[{}..{}) and uses [{}..{})", rank, buffer.name,
                             held.first, held.end(), chunk.first, chunk.end())};
  }

  const ChunkProgram& program_;
  std::vector<std::uint32_t> senders_, receivers_;  // lanes
};

}  // namespace

std::optional<Fault> find_malformed(const ChunkProgram& program) {
  return FormCheck(program).find();
}

}  // namespace heddle::chunks
