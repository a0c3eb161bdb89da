#include "runtime/boundary.h"

#include <algorithm>

#include "heddle/op.h"

namespace heddle::runtime {

namespace {

constexpr std::size_t kMostReaders = 4;

}  // namespace

Boundaries::Boundaries(const CompiledProgram& compiled, const Lifetimes& lifetimes, RegionId region)
    : compiled_(&compiled), lifetimes_(&lifetimes), region_(region) {
  const Program& program = compiled.program;
  const auto& units = compiled.regions.at(region);
  for (std::size_t u = 0; u < units.size(); ++u) {
    if (units[u].op != kNone && is_view(program, program.op(units[u].op))) continue;
    for (ValueId v : lifetimes.reads(units[u])) readers_[lifetimes.root(v)].push_back(u);
  }
  for (ValueId v : program.operands(program.op(program.region(region).ops.back())))
    readers_[lifetimes.root(v)].push_back(units.size());
}

std::string Boundaries::note(const CompiledUnit& unit) const {
  const Program& program = compiled_->program;
  const auto& units = compiled_->regions.at(region_);
  std::vector<std::string> names;
  const auto add = [&](std::string name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  };
  for (const CompiledKernel& kernel : unit.kernels)
    for (ValueId v : kernel.group.outputs) {
      const auto found = readers_.find(lifetimes_->root(v));
      if (found == readers_.end()) continue;
      for (std::size_t u : found->second) {
        if (u == units.size())
          add(region_ == compiled_->entry().body ? "the caller" : "the next turn or branch");
        else
          add(units[u].op == kNone ? "another kernel"
                                   : std::string(program.op(units[u].op).def->short_name()));
      }
    }
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostReaders; ++i)
    text += (i == 0 ? "read by " : i + 1 == names.size() ? " and " : ", ") + names[i];
  if (names.size() > kMostReaders) text += fmt::format(" and {} more", names.size() - kMostReaders);
  return text;
}

}  // namespace heddle::runtime
