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

// The op alone in a program, tried with one result type after the other.
class Trial {
 public:
  Trial(const OpDef& def, const std::vector<Type>& operands, const AttrDict& attrs)
      : def_(def), attrs_(attrs), body_(alone_.add_region()) {
    for (const Type& type : operands) values_.push_back(alone_.add_arg(body_, alone_.intern(type)));
  }

  Verdict accepts(const Type& result) {
    const TypeId type = alone_.intern(result);
    const OpId id = alone_.add_op(body_, def_, values_, {&type, 1}, attrs_);
    return def_.type_rule(alone_, alone_.op(id));
  }

 private:
  const OpDef& def_;
  const AttrDict& attrs_;
  Program alone_;
  RegionId body_;
  std::vector<ValueId> values_;
};

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

// Another element type of the same width; itself where there is none.
DType as_wide(DType dtype) {
  for (DType other : all_dtypes())
    if (other != dtype && bits(other) == bits(dtype)) return other;
  return dtype;
}

// Other types, which a rule accepts too where the result is for the author to choose.
std::vector<Type> variations(const Type& type) {
  if (!type.is_tensor()) return {};
  Type longer = type;
  longer.shape.push_back(1);
  const DType other = bits(type.dtype) == 16 ? DType::f64 : DType::f16;
  std::vector<Type> types{longer, Type::tensor(other, type.shape)};
  if (as_wide(type.dtype) != type.dtype)
    types.push_back(Type::tensor(as_wide(type.dtype), type.shape));
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
  Trial trial(def, operands, attrs);
  for (const Type& type : plain_types(operands)) {
    if (Verdict v = trial.accepts(type); !v) {
      if (!first_reason) first_reason = v.reason();
      continue;
    }
    for (const Type& other : variations(type))
      if (trial.accepts(other)) return unknown;
    return type;
  }
  return Reason{*first_reason};
}

}  // namespace heddle
