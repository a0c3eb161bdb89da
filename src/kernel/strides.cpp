#include "kernel/strides.h"

#include <algorithm>

namespace heddle {

namespace {

std::optional<std::int64_t> stride_of(const Stage& stage, const Node& n, std::uint32_t loop,
                                      const Strides& known) {
  if (n.kind == NodeKind::loop) return n.number == loop ? 1 : 0;
  auto of = [&](std::size_t i) { return known[n.in[i]]; };
  bool still = true;
  for (std::size_t i = 0; i < 3; ++i) still = still && (n.in[i] == kNone || of(i) == 0);
  if (still) return 0;
  if (n.kind == NodeKind::load || n.type != DType::i64 || n.in[1] == kNone || !of(0) || !of(1))
    return std::nullopt;
  if (n.op == ScalarOp::add) return *of(0) + *of(1);
  if (n.op == ScalarOp::subtract) return *of(0) - *of(1);
  if (n.op != ScalarOp::multiply) return std::nullopt;
  for (const std::size_t i : {0U, 1U}) {
    const Node& factor = stage.nodes[n.in[i]];
    std::int64_t product = 0;
    if (factor.kind == NodeKind::constant &&
        !__builtin_mul_overflow(static_cast<std::int64_t>(factor.bits), *of(1 - i), &product))
      return product;
  }
  return std::nullopt;
}

bool writes(const Stage& stage, std::uint32_t buffer) {
  return std::ranges::any_of(stage.statements, [&](const Statement& s) {
    return std::ranges::find(s.buffers, buffer) != s.buffers.end();
  });
}

}  // namespace

Strides strides_along(const Stage& stage, std::uint32_t loop) {
  Strides strides;
  for (const Node& n : stage.nodes) strides.push_back(stride_of(stage, n, loop, strides));
  return strides;
}

std::vector<std::uint64_t> loops_under(const Stage& stage) {
  std::vector<std::uint64_t> masks;
  for (const Node& n : stage.nodes) {
    std::uint64_t mask = n.kind == NodeKind::loop ? std::uint64_t{1} << n.number : 0;
    for (NodeId in : n.in)
      if (in != kNone) mask |= masks[in];
    if (n.kind == NodeKind::load && writes(stage, n.number)) mask = ~std::uint64_t{0};
    masks.push_back(mask);
  }
  return masks;
}

}  // namespace heddle
