#include "parallel/reshards.h"

#include <unordered_set>

#include "heddle/op.h"

namespace heddle {

SplitAxes named_axes(const Program& program, const Op& op, const Mesh& mesh) {
  SplitAxes axes;
  auto take = [&](const ShardingAxis& said) {
    for (std::size_t a = 0; a < mesh.axes().size(); ++a)
      if (mesh.axes()[a].name == said.name)
        if (auto part = axis_part(mesh.axes()[a].size, said))
          axes.push_back({part->size, static_cast<int>(a), part->stride});
  };
  for (const char* name : {"reduction_axes", "reduce_scatter_axes"})
    if (const Attr* attr = program.attr(op, name))
      if (const auto* said = attr->get<Sharding>()) {
        for (const ShardingAxis& a : said->unreduced) take(a);
        for (const ShardingDim& d : said->dims)
          for (const ShardingAxis& a : d.axes) take(a);
      }
  std::erase_if(axes, [](const SplitDigit& d) { return d.extent == 1; });
  return axes;
}

bool comes_from(const Program& program, const Mesh& mesh, const Propagation& layouts, ValueId v,
                const SplitAxes& axes) {
  constexpr std::size_t kMostLookedAt = 1000;
  auto lies_over = [&](ValueId one) {
    const bool said = program.layout_of(one) != nullptr || program.value(one).op == kNone;
    for (const DimSplit& dim : layouts.splits[one].dims)
      for (const SplitDigit& d : dim.digits)
        if (said && overlap(axes, d)) return true;
    return false;
  };
  std::vector<ValueId> open{v};
  std::unordered_set<ValueId> seen{v};
  while (!open.empty() && seen.size() < kMostLookedAt) {
    const ValueId one = open.back();
    open.pop_back();
    if (program.value(one).op == kNone) continue;
    const Op& op = program.op(program.value(one).op);
    if (op.def->parts == Parts::manual) continue;
    bool complete = false;
    for (const SplitDigit& d : named_axes(program, op, mesh))
      complete = complete || overlap(axes, d);
    for (ValueId operand : program.operands(op)) {
      if (complete) break;
      if (lies_over(operand)) {
        if (op.def->parts != Parts::reshard) return true;
      } else if (seen.insert(operand).second) {
        open.push_back(operand);
      }
    }
  }
  return false;
}

}  // namespace heddle
