#include "python/target_words.h"

#include <fmt/format.h>

#include "heddle/plan_file.h"
#include "heddle/signature.h"

namespace heddle::python {

Target target_from(const Program& program, const TargetWords& words) {
  Target target;
  target.mesh = words.mesh;
  target.ranks = words.ranks;
  target.rank = words.rank;
  target.micro_batches = words.micro_batches;
  target.pipeline = words.pipeline;
  target.chunks = words.interleave;
  if (!words.plan.empty()) {
    const PlanFile file = read_plan_file(words.plan).value();
    if (target.mesh.empty()) target.mesh = file.mesh;
    take_plan(target, file).value();
  }
  for (const auto& [name, layout] : words.layouts)
    target.layouts.shards.push_back({name, layout, fmt::format("layouts[{}]", name)});
  for (const auto& [argument, result] : words.carried) target.carried.push_back({argument, result});
  target.options.entry = entry_of(program);
  target.options.donated = words.donated;
  return target;
}

}  // namespace heddle::python
