// Writes the expression graph of a stage; equal nodes become one.
#pragma once

#include <unordered_map>

#include "heddle/kernel.h"

namespace heddle {

class NodeTable {
 public:
  NodeId constant(DType type, std::uint64_t bits);
  NodeId integer(std::int64_t value) {
    return constant(DType::i64, static_cast<std::uint64_t>(value));
  }
  NodeId outer(int number) { return leaf(NodeKind::outer, number); }
  NodeId loop(int number) { return leaf(NodeKind::loop, number); }
  NodeId chunk() { return leaf(NodeKind::chunk, 0); }
  NodeId parameter(int number, DType type);
  NodeId load(std::uint32_t buffer, DType type, NodeId index, NodeId guard = kNone,
              NodeId other = kNone);
  NodeId scalar(ScalarOp op, DType type, NodeId a, NodeId b = kNone, NodeId c = kNone);
  // A node of another table, whose inputs are of this one.
  NodeId copy(const Node& node) { return add(node); }
  // Both; kNone stands for true.
  NodeId both(NodeId a, NodeId b);

  DType type(NodeId node) const { return nodes_[node].type; }
  std::size_t size() const { return nodes_.size(); }
  const std::vector<Node>& nodes() const { return nodes_; }
  std::vector<Node> take() { return std::move(nodes_); }

 private:
  NodeId add(const Node& node);
  NodeId leaf(NodeKind kind, int number);

  std::vector<Node> nodes_;
  std::unordered_multimap<std::uint64_t, NodeId> ids_;
};

}  // namespace heddle
