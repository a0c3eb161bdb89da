#include "kernel/cuda_resident.h"

#include <algorithm>
#include <bit>

#include "kernel/emit_cuda_stage.h"

namespace heddle {

namespace {

constexpr int kMostThreads = 1024;
constexpr std::int64_t kFewPoints = 16;  // of a row: not worth a group of threads
constexpr std::int64_t kMostUnits = 1LL << 28;
// Registers of a thread for what it keeps, in words.
constexpr std::int64_t kEasyWords = 24, kShortWords = 36, kMostWords = 72, kMostWordsOfMany = 28;
// Of a multiprocessor.
constexpr std::int64_t kRegisters = 64 << 10, kMostResident = 2048;

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
  bool loaded = false, stored = false, updated = false, in_row_stage = false;
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
    find_vectors();
    find_kept();
    if (!share()) return {};
    return std::move(made_);
  }

 private:
  // ---- what is there

  bool find_tile() {
    for (const Stage& stage : made_.phase.stages) {
      std::vector<std::int64_t> sizes;
      for (std::size_t i : tile_loops(stage)) sizes.push_back(stage.loops[i].size);
      if (sizes.empty()) continue;
      ++tile_stages_;
      if (made_.tile.empty()) made_.tile = sizes;
      if (made_.tile != sizes) return false;
    }
    std::int64_t points = 1;
    for (std::int64_t size : made_.tile)
      if (__builtin_mul_overflow(points, size, &points)) return false;
    points_ = points;
    return points >= kFewPoints && points <= kMostUnits;
  }

  bool look_at_all() {
    uses_.resize(kernel_.buffers.size());
    for (const Stage& stage : made_.phase.stages)
      if (!look_at(stage)) return false;
    return true;
  }

  bool look_at(const Stage& stage) {
    const bool in_row = tile_loops(stage).empty();
    const auto places = cuda_places(made_, stage);
    const auto live = live_nodes(stage);
    for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
      const Node& node = stage.nodes[i];
      if (!live[i] || node.kind != NodeKind::load) continue;
      note(node.number, places[node.in[0]], in_row).loaded = true;
      if (!reads_neighbours(node.number, places[node.in[0]])) return false;
    }
    for (const Statement& statement : stage.statements) {
      if (statement.kind == Statement::Kind::scan || statement.buffers.size() != 1) return false;
      Use& use = note(statement.buffers[0], places[statement.index], in_row);
      if (!reads_neighbours(statement.buffers[0], places[statement.index])) return false;
      if (statement.kind == Statement::Kind::store) {
        use.stored = true;
        // Points that write one element.
        if (!in_row && !is_apart(places[statement.index]) &&
            (!statement.any_order || !places[statement.index]))
          return false;
        continue;
      }
      use.updated = true;
      if (statement.combiner.op == ScalarOp::none || !statement.any_order) return false;
      if (use.op != ScalarOp::none && use.op != statement.combiner.op) return false;
      use.op = statement.combiner.op;
      if (!places[statement.index]) return false;
      if (!in_row && !is_apart(places[statement.index]) &&
          (!places[statement.index]->is_same_for_all_points() ||
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

  Use& note(std::uint32_t buffer, const std::optional<CudaPlace>& place, bool in_row) {
    Use& use = uses_[buffer];
    use.in_row_stage = use.in_row_stage || in_row;
    if (!place || (use.place && *use.place != *place)) use.differs = true;
    if (!use.place) use.place = place;
    return use;
  }

  // Whether no two points of a row have the same place.
  bool is_apart(const std::optional<CudaPlace>& place) const {
    if (!place) return false;
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;
    for (std::size_t i = 0; i < made_.tile.size(); ++i)
      steps.emplace_back(std::abs(place->tile[i]), made_.tile[i]);
    std::ranges::sort(steps);
    std::int64_t reach = 0;
    for (const auto& [factor, size] : steps) {
      if (factor <= reach) return false;
      reach += factor * (size - 1);
    }
    return true;
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
        else if (is_apart(use.place) && !use.in_row_stage)
          made_.homes[b] = CudaHome::column;
        else
          return false;
        continue;
      }
      if (!is_written) continue;
      if (made_.phase.chunks > 0 && use.updated && is_everywhere) {
        if (use.differs || use.loaded || use.stored) return false;
        if (!is_apart(use.place) && !use.place->is_same_for_all_points()) return false;
        made_.homes[b] =
            use.place->is_same_for_all_points() ? CudaHome::chunk_row : CudaHome::chunk_column;
        continue;
      }
      // A thread finds what it wrote itself; nobody else's.
      if (use.loaded && (use.differs || use.in_row_stage || !is_apart(use.place))) return false;
      if (use.updated && use.differs) return false;
    }
    return begins_fit();
  }

  // What stands before a chunk's rows gives its variables their first values.
  bool begins_fit() const {
    std::vector<bool> begun(kernel_.buffers.size(), false);
    for (const Stage& stage : made_.phase.begin) {
      std::vector<std::int64_t> sizes;
      for (std::size_t i : tile_loops(stage)) sizes.push_back(stage.loops[i].size);
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

  // ---- how threads share it

  void find_vectors() {
    int most = 1;
    for (const Stage& stage : made_.phase.stages)
      if (!tile_loops(stage).empty() && tile_loops(stage).back() + 1 == stage.loops.size())
        most = std::max(most, cuda_vectors(kernel_, made_.phase, stage).count);
    for (const Stage& stage : made_.phase.stages) {
      if (tile_loops(stage).empty()) continue;
      if (tile_loops(stage).back() + 1 != stage.loops.size()) most = 1;
    }
    made_.vector = most;
    made_.units = points_ / most;
  }

  void find_kept() {
    std::vector<std::pair<CudaKeptLoad, int>> seen;  // and the last stage that has it
    int number = 0;
    for (const Stage& stage : made_.phase.stages) {
      ++number;
      if (tile_loops(stage).empty()) continue;
      const auto places = cuda_places(made_, stage);
      const auto live = live_nodes(stage);
      const auto vectors = cuda_vectors(kernel_, made_.phase, stage, made_.vector);
      for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
        const Node& node = stage.nodes[i];
        if (!live[i] || node.kind != NodeKind::load || node.in[1] != kNone) continue;
        if (made_.vector > 1 && !vectors.loads[i]) continue;
        if (kernel_.buffers[node.number].reach != Reach::input) continue;
        const auto& place = places[node.in[0]];
        if (!place || place->is_same_for_all_points()) continue;
        const CudaKeptLoad load{node.number, *place};
        const auto at = std::ranges::find_if(seen, [&](const auto& s) {
          return s.first.buffer == load.buffer && s.first.place == load.place;
        });
        if (at == seen.end()) {
          seen.emplace_back(load, number);
        } else if (at->second != number) {
          at->second = number;
          const bool is_new = std::ranges::none_of(made_.kept, [&](const CudaKeptLoad& k) {
            return k.buffer == load.buffer && k.place == load.place;
          });
          if (is_new) made_.kept.push_back(load);
        }
      }
    }
  }

  // ---- how many registers that takes

  std::int64_t bytes_of(std::size_t buffer) const {
    return static_cast<std::int64_t>(byte_size(kernel_.buffers[buffer].dtype));
  }
  // Of one point: the most between two stages, and what a chunk holds all the time.
  std::int64_t bytes_kept() const {
    const std::size_t count = made_.phase.stages.size();
    struct Life {
      std::size_t first = SIZE_MAX, last = 0;
      std::int64_t bytes = 0;
      void add(std::size_t stage) {
        first = std::min(first, stage);
        last = std::max(last, stage);
      }
    };
    std::vector<Life> lives(made_.kept.size() + made_.homes.size());
    for (std::size_t k = 0; k < made_.kept.size(); ++k)
      lives[k].bytes = bytes_of(made_.kept[k].buffer);
    for (std::size_t b = 0; b < made_.homes.size(); ++b)
      if (made_.homes[b] == CudaHome::column)
        lives[made_.kept.size() + b].bytes = std::max<std::int64_t>(bytes_of(b), 4);
    for (std::size_t s = 0; s < count; ++s) {
      const Stage& stage = made_.phase.stages[s];
      const auto places = cuda_places(made_, stage);
      const auto live = live_nodes(stage);
      for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
        const Node& node = stage.nodes[i];
        if (!live[i] || node.kind != NodeKind::load) continue;
        lives[made_.kept.size() + node.number].add(s);
        for (std::size_t k = 0; k < made_.kept.size(); ++k)
          if (made_.kept[k].buffer == node.number && places[node.in[0]] == made_.kept[k].place)
            lives[k].add(s);
      }
      for (const Statement& statement : stage.statements)
        lives[made_.kept.size() + statement.buffers[0]].add(s);
    }
    std::int64_t most = 0;
    for (std::size_t s = 0; s + 1 < count; ++s) {
      std::int64_t bytes = 0;
      for (const Life& life : lives)
        if (life.first <= s && life.last > s) bytes += life.bytes;
      most = std::max(most, bytes);
    }
    return most + bytes_held();
  }
  std::int64_t bytes_held() const {
    std::int64_t bytes = 0;
    for (std::size_t b = 0; b < made_.homes.size(); ++b)
      if (made_.homes[b] == CudaHome::chunk_column) bytes += std::max<std::int64_t>(bytes_of(b), 4);
    return bytes;
  }

  // ---- how threads share a row

  std::int64_t words(std::int64_t threads, std::int64_t bytes) const {
    return (made_.units + threads - 1) / threads * made_.vector * bytes / 4;
  }

  bool set(int group, int cluster, std::int64_t bytes) {
    made_.group = group;
    made_.cluster = cluster;
    made_.threads = group <= kCudaWarp && made_.phase.chunks == 0 ? kCudaThreads : group;
    const std::int64_t registers =
        words(std::int64_t{group} * cluster, bytes) + limits_.spare_registers;
    const std::int64_t room = std::min(kRegisters / registers, kMostResident);
    made_.at_once = static_cast<int>(std::max<std::int64_t>(room / made_.threads, 1));
    return true;
  }

  // The smallest group whose threads can keep their points; few rows have many threads each.
  bool share() {
    const std::int64_t bytes = bytes_kept();
    const bool in_chunks = made_.phase.chunks > 0;
    const std::int64_t rows =
        std::max<std::int64_t>(in_chunks ? made_.phase.chunks : made_.phase.blocks(), 1);
    const auto needed = std::bit_ceil(static_cast<std::uint64_t>(made_.units));
    if (in_chunks && needed <= kCudaThreads && words(kCudaThreads, bytes) <= kEasyWords)
      return set(std::max(kCudaWarp, static_cast<int>(needed)), 1, bytes);
    const bool is_short = made_.units <= kCudaWarp * 4 && words(kCudaWarp, bytes) <= kShortWords;
    const bool fills = rows * kCudaWarp >= std::int64_t{limits_.multiprocessors} * kCudaThreads;
    if (is_short && !in_chunks && (fills || made_.units <= kCudaWarp))
      return set(static_cast<int>(std::min<std::uint64_t>(needed, kCudaWarp)), 1, bytes);
    constexpr int kLarge = kMostThreads / 2;
    for (int group = 2 * kCudaWarp; group <= kLarge; group *= 2) {
      if (words(group, bytes) > kEasyWords) continue;
      const bool few = rows * group < std::int64_t{limits_.multiprocessors} * kLarge;
      if (few && group < kLarge && made_.units > group) continue;
      return set(group, 1, bytes);
    }
    if (limits_.clusters)
      for (const auto& [group, cluster] : {std::pair(kLarge, 2), std::pair(kLarge, 4),
                                           std::pair(kLarge, 8), std::pair(kMostThreads, 8)})
        if (words(std::int64_t{group} * cluster, bytes) <= kEasyWords)
          return set(group, cluster, bytes);
    if (words(kMostThreads, bytes) <= kMostWordsOfMany) return set(kMostThreads, 1, bytes);
    if (words(kLarge, bytes) <= kMostWords) return set(kLarge, 1, bytes);
    made_.kept.clear();
    made_.in_registers = false;
    if (words(kMostThreads, bytes_held()) > kMostWordsOfMany) return false;
    return set(kMostThreads, 1, bytes_held());
  }

  const Kernel& kernel_;
  const CudaLimits& limits_;
  CudaResident made_;
  std::vector<Use> uses_;  // by buffer
  std::int64_t points_ = 1;
  int tile_stages_ = 0;
};

}  // namespace

std::optional<CudaResident> cuda_resident(const Kernel& kernel, const Phase& phase,
                                          const CudaLimits& limits) {
  auto rows = one_row_blocks(phase);
  if (!rows) return {};
  return Study(kernel, limits, *std::move(rows)).made();
}

}  // namespace heddle
