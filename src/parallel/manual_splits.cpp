#include "parallel/manual_splits.h"

#include <algorithm>

namespace heddle {

namespace {

SplitAxes digits_of(const std::vector<ShardingAxis>& said, const ManualPlan& plan, const Mesh& mesh,
                    bool manual) {
  SplitAxes axes;
  for (const ShardingAxis& one : said) {
    if ((std::ranges::count(plan.axes, one.name) != 0) != manual) continue;
    for (std::size_t a = 0; a < mesh.axes().size(); ++a)
      if (mesh.axes()[a].name == one.name)
        if (auto part = axis_part(mesh.axes()[a].size, one); part && part->size > 1)
          axes.push_back({part->size, static_cast<int>(a), part->stride});
  }
  return axes;
}

Split split_along(const ManualPlan& plan, const Sharding& sharding, const Type& type,
                  const Mesh& mesh, bool manual) {
  Split split = Split::whole(type);
  for (std::size_t d = 0; d < split.dims.size() && d < sharding.dims.size(); ++d)
    split.dims[d] =
        DimSplit::blocks(split.dims[d].size, digits_of(sharding.dims[d].axes, plan, mesh, manual));
  split.pending = digits_of(sharding.unreduced, plan, mesh, manual);
  return split;
}

}  // namespace

Split manual_split(const ManualPlan& plan, const Sharding& sharding, const Type& type,
                   const Mesh& mesh) {
  return split_along(plan, sharding, type, mesh, true);
}

Split free_split(const ManualPlan& plan, const Sharding& sharding, const Type& local,
                 const Mesh& mesh) {
  return split_along(plan, sharding, local, mesh, false);
}

std::optional<Split> joined_split(const Split& manual, const Split& inside) {
  Split joined = manual;
  if (!inside.pending.empty() && inside.reduce != ReduceOp::sum) return std::nullopt;
  joined.pending.insert(joined.pending.end(), inside.pending.begin(), inside.pending.end());
  for (std::size_t d = 0; d < joined.dims.size(); ++d) {
    if (inside.dims[d].whole()) continue;
    const SplitAxes more = inside.dims[d].axes();
    if (!inside.dims[d].is_block() || inside.dims[d].size % total(more) != 0) return std::nullopt;
    SplitAxes axes = joined.dims[d].axes();
    axes.insert(axes.end(), more.begin(), more.end());
    joined.dims[d] = DimSplit::blocks(joined.dims[d].size, axes);
  }
  return joined;
}

SplitAxes manual_axes(const ManualPlan& plan, const Mesh& mesh) {
  SplitAxes axes;
  for (std::size_t a = 0; a < mesh.axes().size(); ++a)
    if (std::ranges::count(plan.axes, mesh.axes()[a].name) != 0)
      axes.push_back({mesh.axes()[a].size, static_cast<int>(a), 1});
  return axes;
}

IndexRule body_rule(const Type& whole, const Type& local) {
  IndexRule rule;
  OperandRule operand;
  ResultRule result;
  for (std::size_t d = 0; d < whole.rank(); ++d) {
    const std::int64_t size = local.shape[d];
    const int place = static_cast<int>(rule.factors.size());
    rule.factors.push_back({size == 0 ? 1 : whole.shape[d] / size, FactorKind::parallel});
    rule.factors.push_back({size, FactorKind::parallel});
    operand.dims.push_back({{{place, size}, {place + 1}}, 0, 1});
    result.dims.push_back({{{place + 1}}, 0, 1});
  }
  rule.operands.push_back(std::move(operand));
  rule.results.push_back(std::move(result));
  return rule;
}

}  // namespace heddle
