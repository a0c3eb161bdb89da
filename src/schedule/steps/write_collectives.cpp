#include "schedule/steps/write_collectives.h"

#include <algorithm>

#include "heddle/op.h"

namespace heddle {

namespace {

AttrDict groups_like(const Program& program, const Op& like, bool global_ids) {
  AttrDict attrs;
  for (const NamedAttr& a : program.attrs_of(like))
    if (a.name == "channel_handle" || a.name == "replica_groups" ||
        (global_ids && a.name == "use_global_device_ids"))
      attrs.push_back(a);
  return attrs;
}

// Attributes stand in the order of their names.
void add_number(AttrDict& attrs, std::string_view name, std::size_t value) {
  attrs.push_back({name, Attr{Attr::Integer{static_cast<std::int64_t>(value), "i64"}}});
  std::ranges::sort(attrs, {}, [](const NamedAttr& a) { return std::string_view(a.name); });
}

RegionId body_like(Edit& edit, const Op& like) {
  ValueMap inside;
  return clone_region(edit.out(), edit.from(), edit.from().regions(like)[0], inside);
}

}  // namespace

ValueId write_all_gather(Edit& edit, RegionId at, const Op& like, ValueId v, std::size_t dim,
                         std::int64_t members) {
  Type type = edit.out().type_of(v);
  type.shape[dim] *= members;
  AttrDict attrs = groups_like(edit.from(), like, true);
  add_number(attrs, "all_gather_dim", dim);
  return edit.writer(at, like).op("stablehlo.all_gather", {v}, type, std::move(attrs));
}

ValueId write_reduce_scatter(Edit& edit, RegionId at, const Op& like, ValueId v, std::size_t dim,
                             std::int64_t members) {
  Type type = edit.out().type_of(v);
  type.shape[dim] /= members;
  AttrDict attrs = groups_like(edit.from(), like, true);
  add_number(attrs, "scatter_dimension", dim);
  const RegionId body = body_like(edit, like);
  return edit.writer(at, like).op("stablehlo.reduce_scatter", {v}, type, std::move(attrs), {body});
}

ValueId write_all_reduce(Edit& edit, RegionId at, const Op& like, ValueId v, ReduceOp op) {
  const Type type = edit.out().type_of(v);
  Writer& w = edit.writer(at, like);
  const RegionId body = w.reducer(op, type.dtype);
  return w.op("stablehlo.all_reduce", {v}, type, groups_like(edit.from(), like, true), {body});
}

ValueId write_reduce(Edit& edit, RegionId at, const Op& like, ValueId v) {
  const Type type = edit.out().type_of(v);
  const RegionId body = body_like(edit, like);
  return edit.writer(at, like).op("stablehlo.collective_reduce", {v}, type,
                                  groups_like(edit.from(), like, true), {body});
}

ValueId write_broadcast(Edit& edit, RegionId at, const Op& like, ValueId v) {
  const Type type = edit.out().type_of(v);
  return edit.writer(at, like).op("stablehlo.collective_broadcast", {v}, type,
                                  groups_like(edit.from(), like, false));
}

}  // namespace heddle
