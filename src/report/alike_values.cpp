#include "report/alike_values.h"

#include <map>
#include <tuple>

namespace heddle::report {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Each number of a name, and what is between them, with an empty text for each number.
struct NameParts {
  std::vector<std::string> between, numbers;
};

NameParts parts_of(const std::string& name) {
  NameParts parts;
  parts.between.emplace_back();
  for (std::size_t i = 0; i < name.size();) {
    // Digits behind a letter belong to the word: conv2, w_0.
    const bool begins = is_digit(name[i]) && i > 0 && name[i - 1] == '[';
    if (!begins) {
      parts.between.back() += name[i++];
      continue;
    }
    std::string number;
    while (i < name.size() && is_digit(name[i])) number += name[i++];
    parts.numbers.push_back(std::move(number));
    parts.between.emplace_back();
  }
  return parts;
}

std::string joined(const NameParts& parts) {
  std::string name = parts.between[0];
  for (std::size_t i = 0; i < parts.numbers.size(); ++i)
    name += parts.numbers[i] + parts.between[i + 1];
  return name;
}

}  // namespace

std::vector<AlikeValues> alike_values(const std::vector<PlannedFunction::Value>& values) {
  using Key = std::tuple<std::vector<std::string>, std::string, std::string, std::string,
                         std::vector<int>, std::vector<std::int64_t>>;
  std::map<Key, std::size_t> known;
  std::vector<AlikeValues> all;
  std::vector<NameParts> names;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const PlannedFunction::Value& v = values[i];
    NameParts parts = parts_of(v.name);
    const auto [at, fresh] = known.try_emplace(
        {parts.between, v.type, v.sharding, v.part, v.stages, v.rows}, all.size());
    if (fresh) {
      all.emplace_back();
      names.push_back(parts);
    }
    all[at->second].numbers.push_back(i);
    std::vector<std::string>& shown = names[at->second].numbers;
    for (std::size_t n = 0; n < shown.size(); ++n)
      if (shown[n] != parts.numbers[n]) shown[n] = "*";
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i].name = joined(names[i]);
  return all;
}

}  // namespace heddle::report
