#include "comm/run_chunks.h"

#include <algorithm>
#include <bit>
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
// Rooms for slots: one for each protocol and size, so that words with flags stay what they are.
constexpr std::int64_t kFirstRoom = std::int64_t{1} << 49;
constexpr std::int64_t kSizes = 64, kProtocols = 4;

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
  runner.program_ = std::move(program);
  for (std::size_t l = 0; l < runner.program_.lanes.size(); ++l)
    if (runner.program_.lanes[l].rank == runner.me_) runner.lanes_.push_back({.lane = l});
  runner.ends_.resize(runner.program_.channels.size());
  runner.counted_.assign(runner.program_.counters.size(), 0);
  for (std::uint32_t c = 0; c < runner.ends_.size(); ++c)
    HEDDLE_TRY_VOID(runner.open(transport, c, ranks));
  return runner;
}

Verdict ChunkRunner::open(Transport& transport, std::uint32_t number, std::span<const int> ranks) {
  const chunks::Channel& channel = program_.channels[number];
  if (channel.slots > kMostChunkSlots)
    return reason("{} slots: transports have at most {}", channel.slots, kMostChunkSlots);
  if (channel.from != me_ && channel.to != me_) return yes();
  std::int64_t before = 0;  // of the same two ranks, in other lanes
  for (std::uint32_t c = 0; c < number; ++c)
    before += program_.channels[c].from == channel.from && program_.channels[c].to == channel.to;
  const int both[] = {ranks[static_cast<std::size_t>(channel.from)],
                      ranks[static_cast<std::size_t>(channel.to)]};
  End& end = ends_[number];
  end.peer = both[channel.from == me_ ? 1 : 0];
  if (channel.protocol != chunks::Protocol::direct) {
    const std::int64_t bytes = ChunkSlots::room_bytes(channel);
    const std::int64_t kind =
        (before * kProtocols + static_cast<std::int64_t>(channel.protocol)) * kSizes +
        std::countr_zero(static_cast<std::uint64_t>(bytes));
    HEDDLE_TRY(const GroupId group, transport.group(both, kFirstRoom + kind));
    HEDDLE_TRY(std::byte* room, transport.shared_room(group, bytes));
    if (room != nullptr) {
      end.slots.emplace(room, channel);
      return yes();
    }
    end.copies.resize(static_cast<std::size_t>(channel.slots));
  }
  HEDDLE_TRY(end.group, transport.group(both, kFirstChannel + before));
  return yes();
}

Verdict ChunkRunner::run(Transport& transport, const Work& work) {
  std::ranges::fill(counted_, 0);
  for (LaneState& state : lanes_) state = {.lane = state.lane};
  for (std::uint32_t c = 0; c < ends_.size(); ++c) {
    ends_[c].under_way.clear();
    ends_[c].sent = 0;
    if (ends_[c].slots) ends_[c].slots->begin(program_.channels[c].from == me_);
  }
  for (;;) {
    bool moved = false, over = true;
    for (LaneState& state : lanes_) {
      HEDDLE_TRY(const bool further, go_on(transport, work, state));
      moved = moved || further;
      over = over && is_over(state);
    }
    if (over) break;
    if (!moved) HEDDLE_TRY_VOID(wait_for_any(transport, work));
  }
  for (End& end : ends_)
    for (const RequestId request : end.under_way) HEDDLE_TRY_VOID(transport.wait(request));
  return yes();
}

Expected<bool> ChunkRunner::go_on(Transport& transport, const Work& work, LaneState& state) {
  bool moved = false;
  while (!is_over(state)) {
    const bool computes = op_of(state).kind == Kind::compute;
    HEDDLE_TRY(const bool done, do_op(transport, work, state));
    if (!done) break;
    ++state.at;
    moved = true;
    if (computes && lanes_.size() > 1) break;  // messages of others may have come
  }
  return moved;
}

Expected<bool> ChunkRunner::has_room(Transport& transport, End& end, std::size_t most) {
  while (end.under_way.size() > most) {
    HEDDLE_TRY(const bool over, transport.test(end.under_way.front()));
    if (!over) return false;
    end.under_way.erase(end.under_way.begin());
  }
  return true;
}

Expected<bool> ChunkRunner::send(Transport& transport, const Work& work, const ChunkOp& op) {
  End& end = ends_[op.channel];
  const std::int64_t bytes = program_.bytes(op.from);
  if (end.slots) {
    if (!end.slots->may_send()) return false;
    end.slots->send(work.at(op.from), bytes);
    ++end.sent;
    return true;
  }
  const auto slots = static_cast<std::size_t>(program_.channels[op.channel].slots);
  HEDDLE_TRY(const bool has_room, has_room(transport, end, slots - 1));
  if (!has_room) return false;
  const std::byte* from = work.at(op.from);
  if (!end.copies.empty()) {
    auto& copy = end.copies[static_cast<std::size_t>(end.sent) % slots];
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
    if (copy == nullptr || copy->size() < size) copy = Block::raw(size);
    std::memcpy(copy->data(), from, static_cast<std::size_t>(bytes));
    from = copy->data();
  }
  Collective message{.kind = CollectiveKind::send, .group = end.group};
  message.in = from;
  message.in_pieces = {1, bytes};
  message.to = 1;  // of the two of its group
  message.what = work.what;
  HEDDLE_TRY(const RequestId request, transport.start(message));
  end.under_way.push_back(request);
  ++end.sent;
  return true;
}

Expected<bool> ChunkRunner::take(Transport& transport, const Work& work, LaneState& state) {
  const ChunkOp& op = op_of(state);
  End& end = ends_[op.channel];
  const std::int64_t bytes = program_.bytes(op.to);
  if (end.slots) {
    if (!end.slots->has_come(bytes)) return false;
    const std::byte* came = end.slots->look(bytes);
    if (op.kind == Kind::reduce)
      combine_function(work.reduce, work.dtype)(work.at(op.to), work.at(op.from), came,
                                                op.to.count);
    else if (bytes > 0)
      std::memcpy(work.at(op.to), came, static_cast<std::size_t>(bytes));
    end.slots->taken();
    return true;
  }
  if (!state.receives) {
    Collective message{.kind = CollectiveKind::receive, .group = end.group};
    message.out = work.at(op.to);
    if (op.kind == Kind::reduce) message.in = work.at(op.from);
    message.in_pieces = {1, bytes};
    message.dtype = work.dtype;
    message.reduce = work.reduce;
    message.from = 0;
    message.what = work.what;
    HEDDLE_TRY(state.request, transport.start(message));
    state.receives = true;
    state.came = false;
  }
  HEDDLE_TRY(const bool came, may_go_on(transport, state));
  if (came) state.receives = false;
  return came;
}

Expected<bool> ChunkRunner::do_op(Transport& transport, const Work& work, LaneState& state) {
  const ChunkOp& op = op_of(state);
  switch (op.kind) {
    case Kind::send:
      return send(transport, work, op);
    case Kind::receive:
      return take(transport, work, state);
    case Kind::reduce:
      if (op.channel != kNone) return take(transport, work, state);
      combine_function(work.reduce, work.dtype)(work.at(op.to), work.at(op.to), work.at(op.from),
                                                op.to.count);
      return true;
    case Kind::copy:
      if (op.to.count > 0)
        std::memmove(work.at(op.to), work.at(op.from),
                     static_cast<std::size_t>(program_.bytes(op.to)));
      return true;
    case Kind::compute:
      if (work.compute) HEDDLE_TRY_VOID(work.compute(op));
      return true;
    case Kind::wait:
      return may_go_on(transport, state);
    case Kind::signal:
      ++counted_[op.counter];
      return true;
  }
  return true;
}

// Whether the op that a lane is at can be done now.
Expected<bool> ChunkRunner::may_go_on(Transport& transport, LaneState& state) {
  const ChunkOp& op = op_of(state);
  if (state.receives) {
    if (!state.came) {
      HEDDLE_TRY(state.came, transport.test(state.request));
    }
    return state.came;
  }
  if (op.kind == Kind::wait && op.channel == kNone) return counted_[op.counter] >= op.value;
  if (op.channel == kNone) return true;
  End& end = ends_[op.channel];
  if (op.kind == Kind::wait) {
    if (end.slots || !end.copies.empty()) return true;  // what was sent lies elsewhere
    return has_room(transport, end,
                    static_cast<std::size_t>(std::max<std::int64_t>(0, end.sent - op.value)));
  }
  if (op.kind == Kind::send) {
    if (end.slots) return end.slots->may_send();
    return has_room(transport, end,
                    static_cast<std::size_t>(program_.channels[op.channel].slots) - 1);
  }
  return end.slots ? end.slots->has_come(program_.bytes(op.to)) : true;
}

// Until one of the lanes can go on.
Verdict ChunkRunner::wait_for_any(Transport& transport, const Work& work) {
  if (lanes_.size() == 1 && lanes_[0].receives) {
    HEDDLE_TRY_VOID(transport.wait(lanes_[0].request));
    lanes_[0].came = true;
    return yes();
  }
  if (lanes_.size() == 1 && op_of(lanes_[0]).channel != kNone) {
    std::vector<RequestId>& sends = ends_[op_of(lanes_[0]).channel].under_way;
    if (!sends.empty()) {
      HEDDLE_TRY_VOID(transport.wait(sends.front()));
      sends.erase(sends.begin());
      return yes();
    }
  }
  std::vector<int> peers;
  for (const LaneState& state : lanes_)
    if (!is_over(state) && op_of(state).channel != kNone)
      peers.push_back(ends_[op_of(state).channel].peer);
  std::optional<Reason> trouble;
  const auto there = [&]() -> bool {
    for (LaneState& state : lanes_) {
      if (is_over(state)) continue;
      const auto may = may_go_on(transport, state);
      if (!may) trouble = Reason{may.reason()};
      if (!may || *may) return true;
    }
    return false;
  };
  HEDDLE_TRY_VOID(transport.wait_until(peers, there, work.what));
  return trouble ? Verdict(*trouble) : yes();
}

}  // namespace heddle::comm
