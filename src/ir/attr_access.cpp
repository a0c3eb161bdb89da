#include "ir/attr_access.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "heddle/op.h"

namespace heddle {

namespace {

using Integers = std::vector<std::int64_t>;

// Far above any real attribute: keeps dense<0> : tensor<1000000000000xi64> from eating memory.
constexpr std::int64_t kMostIntegers = std::int64_t{1} << 22;

template <typename T>
T read(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

Reason wrong_form(std::string_view wanted, const Attr* attr) {
  return reason("expected {}, got {}", wanted, describe(attr));
}

bool is_whole(DType dtype) { return is_integer(dtype) || dtype == DType::i1; }

Expected<Integers> whole_array(const Array& array) {
  if (!array.type().is_tensor() || !is_whole(array.dtype()))
    return reason("expected a list of integers, got {}", array.type().str());
  return integer_values(array);
}

Expected<Integers> from_list(const Attr::List& list) {
  Integers values;
  for (const Attr& item : list) {
    HEDDLE_TRY(std::int64_t value, integer(&item));
    values.push_back(value);
  }
  return values;
}

Expected<std::vector<Integers>> split_rows(const Array& array) {
  HEDDLE_TRY(Integers flat, whole_array(array));
  if (array.shape().size() != 2)
    return reason("expected a list of lists of integers, got {}", array.type().str());
  std::int64_t width = array.shape()[1];
  if (array.shape()[0] > kMostIntegers) return reason("too many rows: {}", array.type().str());
  std::vector<Integers> rows;
  for (std::int64_t r = 0; r < array.shape()[0]; ++r) {
    auto first = flat.begin() + r * width;
    rows.emplace_back(first, first + width);
  }
  return rows;
}

// Opens a helper's reason with the op and the attribute.
template <typename T>
Expected<T> named(const Op& op, std::string_view name, Expected<T> got) {
  if (got) return got;
  return reason("{} attribute {}: {}", bracketed(op), name, got.reason());
}

Reason missing_attr(const Op& op, std::string_view name) {
  return reason("{} attribute {} is missing", bracketed(op), name);
}

}  // namespace

std::string_view describe(const Attr* attr) {
  if (!attr) return "nothing";
  static constexpr std::string_view names[] = {
      "a unit",        "a truth value", "an integer",         "a float",
      "a string",      "a type",        "a list of integers", "a list of truth values",
      "a dense array", "a symbol",      "an enum word",       "a struct",
      "a list",        "a sharding"};
  return names[attr->value.index()];
}

Expected<Integers> integers(const Attr* attr, Integers missing) {
  if (!attr) return missing;
  if (auto* list = attr->get<Attr::Integers>()) return *list;
  if (auto* list = attr->get<Attr::List>()) return from_list(*list);
  if (auto* one = attr->get<Attr::Integer>()) return Integers{one->value};
  if (auto* list = attr->get<Attr::Booleans>()) return Integers(list->begin(), list->end());
  if (auto* array = attr->get<Array>()) return whole_array(*array);
  return wrong_form("a list of integers", attr);
}

Expected<std::vector<bool>> booleans(const Attr* attr, std::vector<bool> missing) {
  if (!attr) return missing;
  if (auto* list = attr->get<Attr::Booleans>()) return *list;
  if (auto* one = attr->get<bool>()) return std::vector<bool>{*one};
  auto values = integers(attr);
  if (!values) return wrong_form("a list of truth values", attr);
  return std::vector<bool>(values->begin(), values->end());
}

Expected<std::vector<std::string>> words(const Attr* attr, std::vector<std::string> missing) {
  if (!attr) return missing;
  // An empty list may have been read as one of integers.
  if (auto* none = attr->get<Attr::Integers>(); none && none->empty())
    return std::vector<std::string>{};
  auto* list = attr->get<Attr::List>();
  if (!list) return wrong_form("a list of words", attr);
  std::vector<std::string> result;
  for (const Attr& item : *list) {
    if (!item.get<Attr::Enum>() && !item.get<std::string>()) return wrong_form("a word", &item);
    result.emplace_back(word_or(&item, {}));
  }
  return result;
}

Expected<std::int64_t> integer(const Attr* attr, std::optional<std::int64_t> missing) {
  if (!attr && missing) return *missing;
  if (attr) {
    if (auto* one = attr->get<Attr::Integer>()) return one->value;
    if (auto* flag = attr->get<bool>()) return std::int64_t{*flag};
    auto* array = attr->get<Array>();
    if (array && is_whole(array->dtype()) && array->elements() == 1) return integer_at(*array, 0);
  }
  return wrong_form("an integer", attr);
}

Expected<bool> flag(const Attr* attr, std::optional<bool> missing) {
  if (!attr && missing) return *missing;
  if (attr) {
    if (auto* value = attr->get<bool>()) return *value;
    if (attr->get<Attr::Unit>()) return true;
    if (auto value = integer(attr)) return *value != 0;
  }
  return wrong_form("a truth value", attr);
}

Expected<double> number(const Attr* attr, std::optional<double> missing) {
  if (!attr && missing) return *missing;
  if (attr) {
    if (auto* value = attr->get<Attr::Float>()) return value->value;
    if (auto value = integer(attr)) return static_cast<double>(*value);
  }
  return wrong_form("a number", attr);
}

Expected<std::vector<Integers>> integer_rows(const Attr* attr) {
  if (!attr) return wrong_form("a list of lists of integers", attr);
  if (auto* array = attr->get<Array>()) return split_rows(*array);
  if (auto* none = attr->get<Attr::Integers>(); none && none->empty())
    return std::vector<Integers>{};
  auto* list = attr->get<Attr::List>();
  if (!list) return wrong_form("a list of lists of integers", attr);
  std::vector<Integers> rows;
  for (const Attr& item : *list) {
    HEDDLE_TRY(Integers row, integers(&item));
    rows.push_back(std::move(row));
  }
  return rows;
}

Expected<std::vector<IntegerPair>> integer_pairs(const Attr* attr, std::size_t count) {
  if (!attr) return std::vector<IntegerPair>(count, IntegerPair{0, 0});
  std::vector<IntegerPair> pairs;
  HEDDLE_TRY(auto rows, integer_rows(attr));
  for (const Integers& row : rows) {
    if (row.size() != 2)
      return reason("expected pairs [low, high], got {} in a row", list_text(row));
    pairs.push_back({row[0], row[1]});
  }
  if (pairs.size() != count)
    return reason("expected {} pairs [low, high], got {}", count, pairs.size());
  return pairs;
}

std::int64_t integer_or(const Attr* attr, std::int64_t missing) {
  auto value = integer(attr, missing);
  return value ? *value : missing;
}

bool flag_or(const Attr* attr, bool missing) {
  auto value = flag(attr, missing);
  return value ? *value : missing;
}

double number_or(const Attr* attr, double missing) {
  auto value = number(attr, missing);
  return value ? *value : missing;
}

std::string_view word_or(const Attr* attr, std::string_view missing) {
  if (!attr) return missing;
  if (auto* word = attr->get<Attr::Enum>()) return word->word;
  if (auto* text = attr->get<std::string>()) return *text;
  return missing;
}

std::string_view text_or(const Attr* attr, std::string_view missing) {
  if (!attr) return missing;
  if (auto* text = attr->get<std::string>()) return *text;
  if (auto* symbol = attr->get<Attr::Symbol>()) return symbol->name;
  return missing;
}

Integers integers_or(const Attr* attr, Integers missing) {
  auto values = integers(attr, missing);
  return values ? *std::move(values) : std::move(missing);
}

const Attr::Struct* struct_of(const Attr* attr) {
  return attr ? attr->get<Attr::Struct>() : nullptr;
}

const Attr* field(const Attr* attr, std::string_view name) {
  auto* fields = struct_of(attr);
  return fields ? find_attr(fields->fields, name) : nullptr;
}

Expected<Integers> OpAttrs::integers(std::string_view name) const {
  if (!find(name)) return missing_attr(op, name);
  return named(op, name, heddle::integers(find(name)));
}

Expected<std::int64_t> OpAttrs::integer(std::string_view name) const {
  if (!find(name)) return missing_attr(op, name);
  return named(op, name, heddle::integer(find(name)));
}

Expected<Integers> OpAttrs::integers_or(std::string_view name, Integers missing) const {
  return named(op, name, heddle::integers(find(name), std::move(missing)));
}

Expected<std::int64_t> OpAttrs::integer_or(std::string_view name, std::int64_t missing) const {
  return named(op, name, heddle::integer(find(name), missing));
}

Expected<bool> OpAttrs::flag_or(std::string_view name, bool missing) const {
  return named(op, name, heddle::flag(find(name), missing));
}

Expected<std::vector<bool>> OpAttrs::booleans_or(std::string_view name,
                                                 std::vector<bool> missing) const {
  return named(op, name, heddle::booleans(find(name), std::move(missing)));
}

Expected<Integers> OpAttrs::per_dimension(std::string_view name, std::size_t count,
                                          std::int64_t each) const {
  HEDDLE_TRY(Integers values, integers_or(name, Integers(count, each)));
  if (values.size() != count)
    return reason("{} attribute {}: expected {} values, one per dimension, got {}", bracketed(op),
                  name, count, list_text(values));
  return values;
}

Expected<std::vector<IntegerPair>> OpAttrs::padding(std::string_view name,
                                                    std::size_t count) const {
  return named(op, name, integer_pairs(find(name), count));
}

Expected<std::vector<Integers>> OpAttrs::rows(std::string_view name) const {
  if (!find(name)) return missing_attr(op, name);
  return named(op, name, integer_rows(find(name)));
}

Expected<std::string> OpAttrs::word(std::string_view name,
                                    std::initializer_list<std::string_view> allowed) const {
  if (!find(name)) return missing_attr(op, name);
  return word_or(name, {}, allowed);
}

Expected<std::string> OpAttrs::word_or(std::string_view name, std::string_view missing,
                                       std::initializer_list<std::string_view> allowed) const {
  if (!find(name)) return std::string(missing);
  std::string_view word = heddle::word_or(find(name), {});
  if (std::find(allowed.begin(), allowed.end(), word) != allowed.end()) return std::string(word);
  return reason("{} attribute {}: expected one of {}, got {}", bracketed(op), name,
                fmt::join(allowed, ", "), word.empty() ? describe(find(name)) : word);
}

Expected<Integers> OpAttrs::field_integers(std::string_view name, std::string_view part) const {
  if (!find(name)) return missing_attr(op, name);
  if (!struct_of(find(name)))
    return named(op, name, Expected<Integers>(wrong_form("a struct", find(name))));
  return named(op, part, heddle::integers(field(find(name), part)));
}

Expected<std::int64_t> OpAttrs::field_integer(std::string_view name, std::string_view part,
                                              std::int64_t missing) const {
  if (!find(name)) return missing_attr(op, name);
  return named(op, part, heddle::integer(field(find(name), part), missing));
}

Expected<Integers> integer_values(const Array& array) {
  if (!is_whole(array.dtype())) return reason("expected integers, got {}", array.type().str());
  if (array.elements() > kMostIntegers)
    return reason("expected at most {} integers, got {}", kMostIntegers, array.type().str());
  Integers values;
  values.reserve(static_cast<std::size_t>(array.elements()));
  for (std::int64_t i = 0; i < array.elements(); ++i) values.push_back(integer_at(array, i));
  return values;
}

std::int64_t integer_at(const Array& array, std::int64_t flat) {
  auto bytes = array.element(flat);
  switch (array.dtype()) {
    case DType::i1:
      return read<std::uint8_t>(bytes) != 0;
    case DType::i2:
    case DType::i4:
    case DType::i8:
      return read<std::int8_t>(bytes);
    case DType::i16:
      return read<std::int16_t>(bytes);
    case DType::i32:
      return read<std::int32_t>(bytes);
    case DType::i64:
      return read<std::int64_t>(bytes);
    case DType::ui2:
    case DType::ui4:
    case DType::ui8:
      return read<std::uint8_t>(bytes);
    case DType::ui16:
      return read<std::uint16_t>(bytes);
    case DType::ui32:
      return read<std::uint32_t>(bytes);
    case DType::ui64: {
      constexpr std::uint64_t top = std::numeric_limits<std::int64_t>::max();
      return static_cast<std::int64_t>(std::min(read<std::uint64_t>(bytes), top));
    }
    default:
      break;
  }
  HEDDLE_CHECK(false, "not an integer array: {}", array.type().str());
  return 0;
}

std::string bracketed(const Op& op) {
  return fmt::format("[{}]", op.def ? op.def->short_name() : "op");
}

std::string list_text(std::span<const std::int64_t> values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

}  // namespace heddle
