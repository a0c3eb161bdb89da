#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "ir/eval/eval.h"
#include "spmd/micro_ops.h"

namespace heddle {

namespace {

class Phases {
 public:
  Phases(const Program& program, const MicroBatches& cut)
      : program_(program),
        cut_(cut),
        phases_(program.op_count(), MicroPhase::before),
        values_(program.value_count(), MicroPhase::before),
        sum_of_(program.value_count(), kNone) {}

  Expected<std::vector<MicroPhase>> of(const Function& function) {
    const Region& body = program_.region(function.body);
    for (std::size_t i = 0; i < body.args.size(); ++i)
      if (i == cut_.number() || (i < cut_.arguments.size() && cut_.arguments[i] >= 0))
        values_[body.args[i]] = MicroPhase::each;
    for (OpId id : body.ops) HEDDLE_TRY_VOID(enter(id));
    return std::move(phases_);
  }

 private:
  Verdict enter(OpId id) {
    const Op& op = program_.op(id);
    if (op.def->form == Form::terminator) return yes();
    ValueId each = kNone, after = kNone;
    const auto look = [&](ValueId v) {
      if (values_[v] == MicroPhase::each) each = v;
      if (values_[v] == MicroPhase::after) after = v;
    };
    for (ValueId v : program_.operands(op)) look(v);
    for (ValueId v : captured_values(program_, op)) look(v);
    if (each != kNone && after != kNone) return needs_all(op, after);
    const bool sums = is_micro_sum(op);
    MicroPhase phase = MicroPhase::before;
    if (each != kNone || sums) phase = MicroPhase::each;
    if (after != kNone) phase = MicroPhase::after;
    phases_[id] = phase;
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId v = program_.result(op, i);
      values_[v] = sums ? MicroPhase::after : phase;
      sum_of_[v] = sums ? id : after == kNone ? kNone : sum_of_[after];
    }
    return yes();
  }

  Reason needs_all(const Op& op, ValueId after) const {
    const Op& sum = program_.op(sum_of_[after]);
    return located(program_, op,
                   fmt::format("it needs a sum over the whole batch ({}) for every part of it, so "
                               "that the batch cannot be cut into micro-batches",
                               program_.where(sum.loc)));
  }

  const Program& program_;
  const MicroBatches& cut_;
  std::vector<MicroPhase> phases_, values_;
  std::vector<OpId> sum_of_;
};

}  // namespace

bool is_micro_sum(const Op& op) { return op.def->name == kMicroSum; }

Expected<std::vector<MicroPhase>> micro_phases(const Program& program, const Function& function,
                                               const MicroBatches& cut) {
  return Phases(program, cut).of(function);
}

}  // namespace heddle
