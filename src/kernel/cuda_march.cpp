#include "kernel/cuda_march.h"

#include <algorithm>

#include "kernel/cuda_resident.h"

namespace heddle {

namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 60;
constexpr std::int64_t kMostHeld = 6;                        // rows of an input
constexpr std::int64_t kMostPlaces = std::int64_t{1} << 28;  // rows and columns: in 32 bits

class MarchStudy {
 public:
  MarchStudy(const Kernel& kernel, const Phase& phase) : kernel_(kernel), phase_(phase) {}

  std::optional<CudaMarch> run() {
    if (phase_.chunks > 0 || phase_.outer.size() != 1 || !phase_.begin.empty() ||
        phase_.stages.size() < 2 || phase_.outer[0].extent > kMostPlaces)
      return {};
    made_.row_end = made_.column_end = kFar;
    made_.least_row = made_.least_column = -kFar;
    for (std::size_t s = 0; s < phase_.stages.size(); ++s)
      if (!look_at(phase_.stages[s], s + 1 == phase_.stages.size())) return {};
    find_windows();
    find_lanes();
    if (made_.lanes() < kCudaWarp / 2) return {};
    return std::move(made_);
  }

 private:
  // ---- a stage

  bool look_at(const Stage& stage, bool is_last) {
    if (stage.loops.size() != 2 || stage.statements.size() != 1 || stage.loops[1].block_of >= 0 ||
        stage.loops[1].size > kMostPlaces)
      return false;
    if (is_last && stage.loops[0].block_of != 0) return false;
    const Statement& statement = stage.statements[0];
    const KernelBuffer& to = kernel_.buffers[statement.buffers[0]];
    if (statement.kind != Statement::Kind::store || to.dtype != DType::f32) return false;
    const auto places = cuda_places(phase_, stage);
    const std::int64_t columns = stage.loops[1].size;
    if (to.reach != (is_last ? Reach::output : Reach::block) ||
        places[statement.index] != whole_rows(columns, is_last))
      return false;
    CudaMarch::Step step;
    step.loads.resize(stage.nodes.size());
    for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
      const Node& node = stage.nodes[i];
      if (node.kind != NodeKind::load || !places[node.in[0]]) {
        if (node.kind == NodeKind::load) return false;
        continue;
      }
      if (!look_at_load(node, *places[node.in[0]], step.loads[i])) return false;
    }
    step.lag = lag_of(step);
    find_sure(stage, places, step);
    made_.columns = columns;
    if (!is_last) {
      step.source = made_.sources.size();
      made_.sources.push_back(
          {.buffer = statement.buffers[0], .columns = columns, .lag = step.lag});
    }
    made_.steps.push_back(std::move(step));
    return true;
  }

  static CudaPlace whole_rows(std::int64_t columns, bool of_outer) {
    return {.tile = {columns, 1}, .outer = {of_outer ? columns : 0}};
  }

  // A load of one element for all is left as it is.
  bool look_at_load(const Node& node, const CudaPlace& place,
                    std::optional<CudaMarch::Load>& load) {
    const KernelBuffer& buffer = kernel_.buffers[node.number];
    const bool is_input = buffer.reach == Reach::input;
    if (is_input && place.is_same_for_all_points() && place.outer[0] == 0) return true;
    const std::int64_t columns = place.tile[0];
    CudaPlace own = place;
    own.constant = 0;
    if (columns < 4 * CudaMarch::kColumns || own != whole_rows(columns, is_input) ||
        buffer.dtype != DType::f32)
      return false;
    const std::int64_t from_middle = place.constant + columns / 2;
    const std::int64_t row =
        from_middle >= 0 ? from_middle / columns : -((columns - 1 - from_middle) / columns);
    const std::int64_t column = place.constant - row * columns;
    if (std::abs(column) > CudaMarch::kColumns) return false;
    const std::size_t source = source_of(node.number, is_input, columns);
    if (source == SIZE_MAX) return false;
    load = {source, row, column};
    return true;
  }

  std::size_t source_of(std::uint32_t buffer, bool is_input, std::int64_t columns) {
    for (std::size_t k = 0; k < made_.sources.size(); ++k)
      if (made_.sources[k].buffer == buffer)
        return made_.sources[k].columns == columns ? k : SIZE_MAX;
    if (!is_input) return SIZE_MAX;
    made_.sources.push_back({.buffer = buffer,
                             .rows = kernel_.buffers[buffer].elements / columns,
                             .columns = columns,
                             .is_input = true});
    return made_.sources.size() - 1;
  }

  // As late as the newest row that it needs.
  std::int64_t lag_of(const CudaMarch::Step& step) const {
    std::int64_t lag = -kFar;
    for (const auto& load : step.loads)
      if (load) lag = std::max(lag, made_.sources[load->source].lag + load->row);
    return lag == -kFar ? 0 : lag;
  }

  // ---- where guards hold

  void find_sure(const Stage& stage, const std::vector<std::optional<CudaPlace>>& places,
                 CudaMarch::Step& step) {
    for (const Node& node : stage.nodes) {
      const bool both = node.kind == NodeKind::scalar && node.type == DType::i1 &&
                        node.op == ScalarOp::bit_and && step.sure[node.in[0]] &&
                        step.sure[node.in[1]];
      step.sure.push_back(both || is_border(stage, node, places, step.lag));
    }
  }

  // A row or a column beside a number.
  bool is_border(const Stage& stage, const Node& node,
                 const std::vector<std::optional<CudaPlace>>& places, std::int64_t lag) {
    const bool least = node.op == ScalarOp::greater_equal, end = node.op == ScalarOp::less;
    if (node.kind != NodeKind::scalar || (!least && !end)) return false;
    const Node& right = stage.nodes[node.in[1]];
    const auto& place = places[node.in[0]];
    if (!place || right.kind != NodeKind::constant || right.type != DType::i64) return false;
    const std::int64_t bound = static_cast<std::int64_t>(right.bits) - place->constant;
    if (place->tile == std::vector<std::int64_t>{1, 0} && place->outer[0] == 1)
      least ? made_.least_row = std::max(made_.least_row, bound + lag)
            : made_.row_end = std::min(made_.row_end, bound + lag);
    else if (place->tile == std::vector<std::int64_t>{0, 1} && place->outer[0] == 0)
      least ? made_.least_column = std::max(made_.least_column, bound)
            : made_.column_end = std::min(made_.column_end, bound);
    else
      return false;
    return true;
  }

  // ---- what is held

  template <typename Each>
  void each_load(Each each) {
    for (CudaMarch::Step& step : made_.steps)
      for (const auto& load : step.loads)
        if (load) each(step, *load);
  }

  void find_windows() {
    each_load([&](const CudaMarch::Step& step, const CudaMarch::Load& load) {
      CudaMarch::Source& source = made_.sources[load.source];
      source.window = std::max(source.window, step.lag - source.lag - load.row + 1);
    });
    for (CudaMarch::Source& source : made_.sources)
      source.is_held = !source.is_input || source.window <= kMostHeld;
    made_.begin = made_.steps[0].lag;
    for (const CudaMarch::Step& step : made_.steps) made_.begin = std::min(made_.begin, step.lag);
    each_load([&](const CudaMarch::Step&, const CudaMarch::Load& load) {
      const CudaMarch::Source& source = made_.sources[load.source];
      if (source.is_input && source.is_held) made_.begin = std::min(made_.begin, load.row);
    });
  }

  // How many columns beside its own a stage is needed at, from the last one back.
  void find_lanes() {
    std::vector<std::int64_t> left(made_.sources.size(), 0), right(made_.sources.size(), 0);
    std::int64_t most_left = 0, most_right = 0;
    for (std::size_t s = made_.steps.size(); s-- > 0;) {
      const CudaMarch::Step& step = made_.steps[s];
      const std::int64_t own_left = step.source == SIZE_MAX ? 0 : left[step.source];
      const std::int64_t own_right = step.source == SIZE_MAX ? 0 : right[step.source];
      for (const auto& load : step.loads) {
        if (!load || !made_.sources[load->source].is_held) continue;
        most_left = std::max(
            most_left, left[load->source] = std::max(left[load->source], own_left - load->column));
        most_right = std::max(most_right, right[load->source] = std::max(right[load->source],
                                                                         own_right + load->column));
      }
    }
    const auto lanes = [](std::int64_t n) {
      return static_cast<int>((n + CudaMarch::kColumns - 1) / CudaMarch::kColumns);
    };
    made_.left = lanes(most_left);
    made_.right = lanes(most_right);
  }

  const Kernel& kernel_;
  const Phase& phase_;
  CudaMarch made_;
};

}  // namespace

int CudaMarch::at_once(int spare) const {
  constexpr std::int64_t kRegisters = 64 << 10, kMost = 8;
  std::int64_t words = spare;
  for (const Source& source : sources)
    if (source.is_held) words += (source.window - 1 + (source.is_input ? kAhead : 0)) * kColumns;
  return static_cast<int>(std::clamp<std::int64_t>(kRegisters / (words * kThreads), 1, kMost));
}

std::optional<CudaMarch> cuda_march(const Kernel& kernel, const Phase& phase) {
  return MarchStudy(kernel, phase).run();
}

std::int64_t march_grid(const CudaMarch& march, const Phase& phase) {
  const std::int64_t warps = march.strips() * phase.outer[0].blocks();
  constexpr std::int64_t kWarps = CudaMarch::kThreads / kCudaWarp;
  return (warps + kWarps - 1) / kWarps;
}

}  // namespace heddle
