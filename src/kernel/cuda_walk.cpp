#include "kernel/cuda_walk.h"

#include <algorithm>

#include "kernel/cuda_resident.h"

namespace heddle {

namespace {

constexpr std::int64_t kManyWalkRows = 8;  // of a thread, to be worth it
constexpr std::int64_t kMostWalkUnits = 512;
// Longer rows whose columns are summed up fly (cuda_row_share.cpp).
constexpr std::int64_t kMostSummedUnits = 4 * kCudaWarp;
constexpr std::int64_t kWalkThreads = 1024;  // of a multiprocessor, each with 64 registers
constexpr int kWalkSpare = 32;               // where nothing has spilled yet
constexpr std::int64_t kMostWalkRows = 1LL << 30;
constexpr std::int64_t kMostWalkScratch = 16 << 10;  // bytes

class WalkStudy {
 public:
  WalkStudy(const Kernel& kernel, const Phase& phase, const CudaLimits& limits)
      : kernel_(kernel), limits_(limits) {
    made_.phase = phase;
  }

  std::optional<CudaWalk> made() {
    if (!has_rows()) return {};
    cut_rows();
    places_ = cuda_places(made_.phase, made_.stage());
    if (!loads_fit() || !statements_fit() || !shares_rows()) return {};
    return std::move(made_);
  }

 private:
  bool has_rows() const {
    const Phase& phase = made_.phase;
    if (phase.outer.size() != 1 || phase.stages.empty() || phase.outer[0].extent > kMostWalkRows ||
        kernel_.scratch_bytes > kMostWalkScratch)
      return false;
    for (std::size_t s = 0; s + 1 < phase.stages.size(); ++s)
      if (!is_of_columns(phase.stages[s])) return false;
    const auto& loops = phase.stages.back().loops;
    if (loops.size() == 1) return loops[0].block_of < 0 && phase.outer[0].block == 1 && asks();
    return loops.size() == 2 && loops[0].block_of == 0 && loops[1].block_of < 0;
  }
  // Rows that are put together of several: they cannot fly.
  bool asks() const {
    return std::ranges::any_of(made_.phase.stages.back().nodes, [](const Node& node) {
      return node.kind == NodeKind::load && node.in[1] != kNone;
    });
  }

  // The same for all rows, and for the block alone.
  bool is_of_columns(const Stage& stage) const {
    const auto is_outer = [](const Node& node) { return node.kind == NodeKind::outer; };
    const auto is_cut = [](const StageLoop& loop) { return loop.block_of >= 0; };
    if (std::ranges::any_of(stage.loops, is_cut) || std::ranges::any_of(stage.nodes, is_outer))
      return false;
    return std::ranges::all_of(stage.statements, [&](const Statement& statement) {
      return statement.kind == Statement::Kind::store &&
             kernel_.buffers[statement.buffers[0]].reach == Reach::block;
    });
  }

  // A loop over the one row of a block, and one over its columns.
  void cut_rows() {
    Stage& stage = made_.phase.stages.back();
    if (stage.loops.size() == 1) {
      stage.loops.insert(stage.loops.begin(), StageLoop{1, 0});
      for (Node& node : stage.nodes)
        if (node.kind == NodeKind::loop) ++node.number;
    }
    made_.phase.outer[0].block = 1;
    stage.loops[0].size = 1;
  }

  // Some belong to columns alone; nothing that is written is read.
  bool loads_fit() {
    const Stage& stage = made_.stage();
    const auto live = live_nodes(stage);
    for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
      const Node& node = stage.nodes[i];
      if (!live[i] || node.kind != NodeKind::load) continue;
      const auto& place = places_[node.in[0]];
      if (!place || std::abs(place->tile[1]) > 1 || is_written(node.number)) return false;
      if (kernel_.buffers[node.number].reach == Reach::block && place->outer[0] != 0) return false;
      has_columns_ = has_columns_ || (place->outer[0] == 0 && place->tile[1] == 1);
      if (place->outer[0] != 0) note_row_access(node.number);
    }
    return true;
  }
  void note_row_access(std::uint32_t buffer) {
    widest_ = std::max(widest_, byte_size(kernel_.buffers[buffer].dtype));
  }
  bool is_written(std::uint32_t buffer) const {
    return std::ranges::any_of(made_.stage().statements, [&](const Statement& statement) {
      return std::ranges::count(statement.buffers, buffer) > 0;
    });
  }

  bool statements_fit() {
    std::vector<std::uint32_t> buffers;
    for (const Statement& statement : made_.stage().statements) {
      if (statement.buffers.size() != 1 || !places_[statement.index]) return false;
      const std::uint32_t buffer = statement.buffers[0];
      if (kernel_.buffers[buffer].reach == Reach::block || std::ranges::count(buffers, buffer) > 0)
        return false;
      buffers.push_back(buffer);
      const CudaPlace& place = *places_[statement.index];
      if (place.tile[1] != 1) return false;
      const bool is_sum = statement.kind == Statement::Kind::update;
      made_.accumulated.push_back(is_sum);
      if (is_sum ? !sum_fits(statement, place) : !store_fits(statement, place)) return false;
      if (!is_sum) note_row_access(buffer);
    }
    const bool any = std::ranges::count(made_.accumulated, true) > 0;
    return made_.phase.chunks > 0 ? any : !any && has_columns_;
  }
  static bool sum_fits(const Statement& statement, const CudaPlace& place) {
    return statement.any_order && statement.guard == kNone && place.outer[0] == 0 &&
           statement.combiner.op != ScalarOp::none;
  }
  // Every row has elements of its own.
  bool store_fits(const Statement& statement, const CudaPlace& place) const {
    return statement.kind == Statement::Kind::store && statement.guard == kNone &&
           place.outer[0] >= made_.stage().loops[1].size;
  }

  bool shares_rows() {
    // Sums of many columns would take all registers.
    const auto sums_of_column = std::ranges::count(made_.accumulated, true);
    const int wanted =
        static_cast<int>(std::min(kCudaAccess / widest_, sums_of_column > 2 ? 4L : 8L));
    made_.vectors = cuda_vectors(kernel_, made_.phase, made_.stage(), std::max(wanted, 1));
    made_.units = made_.stage().loops[1].size / made_.vectors.count;
    const bool sums = made_.phase.chunks > 0;
    if (made_.units < 2 || made_.units > (sums && !asks() ? kMostSummedUnits : kMostWalkUnits))
      return false;
    const std::int64_t abreast = std::max<std::int64_t>(kCudaThreads / made_.units, 1);
    made_.threads =
        static_cast<int>((abreast * made_.units + kCudaWarp - 1) / kCudaWarp * kCudaWarp);
    const std::int64_t at_once = std::max<std::int64_t>(kWalkThreads / made_.threads, 1);
    made_.at_once = limits_.spare_registers > kWalkSpare ? 1 : static_cast<int>(at_once);
    const std::int64_t most =
        sums ? made_.phase.chunks : 2 * at_once * std::int64_t{limits_.multiprocessors};
    made_.grid = std::min(most, made_.rows() / (abreast * kManyWalkRows));
    if (sums && made_.grid < made_.phase.chunks) return false;
    return made_.grid >= limits_.multiprocessors;
  }

  const Kernel& kernel_;
  const CudaLimits& limits_;
  CudaWalk made_;
  std::vector<std::optional<CudaPlace>> places_;  // by node
  bool has_columns_ = false;
  int widest_ = 1;  // bytes
};

}  // namespace

std::int64_t CudaWalk::part_bytes(const Kernel& kernel) const {
  if (phase.chunks == 0) return 0;
  std::int64_t bytes = 4;
  for (std::size_t s = 0; s < stage().statements.size(); ++s)
    if (accumulated[s])
      bytes = std::max<std::int64_t>(
          bytes, byte_size(kernel.buffers[stage().statements[s].buffers[0]].dtype));
  return abreast() * columns() * bytes;
}

std::optional<CudaWalk> cuda_walk(const Kernel& kernel, const Phase& phase,
                                  const CudaLimits& limits) {
  return WalkStudy(kernel, phase, limits).made();
}

}  // namespace heddle
