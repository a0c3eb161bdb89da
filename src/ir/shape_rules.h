// What type rules ask again and again; every reason opens with the op and the constraint's label.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "heddle/op.h"
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

}  // namespace heddle
