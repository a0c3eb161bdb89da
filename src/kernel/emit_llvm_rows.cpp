// Rows of sums: updates along the vectorised loop whose index stays over the loops right around it,
// as in a small matrix product. A short row is kept in registers until those loops have run.
#include "kernel/emit_llvm_stage.h"

namespace heddle {

namespace {

constexpr std::int64_t kMostVectors = 4;

// By node: whether its value changes with a loop.
std::vector<bool> followers(const Stage& stage, std::uint32_t loop) {
  std::vector<bool> follows(stage.nodes.size(), false);
  for (NodeId id = 0; id < stage.nodes.size(); ++id) {
    const Node& n = stage.nodes[id];
    follows[id] = n.kind == NodeKind::loop && n.number == loop;
    for (NodeId in : n.in) follows[id] = follows[id] || (in != kNone && follows[in]);
  }
  return follows;
}

// Whether no two positions of a loop may give one index: a remainder, which keeps its order within
// each vector, comes back to the same places in the next.
bool keeps_apart(const Stage& stage, NodeId index, std::uint32_t loop) {
  const std::vector<bool> follows = followers(stage, loop);
  std::vector<NodeId> left{index};
  while (!left.empty()) {
    const Node& n = stage.nodes[left.back()];
    left.pop_back();
    if (n.kind == NodeKind::loop) continue;
    if (n.kind != NodeKind::scalar ||
        (n.op != ScalarOp::add && n.op != ScalarOp::subtract && n.op != ScalarOp::multiply))
      return false;
    for (NodeId in : n.in)
      if (in != kNone && follows[in]) left.push_back(in);
  }
  return true;
}

}  // namespace

std::optional<int> row_depth(const Stage& stage, const StageShape& shape, const Statement& s,
                             DType dtype) {
  const int depth = shape.depth();
  const NodeShape& index = shape.nodes[s.index];
  if (depth < 2 || s.kind != Statement::Kind::update || s.guard != kNone || !s.any_order) return {};
  if (s.combiner.op == ScalarOp::none || (dtype != DType::f32 && dtype != DType::f64)) return {};
  if (index.lanes != NodeShape::Lanes::affine || index.stride != 1) return {};
  const KeptLoop& row = shape.loops.back();
  if (row.block_of >= 0 || row.size > kMostVectors * shape.lanes) return {};
  if (row.size > shape.lanes && !keeps_apart(stage, s.index, row.number)) return {};
  int level = depth - 1;
  while (level > 0 &&
         !followers(stage, shape.loops[static_cast<std::size_t>(level - 1)].number)[s.index])
    --level;
  return level < depth - 1 ? std::optional(level) : std::nullopt;
}

bool StageEmitter::has_rows() const {
  for (const StatementPlan& plan : shape_.statements)
    if (plan.way == Way::row_accumulator) return true;
  return false;
}

// The index at a position of the vectorised loop, outside of it.
std::string StageEmitter::index_at(NodeId index, const std::string& position) {
  std::vector<bool> needed(stage_.nodes.size(), false);
  needed[index] = true;
  for (NodeId id = index + 1; id-- > 0;)
    if (needed[id])
      for (NodeId in : stage_.nodes[id].in)
        if (in != kNone) needed[in] = true;
  positions_.back() = position;
  for (NodeId id = 0; id <= index; ++id)
    if (needed[id] && shape_of(id).depth == shape_.depth()) emit_scalar(id);
  return scalar(index).text;
}

void StageEmitter::each_part(const std::function<void(const Points&)>& write) {
  const std::int64_t lanes = shape_.lanes, size = shape_.loops.back().size;
  for (std::int64_t at = 0; at < size; at += lanes) {
    Points points{std::to_string(at), "", "", 0};
    points.part = static_cast<std::size_t>(at / lanes);
    if (size - at < lanes) {
      points.active = std::to_string(size - at);
      points.mask = first_lanes(points.active);
    }
    write(points);
  }
}

void StageEmitter::begin_row(std::size_t i) {
  const Statement& s = stage_.statements[i];
  Accumulator& kept = accumulators_[i];
  const bool first_time = kept.slots.empty();
  each_part([&](const Points& points) {
    index_at(s.index, points.base);
    const LlvmValue there = get_vector(s.buffers[0], s.index, points.mask);
    const std::string type = LlvmWriter::type_of(there);
    if (first_time) kept.slots.push_back({w_.stack(type)});
    w_.put("store {} {}, ptr {}", type, there.text, kept.slots[points.part][0]);
  });
}

void StageEmitter::add_to_row(std::size_t i, const Points& points) {
  const Statement& s = stage_.statements[i];
  const LlvmValue value = w_.wide(vector(s.values[0]));
  const std::string type = LlvmWriter::type_of(value);
  const std::string& slot = accumulators_[i].slots[points.part][0];
  LlvmValue there = value;
  there.text = w_.set("load {}, ptr {}", type, slot);
  const LlvmValue sum = emit_op(w_, s.combiner.op, value.type, std::array{there, value});
  w_.put("store {} {}, ptr {}", type, sum.text, slot);
}

void StageEmitter::end_row(std::size_t i) {
  const Statement& s = stage_.statements[i];
  each_part([&](const Points& points) {
    index_at(s.index, points.base);
    LlvmValue sum{"", scope_.kernel.buffers[s.buffers[0]].dtype, shape_.lanes, false};
    sum.text =
        w_.set("load {}, ptr {}", LlvmWriter::type_of(sum), accumulators_[i].slots[points.part][0]);
    put_vector(s.buffers[0], s.index, sum, points.mask);
  });
}

}  // namespace heddle
