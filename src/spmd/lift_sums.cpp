// Sums over micro-batches come out of loops: a loop that only adds up what one micro-batch has, or
// puts it somewhere, gives what that micro-batch has of the sum.
#include <set>

#include "heddle/op.h"
#include "ir/clone.h"
#include "ir/eval/eval.h"
#include "ir/rewrite.h"
#include "ir/rules/scan.h"
#include "parallel/pending.h"
#include "spmd/micro_ops.h"

namespace heddle {

namespace {

class SumLifter {
 public:
  SumLifter(const Program& from, const MicroBatches& cut)
      : from_(from), cut_(cut), rules_(from), open_(from.value_count(), false) {}

  Expected<Program> lift() {
    const Function& function = *from_.find_function(cut_.function);
    for (OpId id : from_.region(function.body).ops) {
      top_.insert(id);
      HEDDLE_TRY_VOID(look_into(from_.op(id)));
    }
    const ValueId number = from_.region(function.body).args.back();
    Rewriter r(from_, [&](Rewriter& rw, const Op& op) { return replace(rw, op, number); });
    for (const Function& f : from_.functions) HEDDLE_TRY_VOID(r.copy(f));
    return r.finish();
  }

 private:
  bool has_sums(RegionId region) const {
    for (OpId id : from_.region(region).ops) {
      if (is_micro_sum(from_.op(id))) return true;
      for (RegionId inner : from_.regions(from_.op(id)))
        if (has_sums(inner)) return true;
    }
    return false;
  }
  bool has_sums(const Op& op) const {
    for (RegionId region : from_.regions(op))
      if (has_sums(region)) return true;
    return false;
  }

  Reason cannot(const Op& op) const {
    return located(from_, op,
                   "inside of a loop it needs a sum over the whole batch, so that the batch cannot "
                   "be cut into micro-batches");
  }

  // Which values inside of the op are open: parts of sums that are still to be made.
  Verdict look_into(const Op& op) {
    if (!has_sums(op)) return yes();
    if (op.def->control != Control::loop) return cannot(op);
    const RegionId asks = from_.regions(op)[0], body = from_.regions(op)[1];
    if (has_sums(asks)) return cannot(op);
    const Op& end = from_.op(from_.region(body).ops.back());
    for (bool changed = true; changed;) {
      changed = false;
      HEDDLE_TRY_VOID(follow(body, false));
      for (std::size_t i = 0; i < op.result_count; ++i) {
        const ValueId argument = from_.region(body).args[i];
        if (!open_[from_.operands(end)[i]] || open_[argument]) continue;
        open_[argument] = changed = true;
      }
    }
    HEDDLE_TRY_VOID(follow(body, true));
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId argument = from_.region(body).args[i];
      if (open_[argument] && !open_[from_.operands(end)[i]]) return cannot(op);
      if (open_[argument] && is_used(from_.region(asks).args[i], asks)) return cannot(op);
      open_[from_.result(op, i)] = open_[argument];
    }
    return yes();
  }

  bool is_used(ValueId v, RegionId region) const {
    for (OpId id : from_.region(region).ops)
      for (ValueId operand : from_.operands(from_.op(id)))
        if (operand == v) return true;
    return false;
  }

  // What comes of open values is open; once all of them are known, it is seen whether it may be.
  Verdict follow(RegionId body, bool check) {
    for (OpId id : from_.region(body).ops) {
      const Op& op = from_.op(id);
      if (op.def->form == Form::terminator) continue;
      HEDDLE_TRY_VOID(look_into(op));
      if (is_micro_sum(op)) {
        open_[from_.result(op, 0)] = true;
        continue;
      }
      bool any = false;
      for (ValueId v : from_.operands(op)) any = any || open_[v];
      for (ValueId v : captured_values(from_, op))
        if (open_[v]) return cannot(op);
      if (!any) continue;
      if (op.def->control == Control::loop && has_sums(op)) continue;
      if (check && !passes(id)) return cannot(op);
      for (std::size_t i = 0; i < op.result_count; ++i) open_[from_.result(op, i)] = true;
    }
    return yes();
  }

  // Whether the op of open values is that of their sums: all of the operands in which it is linear
  // together are open, or nothing.
  bool passes(OpId id) {
    const Op& op = from_.op(id);
    const auto operands = from_.operands(op);
    auto sets = linear_operands(from_, op, rules_.of(id));
    if (op.def->emission == Emission::dynamic_update_slice) sets = {{0, 1}};
    for (const auto& together : sets) {
      bool fits = true;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const bool in = std::ranges::find(together, i) != together.end();
        fits = fits && (in ? open_[operands[i]] || is_zero(operands[i]) : !open_[operands[i]]);
      }
      if (fits) return true;
    }
    return false;
  }

  bool is_zero(ValueId v) const { return is_neutral(from_, v, ReduceOp::sum); }

  Expected<bool> replace(Rewriter& r, const Op& op, ValueId number) {
    if (op.result_count == 0) return false;
    const bool at_top = top_.contains(from_.value(from_.result(op, 0)).op);
    if (is_micro_sum(op) && !at_top) {
      r.define(from_.result(op, 0), r.value(from_.operands(op)[0]));
      return true;
    }
    if (!at_top || op.def->control != Control::loop || !has_sums(op)) return false;
    // What such a value begins with counts once. Inside of the loop it may be used as it is.
    const auto operands = from_.operands(op);
    Vars starts = r.operands(op);
    std::vector<Type> types;
    for (std::size_t i = 0; i < op.result_count; ++i) {
      types.push_back(starts[i].type());
      if (!open_[from_.result(op, i)] || is_zero(operands[i])) continue;
      const Var first = r.to.compare("EQ", r.value(number), r.to.full_like(r.value(number), 0));
      const Var all = r.to.broadcast(first, types[i].shape);
      starts[i] = r.to.select(all, starts[i], r.to.full(types[i], 0));
    }
    std::vector<RegionId> regions;
    for (RegionId region : from_.regions(op)) {
      HEDDLE_TRY(const RegionId made, r.copy_region(region));
      regions.push_back(made);
    }
    r.to.at(r.location(op.loc));
    r.define_results(op, r.to.ops(op.def->name, starts, types, copied_attrs(from_, op), regions));
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId result = from_.result(op, i);
      if (open_[result]) r.define(result, r.to.op(kMicroSum, {r.value(result)}));
    }
    return true;
  }

  const Program& from_;
  const MicroBatches& cut_;
  RuleCache rules_;
  std::vector<bool> open_;  // by ValueId
  std::set<OpId> top_;
};

}  // namespace

Expected<Program> with_sums_outside(const Program& program, const MicroBatches& cut) {
  return SumLifter(program, cut).lift();
}

}  // namespace heddle
