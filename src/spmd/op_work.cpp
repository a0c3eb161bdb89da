#include "spmd/op_work.h"

#include "cost/usual_figures.h"
#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "ir/trips.h"

namespace heddle {

double work_of(const Program& program, const Op& op) {
  if (op.def->rearranges == Rearrange::constant) return 0;
  if (op.def->control == Control::loop) {
    double turn = 0;
    for (OpId id : program.region(program.regions(op)[1]).ops)
      turn += work_of(program, program.op(id));
    return turn * static_cast<double>(trips_of(program, op).value_or(1));
  }
  double points = 1;
  for (const Factor& f : index_rule(program, op).factors) points *= static_cast<double>(f.size);
  return op.def->cls == OpClass::contract ? cost::kProductOfAPoint * points : points;
}

}  // namespace heddle
