#include "kernel/split_loop.h"

#include <algorithm>
#include <optional>

#include "kernel/emit_cuda_stage.h"

namespace heddle {

namespace {

struct Split {
  std::uint32_t loop = 0;
  std::int64_t by = 0;
};

// Of a node that divides a position, or takes the remainder.
std::optional<Split> split_of(const Stage& stage, const Node& node, ScalarOp op) {
  if (node.kind != NodeKind::scalar || node.op != op || node.type != DType::i64) return {};
  const Node &loop = stage.nodes[node.in[0]], &by = stage.nodes[node.in[1]];
  if (loop.kind != NodeKind::loop || by.kind != NodeKind::constant) return {};
  return Split{loop.number, static_cast<std::int64_t>(by.bits)};
}

std::optional<Split> wanted_split(const Stage& stage) {
  for (const Statement& statement : stage.statements) {
    if (statement.kind != Statement::Kind::update) continue;
    std::vector<bool> needed(stage.nodes.size(), false);
    needed[statement.index] = true;
    for (std::size_t i = stage.nodes.size(); i-- > 0;) {
      if (!needed[i]) continue;
      if (const auto split = split_of(stage, stage.nodes[i], ScalarOp::divide)) {
        const StageLoop& loop = stage.loops[split->loop];
        if (loop.block_of < 0 && split->by > 1 && split->by < loop.size &&
            loop.size % split->by == 0)
          return split;
      }
      for (NodeId in : stage.nodes[i].in)
        if (in != kNone) needed[in] = true;
    }
  }
  return {};
}

class Splitter {
 public:
  Splitter(const Stage& stage, const Split& split) : from_(stage), split_(split) {}

  Stage made() {
    made_.loops = from_.loops;
    StageLoop& first = made_.loops[split_.loop];
    first.size /= split_.by;
    made_.loops.insert(made_.loops.begin() + split_.loop + 1, StageLoop{split_.by});
    for (const Node& node : from_.nodes) ids_.push_back(add(node));
    made_.statements = from_.statements;
    for (Statement& statement : made_.statements) {
      for (NodeId* id : {&statement.index, &statement.guard, &statement.scan_index}) *id = now(*id);
      for (NodeId& value : statement.values) value = now(value);
    }
    return std::move(made_);
  }

 private:
  NodeId now(NodeId id) const { return id == kNone ? kNone : ids_[id]; }
  NodeId push(const Node& node) {
    made_.nodes.push_back(node);
    return static_cast<NodeId>(made_.nodes.size() - 1);
  }
  NodeId loop(std::uint32_t number) {
    return push({.kind = NodeKind::loop, .type = DType::i64, .number = number});
  }

  NodeId add(Node node) {
    const auto is_it = [&](ScalarOp op) {
      const auto split = split_of(from_, node, op);
      return split && split->loop == split_.loop && split->by == split_.by;
    };
    if (is_it(ScalarOp::divide)) return loop(split_.loop);
    if (is_it(ScalarOp::remainder)) return loop(split_.loop + 1);
    if (node.kind == NodeKind::loop && node.number == split_.loop) {
      const NodeId by = push({.type = DType::i64, .bits = static_cast<std::uint64_t>(split_.by)});
      const NodeId start = scalar(ScalarOp::multiply, loop(split_.loop), by);
      return scalar(ScalarOp::add, start, loop(split_.loop + 1));
    }
    if (node.kind == NodeKind::loop && node.number > split_.loop) ++node.number;
    for (NodeId& in : node.in) in = now(in);
    return push(node);
  }
  NodeId scalar(ScalarOp op, NodeId a, NodeId b) {
    return push({.kind = NodeKind::scalar, .op = op, .type = DType::i64, .in = {a, b, kNone}});
  }

  const Stage& from_;
  const Split split_;
  Stage made_;
  std::vector<NodeId> ids_;  // by node of the stage: what it is now
};

}  // namespace

Stage split_divided_loop(const Stage& stage) {
  const auto split = wanted_split(stage);
  return split ? Splitter(stage, *split).made() : stage;
}

std::vector<Stage> split_sums(const Stage& stage) {
  constexpr std::int64_t kFewPoints = 256;  // that one thread may go through
  const std::vector<bool> all(stage.loops.size(), true);
  const std::vector<bool> shared = shared_loops(stage);
  if (points_of(stage, shared, true) > 1 || points_of(stage, all, true) <= kFewPoints)
    return {stage};
  // By what statements share, in the order in which they come first.
  std::vector<std::vector<bool>> kinds;
  std::vector<Stage> made;
  std::vector<std::uint32_t> written;
  for (const Statement& statement : stage.statements) {
    for (std::uint32_t buffer : statement.buffers) {
      // What comes later would read or write what came before at other points.
      if (std::ranges::find(written, buffer) != written.end()) return {stage};
      written.push_back(buffer);
    }
    Stage alone = stage;
    alone.statements = {statement};
    const std::vector<bool> kind = shared_loops(alone);
    const auto at = std::ranges::find(kinds, kind) - kinds.begin();
    if (at == std::ssize(kinds)) {
      kinds.push_back(kind);
      made.push_back(std::move(alone));
    } else {
      made[static_cast<std::size_t>(at)].statements.push_back(statement);
    }
  }
  const bool reads_own = std::ranges::any_of(stage.nodes, [&](const Node& node) {
    return node.kind == NodeKind::load && std::ranges::find(written, node.number) != written.end();
  });
  return reads_own ? std::vector{stage} : made;
}

}  // namespace heddle
