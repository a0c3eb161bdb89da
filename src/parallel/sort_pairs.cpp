#include "parallel/sort_pairs.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "cost/fitted.h"
#include "cost/piece.h"
#include "parallel/messages.h"

namespace heddle {

namespace {

// What counts the places of a line.
DType place_type(std::int64_t size) {
  return size > std::numeric_limits<std::int32_t>::max() / 2 ? DType::i64 : DType::i32;
}

double sort_seconds(const Mesh& mesh, std::int64_t bytes, std::int64_t length) {
  return cost::sort_seconds(static_cast<double>(bytes), length, mesh);
}

}  // namespace

SplitAxes bits_of(const SplitAxes& axes) {
  SplitAxes bits;
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (!std::has_single_bit(static_cast<std::uint64_t>(axes[i].extent))) return {};
    for (std::int64_t step = 1; step < axes[i].extent; step *= 2)
      bits.push_back({2, axes[i].axis, axes[i].stride * step});
  }
  return bits;
}

SplitSort parts_to_sort(const Program& program, const Op& op, std::size_t dim, const Split& split) {
  SplitSort sort{.op = op, .dim = dim, .axes = split.dims[dim].axes()};
  const Type& type = program.type_of(program.operands(op)[0]);
  sort.size = type.shape[dim];
  sort.lines = local_type(type, split);
  sort.lines.dtype = place_type(sort.size);
  sort.block = sort.lines.shape[dim];
  return sort;
}

SplitSort split_sort(const OnMesh& on, const Op& op, const Choice& choice) {
  SplitSort sort = parts_to_sort(on.program, op, choice.line->dim, on.splits[choice.results[0]]);
  sort.axes = choice.axes[choice.line->dim];
  const Mesh& mesh = on.mesh.mesh;
  std::int64_t bytes = 0;
  for (ValueId v : on.program.operands(op))
    bytes += local_type(on.type_of(v), on.splits[choice.operands[0]]).bytes();
  sort.seconds = sort_seconds(mesh, bytes, sort.block);
  const std::int64_t parts = total(sort.axes);
  if (parts == 1) return sort;
  const int passes = sort.uneven() ? 2 : 1;
  auto rounds = [&](std::int64_t count, std::int64_t sent, int sorts) {
    return static_cast<double>(count) * (link_seconds(mesh, sort.axes, sent) +
                                         sorts * sort_seconds(mesh, 2 * sent, 2 * sort.block));
  };
  const double none = 1e6;
  const double by_neighbours =
      parts <= cost::kMostNeighbours ? rounds(parts == 2 ? 1 : parts, bytes, passes) : none;
  const auto bits = static_cast<std::int64_t>(bits_of(sort.axes).size());
  const double by_bits =
      bits > 1 ? rounds(bits * (bits + 1) / 2, bytes + sort.lines.bytes(), passes + 1) : none;
  sort.by_bits = by_bits < by_neighbours;
  sort.seconds += std::min(by_bits, by_neighbours);
  return sort;
}

}  // namespace heddle
