// One stage of a kernel, point by point.
#include <algorithm>
#include <cstring>

#include "kernel/interpret.h"

namespace heddle {

namespace {

// The function of a scalar node; null for other nodes.
ScalarFunction function_of(std::span<const Node> nodes, const Node& node) {
  if (node.kind != NodeKind::scalar) return nullptr;
  const DType from = nodes[node.in[node.op == ScalarOp::select ? 1 : 0]].type;
  return scalar_function(node.op, from, node.type);
}

std::uint64_t apply(ScalarFunction function, const Node& node,
                    std::span<const std::uint64_t> values) {
  auto in = [&](std::size_t k) { return node.in[k] == kNone ? 0 : values[node.in[k]]; };
  return function(in(0), in(1), in(2));
}

bool writes_to(const Stage& stage, std::uint32_t buffer) {
  return std::ranges::any_of(stage.statements, [&](const Statement& statement) {
    return std::ranges::count(statement.buffers, buffer) > 0;
  });
}

// 1 + the innermost loop that each node changes with; 0: none. What is loaded from a buffer that
// the stage writes may change at every point.
std::vector<std::size_t> node_levels(const Stage& stage) {
  std::vector<std::size_t> levels(stage.nodes.size(), 0);
  for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
    const Node& node = stage.nodes[i];
    if (node.kind == NodeKind::loop) levels[i] = node.number + 1;
    if (node.kind == NodeKind::load && writes_to(stage, node.number))
      levels[i] = stage.loops.size();
    for (NodeId in : node.in)
      if (in != kNone) levels[i] = std::max(levels[i], levels[in]);
  }
  return levels;
}

}  // namespace

CombinerRun::CombinerRun(const Combiner& combiner, std::span<const DType> types)
    : combiner_(&combiner) {
  if (combiner.op != ScalarOp::none) known_ = scalar_function(combiner.op, types[0], types[0]);
  for (const Node& node : combiner.nodes) functions_.push_back(function_of(combiner.nodes, node));
  values_.resize(combiner.nodes.size());
}

void CombinerRun::combine(std::span<std::uint64_t> there, std::span<const std::uint64_t> comes) {
  if (known_) {
    there[0] = known_(there[0], comes[0], 0);
    return;
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Node& node = combiner_->nodes[i];
    if (node.kind == NodeKind::constant)
      values_[i] = node.bits;
    else if (node.kind == NodeKind::scalar)
      values_[i] = apply(functions_[i], node, values_);
    else
      values_[i] =
          node.number < there.size() ? there[node.number] : comes[node.number - there.size()];
  }
  for (std::size_t k = 0; k < there.size(); ++k) there[k] = values_[combiner_->results[k]];
}

StageRun::StageRun(const Kernel& kernel, const Phase& phase, const Stage& stage,
                   std::span<const BufferBytes> buffers)
    : phase_(phase), stage_(stage), buffers_(buffers) {
  levels_.resize(stage.loops.size() + 1);
  const auto levels = node_levels(stage);
  for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
    functions_.push_back(function_of(stage.nodes, stage.nodes[i]));
    levels_[levels[i]].push_back(static_cast<NodeId>(i));
  }
  for (const Statement& statement : stage.statements) {
    std::vector<DType> types;
    for (std::uint32_t buffer : statement.buffers) types.push_back(kernel.buffers[buffer].dtype);
    combiners_.emplace_back(statement.combiner, types);
  }
  values_.resize(stage.nodes.size());
}

Verdict StageRun::run(const BlockPosition& at) {
  at_ = &at;
  size_.clear();
  for (const StageLoop& loop : stage_.loops) {
    std::int64_t size = loop.size;
    if (loop.block_of >= 0) {
      const auto outer = static_cast<std::size_t>(loop.block_of);
      size = std::min(size, phase_.outer[outer].extent - at.outer[outer]);
    }
    if (size <= 0) return yes();
    size_.push_back(size);
  }
  position_.assign(size_.size(), 0);
  std::size_t changed = 0;
  while (true) {
    if (!compute(changed)) return Reason{failure_};
    for (std::size_t s = 0; s < stage_.statements.size(); ++s)
      if (!perform(s)) return Reason{failure_};
    std::size_t loop = size_.size();
    while (loop > 0 && ++position_[loop - 1] == size_[loop - 1]) position_[--loop] = 0;
    if (loop == 0) return yes();
    changed = loop;
  }
}

bool StageRun::compute(std::size_t from_level) {
  for (std::size_t level = from_level; level < levels_.size(); ++level)
    for (NodeId id : levels_[level])
      if (!compute_node(id)) return false;
  return true;
}

bool StageRun::compute_node(NodeId id) {
  const Node& node = stage_.nodes[id];
  switch (node.kind) {
    case NodeKind::constant:
      values_[id] = node.bits;
      return true;
    case NodeKind::outer:
      values_[id] = static_cast<std::uint64_t>(at_->outer[node.number]);
      return true;
    case NodeKind::loop:
      values_[id] = static_cast<std::uint64_t>(position_[node.number]);
      return true;
    case NodeKind::chunk:
      values_[id] = static_cast<std::uint64_t>(at_->chunk);
      return true;
    case NodeKind::load:
      return load(id);
    default:
      values_[id] = apply(functions_[id], node, values_);
      return true;
  }
}

bool StageRun::load(NodeId id) {
  const Node& node = stage_.nodes[id];
  if (node.in[1] != kNone && operand(id, 1) == 0) {
    values_[id] = node.in[2] == kNone ? 0 : operand(id, 2);
    return true;
  }
  if (read(node.number, static_cast<std::int64_t>(operand(id, 0)), values_[id])) return true;
  return fail(fmt::format("%{} {}", id, failure_));
}

bool StageRun::perform(std::size_t s) {
  const Statement& statement = stage_.statements[s];
  if (statement.guard != kNone && values_[statement.guard] == 0) return true;
  const auto index = static_cast<std::int64_t>(values_[statement.index]);
  if (statement.kind == Statement::Kind::store)
    return write(statement.buffers[0], index, values_[statement.values[0]]) ||
           fail(fmt::format("statement {} {}", s, failure_));
  const std::size_t count = statement.values.size();
  there_.resize(count);
  comes_.resize(count);
  bool fine = true;
  for (std::size_t k = 0; k < count; ++k) {
    fine = fine && read(statement.buffers[k], index, there_[k]);
    comes_[k] = values_[statement.values[k]];
  }
  if (fine) combiners_[s].combine(there_, comes_);
  for (std::size_t k = 0; k < count; ++k)
    fine = fine && write(statement.buffers[k], index, there_[k]);
  if (statement.kind == Statement::Kind::scan)
    for (std::size_t k = 0; k < count; ++k)
      fine = fine && write(statement.buffers[count + k],
                           static_cast<std::int64_t>(values_[statement.scan_index]), there_[k]);
  return fine || fail(fmt::format("statement {} {}", s, failure_));
}

bool StageRun::read(std::uint32_t buffer, std::int64_t index, std::uint64_t& bits) {
  const BufferBytes& from = buffers_[buffer];
  if (index < 0 || index >= from.elements)
    return fail(
        fmt::format("reads element {} of buffer {}, which has {}", index, buffer, from.elements));
  const std::size_t at = static_cast<std::size_t>(index) * from.size;
  if (from.left && !from.left[at])
    return fail(
        fmt::format("reads element {} of buffer {}, which nobody has written", index, buffer));
  bits = 0;
  std::memcpy(&bits, from.data + at, from.size);
  return true;
}

bool StageRun::write(std::uint32_t buffer, std::int64_t index, std::uint64_t bits) {
  const BufferBytes& to = buffers_[buffer];
  if (index < 0 || index >= to.elements)
    return fail(
        fmt::format("writes element {} of buffer {}, which has {}", index, buffer, to.elements));
  const std::size_t at = static_cast<std::size_t>(index) * to.size;
  std::memcpy(to.data + at, &bits, to.size);
  if (to.left) std::memset(to.left + at, 1, to.size);
  return true;
}

bool StageRun::fail(std::string text) {
  failure_ = std::move(text);
  return false;
}

}  // namespace heddle
