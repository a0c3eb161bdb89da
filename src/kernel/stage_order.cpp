// The order of a stage's loops: the innermost goes through memory step by step.
#include <algorithm>
#include <cmath>

#include "cost/fitted.h"
#include "kernel/stage_writer.h"

namespace heddle {

namespace {

constexpr std::size_t kNoLoop = SIZE_MAX;

// Positions of a tile's innermost loop; 0 where the loop cannot be cut into such.
std::int64_t tile_of(const StageLoop& loop) {
  if (loop.block_of < 0)
    for (std::int64_t tile : {64, 32, 16})
      if (loop.size % tile == 0 && loop.size >= 2 * tile) return tile;
  return 0;
}

// Loop `split` becomes two: its tiles, as loop `tiles`, and the positions in a tile, as loop
// `rest`.
void split_loop(Stage& stage, std::uint32_t split, std::uint32_t tiles, std::uint32_t rest,
                std::int64_t tile) {
  NodeTable fresh;
  const NodeId scaled = fresh.scalar(ScalarOp::multiply, DType::i64,
                                     fresh.loop(static_cast<int>(tiles)), fresh.integer(tile));
  const NodeId inside = fresh.loop(static_cast<int>(rest));
  const auto shift = static_cast<NodeId>(fresh.size());
  std::vector<Node> nodes = fresh.take();
  auto moved = [&](NodeId id) { return id == kNone ? kNone : id + shift; };
  for (Node n : stage.nodes) {
    for (NodeId& in : n.in) in = moved(in);
    if (n.kind == NodeKind::loop && n.number == split) {
      n.kind = NodeKind::scalar;
      n.op = ScalarOp::add;
      n.in = {scaled, inside, kNone};
      n.number = 0;
    }
    nodes.push_back(n);
  }
  stage.nodes = std::move(nodes);
  for (Statement& s : stage.statements) {
    for (NodeId* id : {&s.index, &s.guard, &s.scan_index}) *id = moved(*id);
    for (NodeId& v : s.values) v = moved(v);
  }
}

}  // namespace

// How far an index goes with one step of a loop, whether it counts along the axis or in the block.
IndexSpace::Step StageWriter::step_along(const IndexSum& index, std::size_t loop) const {
  const IndexSpace::Step step = space.step(index, loop_leaves_[loop]);
  const auto inside = block_leaves_.find(loop);
  if (!step.known || step.size != 0 || inside == block_leaves_.end()) return step;
  return space.step(index, inside->second);
}

// Whether every element that is updated in order sees its points in the same order with this loop
// innermost: each position of the loop has elements of its own.
bool StageWriter::keeps_order(std::size_t loop) const {
  return std::all_of(accesses_.begin(), accesses_.end(), [&](const Access& a) {
    const IndexSpace::Step step = step_along(a.index, loop);
    return !a.in_order || (step.known && step.size != 0);
  });
}

bool StageWriter::is_known(const IndexSum& index) const {
  for (std::size_t l = 0; l < loops_.size(); ++l)
    if (!step_along(index, l).known) return false;
  return true;
}

// Updates at places that come as data may meet at any two points: only the order of all loops is
// right.
bool StageWriter::is_ordered_by_data() const {
  return std::any_of(accesses_.begin(), accesses_.end(),
                     [&](const Access& a) { return a.in_order && !is_known(a.index); });
}

// Where vectors cost least: elements that lie side by side are one access, others one each, and a
// short loop leaves lanes idle in everything that is computed.
std::size_t StageWriter::innermost() const {
  double work = 0;
  for (const Node& node : nodes.nodes())
    if (node.kind == NodeKind::scalar && node.type != DType::i64)
      work += is_heavy(node.op) ? cost::kHeavyWeight : 1;
  auto cost = [&](std::size_t l) {
    // A window is short, and its sum should keep its order.
    if (loop_axes_[l] < 0) return 1e9;
    const auto size = static_cast<double>(loops_[l].size);
    // For one position; points that must come in order are done one by one.
    const double vectors = keeps_order(l) ? std::ceil(size / cost::kLanesOfVector) / size : 1;
    double sum = work * vectors;
    for (const Access& a : accesses_) {
      const IndexSpace::Step step = step_along(a.index, l);
      const double weight = a.is_store ? cost::kStoreWeight : 1;
      if (!step.known || (step.size != 0 && step.size != 1))
        sum += weight * (1 + vectors);
      else if (step.size == 1)
        sum += weight * vectors;
    }
    return sum;
  };
  std::size_t best = loops_.size() - 1;
  double least = cost(best);
  for (std::size_t l = loops_.size() - 1; l-- > 0;)
    if (const double c = cost(l); c < least && keeps_order(l)) {
      least = c;
      best = l;
    }
  return best;
}

// A loop along which something is contiguous that the innermost one jumps through: a transpose. The
// two then run over tiles, so that lines that are read are used up before they leave the cache.
std::size_t StageWriter::crossing(std::size_t inner) const {
  if (tile_of(loops_[inner]) == 0) return kNoLoop;
  for (const Access& a : accesses_) {
    const IndexSpace::Step jump = step_along(a.index, inner);
    if (!jump.known || jump.size < 16) continue;
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      const IndexSpace::Step step = step_along(a.index, l);
      if (l != inner && step.known && step.size == 1 && loops_[l].size > 1) return l;
    }
  }
  return kNoLoop;
}

// The loops around the innermost one. Where that is a short row of sums, those that the sums run
// over come last, so that the row stays in registers.
std::vector<std::size_t> StageWriter::outer_order(std::size_t inner, bool free) const {
  std::vector<std::size_t> order;
  std::int64_t points = 1;
  for (std::size_t l = 0; l < loops_.size(); ++l) {
    points *= loops_[l].size;
    if (l != inner) order.push_back(l);
  }
  if (!free || loops_[inner].size > cost::kShortRowOfSums || points > cost::kFewPoints)
    return order;
  std::stable_partition(order.begin(), order.end(), [&](std::size_t l) {
    return std::all_of(accesses_.begin(), accesses_.end(), [&](const Access& a) {
      const IndexSpace::Step step = step_along(a.index, l);
      return !a.is_update || !step.known || step.size != 0;
    });
  });
  return order;
}

Stage StageWriter::finish() {
  Stage stage;
  stage.statements = std::move(statements_);
  stage.nodes = nodes.nodes();
  const bool scans = std::any_of(stage.statements.begin(), stage.statements.end(),
                                 [](const auto& s) { return s.kind == Statement::Kind::scan; });
  const bool ordered = std::any_of(stage.statements.begin(), stage.statements.end(),
                                   [](const Statement& s) { return !s.any_order; });
  const bool free = !scans && !is_ordered_by_data() && loops_.size() > 1;
  if (loops_.empty()) return stage;
  const bool has_run = run_ < loops_.size();
  const std::size_t inner = has_run ? run_ : free ? innermost() : loops_.size() - 1;
  const std::size_t across = free && !ordered && !has_run ? crossing(inner) : kNoLoop;
  std::vector<std::uint32_t> number(loops_.size());  // new one by old one
  auto place = [&](std::size_t l, const StageLoop& loop) {
    number[l] = static_cast<std::uint32_t>(stage.loops.size());
    stage.loops.push_back(loop);
  };
  for (std::size_t l : outer_order(inner, free))
    if (l != across) place(l, loops_[l]);
  std::uint32_t tiles = 0;
  if (across != kNoLoop) {
    tiles = static_cast<std::uint32_t>(stage.loops.size());
    stage.loops.push_back({loops_[inner].size / tile_of(loops_[inner]), -1});
    place(across, loops_[across]);
    place(inner, {tile_of(loops_[inner]), -1});
  } else {
    place(inner, loops_[inner]);
  }
  for (Node& n : stage.nodes)
    if (n.kind == NodeKind::loop) n.number = number[n.number];
  if (across != kNoLoop)
    split_loop(stage, number[inner], tiles, number[inner], tile_of(loops_[inner]));
  return stage;
}

}  // namespace heddle
