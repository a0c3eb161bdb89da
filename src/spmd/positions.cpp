// A program of micro-batches in the order of a pipeline's positions.
#include <algorithm>
#include <climits>

#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "heddle/stage_programs.h"
#include "ir/eval/eval.h"
#include "ir/rewrite.h"
#include "spmd/pipeline_plan.h"

namespace heddle {

Expected<std::vector<int>> settled_positions(const Program& program, const Function& function,
                                             const std::vector<MicroPhase>& phases,
                                             const std::vector<int>& said) {
  std::vector<int> positions(program.op_count(), -1);
  for (OpId id : program.region(function.body).ops) {
    const Op& op = program.op(id);
    if (phases[id] != MicroPhase::each || op.def->form == Form::terminator) continue;
    int least = -1;
    const auto look = [&](ValueId v) {
      if (const OpId maker = program.value(v).op; maker != kNone)
        least = std::max(least, positions[maker]);
    };
    for (ValueId v : program.operands(op)) look(v);
    for (ValueId v : captured_values(program, op)) look(v);
    if (said[id] >= 0 && said[id] < least)
      return located(program, op,
                     fmt::format("it is to be at position {} of the pipeline, and needs what comes "
                                 "at position {}",
                                 said[id], least));
    positions[id] = said[id] >= 0 ? said[id] : least;
  }
  return positions;
}

Expected<MicroBatches> in_positions(const MicroBatches& micro, const StageCut& cut) {
  const Program& from = micro.program;
  const Function& function = *from.find_function(micro.function);
  HEDDLE_TRY(const std::vector<MicroPhase> phases, micro_phases(from, function, micro));
  std::vector<int> said(from.op_count(), -1);
  for (OpId id = 0; id < said.size(); ++id) said[id] = cut.position_of(id);
  HEDDLE_TRY(const std::vector<int> positions, settled_positions(from, function, phases, said));
  std::vector<OpId> ops = from.region(function.body).ops;
  std::stable_sort(ops.begin(), ops.end() - 1, [&](OpId a, OpId b) {
    const auto time = [&](OpId id) {
      return phases[id] == MicroPhase::after ? INT_MAX : positions[id];
    };
    return time(a) < time(b);
  });

  Rewriter r(from, [](Rewriter&, const Op&) -> Expected<bool> { return false; });
  Program& to = r.to.program;
  for (const Function& f : from.functions) {
    if (f.name != micro.function) {
      HEDDLE_TRY_VOID(r.copy(f));
      continue;
    }
    Function head = f;
    for (TypeId& t : head.results) t = to.intern(from.type(t));
    for (LayoutId& l : head.result_layouts) l = r.layout(l);
    head.loc = r.location(f.loc);
    head.body = to.add_region();
    for (ValueId v : from.region(f.body).args) {
      const ValueId arg = to.add_arg(head.body, to.intern(from.type_of(v)));
      to.set_layout(arg, r.layout(from.value(v).layout));
      r.define(v, {r.to, arg});
    }
    Verdict copied = yes();
    r.to.inside(head.body, [&] {
      for (OpId id : ops) {
        if (copied) copied = r.copy_op(from.op(id));
        if (!copied || positions[id] < 0) continue;
        Location place = from.location(from.op(id).loc);
        place.position = positions[id];
        to.set_location(to.region(head.body).ops.back(), to.add_location(std::move(place)));
      }
    });
    HEDDLE_TRY_VOID(copied);
    to.functions.push_back(std::move(head));
  }
  MicroBatches made = micro;
  HEDDLE_TRY(made.program, r.finish());
  return made;
}

}  // namespace heddle
