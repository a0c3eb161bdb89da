// Which combiners of a value and its place may be taken in any order.
#include <gtest/gtest.h>

#include "kernel/node_table.h"
#include "kernel/selection.h"

namespace heddle {
namespace {

struct Region {
  NodeTable nodes;
  NodeId x, i, y, j;
  explicit Region(DType type = DType::f32)
      : x(nodes.parameter(0, type)),
        i(nodes.parameter(1, DType::i32)),
        y(nodes.parameter(2, type)),
        j(nodes.parameter(3, DType::i32)) {}

  NodeId compare(ScalarOp op, NodeId a, NodeId b) { return nodes.scalar(op, DType::i1, a, b); }
  NodeId either(NodeId a, NodeId b) { return nodes.scalar(ScalarOp::bit_or, DType::i1, a, b); }
  NodeId select(NodeId which, NodeId a, NodeId b) {
    return nodes.scalar(ScalarOp::select, nodes.type(a), which, a, b);
  }
  bool gives(NodeId value, NodeId place) {
    Combiner combiner;
    const DType type = nodes.type(x);
    combiner.nodes = nodes.take();
    combiner.results = {value, place};
    return selects_in_any_order(combiner, type, DType::i32);
  }
};

TEST(Selection, LargestAndItsFirstPlace) {
  for (const DType type : {DType::f32, DType::i64, DType::bf16, DType::ui8}) {
    Region r(type);
    const NodeId larger =
        r.either(r.compare(ScalarOp::greater, r.x, r.y), r.compare(ScalarOp::not_equal, r.x, r.x));
    const NodeId earlier =
        r.nodes.both(r.compare(ScalarOp::equal, r.x, r.y), r.compare(ScalarOp::less, r.i, r.j));
    const NodeId value = r.select(larger, r.x, r.y);
    EXPECT_TRUE(r.gives(value, r.select(r.either(larger, earlier), r.i, r.j)));
  }
}

TEST(Selection, WhoComesFirstMatters) {
  Region keeps;
  EXPECT_FALSE(keeps.gives(keeps.x, keeps.j));
  // Of equal ones the later: which is later depends on the grouping of NaN.
  Region last;
  const NodeId larger = last.compare(ScalarOp::greater, last.x, last.y);
  const NodeId value = last.select(larger, last.x, last.y);
  EXPECT_FALSE(last.gives(value, last.select(larger, last.i, last.j)));
}

TEST(Selection, ArithmeticIsNoSelection) {
  Region r;
  const NodeId sum = r.nodes.scalar(ScalarOp::add, DType::f32, r.x, r.y);
  EXPECT_FALSE(r.gives(sum, r.select(r.compare(ScalarOp::less, r.i, r.j), r.i, r.j)));
}

}  // namespace
}  // namespace heddle
