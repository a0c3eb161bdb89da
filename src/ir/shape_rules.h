// What type rules ask again and again; every reason opens with the op and the constraint's label.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "heddle/op.h"
#include "heddle/type_rule.h"
#include "ir/attr_access.h"

namespace heddle {

// "[pad] C3: …"; an empty label is left out.
template <typename... Args>
Reason broken(const Op& op, std::string_view label, fmt::format_string<Args...> format,
              Args&&... args) {
  return Reason{bracketed(op) + " " + std::string(label) + (label.empty() ? "" : ": ") +
                fmt::format(format, std::forward<Args>(args)...)};
}

inline const Type& operand_type(const Program& program, const Op& op, std::size_t i) {
  return program.type_of(program.operands(op)[i]);
}
inline const Type& result_type(const Program& program, const Op& op, std::size_t i = 0) {
  return program.type_of(program.result(op, i));
}

// All operands and results are tensors.
Verdict check_tensors(const Program& program, const Op& op);

Verdict check_same_dtype(const Op& op, std::string_view label, const Type& a, const Type& b);
// `expected` is what the shape of `got` must be.
Verdict check_shape(const Op& op, std::string_view label, const Shape& expected, const Type& got);
// Every value is at least 0 and below `rank`.
Verdict check_axes(const Op& op, std::string_view label, std::string_view what,
                   std::span<const std::int64_t> values, std::size_t rank);
Verdict check_unique(const Op& op, std::string_view label, std::string_view what,
                     std::span<const std::int64_t> values);
Verdict check_sorted(const Op& op, std::string_view label, std::string_view what,
                     std::span<const std::int64_t> values);
Verdict check_count(const Op& op, std::string_view label, std::string_view what, std::size_t got,
                    std::size_t expected);
// Some integers as data: a tensor of rank 1 with `count` elements.
Verdict check_integer_vector(const Op& op, std::string_view label, std::string_view what,
                             const Type& type, std::size_t count);
// The region takes exactly these types and returns exactly those.
Verdict check_region(const Program& program, const Op& op, std::size_t region,
                     std::string_view label, std::span<const Type> takes,
                     std::span<const Type> returns);

// "[8x4]", for messages.
std::string shape_text(const Shape& shape);

// ---- what a type rule gives back

// Exactly the type of an operand.
inline ResultTypes like_operand(const Program& program, const Op& op, std::size_t i,
                                std::string_view label) {
  return ResultType{.id = program.value(program.operands(op)[i]).type, .label = label};
}
// Exactly this type.
inline ResultTypes typed(Type type, std::string_view label) {
  return ResultType{.type = std::move(type), .label = label};
}
// The same where element type and shape have constraints of their own.
inline ResultTypes typed(Type type, std::string_view label, std::string_view shape_label) {
  return ResultType{
      .type = std::move(type), .label = label, .shape_label = shape_label, .apart = true};
}

// Each result has the type of the operand of its number.
Expected<ResultTypes> like_operands(const Program& program, const Op& op, std::string_view label,
                                    std::size_t count);

// The given results, for ops whose types do not follow from the rest; a reason where none are
// given.
Expected<ResultTypes> given_results(const Program& program, const Op& op);
// The rule of such an op: the types are given, and only checked.
template <Verdict (*check)(const Program&, const Op&)>
Expected<ResultTypes> given(const Program& program, const Op& op) {
  HEDDLE_TRY(ResultTypes types, given_results(program, op));
  HEDDLE_TRY_VOID(check(program, op));
  return types;
}

// As many results as operands, where results are given.
Verdict check_as_many(const Op& op, std::string_view label);

// Whether the op's results have the types that its rule gives.
Verdict check_results(const Program& program, const Op& op, const ResultTypes& wanted);
// The types of an op that comes without them.
Expected<ResultTypes> infer_types(const Program& program, const Op& op);

}  // namespace heddle
