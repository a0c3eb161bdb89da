// Small operands of one collective travel as one message: each by itself would take a meeting of
// all members.
#pragma once

#include "runtime/collective.h"
#include "runtime/run_state.h"
#include "runtime/step.h"

namespace heddle::runtime {

// Which operands of an op go together, in order; those that go alone are packs of one.
std::vector<Pack> packs_of(const CollectiveOp& op);

inline Pieces whole(const Type& type) { return {1, type.bytes()}; }
// How operand or result `i` is cut among members: along a dimension, or not at all.
Pieces pieces_in(const CollectiveOp& op, std::size_t i);
Pieces pieces_out(const CollectiveOp& op, std::size_t i);

// For devices in the host's memory. `basis` says all but buffers and sizes. What comes back
// travels; after that `unpack` brings it to where results lie.
Collective pack(const StartStep& step, const Pack& pack, std::int64_t members, Collective basis,
                RunState& run);
void unpack(const CollectiveOp& op, std::span<const SlotId> results, const Pack& pack,
            std::int64_t members, RunState& run, const PackedBuffers& buffers);

}  // namespace heddle::runtime
