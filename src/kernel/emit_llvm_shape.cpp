#include "kernel/emit_llvm_shape.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>

#include "kernel/selection.h"

namespace heddle {

namespace {

constexpr std::int64_t kMostMultiple = 4096;

std::int64_t power_of_two_in(std::int64_t value) {
  if (value == 0) return kMostMultiple;
  return std::min(kMostMultiple,
                  std::int64_t{1} << std::countr_zero(static_cast<std::uint64_t>(value)));
}

class Analysis {
 public:
  Analysis(const Phase& phase, const Stage& stage, const Kernel& kernel, const VectorTarget& target)
      : phase_(phase), stage_(stage), kernel_(kernel), target_(target) {}

  StageShape run() {
    keep_loops();
    if (shape_.empty) return std::move(shape_);
    find_written();
    shape_.nodes.resize(stage_.nodes.size());
    shape_.vectorised = shape_.depth() > 0 && !must_be_serial();
    for (NodeId id = 0; id < stage_.nodes.size(); ++id) find_depth_and_range(id);
    choose_lanes();
    for (NodeId id = 0; id < stage_.nodes.size(); ++id) find_lanes(id);
    for (const Statement& s : stage_.statements) shape_.statements.push_back(plan(s));
    if (find_peeled()) try_peeling();
    for (std::size_t i = 0; i < stage_.statements.size(); ++i)
      ask(stage_.statements[i], shape_.statements[i]);
    for (std::size_t id = stage_.nodes.size(); id-- > 0;) ask_inputs(static_cast<NodeId>(id));
    return std::move(shape_);
  }

 private:
  using Lanes = NodeShape::Lanes;

  NodeShape& at(NodeId id) { return shape_.nodes[id]; }
  const Node& node(NodeId id) const { return stage_.nodes[id]; }
  int last_depth() const { return shape_.depth(); }

  void keep_loops() {
    loop_depth_.assign(stage_.loops.size(), 0);
    for (std::uint32_t i = 0; i < stage_.loops.size(); ++i) {
      const StageLoop& loop = stage_.loops[i];
      KeptLoop kept{i, loop.size, -1};
      if (loop.block_of >= 0) {
        const OuterLoop& outer = phase_.outer[static_cast<std::size_t>(loop.block_of)];
        kept.size = std::min(outer.block, outer.extent);
        if (outer.extent > 0 && outer.extent % outer.block != 0 && outer.extent > outer.block)
          kept.block_of = loop.block_of;
      }
      if (kept.size <= 0) shape_.empty = true;
      if (kept.size == 1) continue;
      shape_.loops.push_back(kept);
      loop_depth_[i] = shape_.depth();
    }
  }

  void find_written() {
    for (const Statement& s : stage_.statements)
      for (std::uint32_t b : s.buffers) written_.insert(b);
  }

  // Statements that touch the same buffer keep their order point by point, unless all of them
  // update it in any order in the same way.
  bool must_be_serial() const {
    std::map<std::uint32_t, const Statement*> seen;
    for (const Statement& s : stage_.statements)
      for (std::uint32_t b : std::set<std::uint32_t>(s.buffers.begin(), s.buffers.end())) {
        const auto [found, fresh] = seen.emplace(b, &s);
        if (fresh) continue;
        const Statement& other = *found->second;
        const bool alike = s.kind == Statement::Kind::update && other.kind == s.kind &&
                           s.any_order && other.any_order && s.combiner.op != ScalarOp::none &&
                           s.combiner.op == other.combiner.op;
        if (!alike && !never_meet(s, other)) return true;
      }
    return false;
  }

  // Two stores of which every point writes elements of its own. More than two are not looked into.
  bool never_meet(const Statement& a, const Statement& b) const {
    if (a.kind != Statement::Kind::store || b.kind != a.kind) return false;
    const auto count = std::ranges::count_if(stage_.statements, [&](const Statement& s) {
      return std::ranges::find(s.buffers, a.buffers[0]) != s.buffers.end();
    });
    const auto first = interleaved(stage_, a.index), second = interleaved(stage_, b.index);
    return count == 2 && first && second && first->never_meets(*second);
  }

  // ---- depth and range

  void find_depth_and_range(NodeId id) {
    const Node& n = node(id);
    NodeShape& s = at(id);
    if (n.kind == NodeKind::loop) s.depth = loop_depth_[n.number];
    for (NodeId in : n.in)
      if (in != kNone) s.depth = std::max(s.depth, at(in).depth);
    // What the stage itself writes is looked at where the point is.
    if (n.kind == NodeKind::load && written_.contains(n.number)) s.depth = last_depth();
    if (n.type != DType::i64) return;
    s.range = range(n);
    s.narrow = fits_narrow(s.range) && n.kind != NodeKind::load;
    if (n.kind != NodeKind::scalar) return;
    // Made of i64 that are not narrow, it is computed in 64 bits.
    for (NodeId in : n.in)
      if (in != kNone && node(in).type == DType::i64) s.narrow = s.narrow && at(in).narrow;
    if (n.op == ScalarOp::convert && byte_size(node(n.in[0]).type) > 4) s.narrow = false;
    if (n.op == ScalarOp::convert && is_float(node(n.in[0]).type)) s.narrow = false;
  }

  std::optional<Range> range(const Node& n) {
    switch (n.kind) {
      case NodeKind::constant: {
        const auto value = static_cast<std::int64_t>(n.bits);
        return Range{value, value};
      }
      case NodeKind::outer:
        return Range{0, std::max<std::int64_t>(0, phase_.outer[n.number].extent - 1)};
      case NodeKind::loop: {
        const StageLoop& loop = stage_.loops[n.number];
        const std::int64_t size = loop.block_of < 0
                                      ? loop.size
                                      : phase_.outer[static_cast<std::size_t>(loop.block_of)].block;
        return Range{0, std::max<std::int64_t>(0, size - 1)};
      }
      case NodeKind::chunk:
        return Range{0, std::max<std::int64_t>(0, phase_.chunks - 1)};
      case NodeKind::scalar:
        return range_of_op(n);
      default:
        return std::nullopt;
    }
  }

  std::optional<Range> range_of_op(const Node& n) {
    if (n.op == ScalarOp::convert) return range_of_type(node(n.in[0]).type);
    const std::optional<Range>& a =
        n.op == ScalarOp::select ? at(n.in[1]).range : at(n.in[0]).range;
    const std::optional<Range>* b = nullptr;
    if (n.op == ScalarOp::select)
      b = &at(n.in[2]).range;
    else if (n.in[1] != kNone)
      b = &at(n.in[1]).range;
    if (n.op == ScalarOp::clamp) return clamp_range(at(n.in[0]).range, at(n.in[2]).range);
    if (n.op == ScalarOp::remainder && b != nullptr && *b && (*b)->least == (*b)->most &&
        (*b)->most > 0) {
      const std::int64_t most = (*b)->most - 1;
      if (a && a->least >= 0) return Range{0, std::min(a->most, most)};
      return Range{-most, most};
    }
    if (!a || b == nullptr || !*b) return std::nullopt;
    return range_of_pair(n.op, *a, **b);
  }

  // ---- lanes

  void choose_lanes() {
    if (!shape_.vectorised) return;
    const auto size = static_cast<std::uint64_t>(shape_.loops.back().size);
    int most = std::max(2, target_.vector_bytes / widest_bytes(stage_, shape_));
    if (is_long(stage_, shape_) && size >= 4 * static_cast<std::uint64_t>(most)) most *= 2;
    shape_.lanes = static_cast<int>(
        std::min<std::uint64_t>(std::bit_ceil(size), static_cast<std::uint64_t>(most)));
  }

  void find_lanes(NodeId id) {
    const Node& n = node(id);
    NodeShape& s = at(id);
    s.multiple = multiple(n);
    if (!shape_.vectorised || s.depth < last_depth()) return;
    switch (n.kind) {
      case NodeKind::loop:
        s.lanes = Lanes::affine;
        s.stride = 1;
        return;
      case NodeKind::scalar:
        find_lanes_of_op(n, s);
        return;
      default:
        s.lanes = all_same(n) ? Lanes::same : Lanes::varying;
    }
  }

  bool all_same(const Node& n) {
    return std::all_of(n.in.begin(), n.in.end(),
                       [&](NodeId in) { return in == kNone || at(in).lanes == Lanes::same; });
  }

  std::optional<std::int64_t> constant_of(NodeId id) const {
    if (id == kNone || node(id).kind != NodeKind::constant) return std::nullopt;
    return static_cast<std::int64_t>(node(id).bits);
  }

  std::optional<std::int64_t> stride_of(NodeId id) {
    const NodeShape& s = at(id);
    if (s.lanes == Lanes::varying) return std::nullopt;
    return s.lanes == Lanes::same ? 0 : s.stride;
  }

  // One after another from a multiple of the lanes on: a boundary at such a multiple never falls
  // inside of a vector.
  bool steps_in_whole_vectors(NodeId x, NodeId boundary) {
    const auto limit = constant_of(boundary);
    const NodeShape& s = at(x);
    return s.lanes == Lanes::affine && s.stride == 1 && s.multiple % shape_.lanes == 0 && s.range &&
           s.range->least >= 0 && limit && *limit > 0 && *limit % shape_.lanes == 0;
  }

  void find_lanes_of_op(const Node& n, NodeShape& s) {
    s.lanes = Lanes::same;
    if (all_same(n)) return;
    const bool index = n.type == DType::i64 || n.type == DType::i1;
    if (index && node(n.in[0]).type == DType::i64 && n.in[1] != kNone) {
      const bool whole = steps_in_whole_vectors(n.in[0], n.in[1]);
      if (whole &&
          (n.op == ScalarOp::divide || n.op == ScalarOp::less || n.op == ScalarOp::greater_equal))
        return;
      if (whole && n.op == ScalarOp::remainder) return set_stride(s, 1);
    }
    s.lanes = Lanes::varying;
    if (n.type != DType::i64) return;
    if (const auto stride = stride_of_op(n)) set_stride(s, *stride);
  }

  static void set_stride(NodeShape& s, std::int64_t stride) {
    s.lanes = stride == 0 ? Lanes::same : Lanes::affine;
    s.stride = stride;
  }

  std::optional<std::int64_t> stride_of_op(const Node& n) {
    if (n.op == ScalarOp::convert || n.op == ScalarOp::bitcast) return std::nullopt;
    if (n.op == ScalarOp::select) {
      const auto yes = stride_of(n.in[1]), no = stride_of(n.in[2]);
      if (at(n.in[0]).lanes == Lanes::same && yes && no && *yes == *no) return yes;
      return std::nullopt;
    }
    const auto a = stride_of(n.in[0]);
    if (!a) return std::nullopt;
    if (n.op == ScalarOp::negate) return -*a;
    if (n.in[1] == kNone) return std::nullopt;
    const auto b = stride_of(n.in[1]);
    if (!b) return std::nullopt;
    if (n.op == ScalarOp::add) return *a + *b;
    if (n.op == ScalarOp::subtract) return *a - *b;
    if (n.op != ScalarOp::multiply) return std::nullopt;
    std::int64_t product = 0;
    const auto left = constant_of(n.in[0]), right = constant_of(n.in[1]);
    if (right && !__builtin_mul_overflow(*a, *right, &product)) return product;
    if (left && !__builtin_mul_overflow(*b, *left, &product)) return product;
    return std::nullopt;
  }

  std::int64_t multiple(const Node& n) {
    if (n.type != DType::i64) return 1;
    switch (n.kind) {
      case NodeKind::constant:
        return power_of_two_in(static_cast<std::int64_t>(n.bits));
      case NodeKind::outer:
        return power_of_two_in(phase_.outer[n.number].block);
      case NodeKind::loop:
        if (loop_depth_[n.number] == 0) return kMostMultiple;
        return shape_.vectorised && !shape_.peeled && loop_depth_[n.number] == last_depth()
                   ? shape_.lanes
                   : 1;
      case NodeKind::scalar:
        break;
      default:
        return 1;
    }
    switch (n.op) {
      case ScalarOp::add:
      case ScalarOp::subtract:
      case ScalarOp::remainder:
        return std::min(at(n.in[0]).multiple, at(n.in[1]).multiple);
      case ScalarOp::multiply:
        return std::min(kMostMultiple, at(n.in[0]).multiple * at(n.in[1]).multiple);
      case ScalarOp::select:
        return std::min(at(n.in[1]).multiple, at(n.in[2]).multiple);
      default:
        return 1;
    }
  }

  // ---- statements
  int depth_of(NodeId id) { return id == kNone ? 0 : at(id).depth; }

  StatementPlan plan(const Statement& s) {
    int depth = std::max(depth_of(s.index), depth_of(s.guard));
    for (NodeId v : s.values) depth = std::max(depth, at(v).depth);
    if (!shape_.vectorised) return {Way::scalar, last_depth()};
    if (s.kind == Statement::Kind::store) {
      if (depth < last_depth()) return {Way::scalar, depth};
      const bool last_wins = at(s.index).lanes == Lanes::same;
      return {last_wins ? Way::lane_by_lane : Way::vector, last_depth()};
    }
    const int index_depth = depth_of(s.index);
    const bool invariant = index_depth < last_depth();
    const bool known = s.combiner.op != ScalarOp::none;
    if (s.kind == Statement::Kind::update) {
      if (invariant && known && s.any_order) return {Way::vector_accumulator, index_depth};
      const auto row = row_depth(stage_, shape_, s, kernel_.buffers[s.buffers[0]].dtype);
      if (row && alone(s)) return {Way::row_accumulator, *row};
      if (at(s.index).lanes == Lanes::affine) return {Way::vector, last_depth()};
    }
    if (s.kind == Statement::Kind::update && index_depth == last_depth() - 1 && s.guard == kNone &&
        alone(s) && is_selection(s))
      return {Way::vector_selection, index_depth};
    if (invariant && s.guard == kNone && alone(s))
      return {known && scans_by_vectors(s) ? Way::vector_scan : Way::scalar_accumulator,
              index_depth};
    return {Way::lane_by_lane, last_depth()};
  }

  // A value and its place along the vectorised loop.
  bool is_selection(const Statement& s) {
    if (s.values.size() != 2) return false;
    NodeId place = s.values[1];
    const DType type = node(place).type;
    const std::optional<Range> holds = range_of_type(type);
    if (node(place).kind == NodeKind::scalar && node(place).op == ScalarOp::convert)
      place = node(place).in[0];
    const NodeShape& along = at(place);
    return node(place).type == DType::i64 && along.lanes == Lanes::affine && along.stride > 0 &&
           along.range && along.range->least >= 0 &&
           (byte_size(type) == 8 || (holds && along.range->most <= holds->most)) &&
           selects_in_any_order(s.combiner, node(s.values[0]).type, type);
  }

  // Positions keep their order, but sums are grouped; f16 and bf16 would be rounded elsewhere.
  bool scans_by_vectors(const Statement& s) {
    if (s.kind != Statement::Kind::scan) return false;
    const NodeShape& to = at(s.scan_index);
    const DType type = kernel_.buffers[s.buffers[0]].dtype;
    return to.lanes == Lanes::affine && to.stride == 1 && type != DType::i1 && type != DType::f16 &&
           type != DType::bf16;
  }

  // No other statement touches its buffers, and it none of them twice.
  bool alone(const Statement& s) const {
    std::size_t touching = 0;
    for (const Statement& other : stage_.statements)
      for (std::uint32_t b : other.buffers)
        touching += static_cast<std::size_t>(std::count(s.buffers.begin(), s.buffers.end(), b));
    return touching == s.buffers.size();
  }

  // Rows that do not begin at a multiple of the vectors, but are long.
  bool find_peeled() {
    if (!shape_.vectorised || shape_.loops.back().size < 8 * shape_.lanes) return false;
    for (std::size_t i = 0; i < stage_.statements.size() && !shape_.peeled; ++i) {
      const Statement& s = stage_.statements[i];
      const KernelBuffer& buffer = kernel_.buffers[s.buffers[0]];
      const bool whole_lines = shape_.lanes * byte_size(buffer.dtype) == 64;
      if (s.kind == Statement::Kind::store && buffer.streamed && whole_lines &&
          shape_.statements[i].way == Way::vector && s.guard == kNone &&
          at(s.index).lanes == Lanes::affine && at(s.index).stride == 1 &&
          at(s.index).multiple % shape_.lanes != 0)
        shape_.peeled = i;
    }
    return shape_.peeled.has_value();
  }

  // Vectors may begin anywhere then; where that spoils another index, nothing is peeled.
  void try_peeling() {
    const std::vector<NodeShape> before = shape_.nodes;
    for (NodeId id = 0; id < stage_.nodes.size(); ++id) find_lanes(id);
    for (NodeId id = 0; id < stage_.nodes.size(); ++id)
      if (at(id).lanes != before[id].lanes) {
        shape_.nodes = before;
        shape_.peeled.reset();
        return;
      }
  }

  // ---- what is needed in which form
  void need(NodeId id, bool vector) {
    if (id == kNone) return;
    NodeShape& s = at(id);
    if (s.lanes != Lanes::varying) s.scalar_needed = true;
    if (vector && s.lanes != Lanes::same) s.vector_needed = true;
  }

  bool is_next_to_each_other(NodeId index) {
    const NodeShape& s = at(index);
    return s.lanes == Lanes::same || (s.lanes == Lanes::affine && s.stride == 1);
  }

  void ask(const Statement& s, const StatementPlan& plan) {
    const bool vector = plan.way != Way::scalar;
    for (NodeId v : s.values) need(v, vector);
    need(s.guard, vector);
    need(s.scan_index, vector && plan.way != Way::vector_scan);
    const bool spread =
        vector && (plan.way == Way::lane_by_lane || !is_next_to_each_other(s.index));
    need(s.index, spread);
  }

  void ask_inputs(NodeId id) {
    const Node& n = node(id);
    NodeShape& s = at(id);
    if (s.lanes != Lanes::varying) {
      if (s.scalar_needed)
        for (NodeId in : n.in) need(in, false);
      return;
    }
    if (!s.vector_needed) return;
    if (n.kind == NodeKind::load) {
      need(n.in[0], !is_next_to_each_other(n.in[0]));
      need(n.in[1], true);
      need(n.in[2], true);
    } else {
      for (NodeId in : n.in) need(in, true);
    }
  }

  const Phase& phase_;
  const Stage& stage_;
  const Kernel& kernel_;
  const VectorTarget& target_;
  StageShape shape_;
  std::vector<int> loop_depth_;  // 0: dropped
  std::set<std::uint32_t> written_;
};

}  // namespace

std::optional<InterleavedIndex> interleaved(const Stage& stage, NodeId index) {
  InterleavedIndex found;
  const auto constant = [&](NodeId id) -> std::optional<std::int64_t> {
    const Node& n = stage.nodes[id];
    if (n.kind != NodeKind::constant || n.type != DType::i64) return std::nullopt;
    return static_cast<std::int64_t>(n.bits);
  };
  // The operand beside a constant, which is kept in `number`.
  const auto beside = [&](NodeId id, ScalarOp op, std::int64_t& number) -> NodeId {
    const Node& n = stage.nodes[id];
    if (n.kind != NodeKind::scalar || n.op != op) return kNone;
    for (int i : {0, 1})
      if (const auto bits = constant(n.in[static_cast<std::size_t>(i)])) {
        number = *bits;
        return n.in[static_cast<std::size_t>(1 - i)];
      }
    return kNone;
  };
  if (index == kNone) return std::nullopt;
  if (const NodeId base = beside(index, ScalarOp::add, found.at); base != kNone) index = base;
  found.x = beside(index, ScalarOp::multiply, found.step);
  if (found.x == kNone || found.step < 2) return std::nullopt;
  return found;
}

StageShape analyse(const Phase& phase, const Stage& stage, const Kernel& kernel,
                   const VectorTarget& target) {
  return Analysis(phase, stage, kernel, target).run();
}

}  // namespace heddle
