#include "compile/infeasible.h"

#include "base/text.h"
#include "compile/distribute.h"
#include "compile/within_memory.h"

namespace heddle {

namespace {

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

Reason with_what_would_do(const Program& program, const Target& target, const MicroBatches* cut,
                          Reason why) {
  if (target.layouts.search == 0 || target.layouts.search_stop.stop_requested()) return why;
  constexpr std::size_t kMostTried = 6;
  std::string would_do;
  const auto add = [&](const std::string& what) {
    would_do += (would_do.empty() ? "\n  there is a plan " : ", or ") + what;
  };
  if (target.layouts.device_memory != INT64_MAX) {
    Target unlimited = target;
    unlimited.layouts.device_memory = INT64_MAX;
    if (!decided_for(program, unlimited, cut)) return why;
    if (const auto enough = enough_memory(program, target, cut))
      add(fmt::format("with {} of each device", format_bytes(static_cast<double>(*enough))));
  }
  std::size_t tried = 0;
  for (const auto& [what, less] : with_less_fixed(target))
    if (tried++ < kMostTried && dealt_out(program, less, cut)) add("without " + what);
  return Reason{why.text + would_do};
}

}  // namespace heddle
