// Ranks execute a chunk program: its messages are those of a transport, so that threads, processes
// and MPI ranks do so alike, and a rank that is lost is named as in any collective.
#pragma once

#include <functional>
#include <span>

#include "heddle/transport.h"
#include "schedule/chunks/chunk_program.h"

namespace heddle::comm {

// The most messages of a channel that transports have under way.
inline constexpr int kMostChunkSlots = 8;

// A rank's side of a chunk program, which is made once and run often.
class ChunkRunner {
 public:
  // `ranks` are those of the transport, by rank of the program. A reason where the program is wrong
  // (it is checked here), has several lanes a rank, or slots that no transport has.
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
  // Returns when all that this rank has sent was taken.
  Verdict run(Transport& transport, const Work& work);

 private:
  ChunkRunner() = default;
  Verdict do_op(Transport& transport, const Work& work, const chunks::ChunkOp& op);
  Verdict take(Transport& transport, const Work& work, const chunks::ChunkOp& op);
  Verdict send(Transport& transport, const Work& work, const chunks::ChunkOp& op);
  // Waits until no more than so many messages of a channel are under way.
  Verdict wait_for_room(Transport& transport, std::uint32_t channel, std::size_t most);

  chunks::ChunkProgram program_;
  int me_ = -1;
  std::size_t lane_ = 0;
  std::vector<GroupId> groups_;                    // by channel
  std::vector<std::vector<RequestId>> under_way_;  // sends, by channel
  std::vector<std::int64_t> sent_;
};

}  // namespace heddle::comm
