// Results of a run, as tables and reports show them.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ir/eval/check.h"
#include "ir/eval/scalar.h"
#include "program_commands.h"

namespace heddle::cli {
namespace {

// JSON has no infinities and no NaN: they are written as text.
nlohmann::ordered_json json_number(double value) {
  if (std::isfinite(value)) return value;
  return fmt::format("{}", value);
}

// Lists in lists, as the shape is; complex numbers as text.
nlohmann::ordered_json nested_json(const Array& array, std::size_t d, std::int64_t& flat) {
  if (d == array.shape().size()) {
    const std::int64_t at = flat++;
    if (is_complex(array.dtype())) return element_text(array, at);
    if (is_float(array.dtype())) return json_number(to_double(array, at));
    if (is_integer(array.dtype())) return to_int64(array, at);
    return to_bool(array, at);
  }
  auto list = nlohmann::ordered_json::array();
  for (std::int64_t i = 0; i < array.shape()[d]; ++i)
    list.push_back(nested_json(array, d + 1, flat));
  return list;
}

}  // namespace

std::string end_of(const std::string& name, std::size_t columns) {
  if (name.size() <= columns) return name;
  std::size_t from = name.size() - columns + 3;
  while (from < name.size() && (static_cast<unsigned char>(name[from]) & 0xc0) == 0x80) ++from;
  return "..." + name.substr(from);
}

nlohmann::ordered_json summary_json(const Array& array) {
  const Summary s = summarize(array);
  nlohmann::ordered_json json = {{"type", array.type().str()},
                                 {"min", json_number(s.least)},
                                 {"max", json_number(s.most)},
                                 {"mean", json_number(s.mean)},
                                 {"checksum", fmt::format("{:016x}", s.checksum)}};
  if (array.shape().empty()) json["value"] = s.value;
  std::int64_t flat = 0;
  if (!array.shape().empty() && !s.value.empty()) json["values"] = nested_json(array, 0, flat);
  return json;
}

}  // namespace heddle::cli
