// Ops between devices: what the program says, and what it means for one rank.
#pragma once

#include <optional>

#include "heddle/block.h"
#include "heddle/executable.h"
#include "heddle/program.h"
#include "heddle/trace.h"
#include "heddle/transport.h"
#include "ir/replica_groups.h"
#include "schedule/chunks/collective_chunks.h"

namespace heddle::runtime {

// Operands that travel as one message (packed.h).
struct Pack {
  std::size_t first = 0, count = 1;
  std::size_t end() const { return first + count; }
};

// A reduce_scatter, an all_gather of what is made of it, and products at both ends, with the same
// number, are one step that computes chunk by chunk.
struct FusedMark {
  std::int64_t number = -1;      // none: it stays by itself
  std::int64_t chunk_count = 0;  // of a slice; 0: as many as fit caches
  chunks::Algorithm by = chunks::Algorithm::direct;
  chunks::Protocol through = chunks::Protocol::direct;
  int lanes = 1;  // of a rank
};

// One op, with all that runs need of it.
struct CollectiveOp {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::vector<Type> operands, results;
  std::vector<Ids> groups;  // or pairs of source and target
  GroupBy by = GroupBy::replica;
  std::int64_t channel = 0;
  std::size_t dim = 0, concat_dim = 0;
  std::int64_t split_count = 0;
  bool dynamic_root = false;
  // A reduction that transports know, or (accumulator, next) -> accumulator for one that they do
  // not.
  ReduceOp reduce = ReduceOp::sum;
  std::shared_ptr<const Program> combiner;
  std::vector<Pack> packs;
  FusedMark fused;
  std::string label;  // for messages

  // Whether it begins in one step and is waited for in another. The others are done at once.
  bool travels() const {
    return !combiner && kind != CollectiveKind::partition_id &&
           kind != CollectiveKind::replica_id && kind != CollectiveKind::send;
  }
  // Whether results may be written over the operands.
  bool works_in_place() const { return kind == CollectiveKind::all_reduce && !combiner; }
};

FusedMark fused_mark(const Program& program, const Op& op);

// A reason where it can only be interpreted.
Expected<CollectiveOp> collective_op(const Program& program, const Op& op);

// For one rank: who takes part.
struct ResolvedCollective {
  bool done = false;    // that it was resolved
  bool member = false;  // of a group
  GroupId group = 0;
  std::int64_t size = 0;  // of the group
  int me = 0, from = -1, to = -1;
};

struct RankGrid {
  std::int64_t replicas = 1, partitions = 1;
  std::vector<ChannelEnds> channels = {};
  // The ranks of this program, where others run other ones; none: all.
  std::vector<int> ranks = {};
  std::int64_t number_of(int rank) const;  // of a rank, among those
  int rank_of(std::int64_t number) const;
};
Expected<ResolvedCollective> resolve(const CollectiveOp& op, Transport& transport,
                                     const RankGrid& grid);

// What travels in place of several operands, and of their results.
struct PackedBuffers {
  std::shared_ptr<Block> in, out;
};

// Between the two steps of a collective.
struct CollectiveUnderWay {
  std::vector<RequestId> requests;
  std::vector<PackedBuffers> packed;  // of each pack of several operands, in order
  std::shared_ptr<Block> received;    // several values that came as one message
  TraceClock::time_point since;       // where it is traced
};

// Bytes on their way, and who holds them until they have arrived.
struct PendingSend {
  RequestId request = 0;
  std::vector<std::byte> bytes;
};

}  // namespace heddle::runtime
