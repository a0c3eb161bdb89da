#include "kernel/flat_parts.h"

#include <algorithm>

namespace heddle {

namespace {

// c + outer * position along the outer loop + a factor for every loop of the stage.
struct Affine {
  std::int64_t constant = 0, outer = 0;
  std::vector<std::int64_t> loops;
  bool is_constant() const {
    return outer == 0 && std::ranges::all_of(loops, [](std::int64_t f) { return f == 0; });
  }
};

std::optional<Affine> affine_of(const Stage& stage, NodeId id) {
  const Node& node = stage.nodes[id];
  Affine own;
  own.loops.assign(stage.loops.size(), 0);
  switch (node.kind) {
    case NodeKind::constant:
      own.constant = static_cast<std::int64_t>(node.bits);
      return own;
    case NodeKind::outer:
      own.outer = 1;
      return own;
    case NodeKind::loop:
      own.loops[node.number] = 1;
      return own;
    case NodeKind::scalar:
      break;
    default:
      return std::nullopt;
  }
  if (node.op != ScalarOp::add && node.op != ScalarOp::multiply) return std::nullopt;
  auto a = affine_of(stage, node.in[0]), b = affine_of(stage, node.in[1]);
  if (!a || !b) return std::nullopt;
  const bool adds = node.op == ScalarOp::add;
  if (!adds && !b->is_constant()) std::swap(a, b);
  if (!adds && !b->is_constant()) return std::nullopt;
  const auto both = [&](std::int64_t x, std::int64_t y) { return adds ? x + y : x * b->constant; };
  own.constant = both(a->constant, b->constant);
  own.outer = both(a->outer, b->outer);
  for (std::size_t l = 0; l < own.loops.size(); ++l) own.loops[l] = both(a->loops[l], b->loops[l]);
  return own;
}

// Whether position p of the outer loop touches elements p * width to (p + 1) * width only.
bool stays_within(const Stage& stage, NodeId index, std::int64_t width) {
  const auto at = affine_of(stage, index);
  if (!at || at->outer != width || at->constant < 0) return false;
  std::int64_t most = at->constant;
  for (std::size_t l = 0; l < stage.loops.size(); ++l) {
    if (stage.loops[l].block_of == 0) {
      if (at->loops[l] != width) return false;
      continue;
    }
    if (at->loops[l] < 0) return false;
    most += at->loops[l] * (stage.loops[l].size - 1);
  }
  return most < width;
}

bool has(std::span<const std::uint32_t> buffers, std::uint32_t buffer) {
  return std::ranges::find(buffers, buffer) != buffers.end();
}

}  // namespace

std::optional<std::int64_t> flat_grain(const Kernel& kernel,
                                       std::span<const std::uint32_t> buffers) {
  if (kernel.phases.size() != 1 || kernel.temporary_bytes > 0 || buffers.empty())
    return std::nullopt;
  const Phase& phase = kernel.phases[0];
  if (phase.chunks > 0 || !phase.begin.empty() || phase.outer.size() != 1) return std::nullopt;
  const std::int64_t elements = kernel.buffers[buffers[0]].elements;
  const OuterLoop& outer = phase.outer[0];
  if (outer.extent < 1 || elements % outer.extent != 0) return std::nullopt;
  const std::int64_t width = elements / outer.extent;
  for (std::uint32_t b : buffers)
    if (kernel.buffers[b].elements != elements) return std::nullopt;
  for (const Stage& stage : phase.stages) {
    for (const Node& node : stage.nodes)
      if (node.kind == NodeKind::load && has(buffers, node.number) &&
          !stays_within(stage, node.in[0], width))
        return std::nullopt;
    for (const Statement& s : stage.statements)
      for (std::uint32_t b : s.buffers)
        if (has(buffers, b) &&
            (s.kind != Statement::Kind::store || !stays_within(stage, s.index, width)))
          return std::nullopt;
  }
  return width * outer.block;
}

}  // namespace heddle
