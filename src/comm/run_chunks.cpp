#include "comm/run_chunks.h"

#include <algorithm>
#include <cstring>

#include "comm/combine.h"
#include "comm/group.h"
#include "schedule/chunks/check_chunks.h"

namespace heddle::comm {

static_assert(kMostChunkSlots <= static_cast<int>(kDepth));

namespace {

using chunks::ChunkOp;
using Kind = ChunkOp::Kind;

// Groups of two for messages one way; ops of programs have smaller numbers for their channels.
constexpr std::int64_t kFirstChannel = std::int64_t{1} << 48;

}  // namespace

Expected<ChunkRunner> ChunkRunner::make(chunks::ChunkProgram program, Transport& transport,
                                        std::span<const int> ranks) {
  if (const auto fault = check_chunks(program))
    return reason("the chunk program of {} ranks is wrong ({}): {}", program.ranks,
                  name(fault->kind), fault->text);
  HEDDLE_CHECK(ranks.size() == static_cast<std::size_t>(program.ranks), "ranks of a chunk program");
  ChunkRunner runner;
  const auto place = std::ranges::find(ranks, transport.rank());
  if (place == ranks.end()) return reason("rank {} has no part in it", transport.rank());
  runner.me_ = static_cast<int>(place - ranks.begin());
  std::size_t lanes = 0;
  for (std::size_t l = 0; l < program.lanes.size(); ++l)
    if (program.lanes[l].rank == runner.me_) {
      runner.lane_ = l;
      ++lanes;
    }
  if (lanes != 1)
    return reason(
        "a rank of the CPU has one lane, and the program has {}: channels are for devices", lanes);
  runner.groups_.assign(program.channels.size(), 0);
  for (std::size_t c = 0; c < program.channels.size(); ++c) {
    const chunks::Channel& channel = program.channels[c];
    if (channel.slots > kMostChunkSlots)
      return reason("{} slots: transports have at most {}", channel.slots, kMostChunkSlots);
    if (channel.from != runner.me_ && channel.to != runner.me_) continue;
    const int ends[] = {ranks[static_cast<std::size_t>(channel.from)],
                        ranks[static_cast<std::size_t>(channel.to)]};
    HEDDLE_TRY(runner.groups_[c], transport.group(ends, kFirstChannel));
  }
  runner.under_way_.resize(program.channels.size());
  runner.sent_.assign(program.channels.size(), 0);
  runner.program_ = std::move(program);
  return runner;
}

Verdict ChunkRunner::run(Transport& transport, const Work& work) {
  for (auto& requests : under_way_) requests.clear();
  std::ranges::fill(sent_, 0);
  for (const ChunkOp& op : program_.lanes[lane_].ops) HEDDLE_TRY_VOID(do_op(transport, work, op));
  for (std::uint32_t c = 0; c < under_way_.size(); ++c)
    HEDDLE_TRY_VOID(wait_for_room(transport, c, 0));
  return yes();
}

Verdict ChunkRunner::wait_for_room(Transport& transport, std::uint32_t channel, std::size_t most) {
  std::vector<RequestId>& requests = under_way_[channel];
  while (requests.size() > most) {
    HEDDLE_TRY_VOID(transport.wait(requests.front()));
    requests.erase(requests.begin());
  }
  return yes();
}

Verdict ChunkRunner::send(Transport& transport, const Work& work, const ChunkOp& op) {
  const auto slots = static_cast<std::size_t>(program_.channels[op.channel].slots);
  HEDDLE_TRY_VOID(wait_for_room(transport, op.channel, slots - 1));
  Collective message{.kind = CollectiveKind::send, .group = groups_[op.channel]};
  message.in = work.at(op.from);
  message.in_pieces = {1, program_.bytes(op.from)};
  message.to = 1;  // of the two of its group
  message.what = work.what;
  HEDDLE_TRY(const RequestId request, transport.start(message));
  under_way_[op.channel].push_back(request);
  ++sent_[op.channel];
  return yes();
}

Verdict ChunkRunner::take(Transport& transport, const Work& work, const ChunkOp& op) {
  Collective message{.kind = CollectiveKind::receive, .group = groups_[op.channel]};
  message.out = work.at(op.to);
  if (op.kind == Kind::reduce) message.in = work.at(op.from);
  message.in_pieces = {1, program_.bytes(op.to)};
  message.dtype = work.dtype;
  message.reduce = work.reduce;
  message.from = 0;
  message.what = work.what;
  return run_collective(transport, message);
}

Verdict ChunkRunner::do_op(Transport& transport, const Work& work, const ChunkOp& op) {
  switch (op.kind) {
    case Kind::send:
      return send(transport, work, op);
    case Kind::receive:
      return take(transport, work, op);
    case Kind::reduce:
      if (op.channel != kNone) return take(transport, work, op);
      combine_function(work.reduce, work.dtype)(work.at(op.to), work.at(op.to), work.at(op.from),
                                                op.to.count);
      return yes();
    case Kind::copy:
      if (op.to.count > 0)
        std::memmove(work.at(op.to), work.at(op.from),
                     static_cast<std::size_t>(program_.bytes(op.to)));
      return yes();
    case Kind::compute:
      return work.compute ? work.compute(op) : yes();
    case Kind::wait:
      if (op.channel == kNone) return yes();  // of the only lane: checked
      return wait_for_room(
          transport, op.channel,
          static_cast<std::size_t>(std::max<std::int64_t>(0, sent_[op.channel] - op.value)));
    case Kind::signal:
      return yes();
  }
  return yes();
}

}  // namespace heddle::comm
