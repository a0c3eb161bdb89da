#include "schedule/chunks/chunk_machine.h"

#include <algorithm>

namespace heddle::chunks {

namespace {

using Kind = ChunkOp::Kind;

bool takes_a_message(const ChunkOp& op) {
  return op.kind == Kind::receive || (op.kind == Kind::reduce && op.channel != kNone);
}

bool is_one_step(const ChunkOp& op) { return op.kind == Kind::signal || op.kind == Kind::wait; }

}  // namespace

ChunkMachine::ChunkMachine(const ChunkProgram& program)
    : program_(program),
      at_(program.lanes.size(), 0),
      begun_(program.channels.size(), 0),
      sent_(program.channels.size(), 0),
      taken_(program.channels.size(), 0),
      counted_(program.counters.size(), 0) {}

bool ChunkMachine::lane_is_done(std::size_t lane) const {
  return at_[lane] / 2 == program_.lanes[lane].ops.size();
}

bool ChunkMachine::is_done() const {
  for (std::size_t l = 0; l < lanes(); ++l)
    if (!lane_is_done(l)) return false;
  return true;
}

const ChunkOp& ChunkMachine::op(std::size_t lane) const {
  return program_.lanes[lane].ops[at_[lane] / 2];
}

bool ChunkMachine::may_begin(const ChunkOp& op) const {
  if (op.kind == Kind::send)
    return begun_[op.channel] < taken_[op.channel] + program_.channels[op.channel].slots;
  if (takes_a_message(op)) {
    // Words with flags can be read while later ones are still on their way.
    const bool early = program_.channels[op.channel].protocol == Protocol::latency;
    return taken_[op.channel] < (early ? begun_ : sent_)[op.channel];
  }
  if (op.kind != Kind::wait) return true;
  return op.channel != kNone ? taken_[op.channel] >= op.value : counted_[op.counter] >= op.value;
}

bool ChunkMachine::may_step(std::size_t lane) const {
  if (lane_is_done(lane)) return false;
  const ChunkOp& now = op(lane);
  if (next_moment(lane) == Moment::begin) return may_begin(now);
  return !takes_a_message(now) || taken_[now.channel] < sent_[now.channel];
}

void ChunkMachine::count(const ChunkOp& op, Moment moment) {
  if (op.kind == Kind::signal) ++counted_[op.counter];
  if (op.kind == Kind::send) ++(moment == Moment::begin ? begun_ : sent_)[op.channel];
  if (takes_a_message(op) && moment == Moment::end) ++taken_[op.channel];
}

void ChunkMachine::step(std::size_t lane) {
  const ChunkOp& now = op(lane);
  count(now, next_moment(lane));
  at_[lane] += is_one_step(now) ? 2 : 1;
}

void ChunkMachine::go_to(const std::vector<std::uint32_t>& places) {
  at_ = places;
  for (auto* counts : {&begun_, &sent_, &taken_, &counted_}) std::ranges::fill(*counts, 0);
  for (std::size_t l = 0; l < lanes(); ++l) {
    const std::vector<ChunkOp>& ops = program_.lanes[l].ops;
    for (std::size_t i = 0; i < at_[l] / 2; ++i) {
      count(ops[i], Moment::begin);
      if (!is_one_step(ops[i])) count(ops[i], Moment::end);
    }
    if (at_[l] % 2 == 1) count(ops[at_[l] / 2], Moment::begin);
  }
}

std::string ChunkMachine::waits_for(std::size_t lane) const {
  const ChunkOp& now = op(lane);
  const int rank = program_.lanes[lane].rank;
  const std::string line = text(program_, now);
  if (now.kind == Kind::send)
    return fmt::format("rank {} waits at \"{}\" for one of {} slots", rank, line,
                       program_.channels[now.channel].slots);
  if (takes_a_message(now))
    return fmt::format("rank {} waits at \"{}\" for message {}", rank, line,
                       taken_[now.channel] + 1);
  return fmt::format("rank {} waits at \"{}\", which is {}", rank, line,
                     now.channel != kNone ? taken_[now.channel] : counted_[now.counter]);
}

}  // namespace heddle::chunks
