#include "kernel/needless_guards.h"

#include <algorithm>

#include "kernel/cuda_resident.h"

namespace heddle {

namespace {

// Whether the place is an element of the buffer at every position.
bool always_exists(const Kernel& kernel, const Phase& phase, const Stage& stage,
                   std::uint32_t buffer, const CudaPlace& place) {
  if (place.chunk != 0) return false;
  std::int64_t least = place.constant, most = place.constant;
  bool fine = true;
  const auto add = [&](std::int64_t factor, std::int64_t last) {
    std::int64_t reach = 0;
    fine = fine && !__builtin_mul_overflow(factor, last, &reach) &&
           !__builtin_add_overflow(reach < 0 ? least : most, reach, reach < 0 ? &least : &most);
  };
  for (std::size_t i = 0; i < stage.loops.size(); ++i) add(place.tile[i], stage.loops[i].size - 1);
  for (std::size_t o = 0; o < phase.outer.size(); ++o)
    add(place.outer[o],
        std::max<std::int64_t>(phase.outer[o].blocks() - 1, 0) * phase.outer[o].block);
  return fine && least >= 0 && most < kernel.buffers[buffer].elements;
}

// By node: whether its value reaches no one unless `guard` holds.
std::vector<bool> only_behind(const Stage& stage, NodeId guard) {
  std::vector<bool> behind(stage.nodes.size(), true);
  const auto escapes = [&](NodeId id) {
    if (id != kNone) behind[id] = false;
  };
  for (const Statement& statement : stage.statements) {
    escapes(statement.index);
    escapes(statement.guard);
    escapes(statement.scan_index);
    if (statement.guard != guard) std::ranges::for_each(statement.values, escapes);
  }
  for (std::size_t i = stage.nodes.size(); i-- > 0;) {
    const Node& node = stage.nodes[i];
    const bool is_scalar = node.kind == NodeKind::scalar;
    const bool picks = is_scalar && node.op == ScalarOp::select && node.in[0] == guard;
    for (std::size_t k = 0; k < node.in.size(); ++k) {
      const bool is_picked = picks && k == 1;
      if (!is_picked && !(is_scalar && behind[i])) escapes(node.in[k]);
    }
  }
  return behind;
}

bool is_written_by(const Stage& stage, std::uint32_t buffer) {
  return std::ranges::any_of(stage.statements, [&](const Statement& statement) {
    return std::ranges::count(statement.buffers, buffer) > 0;
  });
}

}  // namespace

Stage without_needless_guards(const Kernel& kernel, const Phase& phase, Stage stage) {
  const auto is_guarded = [](const Node& node) {
    return node.kind == NodeKind::load && node.in[1] != kNone;
  };
  if (std::ranges::none_of(stage.nodes, is_guarded)) return stage;
  const auto places = cuda_places(phase, stage);
  for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
    Node& node = stage.nodes[i];
    if (!is_guarded(node) || is_written_by(stage, node.number)) continue;
    const auto& place = places[node.in[0]];
    if (!place || !always_exists(kernel, phase, stage, node.number, *place)) continue;
    if (only_behind(stage, node.in[1])[i]) node.in[1] = node.in[2] = kNone;
  }
  return stage;
}

}  // namespace heddle
