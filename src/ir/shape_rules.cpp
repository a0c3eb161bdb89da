#include "ir/shape_rules.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace heddle {

namespace {

Verdict check_tensor(const Op& op, std::string_view what, std::size_t i, const Type& type) {
  if (!type.is_tensor()) return broken(op, "", "{} {} is {}, not a tensor", what, i, type.str());
  return yes();
}

std::string types_text(std::span<const Type> types) {
  std::vector<std::string> texts;
  for (const Type& type : types) texts.push_back(type.str());
  return fmt::format("({})", fmt::join(texts, ", "));
}

}  // namespace

Verdict check_tensors(const Program& program, const Op& op) {
  for (std::size_t i = 0; i < op.operand_count; ++i)
    HEDDLE_TRY_VOID(check_tensor(op, "operand", i, operand_type(program, op, i)));
  for (std::size_t i = 0; i < op.result_count; ++i)
    HEDDLE_TRY_VOID(check_tensor(op, "result", i, result_type(program, op, i)));
  return yes();
}

Verdict check_same_dtype(const Op& op, std::string_view label, const Type& a, const Type& b) {
  if (a.dtype == b.dtype) return yes();
  return broken(op, label, "element types differ: {} and {}", a.str(), b.str());
}

Verdict check_shape(const Op& op, std::string_view label, const Shape& expected, const Type& got) {
  if (got.shape == expected) return yes();
  return broken(op, label, "expected the shape {}, got {}", shape_text(expected), got.str());
}

Verdict check_axes(const Op& op, std::string_view label, std::string_view what,
                   std::span<const std::int64_t> values, std::size_t rank) {
  for (std::int64_t v : values)
    if (v < 0 || v >= static_cast<std::int64_t>(rank))
      return broken(op, label, "{} = {}: {} is not a dimension of a tensor of rank {}", what,
                    list_text(values), v, rank);
  return yes();
}

Verdict check_unique(const Op& op, std::string_view label, std::string_view what,
                     std::span<const std::int64_t> values) {
  std::vector<std::int64_t> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return yes();
  return broken(op, label, "{} = {} names {} twice", what, list_text(values), *twice);
}

Verdict check_sorted(const Op& op, std::string_view label, std::string_view what,
                     std::span<const std::int64_t> values) {
  if (std::is_sorted(values.begin(), values.end())) return yes();
  return broken(op, label, "{} = {} is not in ascending order", what, list_text(values));
}

Verdict check_count(const Op& op, std::string_view label, std::string_view what, std::size_t got,
                    std::size_t expected) {
  if (got == expected) return yes();
  return broken(op, label, "{} has {} values, expected {}", what, got, expected);
}

Verdict check_integer_vector(const Op& op, std::string_view label, std::string_view what,
                             const Type& type, std::size_t count) {
  if (is_integer(type.dtype) && type.rank() == 1 &&
      type.shape[0] == static_cast<std::int64_t>(count))
    return yes();
  return broken(op, label, "{} must be {} integers in a tensor of rank 1, got {}", what, count,
                type.str());
}

Verdict check_region(const Program& program, const Op& op, std::size_t region,
                     std::string_view label, std::span<const Type> takes,
                     std::span<const Type> returns) {
  const Region& body = program.region(program.regions(op)[region]);
  std::vector<Type> args, results;
  for (ValueId v : body.args) args.push_back(program.type_of(v));
  // Every region ends in a return.
  for (ValueId v : program.operands(program.op(body.ops.back())))
    results.push_back(program.type_of(v));
  if (std::equal(args.begin(), args.end(), takes.begin(), takes.end()) &&
      std::equal(results.begin(), results.end(), returns.begin(), returns.end()))
    return yes();
  return broken(op, label, "the region must be {} -> {}, got {} -> {}", types_text(takes),
                types_text(returns), types_text(args), types_text(results));
}

Expected<ResultTypes> given_results(const Program& program, const Op& op) {
  if (!results_given(op))
    return reason(
        "its result type does not follow from its operands: give it, as in op(\"{}\", {{…}}, type)",
        op.def->short_name());
  ResultTypes types;
  for (std::size_t i = 0; i < op.result_count; ++i)
    types.add({.id = program.value(program.result(op, i)).type});
  return types;
}

Expected<ResultTypes> like_operands(const Program& program, const Op& op, std::string_view label,
                                    std::size_t count) {
  ResultTypes types;
  for (std::size_t i = 0; i < count; ++i) types.add(like_operand(program, op, i, label));
  return types;
}

Verdict check_as_many(const Op& op, std::string_view label) {
  if (!results_given(op) || op.operand_count == op.result_count) return yes();
  return broken(op, label, "there are {} operands and {} results", op.operand_count,
                op.result_count);
}

Verdict check_results(const Program& program, const Op& op, const ResultTypes& wanted) {
  if (wanted.size() != op.result_count)
    return broken(op, "", "there are {} results, but must be {}", op.result_count, wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const ResultType& want = wanted[i];
    if (want.id == program.value(program.result(op, i)).type) continue;
    const Type& type = want.id == kNone ? want.type : program.type(want.id);
    const Type& got = result_type(program, op, i);
    if (got == type) continue;
    if (want.apart && got.is_tensor()) {
      HEDDLE_TRY_VOID(check_same_dtype(op, want.label, type, got));
      HEDDLE_TRY_VOID(check_shape(op, want.shape_label, type.shape, got));
    }
    const std::string which = wanted.size() == 1 ? "the result" : fmt::format("result {}", i);
    return broken(op, want.label, "{} is {}, but must be {}", which, got.str(), type.str());
  }
  return yes();
}

Expected<ResultTypes> infer_types(const Program& program, const Op& op) {
  const OpDef& def = *op.def;
  if (!def.operands.allows(op.operand_count))
    return reason("{} operands came in, which is not what it takes", op.operand_count);
  if (!def.regions.allows(op.region_count))
    return reason("{} regions came in, which is not what it takes", op.region_count);
  for (RegionId region : program.regions(op))
    if (program.region(region).ops.empty())
      return reason("a region is empty; it must end with a return");
  if (!def.type_rule) return def.results.most == 0 ? ResultTypes{} : given_results(program, op);
  return def.type_rule(program, op);
}

std::string shape_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, "x")); }

}  // namespace heddle
