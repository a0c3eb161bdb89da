// Which kernels can be done a stretch of elements at a time.
#include <gtest/gtest.h>

#include "kernel/flat_parts.h"

namespace heddle::flat_parts_tests {

// out[r * width + j] = in[r * rows + j * columns] over `extent` positions r, `block` at a time.
Kernel walk(std::int64_t extent, std::int64_t block, std::int64_t width, std::int64_t rows,
            std::int64_t columns) {
  Kernel kernel;
  KernelBuffer in, out;
  in.elements = out.elements = extent * width;
  out.reach = Reach::output;
  kernel.buffers = {in, out};
  Stage stage;
  stage.loops = {{block, 0}, {width, -1}};
  const auto add = [&](NodeKind kind, std::uint32_t number, std::uint64_t bits) {
    Node node;
    node.kind = kind;
    node.type = DType::i64;
    node.number = number;
    node.bits = bits;
    stage.nodes.push_back(node);
    return static_cast<NodeId>(stage.nodes.size() - 1);
  };
  const auto scalar = [&](ScalarOp op, NodeId a, NodeId b) {
    const NodeId id = add(NodeKind::scalar, 0, 0);
    stage.nodes[id].op = op;
    stage.nodes[id].in = {a, b, kNone};
    return id;
  };
  const NodeId r = scalar(ScalarOp::add, add(NodeKind::outer, 0, 0), add(NodeKind::loop, 0, 0));
  const NodeId j = add(NodeKind::loop, 1, 0);
  const auto index = [&](std::int64_t by_row, std::int64_t by_column) {
    const auto times = [&](NodeId v, std::int64_t factor) {
      return scalar(ScalarOp::multiply, v,
                    add(NodeKind::constant, 0, static_cast<std::uint64_t>(factor)));
    };
    return scalar(ScalarOp::add, times(r, by_row), times(j, by_column));
  };
  const NodeId load = add(NodeKind::load, 0, 0);
  stage.nodes[load].in[0] = index(rows, columns);
  Statement store;
  store.buffers = {1};
  store.index = index(width, 1);
  store.values = {load};
  stage.statements = {store};
  Phase phase;
  phase.outer = {{extent, block}};
  phase.stages = {stage};
  kernel.phases = {phase};
  return kernel;
}

TEST(FlatParts, RowsOneAfterTheOther) {
  const std::uint32_t both[] = {0, 1};
  EXPECT_EQ(flat_grain(walk(8, 2, 16, 16, 1), both), 32);
  EXPECT_EQ(flat_grain(walk(7, 2, 5, 5, 1), both), 10);  // the last block is smaller
}

TEST(FlatParts, WhatGoesAcrossCannotBeDoneInParts) {
  const std::uint32_t both[] = {0, 1}, out[] = {1};
  const Kernel across = walk(8, 2, 8, 1, 8);  // reads columns
  EXPECT_FALSE(flat_grain(across, both));
  EXPECT_EQ(flat_grain(across, out), 16);
  EXPECT_FALSE(flat_grain(walk(8, 2, 8, 8, 2), both));  // beyond its row
  Kernel phases = walk(8, 2, 16, 16, 1);
  phases.phases.push_back(phases.phases[0]);
  EXPECT_FALSE(flat_grain(phases, both));
}

}  // namespace heddle::flat_parts_tests
