#include "compile/infeasible.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/words.h"
#include "compile/distribute.h"

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

// Who names what is not there has made a mistake: a plan without it is not what was asked for.
bool names_what_is_there(const Program& whole, const Target& target) {
  Program program = whole;
  Target named = target;
  named.layouts.batch.clear();
  named.layouts.shards.clear();
  const bool is_open = target.mesh.empty() || target.mesh == kOwnMesh;
  if (is_open && target.cluster) named.mesh = meshes_of(*target.cluster).front();
  const auto mesh = enter_mesh(program, named);
  if (!mesh) return false;
  for (const ShardEntry& entry : target.layouts.shards) {  // each alone: two may contradict
    named.layouts.shards = {entry};
    if (!seeds_on(program, *mesh, named)) return false;
  }
  const MeshDecl* const found = program.find_mesh(*mesh);
  const auto is_axis = [&](const std::string& axis) {
    return found == nullptr ||
           std::ranges::find(found->mesh.axes(), axis, &MeshAxis::name) != found->mesh.axes().end();
  };
  return target.layouts.batch.empty() ||
         std::ranges::all_of(split_outside(target.layouts.batch, '+'), is_axis);
}

// With all digits: less would be another thing to try.
std::string digits_of(std::int64_t bytes) {
  constexpr std::pair<std::int64_t, const char*> kUnits[] = {
      {1'000'000'000, "GB"}, {1'000'000, "MB"}, {1'000, "kB"}};
  for (const auto& [unit, name] : kUnits)
    if (bytes >= unit)
      return fmt::format("{:.6g} {}", static_cast<double>(bytes) / static_cast<double>(unit), name);
  return fmt::format("{} B", bytes);
}

}  // namespace

Reason with_what_would_do(const Program& program, const Target& target, const MicroBatches* cut,
                          SearchesByLimit& done, Reason why) {
  if (target.layouts.search == 0 || target.layouts.search_stop.stop_requested()) return why;
  constexpr std::size_t kMostTried = 6;
  std::string would_do;
  const auto add = [&](const std::string& what) {
    would_do += (would_do.empty() ? "\n  there is a plan " : ", or ") + what;
  };
  if (target.layouts.device_memory != INT64_MAX) {
    if (const auto free = done.find(INT64_MAX); free != done.end() && !free->second) return why;
    if (const auto enough = enough_memory(program, target, cut, done))
      add(fmt::format("with {} of each device", digits_of(*enough)));
  }
  if (!names_what_is_there(program, target)) return why;
  std::size_t tried = 0;
  for (const auto& [what, less] : with_less_fixed(target)) {
    SearchesByLimit others;
    if (tried++ < kMostTried && dealt_out(program, less, cut, others)) add("without " + what);
  }
  return Reason{why.text + would_do};
}

}  // namespace heddle
