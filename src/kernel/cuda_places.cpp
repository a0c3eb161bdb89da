// What stages say of rows: which loops run over their points, and where accesses lie.
#include <algorithm>
#include <numeric>

#include "kernel/cuda_resident.h"

namespace heddle {

namespace {

bool is_tile_loop(const StageLoop& loop) { return loop.block_of < 0 && loop.size > 1; }

class Places {
 public:
  // `loops`: those that count, in the order of the place's factors.
  Places(std::size_t tile, std::size_t outer, const Stage& stage, std::vector<std::size_t> loops)
      : tile_(tile), outer_(outer), loops_(std::move(loops)) {
    for (const Node& node : stage.nodes) places_.push_back(of(node));
  }
  std::vector<std::optional<CudaPlace>> take() { return std::move(places_); }

 private:
  std::optional<CudaPlace> of(const Node& node) const {
    CudaPlace place{std::vector<std::int64_t>(tile_, 0), std::vector<std::int64_t>(outer_, 0)};
    if (node.type != DType::i64) return {};
    switch (node.kind) {
      case NodeKind::constant:
        place.constant = static_cast<std::int64_t>(node.bits);
        return place;
      case NodeKind::outer:
        place.outer[node.number] = 1;
        return place;
      case NodeKind::chunk:
        place.chunk = 1;
        return place;
      case NodeKind::loop: {
        const auto at = std::ranges::find(loops_, std::size_t{node.number});
        if (at != loops_.end()) place.tile[static_cast<std::size_t>(at - loops_.begin())] = 1;
        return place;
      }
      case NodeKind::scalar:
        return combined(node, place);
      default:
        return {};
    }
  }

  std::optional<CudaPlace> combined(const Node& node, const CudaPlace& zero) const {
    const bool adds = node.op == ScalarOp::add, subtracts = node.op == ScalarOp::subtract;
    if (!adds && !subtracts && node.op != ScalarOp::multiply) return {};
    const auto &a = places_[node.in[0]], &b = places_[node.in[1]];
    if (!a || !b) return {};
    if (adds || subtracts) return sum(*a, *b, subtracts ? -1 : 1);
    const auto only_constant = [&](CudaPlace place) {
      place.constant = 0;
      return place == zero;
    };
    if (only_constant(*b)) return sum(zero, *a, b->constant);
    if (only_constant(*a)) return sum(zero, *b, a->constant);
    return {};
  }

  static std::optional<CudaPlace> sum(CudaPlace a, const CudaPlace& b, std::int64_t factor) {
    bool fine = true;
    const auto add = [&](std::int64_t& to, std::int64_t from) {
      fine = fine && !__builtin_mul_overflow(from, factor, &from) &&
             !__builtin_add_overflow(to, from, &to);
    };
    for (std::size_t i = 0; i < a.tile.size(); ++i) add(a.tile[i], b.tile[i]);
    for (std::size_t i = 0; i < a.outer.size(); ++i) add(a.outer[i], b.outer[i]);
    add(a.chunk, b.chunk);
    add(a.constant, b.constant);
    if (!fine) return {};
    return a;
  }

  const std::size_t tile_, outer_;
  const std::vector<std::size_t> loops_;
  std::vector<std::optional<CudaPlace>> places_;
};

}  // namespace

bool CudaPlace::is_same_for_all_points() const {
  return std::ranges::all_of(tile, [](std::int64_t factor) { return factor == 0; });
}

std::size_t CudaPlace::depth() const {
  std::size_t depth = tile.size();
  while (depth > 0 && tile[depth - 1] == 0) --depth;
  return depth;
}

std::int64_t CudaResident::segment(std::size_t depth) const {
  std::int64_t points = 1;
  for (std::size_t i = depth; i < tile.size(); ++i) points *= tile[i];
  return points / vector;
}

bool has_points(const CudaResident& resident, const Stage& stage) {
  return !resident.tile.empty() && tile_loops(stage).size() == resident.tile.size();
}

bool has_segments(const CudaResident& resident, const Stage& stage) {
  const std::size_t depth = tile_loops(stage).size();
  return depth > 0 && depth < resident.tile.size();
}

std::vector<std::size_t> tile_loops(const Stage& stage) {
  std::vector<std::size_t> loops;
  for (std::size_t i = 0; i < stage.loops.size(); ++i)
    if (is_tile_loop(stage.loops[i])) loops.push_back(i);
  return loops;
}

std::vector<std::optional<CudaPlace>> cuda_places(const CudaResident& resident,
                                                  const Stage& stage) {
  return Places(resident.tile.size(), resident.phase.outer.size(), stage, tile_loops(stage)).take();
}

std::vector<std::optional<CudaPlace>> cuda_places(const Phase& phase, const Stage& stage) {
  std::vector<std::size_t> loops(stage.loops.size());
  std::iota(loops.begin(), loops.end(), std::size_t{0});
  return Places(loops.size(), phase.outer.size(), stage, loops).take();
}

std::vector<bool> live_nodes(const Stage& stage, const std::vector<bool>& known) {
  std::vector<bool> live(stage.nodes.size(), false);
  const auto mark = [&](NodeId id) {
    if (id != kNone) live[id] = true;
  };
  for (const Statement& statement : stage.statements) {
    mark(statement.index);
    mark(statement.guard);
    mark(statement.scan_index);
    for (NodeId value : statement.values) mark(value);
  }
  for (std::size_t i = live.size(); i-- > 0;)
    if (live[i] && (known.empty() || !known[i]))
      for (NodeId in : stage.nodes[i].in) mark(in);
  return live;
}

std::vector<bool> differs_along_row(const Stage& stage) {
  const auto loops = tile_loops(stage);
  std::vector<bool> differs;
  for (const Node& node : stage.nodes) {
    bool own = node.kind == NodeKind::loop &&
               std::ranges::find(loops, std::size_t{node.number}) != loops.end();
    for (NodeId in : node.in) own = own || (in != kNone && differs[in]);
    differs.push_back(own);
  }
  return differs;
}

}  // namespace heddle
