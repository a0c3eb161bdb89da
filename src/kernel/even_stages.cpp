#include "kernel/even_stages.h"

#include <algorithm>
#include <optional>

#include "kernel/node_table.h"

namespace heddle {

namespace {

constexpr std::int64_t kMostMore = 16;       // elements that a row may get
constexpr std::int64_t kShortestRow = 1024;  // others are not worth it

// An index as a sum: by outer loop, by loop of the stage, and a constant.
struct LinearIndex {
  std::vector<std::int64_t> outer, loops;
  std::int64_t constant = 0;
};
using MaybeLinear = std::optional<LinearIndex>;

class LinearIndices {
 public:
  LinearIndices(const Phase& phase, const Stage& stage) : phase_(phase), stage_(stage) {
    for (const Node& node : stage.nodes) all_.push_back(of(node));
  }
  const MaybeLinear& operator[](NodeId node) const { return all_[node]; }

  // Whether it depends on the last loop; kept for what is no sum, too.
  bool moves(NodeId node) const { return moves_[node]; }

 private:
  LinearIndex zero() const {
    return {std::vector<std::int64_t>(phase_.outer.size(), 0),
            std::vector<std::int64_t>(stage_.loops.size(), 0), 0};
  }

  MaybeLinear of(const Node& node) {
    bool moves = node.kind == NodeKind::loop && node.number + 1 == stage_.loops.size();
    for (NodeId in : node.in) moves |= in != kNone && moves_[in];
    moves_.push_back(moves);
    if (node.type != DType::i64) return {};
    LinearIndex made = zero();
    switch (node.kind) {
      case NodeKind::constant:
        made.constant = static_cast<std::int64_t>(node.bits);
        return made;
      case NodeKind::outer:
        made.outer[node.number] = 1;
        return made;
      case NodeKind::loop:
        made.loops[node.number] = 1;
        return made;
      case NodeKind::scalar:
        return sum_or_product(node);
      default:
        return {};
    }
  }

  MaybeLinear sum_or_product(const Node& node) const {
    if (node.op != ScalarOp::add && node.op != ScalarOp::multiply) return {};
    const MaybeLinear &a = all_[node.in[0]], &b = all_[node.in[1]];
    if (!a || !b) return {};
    if (node.op == ScalarOp::add) return combined(*a, *b, 1);
    if (is_constant(*a)) return combined(zero(), *b, a->constant);
    if (is_constant(*b)) return combined(zero(), *a, b->constant);
    return {};
  }

  static bool is_constant(const LinearIndex& x) {
    const auto none = [](std::int64_t f) { return f == 0; };
    return std::ranges::all_of(x.outer, none) && std::ranges::all_of(x.loops, none);
  }

  static LinearIndex combined(LinearIndex a, const LinearIndex& b, std::int64_t times) {
    for (std::size_t i = 0; i < a.outer.size(); ++i) a.outer[i] += times * b.outer[i];
    for (std::size_t i = 0; i < a.loops.size(); ++i) a.loops[i] += times * b.loops[i];
    a.constant += times * b.constant;
    return a;
  }

  const Phase& phase_;
  const Stage& stage_;
  std::vector<MaybeLinear> all_;
  std::vector<bool> moves_;
};

// The position along the last loop, and nothing else.
bool is_position(const Stage& stage, NodeId index) {
  const Node& node = stage.nodes[index];
  return node.kind == NodeKind::loop && node.number + 1 == stage.loops.size();
}

class EvenStage {
 public:
  // Positions from `held` on are those that a row has more, up to `size`.
  EvenStage(const Kernel& kernel, const Phase& phase, const Stage& stage, std::int64_t held,
            std::int64_t size)
      : kernel_(kernel),
        phase_(phase),
        stage_(stage),
        indices_(phase, stage),
        held_(held),
        size_(size) {}

  // The stage over all positions; nothing where one of its accesses would leave its buffer.
  std::optional<Stage> made() {
    const bool grows = stage_.loops.back().size == held_;
    if (grows &&
        !std::ranges::all_of(stage_.statements, [&](const Statement& s) { return may_grow(s); }))
      return {};
    Stage out = stage_;
    out.loops.back().size = size_;
    bool has_freed = false;
    const NodeId is_held = held();
    std::vector<NodeId> now;
    for (NodeId id = 0; id < stage_.nodes.size(); ++id) {
      Node node = stage_.nodes[id];
      for (NodeId& in : node.in)
        if (in != kNone) in = now[in];
      const bool is_load = node.kind == NodeKind::load, is_inside = is_load && stays_inside(id);
      if (grows && is_load && !is_inside) return {};
      const bool is_freed = is_inside && is_guard(stage_.nodes[id].in[1]);
      now.push_back(is_freed ? chosen(node) : table_.copy(node));
      has_freed |= is_freed;
    }
    if (!grows && !has_freed) return {};
    for (Statement& s : out.statements) renumber(s, now, grows ? is_held : kNone);
    out.nodes = table_.take();
    return out;
  }

 private:
  NodeId held() {
    const NodeId loop = table_.loop(static_cast<int>(stage_.loops.size()) - 1);
    return table_.scalar(ScalarOp::less, DType::i1, loop, table_.integer(held_));
  }

  // loop < held
  bool is_guard(NodeId id) const {
    if (id == kNone) return false;
    const Node& node = stage_.nodes[id];
    if (node.kind != NodeKind::scalar || node.op != ScalarOp::less) return false;
    const Node &loop = stage_.nodes[node.in[0]], &limit = stage_.nodes[node.in[1]];
    return loop.kind == NodeKind::loop && loop.number + 1 == stage_.loops.size() &&
           limit.kind == NodeKind::constant && static_cast<std::int64_t>(limit.bits) == held_;
  }

  // Sums of known kinds in any order, to places that do not depend on the position; or a row that
  // the block keeps, and that has room.
  bool may_grow(const Statement& s) const {
    if (s.kind == Statement::Kind::store)
      return s.guard == kNone && kernel_.buffers[s.buffers[0]].reach == Reach::block &&
             is_position(stage_, s.index) && kernel_.buffers[s.buffers[0]].elements >= size_;
    return s.kind == Statement::Kind::update && s.any_order && s.combiner.op != ScalarOp::none &&
           s.buffers.size() == 1 && !indices_.moves(s.index) &&
           (s.guard == kNone || !indices_.moves(s.guard));
  }

  // Wherever the last loop is; other guards it may have stay.
  bool stays_inside(NodeId id) const {
    const Node& load = stage_.nodes[id];
    if (!indices_.moves(load.in[0])) return true;
    const MaybeLinear& index = indices_[load.in[0]];
    if (!index) return false;
    std::int64_t least = index->constant, most = index->constant;
    const auto add = [&](std::int64_t factor, std::int64_t last) {
      (factor < 0 ? least : most) += factor * last;
    };
    for (std::size_t i = 0; i < phase_.outer.size(); ++i)
      add(index->outer[i], phase_.outer[i].extent - 1);
    for (std::size_t i = 0; i < stage_.loops.size(); ++i)
      add(index->loops[i], (i + 1 < stage_.loops.size() ? stage_.loops[i].size : size_) - 1);
    return least >= 0 && most < kernel_.buffers[load.number].elements;
  }

  NodeId chosen(const Node& guarded) {
    const NodeId other = guarded.in[2] != kNone ? guarded.in[2] : table_.constant(guarded.type, 0);
    const NodeId load = table_.load(guarded.number, guarded.type, guarded.in[0]);
    return table_.scalar(ScalarOp::select, guarded.type, guarded.in[1], load, other);
  }

  void renumber(Statement& s, const std::vector<NodeId>& now, NodeId is_held) {
    for (NodeId* id : {&s.index, &s.guard, &s.scan_index})
      if (*id != kNone) *id = now[*id];
    for (NodeId& value : s.values) {
      value = now[value];
      if (is_held == kNone || s.kind == Statement::Kind::store) continue;
      const DType type = table_.type(value);
      value = table_.scalar(ScalarOp::select, type, is_held, value,
                            table_.constant(type, neutral_bits(s.combiner.op, type)));
    }
  }

  const Kernel& kernel_;
  const Phase& phase_;
  const Stage& stage_;
  const LinearIndices indices_;
  const std::int64_t held_, size_;
  NodeTable table_;
};

// The longest rows of the phase, and the shorter ones that are to be as long.
struct RowLengths {
  std::int64_t held = 0, size = 0;
};

std::optional<RowLengths> lengths_of(const Phase& phase) {
  RowLengths found;
  for (const Stage& stage : phase.stages)
    if (!stage.loops.empty() && stage.loops.back().block_of < 0)
      found.size = std::max(found.size, stage.loops.back().size);
  for (const Stage& stage : phase.stages) {
    if (stage.loops.empty()) continue;
    const std::int64_t size = stage.loops.back().size;
    if (size == found.size || size + kMostMore < found.size) continue;
    if (found.held != 0 && found.held != size) return {};
    found.held = size;
  }
  if (found.held < kShortestRow) return {};
  return found;
}

// Rows that a block keeps, which are written and read at their positions alone, get more room.
void lengthen_kept(const Phase& phase, const RowLengths& rows, std::vector<KernelBuffer>& buffers) {
  std::vector<bool> may(buffers.size(), false);
  for (std::size_t b = 0; b < buffers.size(); ++b)
    may[b] = buffers[b].reach == Reach::block && buffers[b].elements == rows.held;
  for (const Stage& stage : phase.stages) {
    for (const Node& node : stage.nodes)
      if (node.kind == NodeKind::load && !is_position(stage, node.in[0])) may[node.number] = false;
    for (const Statement& s : stage.statements)
      for (std::uint32_t b : s.buffers)
        if (s.kind != Statement::Kind::store || !is_position(stage, s.index)) may[b] = false;
  }
  for (std::size_t b = 0; b < buffers.size(); ++b)
    if (may[b]) buffers[b].elements = rows.size;
}

void make_even(Kernel& kernel, Phase& phase) {
  const auto rows = lengths_of(phase);
  if (!rows) return;
  std::vector<Stage> made = phase.stages;
  Kernel longer{.name = {}, .buffers = kernel.buffers, .phases = {}};
  lengthen_kept(phase, *rows, longer.buffers);
  bool has_guards = false;  // the longer rows are the shorter ones with something behind them
  for (Stage& stage : made) {
    if (stage.loops.empty()) continue;
    const std::int64_t size = stage.loops.back().size;
    if (size != rows->held && size != rows->size) continue;
    if (stage.loops.back().block_of >= 0) return;
    auto even = EvenStage(longer, phase, stage, rows->held, rows->size).made();
    if (!even && size == rows->held) return;  // all of them, or none
    has_guards |= even && size == rows->size;
    if (even) stage = *std::move(even);
  }
  if (!has_guards) return;
  phase.stages = std::move(made);
  kernel.buffers = std::move(longer.buffers);
}

}  // namespace

void make_stages_even(Kernel& kernel) {
  for (Phase& phase : kernel.phases) make_even(kernel, phase);
}

}  // namespace heddle
