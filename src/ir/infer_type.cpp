#include "ir/infer_type.h"

#include <algorithm>

namespace heddle {

namespace {

DType part_or_whole(DType dtype) {
  switch (dtype) {
    case DType::c64:
      return DType::f32;
    case DType::c128:
      return DType::f64;
    case DType::f32:
      return DType::c64;
    case DType::f64:
      return DType::c128;
    default:
      return dtype;
  }
}

// The op alone in a program, with one result of the given type.
Verdict accepts(const OpDef& def, const std::vector<Type>& operands, const AttrDict& attrs,
                const Type& result) {
  Program alone;
  const RegionId body = alone.add_region();
  std::vector<ValueId> values;
  for (const Type& type : operands) values.push_back(alone.add_arg(body, alone.intern(type)));
  const TypeId type = alone.intern(result);
  const OpId id = alone.add_op(body, def, values, {&type, 1}, attrs);
  return def.type_rule(alone, alone.op(id));
}

std::vector<Type> plain_types(const std::vector<Type>& operands) {
  std::vector<Type> types;
  auto add = [&](const Type& type) {
    if (std::ranges::find(types, type) == types.end()) types.push_back(type);
  };
  for (const Type& type : operands) {
    add(type);
    if (!type.is_tensor()) continue;
    add(Type::tensor(DType::i1, type.shape));
    add(Type::tensor(part_or_whole(type.dtype), type.shape));
  }
  return types;
}

// Other types that a rule accepts too where the result is for the author to choose.
std::vector<Type> variations(const Type& type) {
  std::vector<Type> types;
  if (!type.is_tensor()) return types;
  Type longer = type;
  longer.shape.push_back(1);
  types.push_back(longer);
  for (DType dtype : all_dtypes())
    if (dtype != type.dtype) types.push_back(Type::tensor(dtype, type.shape));
  return types;
}

}  // namespace

Expected<Type> infer_type(const OpDef& def, const std::vector<Type>& operands,
                          const AttrDict& attrs) {
  if (!def.operands.allows(operands.size()))
    return reason("{} operands came in, which is not what it takes", operands.size());
  const Reason unknown = reason(
      "its result type does not follow from its operands: give it, as in op(\"{}\", {{…}}, type)",
      def.short_name());
  if (!def.type_rule || operands.empty() || !def.results.allows(1) || !def.regions.allows(0))
    return unknown;
  std::optional<std::string> first_reason;
  for (const Type& type : plain_types(operands)) {
    if (Verdict v = accepts(def, operands, attrs, type); !v) {
      if (!first_reason) first_reason = v.reason();
      continue;
    }
    for (const Type& other : variations(type))
      if (accepts(def, operands, attrs, other)) return unknown;
    return type;
  }
  return Reason{*first_reason};
}

}  // namespace heddle
