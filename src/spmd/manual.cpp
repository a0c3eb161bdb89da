// Bodies that are written per device.
#include <algorithm>

#include "ir/replica_groups.h"
#include "parallel/manual_splits.h"
#include "spmd/partitioner.h"

namespace heddle {

// The body is per device along the manual axes; the others deal its values out like any.
Verdict Partitioner::write_manual(OpId id) {
  const Op& op = from_.op(id);
  HEDDLE_TRY(ManualPlan plan, manual_plan(from_, op));
  const RegionId body = from_.regions(op)[0];
  if (plan.mesh != nullptr && !(plan.mesh->mesh == mesh_.mesh))
    return reason("a manual computation is over mesh @{} ({}), but the program is for @{} ({})",
                  plan.mesh->name, plan.mesh->mesh.str(), mesh_.name, mesh_.mesh.str());
  if (plan.mesh != nullptr && plan.mesh->device_ids != mesh_.device_ids)
    return reason(
        "a manual computation is over mesh @{}, whose devices come in another order than "
        "those of @{}",
        plan.mesh->name, mesh_.name);
  // How a value lies outside and inside of the body.
  auto both = [&](ValueId outside, ValueId inside, const Sharding& said) {
    if (!type_of(outside).is_tensor()) return std::pair(split_id(Split{}), split_id(Split{}));
    const Split manual = manual_split(plan, said, type_of(outside), mesh_.mesh);
    Split wanted = splits_[resting(inside)];
    wanted.pending.clear();
    if (auto joined = joined_split(manual, wanted))
      return std::pair(split_id(*std::move(joined)), split_id(std::move(wanted)));
    return std::pair(split_id(manual), whole_id(inside));
  };
  const std::size_t mark = trail_.size();
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const ValueId v = from_.operands(op)[i], arg = from_.region(body).args[i];
    const auto [outside, inside] = both(v, arg, plan.in[i]);
    const ValueId local = get(v, outside);
    define(arg, inside, local);
  }
  ++manual_;
  HEDDLE_TRY_VOID(write_ops(body));
  std::vector<ValueId> results;
  std::vector<int> lie;
  const Op& end = from_.op(from_.region(body).ops.back());
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId v = from_.operands(end)[i];
    const auto [outside, inside] = both(from_.result(op, i), v, plan.out[i]);
    results.push_back(get(v, inside));
    lie.push_back(outside);
  }
  --manual_;
  forget_since(mark);
  for (std::size_t i = 0; i < op.result_count; ++i) define(from_.result(op, i), lie[i], results[i]);
  return yes();
}

// Whether devices that an op of a manual computation brings together all have the same pieces.
bool Partitioner::stays_inside(const Op& op, const FactorAxes& axes) const {
  const std::int64_t devices = mesh_.mesh.devices();
  const std::vector<std::int64_t> position = positions_of_devices(mesh_);
  auto alike = [&](std::int64_t a, std::int64_t b) {
    for (const AxisList& list : axes)
      for (const SplitDigit& d : list)
        if (coordinate(d, mesh_.mesh, position[static_cast<std::size_t>(a)]) !=
            coordinate(d, mesh_.mesh, position[static_cast<std::size_t>(b)]))
          return false;
    return true;
  };
  const std::string_view name = op.def->short_name();
  const bool pairs = name == "collective_permute";
  const bool reduces = name == "all_gather" || name == "all_reduce" || name == "reduce_scatter";
  const GroupBy by = reduces ? reduction_grouping(from_, op) : exchange_grouping(from_, op);
  if (by == GroupBy::replica) return true;  // there is one replica: nobody meets
  if (by == GroupBy::replica_and_partition) return false;
  const auto groups = pairs ? source_target_pairs(from_, op) : replica_groups(from_, op);
  if (!groups || (groups->empty() && !pairs)) return false;
  return std::ranges::all_of(*groups, [&](const Ids& members) {
    return std::ranges::all_of(members, [&](std::int64_t one) {
      return one >= 0 && one < devices && alike(members[0], one);
    });
  });
}

}  // namespace heddle
