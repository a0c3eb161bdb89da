// The order of a stage's loops: the innermost goes through memory step by step.
#include <algorithm>

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

// Where most accesses go on by one element; stores count for more.
std::size_t StageWriter::innermost() const {
  auto score = [&](std::size_t l) {
    // A window is short, and its sum should keep its order.
    if (loop_axes_[l] < 0) return -1e9;
    double sum = 0;
    for (const Access& a : accesses_) {
      const IndexSpace::Step step = space.step(a.index, loop_leaves_[l]);
      const double weight = a.is_store ? 1.5 : 1;
      if (!step.known || (step.size != 0 && step.size != 1)) sum -= 4 * weight;
      if (step.known && step.size == 1) sum += weight;
    }
    if (loops_[l].size < 16) sum -= (16 - static_cast<double>(loops_[l].size)) / 8;
    return sum;
  };
  std::size_t best = loops_.size() - 1;
  double most = score(best);
  for (std::size_t l = loops_.size() - 1; l-- > 0;)
    if (const double s = score(l); s > most) {
      most = s;
      best = l;
    }
  return best;
}

// A loop along which something is contiguous that the innermost one jumps through: a transpose. The
// two then run over tiles, so that lines that are read are used up before they leave the cache.
std::size_t StageWriter::crossing(std::size_t inner) const {
  if (tile_of(loops_[inner]) == 0) return kNoLoop;
  for (const Access& a : accesses_) {
    const IndexSpace::Step jump = space.step(a.index, loop_leaves_[inner]);
    if (!jump.known || jump.size < 16) continue;
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      const IndexSpace::Step step = space.step(a.index, loop_leaves_[l]);
      if (l != inner && step.known && step.size == 1 && loops_[l].size > 1) return l;
    }
  }
  return kNoLoop;
}

Stage StageWriter::finish() {
  Stage stage;
  stage.statements = std::move(statements_);
  stage.nodes = nodes.nodes();
  const bool ordered = std::any_of(stage.statements.begin(), stage.statements.end(),
                                   [](const Statement& s) { return !s.any_order; });
  const bool free = !ordered && loops_.size() > 1;
  if (loops_.empty()) return stage;
  const bool has_run = run_ < loops_.size();
  const std::size_t inner = has_run ? run_ : free ? innermost() : loops_.size() - 1;
  const std::size_t across = free && !has_run ? crossing(inner) : kNoLoop;
  std::vector<std::uint32_t> number(loops_.size());  // new one by old one
  auto place = [&](std::size_t l, const StageLoop& loop) {
    number[l] = static_cast<std::uint32_t>(stage.loops.size());
    stage.loops.push_back(loop);
  };
  for (std::size_t l = 0; l < loops_.size(); ++l)
    if (l != inner && l != across) place(l, loops_[l]);
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
