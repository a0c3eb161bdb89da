#include "ir/manual_plan.h"

#include <algorithm>

#include "ir/attr_access.h"

namespace heddle {

namespace {

Expected<Sharding> sharding_of(const Program& program, LayoutId id, const Type& type) {
  const ValueLayout* layout = program.layout(id);
  if (layout == nullptr) return reason("there is no sharding for {}", type.str());
  return program.sharding(*layout, type);
}

Verdict read_shardings(const Program& program, const Op& op, ManualPlan& plan) {
  const auto wanted = program.operand_layouts(op);
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    HEDDLE_TRY(Sharding in, sharding_of(program, i < wanted.size() ? wanted[i] : kNone,
                                        program.type_of(program.operands(op)[i])));
    plan.in.push_back(std::move(in));
  }
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId result = program.result(op, i);
    HEDDLE_TRY(Sharding out,
               sharding_of(program, program.value(result).layout, program.type_of(result)));
    plan.out.push_back(std::move(out));
  }
  return yes();
}

Expected<std::vector<std::string>> axis_names(const Attr* attr) {
  std::vector<std::string> names;
  const auto* list = attr ? attr->get<Attr::List>() : nullptr;
  if (!list) return names;  // none, in whichever form
  for (const Attr& item : *list) {
    const auto* name = item.get<std::string>();
    if (!name) return reason("manual_axes holds {}", describe(&item));
    if (std::find(names.begin(), names.end(), *name) != names.end())
      return reason("manual_axes has \"{}\" twice", *name);
    names.push_back(*name);
  }
  return names;
}

bool is_manual(const ManualPlan& plan, const ShardingAxis& axis) {
  return std::find(plan.axes.begin(), plan.axes.end(), axis.name) != plan.axes.end();
}

Expected<AxisSpan> span_of(const ManualPlan& plan, const ShardingAxis& axis) {
  return axis_span(*plan.mesh, {axis.name, axis.pre_size, axis.size});
}

}  // namespace

Expected<ManualPlan> manual_plan(const Program& program, const Op& op) {
  ManualPlan plan;
  HEDDLE_TRY_VOID(read_shardings(program, op, plan));
  HEDDLE_TRY(plan.axes, axis_names(program.attr(op, "manual_axes")));
  if (plan.axes.empty()) return plan;
  for (const auto* list : {&plan.in, &plan.out})
    for (const Sharding& sharding : *list) {
      const MeshDecl* mesh = program.find_mesh(sharding.mesh);
      if (!plan.mesh) plan.mesh = mesh;
      if (!(mesh->mesh == plan.mesh->mesh) || mesh->device_ids != plan.mesh->device_ids)
        return reason("shardings are over meshes @{} and @{}, which differ", plan.mesh->name,
                      mesh->name);
    }
  if (!plan.mesh) return reason("there are manual axes, but no sharding names their mesh");
  HEDDLE_TRY(plan.devices, mesh_size(*plan.mesh));
  for (const std::string& axis : plan.axes) {
    auto span = axis_span(*plan.mesh, {axis});
    if (!span) return span.why();
  }
  return plan;
}

Expected<Type> local_type(const ManualPlan& plan, const Sharding& sharding, const Type& global) {
  if (!global.is_tensor() || !plan.mesh) return global;
  if (sharding.dims.size() != global.rank())
    return reason("a sharding of {} dimensions is given for {}", sharding.dims.size(),
                  global.str());
  Type local = global;
  for (const ShardingAxis& axis : sharding.unreduced)
    if (auto span = span_of(plan, axis); !span) return span.why();
  for (std::size_t d = 0; d < global.rank(); ++d)
    for (const ShardingAxis& axis : sharding.dims[d].axes) {
      if (!is_manual(plan, axis)) continue;
      HEDDLE_TRY(AxisSpan span, span_of(plan, axis));
      if (local.shape[d] % span.size != 0)
        return reason("dimension {} of {} cannot be split along axis \"{}\" of size {}", d,
                      global.str(), axis.name, span.size);
      local.shape[d] /= span.size;
    }
  return local;
}

ElementPlaces local_place(const ManualPlan& plan, const Sharding& sharding, const Type& global,
                          std::int64_t position) {
  ElementPlaces place{0, row_major_strides(global.shape)};
  for (std::size_t d = 0; d < global.rank(); ++d) {
    // Each axis splits what the one before it left.
    std::int64_t size = global.shape[d];
    for (const ShardingAxis& axis : sharding.dims[d].axes) {
      if (!is_manual(plan, axis)) continue;
      const AxisSpan span = *span_of(plan, axis);
      size /= span.size;
      place.base += span.coordinate(position) * size * place.steps[d];
    }
  }
  return place;
}

bool holds_zeros(const ManualPlan& plan, const Sharding& sharding, std::int64_t position) {
  return std::any_of(
      sharding.unreduced.begin(), sharding.unreduced.end(), [&](const ShardingAxis& axis) {
        return is_manual(plan, axis) && span_of(plan, axis)->coordinate(position) != 0;
      });
}

bool has_manual_unreduced(const ManualPlan& plan, const Sharding& sharding) {
  return std::any_of(sharding.unreduced.begin(), sharding.unreduced.end(),
                     [&](const ShardingAxis& axis) { return is_manual(plan, axis); });
}

}  // namespace heddle
