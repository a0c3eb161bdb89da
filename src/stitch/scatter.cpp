#include "stitch/scatter.h"

#include <algorithm>

#include "heddle/index_rule.h"

namespace heddle {

ScatterDims scatter_dimensions(const Program& program, const Op& op) {
  ScatterDims dims;
  dims.numbers = scatter_dims(program, op).value();
  dims.inputs = op.result_count;
  const IndexDims& n = dims.numbers;
  const auto operands = program.operands(op);
  const std::size_t rank = program.type_of(operands[0]).rank();
  const std::size_t index_rank = program.type_of(operands[dims.inputs]).rank();
  dims.by_data.assign(rank, false);
  for (std::int64_t d : n.map) dims.by_data[static_cast<std::size_t>(d)] = true;
  const std::vector<std::size_t> windows = window_axes(n, rank);
  std::size_t next_window = 0;
  int next_index = 0;
  for (std::size_t d = 0; d < program.type_of(operands[dims.inputs + 1]).rank(); ++d) {
    ScatterDims::Update update;
    if (std::ranges::find(n.window, static_cast<std::int64_t>(d)) != n.window.end()) {
      update.input = static_cast<int>(windows[next_window++]);
    } else {
      if (next_index == n.vector && static_cast<std::size_t>(n.vector) < index_rank) ++next_index;
      update.index = next_index++;
      for (std::size_t b = 0; b < n.batching.size(); ++b)
        if (n.indices_batching[b] == update.index) update.input = static_cast<int>(n.batching[b]);
    }
    dims.updates.push_back(update);
  }
  return dims;
}

bool is_single_update(const Program& program, const Op& op) {
  const std::size_t n = op.result_count;
  const auto windows = static_cast<std::int64_t>(scatter_dims(program, op).value().map.size());
  return n == 1 && program.type_of(program.operands(op)[n]).elements() <= windows;
}

bool combines_in_any_order(const Program& program, const Op& op) {
  return op.result_count == 1 && index_rule(program, op).combine.op.has_value();
}

}  // namespace heddle
