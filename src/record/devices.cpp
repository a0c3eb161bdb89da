// Windows on several devices.
#include <algorithm>

#include "heddle/transport.h"
#include "heddle/window_devices.h"

namespace heddle {

namespace {

constexpr const char* kAxis = "d";

// "_,d" for a type whose second dimension is the longest; empty where it stays whole.
std::string words_for(const Type& type, int devices) {
  const auto longest = std::ranges::max_element(type.shape);
  if (longest == type.shape.end() || *longest < devices) return {};
  std::string words;
  for (auto size = type.shape.begin(); size != type.shape.end(); ++size) {
    if (!words.empty()) words += ',';
    words += size == longest ? kAxis : "_";
  }
  return words;
}

}  // namespace

WindowDevices::WindowDevices(int threads, std::int64_t least)
    : count_(threads), least_(least), threads_(std::make_unique<ThreadMesh>(threads)) {}

WindowDevices::WindowDevices(Transport& ranks, std::int64_t least)
    : count_(ranks.size()), least_(least), ranks_(&ranks) {}

void WindowDevices::place(Target& target, const std::vector<Type>& arguments,
                          const std::vector<Type>& results) const {
  WindowMesh{count_, are_ranks(), are_ranks() ? ranks_->rank() : 0, least_}.place(target, arguments,
                                                                                  results);
}

void WindowMesh::place(Target& target, const std::vector<Type>& arguments,
                       const std::vector<Type>& results) const {
  const auto is_large = [&](const Type& type) {
    return type.rank() > 0 && type.elements() >= least;
  };
  if (std::ranges::none_of(arguments, is_large) && std::ranges::none_of(results, is_large)) return;
  target.mesh = fmt::format("{}={}", kAxis, count);
  target.ranks = are_ranks;
  target.rank = rank;
  target.layouts.closed = true;
  const auto say = [&](const char* what, const std::vector<Type>& types) {
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (!is_large(types[i])) continue;
      const std::string words = words_for(types[i], count);
      if (words.empty()) continue;
      const std::string name = fmt::format("{}{}", what, i);
      target.layouts.shards.push_back({name, words, "a window's " + name});
    }
  };
  say("arg", arguments);
  say("result", results);
}

Expected<Array> WindowDevices::whole(const SpreadArray& array) const {
  if (ranks_ != nullptr) return array.placed.whole(array.parts.front(), *ranks_);
  return array.placed.whole(array.parts);
}

Expected<std::vector<Array>> WindowDevices::parts_for(const PlacedValue& wanted,
                                                      const WindowValue& value) const {
  if (value.spread && value.spread->placed.split() == wanted.split()) return value.spread->parts;
  Array all = value.whole;
  if (value.spread) {
    HEDDLE_TRY(all, whole(*value.spread));
  }
  if (ranks_ == nullptr) return wanted.parts_of(all);
  HEDDLE_TRY(Array part, wanted.part_of(all, ranks_->rank()));
  return std::vector<Array>{std::move(part)};
}

Expected<std::vector<WindowValue>> WindowDevices::run(const Executable& executable,
                                                      std::vector<WindowValue> arguments) {
  const Placement& placement = executable.placement();
  std::vector<std::vector<Array>> parts(ranks_ != nullptr ? 1 : static_cast<std::size_t>(count_));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    HEDDLE_TRY(std::vector<Array> of_one, parts_for(placement.arguments[i], arguments[i]));
    for (std::size_t d = 0; d < parts.size(); ++d) parts[d].push_back(std::move(of_one[d]));
  }
  arguments.clear();
  if (ranks_ != nullptr) {
    RunOptions options;
    options.transport = ranks_;
    HEDDLE_TRY(parts[0], executable.run(std::move(parts[0]), options));
  } else {
    HEDDLE_TRY(parts, threads_->run(executable, std::move(parts)));
  }
  std::vector<WindowValue> results;
  for (std::size_t r = 0; r < placement.results.size(); ++r) {
    if (placement.results[r].split().is_whole()) {
      results.push_back({std::move(parts[0][r]), nullptr});
      continue;
    }
    std::vector<Array> of_one;
    for (auto& device : parts) of_one.push_back(std::move(device[r]));
    results.push_back(
        {{}, std::make_shared<SpreadArray>(SpreadArray{placement.results[r], std::move(of_one)})});
  }
  return results;
}

}  // namespace heddle
