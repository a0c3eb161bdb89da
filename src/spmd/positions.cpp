// A program of micro-batches in the order of a pipeline's positions.
#include <algorithm>
#include <climits>
#include <map>

#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "heddle/stage_programs.h"
#include "ir/eval/eval.h"
#include "ir/rewrite.h"
#include "ir/unused.h"
#include "spmd/micro_ops.h"
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

namespace {

// What is written, and when. A sum over micro-batches of what two stages have is one of each, added
// up afterwards: so it travels once and not with every micro-batch.
struct Written {
  OpId op = kNone;
  int time = -1;
  int operand = -1;  // of the two: its sum alone
};

// The addition whose operands two stages have, where nobody else needs it; else kNone.
OpId added_from_two(const Program& program, const Op& sum, const std::vector<int>& positions,
                    const std::vector<int>& uses, const PipelineShape& shape) {
  const ValueId v = program.operands(sum)[0];
  const OpId maker = program.value(v).op;
  if (maker == kNone || uses[v] != 1 || program.op(maker).def->scalar != ScalarOp::add)
    return kNone;
  const auto operands = program.operands(program.op(maker));
  const OpId a = program.value(operands[0]).op, b = program.value(operands[1]).op;
  if (a == kNone || b == kNone || positions[a] < 0 || positions[b] < 0) return kNone;
  return shape.stage_of(positions[a]) == shape.stage_of(positions[b]) ? kNone : maker;
}

std::vector<Written> in_order_of(const Program& program, const Function& function,
                                 const std::vector<MicroPhase>& phases,
                                 const std::vector<int>& positions, const PipelineShape& shape) {
  const std::vector<int> uses = use_counts(program);
  const std::vector<OpId>& ops = program.region(function.body).ops;
  std::vector<OpId> apart(program.op_count(), kNone);  // by sum: the addition that it is made of
  std::vector<bool> gone(program.op_count(), false);
  for (OpId id : ops)
    if (is_micro_sum(program.op(id))) {
      apart[id] = added_from_two(program, program.op(id), positions, uses, shape);
      if (apart[id] != kNone) gone[apart[id]] = true;
    }
  std::vector<Written> all;
  for (OpId id : ops) {
    if (gone[id]) continue;
    if (apart[id] == kNone) {
      all.push_back({id, phases[id] == MicroPhase::after ? INT_MAX : positions[id]});
      continue;
    }
    const auto operands = program.operands(program.op(apart[id]));
    for (int i : {0, 1})
      all.push_back({id, positions[program.value(operands[static_cast<std::size_t>(i)]).op], i});
  }
  std::stable_sort(all.begin(), all.end() - 1,
                   [](const Written& a, const Written& b) { return a.time < b.time; });
  return all;
}

}  // namespace

Expected<MicroBatches> in_positions(const MicroBatches& micro, const StageCut& cut) {
  const Program& from = micro.program;
  const Function& function = *from.find_function(micro.function);
  HEDDLE_TRY(const std::vector<MicroPhase> phases, micro_phases(from, function, micro));
  std::vector<int> said(from.op_count(), -1);
  for (OpId id = 0; id < said.size(); ++id) said[id] = cut.position_of(id);
  HEDDLE_TRY(const std::vector<int> positions, settled_positions(from, function, phases, said));
  const std::vector<Written> order = in_order_of(from, function, phases, positions, cut.shape);
  std::map<OpId, Var> begun;  // of two sums the first

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
      for (const Written& w : order) {
        if (!copied) break;
        const Op& op = from.op(w.op);
        Var sum;
        if (w.operand < 0) {
          copied = r.copy_op(op);
        } else {
          const Op& both = from.op(from.value(from.operands(op)[0]).op);
          const auto taken = from.operands(both)[static_cast<std::size_t>(w.operand)];
          r.to.at(r.location(op.loc));
          sum = r.to.op(kMicroSum, {r.value(taken)});
        }
        if (copied && w.time >= 0 && w.time != INT_MAX) {
          Location place = from.location(op.loc);
          place.position = w.time;
          to.set_location(to.region(head.body).ops.back(), to.add_location(std::move(place)));
        }
        if (w.operand < 0) continue;
        const auto [first, is_first] = begun.try_emplace(w.op, sum);
        if (!is_first) r.define(from.result(op, 0), first->second + sum);
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
