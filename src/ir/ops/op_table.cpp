#include <algorithm>
#include <unordered_map>

#include "heddle/hash.h"
#include "ir/ops/op_families.h"

namespace heddle {

std::string_view name(OpClass cls) {
  static constexpr std::string_view names[] = {"light", "heavy",       "reduce",  "contract",
                                               "move",  "communicate", "control", "opaque"};
  return names[static_cast<int>(cls)];
}

namespace {

struct Table {
  std::vector<OpDef> rows;
  std::unordered_map<std::string_view, const OpDef*> by_name, of_stablehlo;

  Table() {
    for (auto family : {elementwise_ops, shape_ops, index_ops, reduce_ops, linalg_ops, control_ops,
                        collective_ops, chlo_ops, check_ops, sharding_ops}) {
      auto more = family();
      rows.insert(rows.end(), more.begin(), more.end());
    }
    std::sort(rows.begin(), rows.end(),
              [](const OpDef& a, const OpDef& b) { return a.name < b.name; });
    for (OpDef& row : rows) {
      row.hash = hash_combine(0, row.name);
      by_name.emplace(row.name, &row);
      if (row.name.starts_with("stablehlo.")) of_stablehlo.emplace(row.short_name(), &row);
    }
  }
};

const Table& table() {
  static const Table instance;
  return instance;
}

}  // namespace

std::vector<std::string_view> attribute_names(const OpDef& def) {
  std::vector<std::string_view> names;
  for (const FormWord& word : def.words) names.push_back(word.attribute);
  std::string_view left = def.attributes;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find(' '), left.size());
    names.push_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return names;
}

bool takes_attribute(const OpDef& def, std::string_view name) {
  const std::vector<std::string_view> names = attribute_names(def);
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::span<const OpDef> op_table() { return table().rows; }

const OpDef* find_op(std::string_view name) {
  auto it = table().by_name.find(name);
  return it == table().by_name.end() ? nullptr : it->second;
}

const OpDef* find_stablehlo_op(std::string_view short_name) {
  auto it = table().of_stablehlo.find(short_name);
  return it == table().of_stablehlo.end() ? nullptr : it->second;
}

}  // namespace heddle
