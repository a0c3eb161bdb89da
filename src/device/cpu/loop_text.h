// A loop of small kernels as one function. Small values live on its stack, which LLVM makes
// registers of; large ones stay where they are.
#pragma once

#include <string>
#include <vector>

#include "heddle/loop_work.h"
#include "kernel/emit_llvm.h"

namespace heddle::cpu {

struct LoopText {
  // @phase0(buffers, most_turns, 0, scratch, 0): `buffers` has the addresses of `slots`, and behind
  // them that of two i64, for the turns that were done and whether the loop is over.
  std::string ir;
  std::vector<std::uint32_t> slots;
  // Pairs that have changed places where the turns were odd; all other values lie where they did.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> moved;
  std::int64_t scratch_bytes = 0;
};

// Why a loop of launches of this device is no such function: what it does at a turn would be worth
// more workers, or takes so long that the way from step to step is nothing beside it.
Verdict may_be_text(const LoopWork& loop, const std::vector<std::int64_t>& slot_bytes);

double evaluations_of_turn(const LoopWork& loop, const std::vector<std::int64_t>& slot_bytes);

// `slot_bytes`: by slot.
Expected<LoopText> loop_text(const LoopWork& loop, const std::vector<std::int64_t>& slot_bytes,
                             const VectorTarget& target);

}  // namespace heddle::cpu
