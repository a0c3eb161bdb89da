#include "schedule/copier.h"

namespace heddle {

Copier::Copier(const Program& from) : from_(from) {
  out_.name = from.name;
  out_.file = from.file;
  out_.attrs = from.attrs;
  out_.meshes = from.meshes;
  out_.axes = from.axes;
}

Program Copier::run() {
  for (const Function& f : from_.functions) {
    Function head = f;
    head.result_layouts.clear();  // of what a device does, no value says where it lies
    for (std::vector<TypeId>* types : {&head.results, &head.inputs})
      for (TypeId& t : *types) t = out_.intern(from_.type(t));
    head.loc = location(f.loc);
    if (f.body != kNone) head.body = copy_region(f.body);
    out_.functions.push_back(std::move(head));
  }
  return std::move(out_);
}

LocId Copier::location(LocId loc) {
  if (loc == 0) return 0;
  if (loc >= locations_.size()) locations_.resize(loc + 1, 0);
  if (locations_[loc] == 0) locations_[loc] = out_.add_location(Location(from_.location(loc)));
  return locations_[loc];
}

OpId Copier::copy_op(RegionId at, const Op& op) {
  std::vector<ValueId> operands;
  for (ValueId v : from_.operands(op)) operands.push_back(values_.at(v));
  std::vector<RegionId> regions;
  for (RegionId r : from_.regions(op)) regions.push_back(copy_region(r));
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < op.result_count; ++i)
    types.push_back(out_.intern(from_.type_of(from_.result(op, i))));
  const OpId made =
      out_.add_op(at, *op.def, operands, types, copied_attrs(from_, op), regions, location(op.loc));
  for (std::size_t i = 0; i < op.result_count; ++i)
    values_[from_.result(op, i)] = out_.result(out_.op(made), i);
  return made;
}

}  // namespace heddle
