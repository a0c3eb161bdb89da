#include "compile.h"

namespace heddle {

namespace {

// Every op of the unit by itself.
std::vector<CompiledUnit> apart(const CompiledUnit& unit, const std::string& why) {
  std::vector<CompiledUnit> ops;
  for (const CompiledKernel& kernel : unit.kernels)
    for (OpId op : kernel.group.ops) ops.push_back({.kernels = {}, .op = op, .note = why});
  return ops;
}

}  // namespace

Verdict make_kernels(CompiledProgram& compiled, const CompileOptions&) {
  for (auto& [region, units] : compiled.regions) {
    std::vector<CompiledUnit> made;
    for (CompiledUnit& unit : units) {
      if (unit.op != kNone) {
        made.push_back(std::move(unit));
        continue;
      }
      for (CompiledUnit& op : apart(unit, "kernels are not lowered")) made.push_back(std::move(op));
    }
    units = std::move(made);
  }
  return yes();
}

}  // namespace heddle
