// Reads attributes in whichever form the text gave them: array<i64: …>, [..], or dense<…> : tensor.
// A missing attribute is a null pointer; a wrong form is a reason, never a crash.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/attr.h"
#include "heddle/program.h"

namespace heddle {

using IntegerPair = std::array<std::int64_t, 2>;

// What an attribute is, for messages: "a list of integers", "a string", "nothing".
std::string_view describe(const Attr* attr);

// ---- one attribute by itself; `missing` stands in for a null pointer only
Expected<std::vector<std::int64_t>> integers(const Attr* attr,
                                             std::vector<std::int64_t> missing = {});
Expected<std::vector<bool>> booleans(const Attr* attr, std::vector<bool> missing = {});
Expected<std::vector<std::string>> words(const Attr* attr, std::vector<std::string> missing = {});
Expected<std::int64_t> integer(const Attr* attr, std::optional<std::int64_t> missing = {});
Expected<bool> flag(const Attr* attr, std::optional<bool> missing = {});
Expected<double> number(const Attr* attr, std::optional<double> missing = {});
// Rows of a 2-D list: replica_groups, source_target_pairs; nested lists or a dense<…> of rank 2.
Expected<std::vector<std::vector<std::int64_t>>> integer_rows(const Attr* attr);
// Padding [[lo, hi], …]; a missing one is `count` pairs of zeros.
Expected<std::vector<IntegerPair>> integer_pairs(const Attr* attr, std::size_t count);

// ---- where the type rule has checked the form already: anything else gives the default
std::int64_t integer_or(const Attr* attr, std::int64_t missing);
bool flag_or(const Attr* attr, bool missing);  // `unit` is true
double number_or(const Attr* attr, double missing);
std::string_view word_or(const Attr* attr,
                         std::string_view missing);  // an enum's word, or a string
std::string_view text_or(const Attr* attr,
                         std::string_view missing);  // a string or a symbol's name
std::vector<std::int64_t> integers_or(const Attr* attr, std::vector<std::int64_t> missing = {});

// The struct behind #stablehlo.gather<…>, or null.
const Attr::Struct* struct_of(const Attr* attr);
// A field of it; null where there is no such struct or field.
const Attr* field(const Attr* attr, std::string_view name);

// ---- an op's attributes by name, with reasons that open with the op: "[pad] attribute …"
struct OpAttrs {
  const Program& program;
  const Op& op;

  const Attr* find(std::string_view name) const { return program.attr(op, name); }
  // Reasons where it is missing.
  Expected<std::vector<std::int64_t>> integers(std::string_view name) const;
  Expected<std::int64_t> integer(std::string_view name) const;
  // Stand-ins where it is missing.
  Expected<std::vector<std::int64_t>> integers_or(std::string_view name,
                                                  std::vector<std::int64_t> missing) const;
  Expected<std::int64_t> integer_or(std::string_view name, std::int64_t missing) const;
  Expected<bool> flag_or(std::string_view name, bool missing) const;
  Expected<std::vector<bool>> booleans_or(std::string_view name, std::vector<bool> missing) const;
  // One integer per dimension, such as window strides; a missing list is `count` times `each`.
  Expected<std::vector<std::int64_t>> per_dimension(std::string_view name, std::size_t count,
                                                    std::int64_t each) const;
  Expected<std::vector<IntegerPair>> padding(std::string_view name, std::size_t count) const;
  Expected<std::vector<std::vector<std::int64_t>>> rows(std::string_view name) const;
  // The word of a required enum, which must be one of `allowed`.
  Expected<std::string> word(std::string_view name,
                             std::initializer_list<std::string_view> allowed) const;
  Expected<std::string> word_or(std::string_view name, std::string_view missing,
                                std::initializer_list<std::string_view> allowed) const;
  // A field of the struct attribute `name`; a missing field is an empty list or `missing`.
  Expected<std::vector<std::int64_t>> field_integers(std::string_view name,
                                                     std::string_view part) const;
  Expected<std::int64_t> field_integer(std::string_view name, std::string_view part,
                                       std::int64_t missing) const;
};

// The values of an integer array (any width, i1 too) as i64. A reason for other dtypes.
Expected<std::vector<std::int64_t>> integer_values(const Array& array);
// One element of an integer array; ui64 values above the signed range saturate to its top.
std::int64_t integer_at(const Array& array, std::int64_t flat);

// "[pad]": how every reason opens.
std::string bracketed(const Op& op);

// "[0, 2, 1]", for messages.
std::string list_text(std::span<const std::int64_t> values);

}  // namespace heddle
