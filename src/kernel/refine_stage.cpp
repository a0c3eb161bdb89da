#include "kernel/refine_stage.h"

#include <algorithm>
#include <unordered_map>

#include "cost/fitted.h"
#include "kernel/node_table.h"
#include "kernel/strides.h"

namespace heddle {

namespace {

class Refinement {
 public:
  Refinement(const Kernel& kernel, Stage stage, std::int64_t room, const NewBuffer& new_buffer)
      : kernel_(kernel), room_(room), new_buffer_(new_buffer) {
    out_.stage = std::move(stage);
  }

  RefinedStages run() {
    if (!is_candidate()) return std::move(out_);
    inner_ = stage().loops.back();
    number_ = static_cast<std::uint32_t>(stage().loops.size() - 1);
    only_inner_ = std::uint64_t{1} << number_;
    masks_ = loops_under(stage());
    strides_ = strides_along(stage(), number_);
    for (Statement& s : stage().statements)
      if (is_uneven_update(s)) spread(s);
    hoist();
    return std::move(out_);
  }

 private:
  Stage& stage() { return out_.stage; }

  bool is_candidate() {
    const auto& loops = stage().loops;
    if (loops.size() < 2 || loops.size() > 60) return false;
    std::int64_t turns = 1;
    for (std::size_t i = 0; i + 1 < loops.size() && turns < cost::kFewTurns; ++i)
      turns *= loops[i].size;
    return turns >= cost::kFewTurns && loops.back().size > 1;
  }

  bool has_room(DType dtype) {
    const std::int64_t bytes = inner_.size * byte_size(dtype);
    if (bytes > room_) return false;
    room_ -= bytes;
    return true;
  }

  // Short floats would be rounded at every step.
  bool is_uneven_update(const Statement& s) const {
    const DType dtype = kernel_.buffers[s.buffers[0]].dtype;
    return s.kind == Statement::Kind::update && s.any_order && s.guard == kNone &&
           s.combiner.op != ScalarOp::none && masks_[s.index] == only_inner_ &&
           !strides_[s.index] && dtype != DType::f16 && dtype != DType::bf16;
  }

  // A copy of a node and of all it is made of, in a stage that has the innermost loop only.
  NodeId copy(NodeTable& to, NodeId id) {
    if (auto it = copied_.find(id); it != copied_.end()) return it->second;
    const Node& n = stage().nodes[id];
    std::array<NodeId, 3> in = {kNone, kNone, kNone};
    for (std::size_t i = 0; i < 3; ++i)
      if (n.in[i] != kNone) in[i] = copy(to, n.in[i]);
    NodeId made = kNone;
    switch (n.kind) {
      case NodeKind::constant:
        made = to.constant(n.type, n.bits);
        break;
      case NodeKind::outer:
        made = to.outer(static_cast<int>(n.number));
        break;
      case NodeKind::chunk:
        made = to.chunk();
        break;
      case NodeKind::load:
        made = to.load(n.number, n.type, in[0], in[1], in[2]);
        break;
      case NodeKind::scalar:
        made = to.scalar(n.op, n.type, in[0], in[1], in[2]);
        break;
      default:
        made = to.loop(0);
    }
    copied_[id] = made;
    return made;
  }

  // The node of the innermost loop, in front of all others.
  NodeId position() {
    for (NodeId id = 0; id < stage().nodes.size(); ++id)
      if (stage().nodes[id].kind == NodeKind::loop && stage().nodes[id].number == number_)
        return id;
    return kNone;  // nothing changes with it
  }

  static Stage over(const StageLoop& loop, NodeTable& nodes, Statement statement) {
    Stage stage;
    stage.loops = {loop};
    stage.nodes = nodes.take();
    stage.statements = {std::move(statement)};
    return stage;
  }
  static Statement store(std::uint32_t buffer, NodeId index, NodeId value) {
    Statement s;
    s.buffers = {buffer};
    s.index = index;
    s.values = {value};
    return s;
  }

  void spread(Statement& s) {
    const DType dtype = kernel_.buffers[s.buffers[0]].dtype;
    const NodeId at = position();
    if (at == kNone || !has_room(dtype)) return;
    const std::uint32_t parts = new_buffer_(dtype, inner_.size);
    NodeTable first;
    const NodeId neutral = first.constant(dtype, neutral_bits(s.combiner.op, dtype));
    out_.before.push_back(over(inner_, first, store(parts, first.loop(0), neutral)));
    copied_.clear();
    NodeTable last;
    Statement sum = s;
    sum.index = copy(last, s.index);
    sum.values = {last.load(parts, dtype, last.loop(0))};
    out_.behind.push_back(over(inner_, last, std::move(sum)));
    s.buffers = {parts};
    s.index = at;
  }

  // Loads along the loop are as quick as from anywhere else.
  bool is_plain_load(NodeId id) {
    const Node& n = stage().nodes[id];
    return n.kind == NodeKind::load && n.in[1] == kNone && strides_[n.in[0]];
  }

  // Operations that it takes to compute a node of the innermost loop alone.
  int work(NodeId id) {
    const Node& n = stage().nodes[id];
    if (masks_[id] != only_inner_ || n.type == DType::i64) return 0;
    if (n.kind == NodeKind::load) return is_plain_load(id) ? 0 : 2 * cost::kWorthALoad;
    int sum = is_heavy(n.op) ? 2 * cost::kWorthALoad : 1;
    for (NodeId in : n.in)
      if (in != kNone && sum < cost::kWorthALoad) sum += work(in);
    return sum;
  }

  // Nodes that something needs that other loops change.
  std::vector<bool> wanted_by_others() {
    const std::size_t count = stage().nodes.size();
    std::vector<bool> used(count), wanted(count);
    for (const Statement& s : stage().statements) {
      for (NodeId id : {s.index, s.guard, s.scan_index})
        if (id != kNone) used[id] = true;
      for (NodeId v : s.values) used[v] = true;
    }
    for (std::size_t id = count; id-- > 0;)
      if (used[id])
        for (NodeId in : stage().nodes[id].in)
          if (in != kNone) {
            used[in] = true;
            if (masks_[id] != only_inner_) wanted[in] = true;
          }
    return wanted;
  }

  void hoist() {
    const NodeId at = position();
    if (at == kNone) return;
    const std::vector<bool> wanted = wanted_by_others();
    for (NodeId id = at; id < wanted.size(); ++id) {
      const DType dtype = stage().nodes[id].type;
      // Conditions tell more about loads as they are.
      if (!wanted[id] || dtype == DType::i1 || masks_[id] != only_inner_ ||
          work(id) < cost::kWorthALoad)
        continue;
      if (!has_room(dtype)) continue;
      const std::uint32_t tile = new_buffer_(dtype, inner_.size);
      copied_.clear();
      NodeTable nodes;
      const NodeId value = copy(nodes, id);
      out_.before.push_back(over(inner_, nodes, store(tile, nodes.loop(0), value)));
      Node load;
      load.kind = NodeKind::load;
      load.type = dtype;
      load.in = {at, kNone, kNone};
      load.number = tile;
      stage().nodes[id] = load;
    }
  }

  const Kernel& kernel_;
  std::int64_t room_;
  const NewBuffer& new_buffer_;
  RefinedStages out_;
  StageLoop inner_;
  std::uint32_t number_ = 0;
  std::uint64_t only_inner_ = 0;
  std::vector<std::uint64_t> masks_;
  Strides strides_;
  std::unordered_map<NodeId, NodeId> copied_;  // of one stage
};

}  // namespace

RefinedStages refine(const Kernel& kernel, Stage stage, std::int64_t room,
                     const NewBuffer& new_buffer) {
  return Refinement(kernel, std::move(stage), room, new_buffer).run();
}

}  // namespace heddle
