#include "kernel/node_table.h"

#include "heddle/hash.h"

namespace heddle {

namespace {

std::uint64_t hash_of(const Node& n) {
  std::uint64_t h =
      hash_combine(static_cast<std::uint64_t>(n.kind),
                   static_cast<std::uint64_t>(n.op) << 8 | static_cast<std::uint64_t>(n.type));
  for (NodeId in : n.in) h = hash_combine(h, in);
  return hash_combine(hash_combine(h, n.number), n.bits);
}

}  // namespace

NodeId NodeTable::add(const Node& node) {
  const std::uint64_t h = hash_of(node);
  auto [from, to] = ids_.equal_range(h);
  for (auto it = from; it != to; ++it)
    if (nodes_[it->second] == node) return it->second;
  nodes_.push_back(node);
  const auto id = static_cast<NodeId>(nodes_.size() - 1);
  ids_.emplace(h, id);
  return id;
}

NodeId NodeTable::constant(DType type, std::uint64_t bits) {
  Node n;
  n.type = type;
  n.bits = bits;
  return add(n);
}

NodeId NodeTable::leaf(NodeKind kind, int number) {
  Node n;
  n.kind = kind;
  n.type = DType::i64;
  n.number = static_cast<std::uint32_t>(number);
  return add(n);
}

NodeId NodeTable::parameter(int number, DType type) {
  Node n;
  n.kind = NodeKind::parameter;
  n.type = type;
  n.number = static_cast<std::uint32_t>(number);
  return add(n);
}

NodeId NodeTable::load(std::uint32_t buffer, DType type, NodeId index, NodeId guard, NodeId other) {
  Node n;
  n.kind = NodeKind::load;
  n.type = type;
  n.in = {index, guard, other};
  n.number = buffer;
  return add(n);
}

NodeId NodeTable::scalar(ScalarOp op, DType type, NodeId a, NodeId b, NodeId c) {
  Node n;
  n.kind = NodeKind::scalar;
  n.op = op;
  n.type = type;
  n.in = {a, b, c};
  return add(n);
}

NodeId NodeTable::both(NodeId a, NodeId b) {
  if (a == kNone || a == b) return b;
  if (b == kNone) return a;
  return scalar(ScalarOp::bit_and, DType::i1, a, b);
}

}  // namespace heddle
