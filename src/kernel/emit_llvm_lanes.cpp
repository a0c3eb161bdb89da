// How wide the vectors of a stage are to be.
#include <algorithm>

#include "kernel/emit_llvm_shape.h"

namespace heddle {

// Bytes of the widest type that values are computed in. What only says where elements lie does
// not count.
int widest_bytes(const Stage& stage, const StageShape& shape) {
  std::vector<bool> counts(stage.nodes.size());
  for (const Statement& s : stage.statements)
    for (NodeId v : s.values) counts[v] = true;
  int size = 1;
  for (std::size_t id = stage.nodes.size(); id-- > 0;) {
    if (!counts[id]) continue;
    const Node& n = stage.nodes[id];
    if (shape.nodes[id].depth == shape.depth()) {
      const bool half = n.type == DType::f16 || n.type == DType::bf16;
      const bool narrow = shape.nodes[id].narrow;
      if (n.type != DType::i1) size = std::max(size, half || narrow ? 4 : byte_size(n.type));
    }
    const bool load = n.kind == NodeKind::load;
    for (std::size_t i = load ? 2 : 0; i < 3; ++i)
      if (n.in[i] != kNone) counts[n.in[i]] = true;
  }
  for (const Statement& s : stage.statements)
    for (const Node& n : s.combiner.nodes) size = std::max(size, byte_size(n.type));
  return size;
}

// Many operations at one point wait for one another; two vectors side by side overlap.
bool is_long(const Stage& stage, const StageShape& shape) {
  constexpr std::size_t kManyOps = 64, kOfFunction = 16;
  std::size_t count = 0;
  for (std::size_t id = 0; id < stage.nodes.size(); ++id)
    if (shape.nodes[id].depth == shape.depth() && stage.nodes[id].kind == NodeKind::scalar &&
        stage.nodes[id].type != DType::i64)
      count += is_heavy(stage.nodes[id].op) ? kOfFunction : 1;
  return count >= kManyOps &&
         std::all_of(stage.statements.begin(), stage.statements.end(),
                     [](const Statement& s) { return s.kind == Statement::Kind::store; });
}

}  // namespace heddle
