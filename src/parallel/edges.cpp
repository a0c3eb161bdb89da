#include "parallel/edges.h"

#include <algorithm>

#include "heddle/op.h"
#include "parallel/messages.h"
#include "parallel/op_parts.h"
#include "parallel/scatter_kinds.h"

namespace heddle {

namespace {

// From one direction: of neighbours that are further away come whole blocks.
double seconds_from(const Mesh& mesh, const Window& window, std::int64_t count, double row_bytes) {
  const std::int64_t pieces = total(window.axes);
  const std::int64_t block = (window.size + pieces - 1) / pieces;
  double seconds = 0;
  for (std::int64_t hop = 1; (hop - 1) * block < count && hop < pieces; ++hop) {
    const std::int64_t rows = std::min(block, count - (hop - 1) * block);
    seconds += link_seconds(mesh, window.axes,
                            static_cast<std::int64_t>(static_cast<double>(rows) * row_bytes));
  }
  return seconds;
}

// What windows that are not near take is all of the dimension.
double window_seconds(OnMesh& on, ValueId v, int split, const Window& window) {
  const Type local = local_type(on.type_of(v), on.splits[split]);
  const double row_bytes = static_cast<double>(local.bytes()) /
                           static_cast<double>(std::max<std::int64_t>(1, local.shape[window.dim]));
  const WindowReach reach = reach_of(window);
  const Mesh& mesh = on.mesh.mesh;
  if (!reach.near) return gather_seconds(mesh, window.axes, static_cast<double>(local.bytes()));
  return seconds_from(mesh, window, reach.low, row_bytes) +
         seconds_from(mesh, window, reach.high, row_bytes);
}

double piece_edges(OnMesh& on, const Op& op, const IndexRule& rule, const Choice& choice) {
  const PieceRanges pieces = piece_ranges(rule, choice.axes);
  const auto first = piece_of(on.program, op, pieces.rule, pieces.ranges);
  if (!first) return 0;
  double seconds = 0;
  for (std::size_t i = 0; i < op.operand_count; ++i)
    for (std::size_t d = 0; d < first->operands[i].dims.size(); ++d)
      if (const auto window = window_at(on, op, pieces, *first, choice, i, d); window && *window)
        seconds += window_seconds(on, on.program.operands(op)[i], choice.operands[i], **window);
  return seconds;
}

double joined_edges(OnMesh& on, const Op& op, const Choice& choice) {
  const auto dim = static_cast<std::size_t>(joined_factor(on.program, op));
  double seconds = 0;
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    if (on.splits[choice.operands[i]].dims[dim].whole()) continue;
    const Window window = joined_window(on.program, op, choice.axes[dim], i);
    if (window.size > 0)
      seconds += window_seconds(on, on.program.operands(op)[i], choice.operands[i], window);
  }
  return seconds;
}

double scatter_edges(OnMesh& on, const Op& op, const IndexRule& rule, const Choice& choice) {
  double seconds = 0;
  for (const ScatterDim& dim : scatter_dims(on.program, op, rule, choice))
    for (std::size_t i = 0; i < 2; ++i)
      seconds += window_seconds(on, on.program.operands(op)[i], choice.operands[i], dim.taken[i]);
  return seconds;
}

}  // namespace

std::int64_t span_of(const DimPiece& part) {
  const DimPiece::Digit digit = part.digits.size() == 1 ? part.digits[0] : DimPiece::Digit{};
  return digit.size == 0 ? 0 : (digit.size - 1) * digit.stride + 1;
}

PieceRanges piece_ranges(const IndexRule& rule, const FactorAxes& axes) {
  PieceRanges pieces{with_whole_windows(rule, axes), {}};
  pieces.ranges = all_ranges(pieces.rule);
  for (std::size_t f = 0; f < axes.size(); ++f)
    if (!axes[f].empty()) pieces.ranges[f].size = piece_size(pieces.rule, axes, f);
  return pieces;
}

Expected<std::optional<Window>> window_at(OnMesh& on, const Op& op, const PieceRanges& pieces,
                                          const OpPiece& first, const Choice& choice,
                                          std::size_t operand, std::size_t dim) {
  const IndexRule& rule = pieces.rule;
  const DimRule& index = rule.operands[operand].dims[dim];
  const std::int64_t size = on.type_of(on.program.operands(op)[operand]).shape[dim];
  if (on.splits[choice.operands[operand]].dims[dim].whole() || is_plain(index, rule.factors, size))
    return std::optional<Window>();
  const auto f = static_cast<std::size_t>(placing_factor(index, rule.factors));
  const DimPiece& part = first.operands[operand].dims[dim];
  // All of it wherever the piece lies, or a window that moves along.
  std::vector<FactorRange> next = pieces.ranges;
  next[f].begin = next[f].size;
  HEDDLE_TRY(const OpPiece second, piece_of(on.program, op, rule, next));
  return std::optional<Window>({dim, choice.axes[f], size, part.start,
                                second.operands[operand].dims[dim].start - part.start,
                                span_of(part), kNone});
}

double edge_seconds(OnMesh& on, const Op& op, const IndexRule& rule, const Choice& choice) {
  if (choice.whole) return 0;
  switch (way_of(on.program, op, rule, choice)) {
    case PartWay::piece:
      return piece_edges(on, op, rule, choice);
    case PartWay::concatenated:
      return joined_edges(on, op, choice);
    case PartWay::window_scatter:
      return scatter_edges(on, op, rule, choice);
    default:
      return 0;
  }
}

}  // namespace heddle
