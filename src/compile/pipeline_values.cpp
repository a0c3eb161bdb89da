#include <algorithm>

#include "compile/pipeline_setting.h"
#include "ir/rewrite.h"

namespace heddle {

namespace {

class StagesOfValues {
 public:
  StagesOfValues(const Program& program, const Function& function, const StageCut& cut)
      : program_(program), ops_(program.region(function.body).ops), cut_(cut) {}

  std::vector<int> using_it(ValueId v) const {
    std::vector<int> stages;
    for (OpId id : ops_) {
      const auto operands = program_.operands(program_.op(id));
      if (const int stage = stage_at(id);
          stage >= 0 && std::ranges::find(operands, v) != operands.end())
        stages.push_back(stage);
    }
    std::ranges::sort(stages);
    stages.erase(std::ranges::unique(stages).begin(), stages.end());
    return stages;
  }

  std::vector<int> giving_it(ValueId v) const {
    const OpId maker = program_.value(v).op;
    const int stage = maker == kNone ? -1 : stage_at(maker);
    return stage < 0 ? std::vector<int>{} : std::vector{stage};
  }

 private:
  int stage_at(OpId op) const {
    const int position = cut_.position_of(op);
    if (position < 0) return -1;
    return position >= cut_.shape.positions() ? position - cut_.shape.positions()
                                              : cut_.shape.stage_of(position);
  }

  const Program& program_;
  const std::vector<OpId>& ops_;
  const StageCut& cut_;
};

}  // namespace

void add_values(const MicroBatches& micro, std::uint32_t mesh, const Propagation& layouts,
                PipelineAnswer& answer) {
  const Program& program = micro.program;
  const Function& function = *program.find_function(micro.function);
  const StagesOfValues stages(program, function, answer.cut);
  const auto value_of = [&](const Type& type, const Split& split, std::vector<int> on) {
    FoundPipeline::Value value{type, type, text_of(split, program.meshes[mesh].mesh),
                               std::move(on)};
    if (type.is_tensor()) value.part = local_type(type, split);
    return value;
  };
  const std::vector<ValueId>& args = program.region(function.body).args;
  for (std::size_t a = 0; a < micro.number(); ++a) {
    std::vector<int> on = stages.using_it(args[a]);
    if (on.empty() && answer.cut.arguments[a] >= 0) on = {answer.cut.arguments[a]};
    answer.arguments.push_back(
        value_of(program.type_of(args[a]), layouts.splits[args[a]], std::move(on)));
  }
  const Op& end = program.op(program.region(function.body).ops.back());
  for (std::size_t r = 0; r < end.operand_count; ++r) {
    const ValueId v = program.operands(end)[r];
    answer.results.push_back(value_of(program.type_of(v), layouts.results[r], stages.giving_it(v)));
  }
}

Verdict compute_again(MicroBatches& micro, int effort) {
  SearchOptions how;
  how.recompute = effort;
  for (Function& function : micro.program.functions) {
    if (function.name != micro.function) continue;
    const std::vector<Recomputing> made = recomputing(micro.program, Function(function), how);
    if (made.empty()) return reason("there is nothing to compute again with effort {}", effort);
    function = made.front().function;
  }
  // Without the ops of the function as it was, which belong to nobody now.
  Rewriter rewriter(micro.program, [](Rewriter&, const Op&) { return Expected<bool>(false); });
  for (const Function& function : micro.program.functions) HEDDLE_TRY_VOID(rewriter.copy(function));
  HEDDLE_TRY(Program alone, rewriter.finish());
  micro.program = std::move(alone);
  return yes();
}

}  // namespace heddle
