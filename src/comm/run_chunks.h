// Ranks execute a chunk program: its messages are those of a transport, or go through slots in
// memory that ranks share, so that threads, processes and MPI ranks do so alike, and a rank that is
// lost is named as in any collective.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "comm/chunk_slots.h"
#include "heddle/block.h"
#include "heddle/transport.h"
#include "schedule/chunks/chunk_program.h"

namespace heddle::comm {

// The most messages of a channel that transports have under way.
inline constexpr int kMostChunkSlots = 8;

// A rank's side of a chunk program, which is made once and run often. Lanes take turns: while one
// waits for a message, another one computes.
class ChunkRunner {
 public:
  // `ranks` are those of the transport, by rank of the program. A reason where the program is wrong
  // (it is checked here), or has slots that no transport has.
  static Expected<ChunkRunner> make(chunks::ChunkProgram program, Transport& transport,
                                    std::span<const int> ranks);

  const chunks::ChunkProgram& program() const { return program_; }
  int me() const { return me_; }

  struct Work {
    DType dtype = DType::f32;
    ReduceOp reduce = ReduceOp::sum;
    // Where elements of this rank lie.
    std::function<std::byte*(const chunks::Chunk&)> at;
    std::function<Verdict(const chunks::ChunkOp&)> compute = {};
    std::string_view what = {};  // for messages
  };
  // Returns when nobody needs this rank's memory any more.
  Verdict run(Transport& transport, const Work& work);

 private:
  // This rank's end of a channel.
  struct End {
    GroupId group = 0;
    int peer = -1;                       // of the transport
    std::optional<ChunkSlots> slots;     // in memory that both share
    std::vector<RequestId> under_way;    // sends
    std::vector<std::shared_ptr<Block>> copies;  // of what is sent, where ranks share no memory
    std::int64_t sent = 0;
  };
  struct LaneState {
    std::size_t lane = 0, at = 0;
    bool receives = false, came = false;  // a message that was asked for
    RequestId request = 0;
  };

  ChunkRunner() = default;
  Verdict open(Transport& transport, std::uint32_t channel, std::span<const int> ranks);
  const chunks::ChunkOp& op_of(const LaneState& state) const {
    return program_.lanes[state.lane].ops[state.at];
  }
  bool is_over(const LaneState& state) const {
    return state.at == program_.lanes[state.lane].ops.size();
  }
  // As far as it comes without waiting, or until it has computed; whether it has come any further.
  Expected<bool> go_on(Transport& transport, const Work& work, LaneState& state);
  // False: it has to wait.
  Expected<bool> do_op(Transport& transport, const Work& work, LaneState& state);
  Expected<bool> send(Transport& transport, const Work& work, const chunks::ChunkOp& op);
  Expected<bool> take(Transport& transport, const Work& work, LaneState& state);
  // Forgets sends that are over; whether no more than so many are under way.
  Expected<bool> has_room(Transport& transport, End& end, std::size_t most);
  Verdict wait_for_any(Transport& transport, const Work& work);
  Expected<bool> may_go_on(Transport& transport, LaneState& state);

  chunks::ChunkProgram program_;
  int me_ = -1;
  std::vector<End> ends_;  // by channel
  std::vector<LaneState> lanes_;
  std::vector<std::int64_t> counted_;  // by counter, those of this rank
};

}  // namespace heddle::comm
