#include "kernel/rows_apart.h"

#include <algorithm>
#include <map>

#include "kernel/cuda_resident.h"

namespace heddle {

namespace {

constexpr std::int64_t kLongRow = 4096;  // elements: shorter ones lie together in caches anyway

class RowsApart {
 public:
  RowsApart(const Kernel& kernel, const Phase& phase) : kernel_(kernel), phase_(phase) {}

  bool fits() {
    if (phase_.stages.empty() || phase_.stages[0].loops.empty()) return false;
    const StageLoop& rows = phase_.stages[0].loops[0];
    std::int64_t longest = 0;
    for (const Stage& stage : phase_.stages) {
      if (stage.loops.empty() || stage.loops[0].block_of >= 0 || stage.loops[0].size != rows.size ||
          !uses_its_own(stage))
        return false;
      std::int64_t points = 1;
      for (std::size_t i = 1; i < stage.loops.size(); ++i)
        if (__builtin_mul_overflow(points, stage.loops[i].size, &points)) return false;
      longest = std::max(longest, points);
    }
    return rows.size > 1 && longest >= kLongRow;
  }

  Phase made() const {
    Phase made = phase_;
    const auto number = static_cast<std::uint32_t>(made.outer.size());
    made.outer.push_back({made.stages[0].loops[0].size, 1});
    for (Stage& stage : made.stages) {
      stage.loops.erase(stage.loops.begin());
      for (Node& node : stage.nodes) {
        if (node.kind != NodeKind::loop) continue;
        if (node.number > 0)
          --node.number;
        else
          node = {.kind = NodeKind::outer, .type = node.type, .number = number};
      }
    }
    return made;
  }

 private:
  // Each row has its own numbers in scratch and its own places in memory, which nobody reads;
  // sums of all rows only where their order does not matter, as chunks have them.
  bool uses_its_own(const Stage& stage) {
    const auto places = cuda_places(phase_, stage);
    for (const Node& node : stage.nodes)
      if (node.kind == NodeKind::load &&
          (is_scratch(node.number) ? !is_number_of_row(node.number, places[node.in[0]])
                                   : is_written(node.number)))
        return false;
    return std::ranges::all_of(stage.statements, [&](const Statement& statement) {
      if (statement.kind == Statement::Kind::scan || statement.buffers.size() != 1) return false;
      const std::uint32_t buffer = statement.buffers[0];
      if (is_scratch(buffer)) return is_number_of_row(buffer, places[statement.index]);
      if (statement.kind == Statement::Kind::store) return is_apart(stage, places[statement.index]);
      return statement.any_order && phase_.chunks > 0;
    });
  }

  bool is_scratch(std::uint32_t buffer) const {
    return kernel_.buffers[buffer].reach == Reach::block;
  }
  bool is_written(std::uint32_t buffer) const {
    return std::ranges::any_of(phase_.stages, [&](const Stage& stage) {
      return std::ranges::any_of(stage.statements, [&](const Statement& statement) {
        return std::ranges::count(statement.buffers, buffer) > 0;
      });
    });
  }
  // The same number for all stages.
  bool is_number_of_row(std::uint32_t buffer, const std::optional<CudaPlace>& place) {
    if (!place || place->tile[0] == 0 || place->depth() != 1) return false;
    const auto step = steps_.try_emplace(buffer, place->tile[0]).first;
    return step->second == place->tile[0];
  }
  static bool is_apart(const Stage& stage, const std::optional<CudaPlace>& place) {
    if (!place) return false;
    std::int64_t reach = 0;
    for (std::size_t i = 1; i < stage.loops.size(); ++i) {
      std::int64_t more = 0;
      if (__builtin_mul_overflow(std::abs(place->tile[i]), stage.loops[i].size - 1, &more) ||
          __builtin_add_overflow(reach, more, &reach))
        return false;
    }
    return std::abs(place->tile[0]) > reach;
  }

  const Kernel& kernel_;
  const Phase& phase_;
  std::map<std::uint32_t, std::int64_t> steps_;  // of a scratch buffer, from row to row
};

}  // namespace

Phase with_rows_apart(const Kernel& kernel, const Phase& phase) {
  RowsApart rows(kernel, phase);
  return rows.fits() ? rows.made() : phase;
}

}  // namespace heddle
