// Loops, branches and bodies that are written per device.
#include <algorithm>

#include "ir/clone.h"
#include "ir/manual_plan.h"
#include "spmd/partitioner.h"

namespace heddle {

Expected<RegionId> Partitioner::write_region(RegionId region, const std::vector<int>& args,
                                             const std::vector<int>& returned) {
  const RegionId made = out_.add_region();
  const RegionId back = w_.at;
  const std::size_t mark = trail_.size();
  const OpId around = current_;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const ValueId v = from_.region(region).args[i];
    const Type local = local_type(type_of(v), splits_[args[i]]);
    define(v, args[i], out_.add_arg(made, out_.intern(local)));
  }
  w_.at = made;
  HEDDLE_TRY_VOID(write_ops(region));
  current_ = around;
  const Op& end = from_.op(from_.region(region).ops.back());
  HEDDLE_TRY_VOID(write_return(end, returned, "stablehlo.return"));
  w_.at = back;
  forget_since(mark);
  return made;
}

// What the loop carries lies as propagation says; nothing is pending.
Verdict Partitioner::write_loop(OpId id) {
  const Op& op = from_.op(id);
  std::vector<int> carried;
  std::vector<ValueId> operands;
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId v = from_.result(op, i);
    Split split = splits_[resting(v)];
    split.pending.clear();
    carried.push_back(split_id(std::move(split)));
    operands.push_back(get(from_.operands(op)[i], carried[i]));
    types.push_back(out_.intern(local_type(type_of(v), splits_[carried[i]])));
  }
  ++depth_;
  std::vector<RegionId> regions;
  const ValueId goes_on =
      from_.operands(from_.op(from_.region(from_.regions(op)[0]).ops.back()))[0];
  HEDDLE_TRY(RegionId condition, write_region(from_.regions(op)[0], carried, {whole_id(goes_on)}));
  HEDDLE_TRY(RegionId body, write_region(from_.regions(op)[1], carried, carried));
  --depth_;
  regions = {condition, body};
  const OpId made = out_.add_op(w_.at, *op.def, operands, types, copied_attrs(from_, op), regions,
                                location(op.loc));
  for (std::size_t i = 0; i < op.result_count; ++i)
    define(from_.result(op, i), carried[i], out_.result(out_.op(made), i));
  return yes();
}

Verdict Partitioner::write_branch(OpId id) {
  const Op& op = from_.op(id);
  const ValueId choice = from_.operands(op)[0];
  const ValueId operand = get(choice, whole_id(choice));
  std::vector<int> given;
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId v = from_.result(op, i);
    Split split = splits_[resting(v)];
    split.pending.clear();
    given.push_back(split_id(std::move(split)));
    types.push_back(out_.intern(local_type(type_of(v), splits_[given[i]])));
  }
  std::vector<RegionId> regions;
  for (RegionId region : from_.regions(op)) {
    HEDDLE_TRY(RegionId made, write_region(region, {}, given));
    regions.push_back(made);
  }
  const OpId made = out_.add_op(w_.at, *op.def, {&operand, 1}, types, copied_attrs(from_, op),
                                regions, location(op.loc));
  for (std::size_t i = 0; i < op.result_count; ++i)
    define(from_.result(op, i), given[i], out_.result(out_.op(made), i));
  return yes();
}

namespace {

// A sharding along the manual axes alone.
Split manual_split(const ManualPlan& plan, const Sharding& sharding, const Type& type,
                   const Mesh& mesh) {
  Split split = Split::whole(type);
  auto digits = [&](const std::vector<ShardingAxis>& said) {
    AxisList axes;
    for (const ShardingAxis& one : said)
      for (std::size_t a = 0; a < mesh.axes().size(); ++a)
        if (mesh.axes()[a].name == one.name && std::ranges::count(plan.axes, one.name) != 0)
          if (auto part = axis_part(mesh.axes()[a].size, one); part && part->size > 1)
            axes.push_back({part->size, static_cast<int>(a), part->stride});
    return axes;
  };
  for (std::size_t d = 0; d < split.dims.size(); ++d)
    split.dims[d] = DimSplit::blocks(split.dims[d].size, digits(sharding.dims[d].axes));
  split.pending = digits(sharding.unreduced);
  return split;
}

}  // namespace

// The body is per device already: its ops are taken as they are.
Verdict Partitioner::write_manual(OpId id) {
  const Op& op = from_.op(id);
  HEDDLE_TRY(ManualPlan plan, manual_plan(from_, op));
  const RegionId body = from_.regions(op)[0];
  if (plan.mesh != nullptr && !(plan.mesh->mesh == mesh_.mesh))
    return reason("a manual computation is over mesh @{} ({}), but the program is for @{} ({})",
                  plan.mesh->name, plan.mesh->mesh.str(), mesh_.name, mesh_.mesh.str());
  const std::size_t mark = trail_.size();
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const ValueId v = from_.operands(op)[i], arg = from_.region(body).args[i];
    const Split split =
        type_of(v).is_tensor() ? manual_split(plan, plan.in[i], type_of(v), mesh_.mesh) : Split{};
    const ValueId local = get(v, split_id(split));
    define(arg, whole_id(arg), local);
  }
  ++manual_;
  HEDDLE_TRY_VOID(write_ops(body));
  std::vector<ValueId> results;
  const Op& end = from_.op(from_.region(body).ops.back());
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId v = from_.operands(end)[i];
    results.push_back(get(v, whole_id(v)));
  }
  --manual_;
  forget_since(mark);
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId v = from_.result(op, i);
    const Split split =
        type_of(v).is_tensor() ? manual_split(plan, plan.out[i], type_of(v), mesh_.mesh) : Split{};
    define(v, split_id(split), results[i]);
  }
  return yes();
}

}  // namespace heddle
