#include "heddle/value_names.h"

#include <algorithm>
#include <unordered_set>

#include "base/words.h"

namespace heddle {
namespace {

std::string_view name_in(const std::vector<AttrDict>& attrs, std::size_t index,
                         std::string_view key) {
  const Attr* attr = index < attrs.size() ? find_attr(attrs[index], key) : nullptr;
  const auto* text = attr == nullptr ? nullptr : attr->get<std::string>();
  return text == nullptr ? std::string_view() : *text;
}

}  // namespace

std::string_view argument_name(const Function& function, std::size_t index) {
  return name_in(function.arg_attrs, index, kArgumentName);
}

std::string_view result_name(const Function& function, std::size_t index) {
  return name_in(function.result_attrs, index, kResultName);
}

std::vector<std::string> groups_around(std::string_view name) {
  std::vector<std::string> groups;
  for (std::size_t at = name.find_first_of("[."); at < name.size();) {
    if (at > 0) groups.emplace_back(name.substr(0, at));
    if (name[at] == '[') at = find_outside(name, ']', at + 1);
    at = at < name.size() ? name.find_first_of("[.", at + 1) : name.npos;
  }
  return groups;
}

bool lies_in(std::string_view name, std::string_view group) {
  const std::vector<std::string> groups = groups_around(name);
  return std::ranges::find(groups, group) != groups.end();
}

std::vector<std::string> with_groups(const std::vector<std::string>& names) {
  std::vector<std::string> all = names;
  std::unordered_set<std::string> seen(names.begin(), names.end());
  for (const std::string& name : names)
    for (std::string& group : groups_around(name))
      if (seen.insert(group).second) all.push_back(std::move(group));
  return all;
}

}  // namespace heddle
