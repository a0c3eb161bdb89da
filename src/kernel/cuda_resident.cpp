#include "kernel/cuda_resident.h"

#include <algorithm>
#include <span>

#include "kernel/rows_apart.h"

namespace heddle {

namespace {

constexpr std::int64_t kFewPoints = 16;  // of a row: not worth a group of threads
constexpr std::int64_t kMostUnits = 1LL << 28;

// One row to a block. Only what each stage says of its block's rows is cut.
std::optional<Phase> one_row_blocks(const Phase& phase) {
  Phase made = phase;
  for (std::size_t o = 0; o < phase.outer.size(); ++o) {
    if (phase.outer[o].block == 1) continue;
    made.outer[o].block = 1;
    for (Stage& stage : made.stages) {
      bool has_loop = false;
      for (StageLoop& loop : stage.loops)
        if (loop.block_of == static_cast<int>(o)) {
          has_loop = true;
          loop.size = 1;
        }
      const bool asks = std::ranges::any_of(stage.nodes, [&](const Node& node) {
        return node.kind == NodeKind::outer && node.number == o;
      });
      if (asks && !has_loop) return {};
    }
  }
  return made;
}

// What the stages of a phase do with one buffer.
struct Use {
  std::optional<CudaPlace> place;  // of all accesses
  bool differs = false;            // or unknown: there is no such place
  bool loaded = false, stored = false, updated = false, by_segment = false;
  std::size_t least_depth = SIZE_MAX;  // of the stages: loops of the tile that they have
  ScalarOp op = ScalarOp::none;
};

class Study {
 public:
  Study(const Kernel& kernel, const CudaLimits& limits, Phase phase)
      : kernel_(kernel), limits_(limits) {
    made_.phase = std::move(phase);
  }

  std::optional<CudaResident> made() {
    if (!find_tile() || !look_at_all() || !find_homes() || !is_worth_it()) return {};
    if (!share_rows(kernel_, limits_, made_)) return {};
    return std::move(made_);
  }

 private:
  // ---- what is there

  bool find_tile() {
    for (const Stage& stage : made_.phase.stages) {
      const auto sizes = tile_sizes(stage);
      if (sizes.size() > made_.tile.size()) made_.tile = sizes;
    }
    for (const Stage& stage : made_.phase.stages) {
      const auto sizes = tile_sizes(stage);
      if (!std::ranges::equal(sizes, std::span(made_.tile).first(sizes.size()))) return false;
      if (has_points(made_, stage)) ++tile_stages_;
    }
    std::int64_t points = 1;
    for (std::int64_t size : made_.tile)
      if (__builtin_mul_overflow(points, size, &points)) return false;
    return points >= kFewPoints && points <= kMostUnits;
  }

  static std::vector<std::int64_t> tile_sizes(const Stage& stage) {
    std::vector<std::int64_t> sizes;
    for (std::size_t i : tile_loops(stage)) sizes.push_back(stage.loops[i].size);
    return sizes;
  }

  bool look_at_all() {
    uses_.resize(kernel_.buffers.size());
    for (const Stage& stage : made_.phase.stages)
      if (!look_at(stage)) return false;
    return true;
  }

  bool look_at(const Stage& stage) {
    const std::size_t depth = tile_loops(stage).size();
    const bool in_row = depth == 0, in_segments = has_segments(made_, stage);
    const auto places = cuda_places(made_, stage);
    const auto live = live_nodes(stage);
    for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
      const Node& node = stage.nodes[i];
      if (!live[i] || node.kind != NodeKind::load) continue;
      note(node.number, places[node.in[0]], depth).loaded = true;
      if (!reads_neighbours(node.number, places[node.in[0]])) return false;
    }
    for (const Statement& statement : stage.statements) {
      if (statement.kind == Statement::Kind::scan || statement.buffers.size() != 1) return false;
      Use& use = note(statement.buffers[0], places[statement.index], depth);
      if (in_segments && !is_apart(places[statement.index], depth)) return false;
      if (!reads_neighbours(statement.buffers[0], places[statement.index])) return false;
      if (statement.kind == Statement::Kind::store) {
        use.stored = true;
        // Points that write one element.
        if (!in_row && !is_apart(places[statement.index], depth) &&
            (!statement.any_order || !places[statement.index]))
          return false;
        continue;
      }
      use.updated = true;
      if (statement.combiner.op == ScalarOp::none || !statement.any_order) return false;
      if (use.op != ScalarOp::none && use.op != statement.combiner.op) return false;
      use.op = statement.combiner.op;
      if (!places[statement.index]) return false;
      if (in_row || is_apart(places[statement.index], depth)) continue;
      use.by_segment = is_segment(places[statement.index]);
      if (!use.by_segment && (!places[statement.index]->is_same_for_all_points() ||
                              differs_along_row(stage)[statement.index]))
        return false;
    }
    return true;
  }

  // Neighbouring threads have neighbouring points, which should be neighbours in memory.
  bool reads_neighbours(std::uint32_t buffer, const std::optional<CudaPlace>& place) const {
    if (kernel_.buffers[buffer].reach == Reach::block || !place) return true;
    return std::abs(place->tile.back()) <= 1;
  }

  Use& note(std::uint32_t buffer, const std::optional<CudaPlace>& place, std::size_t depth) {
    Use& use = uses_[buffer];
    use.least_depth = std::min(use.least_depth, depth);
    if (!place || (use.place && *use.place != *place)) use.differs = true;
    if (!use.place) use.place = place;
    return use;
  }

  // Whether no two positions along the first loops of the tile have the same place.
  bool is_apart(const std::optional<CudaPlace>& place, std::size_t depth) const {
    if (!place) return false;
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;
    for (std::size_t i = 0; i < depth; ++i)
      steps.emplace_back(std::abs(place->tile[i]), made_.tile[i]);
    std::ranges::sort(steps);
    std::int64_t reach = 0;
    for (const auto& [factor, size] : steps) {
      if (factor <= reach) return false;
      reach += factor * (size - 1);
    }
    return true;
  }

  // Of all points.
  bool is_apart(const std::optional<CudaPlace>& place) const {
    return is_apart(place, made_.tile.size());
  }
  // Whether just the points of a segment have the same place.
  bool is_segment(const std::optional<CudaPlace>& place) const {
    return place && place->depth() > 0 && place->depth() < made_.tile.size() &&
           is_apart(place, place->depth());
  }

  // ---- homes

  bool find_homes() {
    made_.homes.assign(kernel_.buffers.size(), CudaHome::memory);
    for (std::size_t b = 0; b < uses_.size(); ++b) {
      const Use& use = uses_[b];
      if (!use.loaded && !use.stored && !use.updated) continue;
      const Reach reach = kernel_.buffers[b].reach;
      const bool is_written = use.stored || use.updated;
      const bool is_everywhere =
          use.place && std::ranges::all_of(use.place->outer, [](auto f) { return f == 0; });
      if (reach == Reach::block) {
        if (use.differs) return false;
        if (use.place->is_same_for_all_points())
          made_.homes[b] = CudaHome::row;
        else if (is_apart(use.place) && use.least_depth == made_.tile.size())
          made_.homes[b] = CudaHome::column;
        else if (is_segment(use.place) && use.least_depth >= use.place->depth())
          made_.homes[b] = CudaHome::segment;
        else
          return false;
        continue;
      }
      if (use.by_segment) return false;
      if (!is_written) continue;
      if (made_.phase.chunks > 0 && use.updated && is_everywhere) {
        if (use.differs || use.loaded || use.stored) return false;
        if (!is_apart(use.place) && !use.place->is_same_for_all_points()) return false;
        made_.homes[b] =
            use.place->is_same_for_all_points() ? CudaHome::chunk_row : CudaHome::chunk_column;
        continue;
      }
      // A thread finds what it wrote itself; nobody else's.
      if (use.loaded &&
          (use.differs || use.least_depth < made_.tile.size() || !is_apart(use.place)))
        return false;
      if (use.updated && use.differs) return false;
    }
    return begins_fit();
  }

  // What stands before a chunk's rows gives its variables their first values.
  bool begins_fit() const {
    std::vector<bool> begun(kernel_.buffers.size(), false);
    for (const Stage& stage : made_.phase.begin) {
      const auto sizes = tile_sizes(stage);
      const auto places = cuda_places(made_, stage);
      for (const Statement& statement : stage.statements) {
        if (statement.kind != Statement::Kind::store || statement.guard != kNone) return false;
        const std::uint32_t buffer = statement.buffers[0];
        const CudaHome home = made_.homes[buffer];
        if (home != CudaHome::chunk_row && home != CudaHome::chunk_column) return false;
        if (places[statement.index] != uses_[buffer].place) return false;
        if (home == CudaHome::chunk_row ? !sizes.empty() : sizes != made_.tile) return false;
      }
      for (const Statement& statement : stage.statements) begun[statement.buffers[0]] = true;
      for (const Node& node : stage.nodes)
        if (node.kind == NodeKind::load) return false;
    }
    for (std::size_t b = 0; b < begun.size(); ++b) {
      const CudaHome home = made_.homes[b];
      if ((home == CudaHome::chunk_row || home == CudaHome::chunk_column) && !begun[b])
        return false;
    }
    return true;
  }

  // Plain element-wise work is dealt out better by elements.
  bool is_worth_it() const {
    const bool sums = std::ranges::any_of(uses_, [](const Use& use) { return use.updated; });
    return sums || tile_stages_ > 1;
  }

  const Kernel& kernel_;
  const CudaLimits& limits_;
  CudaResident made_;
  std::vector<Use> uses_;  // by buffer
  int tile_stages_ = 0;
};

}  // namespace

Round CudaResident::round() const {
  return Round({{{RoundAxis::thread, rows(), group}},
                {{RoundAxis::reg, static_cast<int>(turns())},
                 {RoundAxis::thread, group},
                 {RoundAxis::vec, vector}}});
}

std::optional<CudaResident> cuda_resident(const Kernel& kernel, const Phase& phase,
                                          const CudaLimits& limits) {
  auto rows = one_row_blocks(with_rows_apart(kernel, phase));
  if (!rows) return {};
  return Study(kernel, limits, *std::move(rows)).made();
}

}  // namespace heddle
