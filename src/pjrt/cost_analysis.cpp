#include "pjrt/cost_analysis.h"

#include "heddle/index_rule.h"
#include "heddle/op.h"

namespace heddle::pjrt {

namespace {

double flops_of(const Program& program, RegionId region) {
  double flops = 0;
  for (OpId id : program.region(region).ops) {
    const Op& op = program.op(id);
    for (RegionId inner : program.regions(op)) flops += flops_of(program, inner);
    const OpClass cls = op.def->cls;
    if (cls == OpClass::contract) {
      double points = 2;
      for (const Factor& factor : index_rule(program, op).factors)
        points *= static_cast<double>(factor.size);
      flops += points;
    } else if (cls == OpClass::light || cls == OpClass::heavy || cls == OpClass::reduce) {
      std::int64_t most = 0;
      for (ValueId v : program.operands(op)) most = std::max(most, program.type_of(v).elements());
      flops += static_cast<double>(most);
    }
  }
  return flops;
}

}  // namespace

void add_cost(const Program& program, const Executable& executable, NamedValues& cost) {
  double bytes = 0, seconds = 0;
  for (const StepInfo& step : executable.steps()) {
    bytes += static_cast<double>(step.bytes_read + step.bytes_written);
    seconds += step.expected_seconds;
  }
  double flops = 0;
  for (const Function& f : program.functions)
    if (f.body != kNone) flops += flops_of(program, f.body);
  cost.add("flops", static_cast<float>(flops));
  cost.add("bytes accessed", static_cast<float>(bytes));
  cost.add("optimal_seconds", static_cast<float>(seconds));
}

}  // namespace heddle::pjrt
