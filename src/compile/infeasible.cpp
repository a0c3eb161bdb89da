#include "compile/infeasible.h"

#include <cmath>

#include "base/text.h"
#include "compile/distribute.h"

namespace heddle {

namespace {

std::int64_t with_three_digits(std::int64_t bytes) {
  std::int64_t unit = 1;
  while (bytes / unit >= 1000) unit *= 10;
  return (bytes + unit - 1) / unit * unit;
}

// The least memory that a plan was found for, between what is too little and what is enough.
std::int64_t enough_memory(const Program& program, Target target, std::int64_t enough) {
  constexpr int kTries = 6;
  double too_little = static_cast<double>(target.layouts.device_memory);
  for (int i = 0; i < kTries && static_cast<double>(enough) > 1.02 * too_little; ++i) {
    const auto between = std::sqrt(too_little * static_cast<double>(enough));
    target.layouts.device_memory = static_cast<std::int64_t>(between);
    if (const auto found = found_for(program, target))
      enough = std::min(target.layouts.device_memory, found->peak_bytes);
    else
      too_little = between;
  }
  return with_three_digits(enough);
}

// The same with one thing fixed less.
std::vector<std::pair<std::string, Target>> with_less_fixed(const Target& target) {
  std::vector<std::pair<std::string, Target>> all;
  for (std::size_t i = 0; i < target.layouts.shards.size(); ++i) {
    const ShardEntry& entry = target.layouts.shards[i];
    if (entry.from_file) continue;
    Target less = target;
    less.layouts.shards.erase(less.layouts.shards.begin() + static_cast<std::ptrdiff_t>(i));
    all.emplace_back(fmt::format("{}={}", entry.name, entry.sharding), std::move(less));
  }
  if (!target.layouts.batch.empty()) {
    Target less = target;
    less.layouts.batch.clear();
    all.emplace_back("batch=" + target.layouts.batch, std::move(less));
  }
  return all;
}

}  // namespace

Reason with_what_would_do(const Program& program, const Target& target, Reason why) {
  if (target.layouts.search == 0) return why;
  constexpr std::size_t kMostTried = 6;
  std::string would_do;
  const auto add = [&](const std::string& what) {
    would_do += (would_do.empty() ? "\n  there is a plan " : ", or ") + what;
  };
  if (target.layouts.device_memory != INT64_MAX) {
    Target unlimited = target;
    unlimited.layouts.device_memory = INT64_MAX;
    const auto found = found_for(program, unlimited);
    if (!found) return why;
    add(fmt::format("with {} of each device", format_bytes(static_cast<double>(enough_memory(
                                                  program, target, found->peak_bytes)))));
  }
  std::size_t tried = 0;
  for (const auto& [what, less] : with_less_fixed(target))
    if (tried++ < kMostTried && found_for(program, less)) add("without " + what);
  return Reason{why.text + would_do};
}

}  // namespace heddle
