#include "spmd/turn_parts.h"

#include <algorithm>
#include <map>
#include <set>

#include "heddle/op.h"
#include "spmd/op_work.h"

namespace heddle {

std::vector<CutLoop> loops_with_parameters(const MicroBatches& micro) {
  const Program& program = micro.program;
  const Function& function = *program.find_function(micro.function);
  const auto phases = micro_phases(program, function, micro);
  if (!phases) return {};
  const Region& body = program.region(function.body);
  std::vector<bool> parameter(program.value_count(), false);
  for (std::size_t a = 0; a < micro.number(); ++a) parameter[body.args[a]] = micro.arguments[a] < 0;
  std::vector<CutLoop> loops;
  for (OpId id : body.ops) {
    const Op& op = program.op(id);
    const auto operands = program.operands(op);
    if ((*phases)[id] == MicroPhase::before &&
        std::ranges::any_of(operands, [&](ValueId v) { return parameter[v]; }))
      for (std::size_t k = 0; k < op.result_count; ++k) parameter[program.result(op, k)] = true;
    if ((*phases)[id] != MicroPhase::each) continue;
    auto turns = turns_of(program, op);
    if (!turns || turns->count < 2) continue;
    bool any = false;
    for (std::size_t i = 0; i < operands.size(); ++i)
      any = any || (turns->kinds[i] == LoopTurns::Kind::taken && parameter[operands[i]]);
    for (const LoopTurns::Taken& taken : turns->from_around) any = any || parameter[taken.value];
    if (any) loops.push_back({id, *std::move(turns)});
  }
  return loops;
}

std::int64_t count_of_most_work(const Program& program, const std::vector<CutLoop>& loops) {
  std::map<std::int64_t, double> work;
  for (const CutLoop& loop : loops) work[loop.turns.count] += work_of(program, program.op(loop.op));
  std::int64_t best = 0;
  for (const auto& [count, much] : work)
    if (best == 0 || much > work[best]) best = count;
  return best;
}

std::int64_t turns_to_cut(const MicroBatches& micro) {
  return count_of_most_work(micro.program, loops_with_parameters(micro));
}

std::vector<RowRange> parts_of_equal_work(const MicroBatches& micro,
                                          const std::vector<CutLoop>& loops, std::int64_t turns,
                                          std::int64_t parts) {
  const Program& program = micro.program;
  const Region& body = program.region(program.find_function(micro.function)->body);
  const auto phases = micro_phases(program, *program.find_function(micro.function), micro).value();
  std::set<OpId> cut;
  double turn = 0;
  for (const CutLoop& loop : loops) {
    cut.insert(loop.op);
    turn += work_of(program, program.op(loop.op)) / static_cast<double>(turns);
  }
  // What loops are made of, and what is made of the last of them: at the first part.
  std::vector<bool> leads(program.op_count(), false), follows(program.op_count(), false);
  leads[loops.front().op] = true;
  follows[loops.back().op] = loops.size() > 1;
  const auto maker_is = [&](const std::vector<bool>& marked, const Op& op) {
    return std::ranges::any_of(program.operands(op), [&](ValueId v) {
      const OpId maker = program.value(v).op;
      return maker != kNone && marked[maker];
    });
  };
  for (std::size_t i = body.ops.size(); i-- > 0;)
    if (leads[body.ops[i]])
      for (ValueId v : program.operands(program.op(body.ops[i])))
        if (const OpId maker = program.value(v).op; maker != kNone) leads[maker] = true;
  double before = 0, behind = 0;
  for (OpId id : body.ops) {
    const Op& op = program.op(id);
    if (!follows[id] && maker_is(follows, op)) follows[id] = true;
    if (phases[id] != MicroPhase::each || cut.contains(id) || op.def->form == Form::terminator)
      continue;
    (leads[id] || follows[id] ? before : behind) += work_of(program, op);
  }
  // Whoever has least so far gets the next turn.
  std::vector<double> load(static_cast<std::size_t>(parts), turn);
  std::vector<std::int64_t> counts(load.size(), 1);
  load.front() += before;
  load.back() += behind;
  for (std::int64_t t = parts; t < turns; ++t) {
    const auto least = static_cast<std::size_t>(std::ranges::min_element(load) - load.begin());
    load[least] += turn;
    ++counts[least];
  }
  std::vector<RowRange> rows;
  std::int64_t begin = 0;
  for (std::int64_t count : counts) {
    rows.push_back({begin, begin + count});
    begin += count;
  }
  return rows;
}

}  // namespace heddle
