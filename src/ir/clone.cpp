#include "ir/clone.h"

#include "heddle/op.h"

namespace heddle {

void set_attr(AttrDict& attrs, std::string_view name, Attr value) {
  for (NamedAttr& attr : attrs)
    if (attr.name == name) {
      attr.value = std::move(value);
      return;
    }
  attrs.push_back({std::string(name), std::move(value)});
}

AttrDict copied_attrs(const Program& from, const Op& op) {
  AttrDict attrs = from.attrs_of(op);
  if (op.def->draws && find_attr(attrs, kStreamAttr) == nullptr)
    attrs.push_back({std::string(kStreamAttr), Attr{Attr::Integer{op.results, "i64"}}});
  return attrs;
}

OpId clone_op(Program& out, RegionId at, const Program& from, const Op& op, ValueMap& values) {
  // Everything is copied first: `out` and `from` may be one program, whose tables move.
  const Op source = op;
  const AttrDict attrs = copied_attrs(from, source);
  std::vector<ValueId> operands;
  for (ValueId v : from.operands(source)) operands.push_back(values.at(v));
  const std::vector<RegionId> old_regions(from.regions(source).begin(), from.regions(source).end());
  std::vector<RegionId> regions;
  for (RegionId region : old_regions) regions.push_back(clone_region(out, from, region, values));
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < source.result_count; ++i)
    types.push_back(out.intern(Type(from.type_of(from.result(source, i)))));
  const LocId loc =
      &out == &from ? source.loc : out.add_location(Location(from.location(source.loc)));
  const OpId id = out.add_op(at, *source.def, operands, types, attrs, regions, loc);
  for (std::size_t i = 0; i < source.result_count; ++i)
    values[from.result(source, i)] = out.result(out.op(id), i);
  return id;
}

RegionId clone_region(Program& out, const Program& from, RegionId region, ValueMap& values) {
  const auto source = Region(from.region(region));
  const RegionId copy = out.add_region();
  for (ValueId arg : source.args)
    values[arg] = out.add_arg(copy, out.intern(Type(from.type_of(arg))));
  for (OpId id : source.ops) clone_op(out, copy, from, Op(from.op(id)), values);
  return copy;
}

}  // namespace heddle
