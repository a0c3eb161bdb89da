// What a loop computes anew in every turn although nothing of it changes comes before the loop, so
// that it is brought to where the loop needs it once.
#include <algorithm>

#include "heddle/decide.h"
#include "heddle/op.h"
#include "ir/clone.h"
#include "ir/rewrite.h"
#include "parallel/prepare.h"

namespace heddle {

namespace {

class InvariantMover {
 public:
  explicit InvariantMover(const Program& program)
      : from_(program),
        outside_(program.value_count(), kNone),
        is_moved_(program.op_count(), false),
        rewriter_(program, [this](Rewriter&, const Op& op) { return replaced(op); }) {}

  bool any() {
    bool any = false;
    for (OpId id = 0; id < from_.op_count(); ++id)
      if (from_.op(id).def->parts == Parts::loop && look_into(from_.op(id))) any = true;
    return any;
  }

  Expected<Program> run() {
    for (const Function& f : from_.functions) HEDDLE_TRY_VOID(rewriter_.copy(f));
    return rewriter_.finish();
  }

 private:
  // Which ops of the body give the same in every turn. Inner loops come first: what leaves them may
  // leave this one in the next round.
  bool look_into(const Op& loop) {
    const std::vector<ValueId> kept = kept_in_loop(from_, loop);
    const RegionId body = from_.regions(loop)[1];
    const Region& region = from_.region(body);
    for (std::size_t i = 0; i < kept.size(); ++i) outside_[region.args[i]] = kept[i];
    bool any = false;
    for (OpId id : region.ops) {
      const Op& op = from_.op(id);
      if (!is_worth_it(op) ||
          !std::ranges::all_of(from_.operands(op), [&](ValueId v) { return is_outside(v, body); }))
        continue;
      is_moved_[id] = any = true;
    }
    return any;
  }

  // It takes no more room than what it is made of.
  bool is_worth_it(const Op& op) const {
    if (op.result_count != 1 || op.region_count > 0 || op.operand_count != 1 || op.def->draws ||
        !from_.type_of(from_.result(op, 0)).is_tensor() ||
        from_.layout_of(from_.result(op, 0)) != nullptr)
      return false;
    const ValueId source = from_.operands(op)[0];
    const bool cheap = op.def->cls == OpClass::light || op.def->cls == OpClass::move;
    return cheap && op.def->parts != Parts::constant && op.def->parts != Parts::reshard &&
           from_.type_of(source).is_tensor() &&
           from_.type_of(from_.result(op, 0)).bytes() <= from_.type_of(source).bytes();
  }

  bool is_outside(ValueId v, RegionId body) const {
    const Value& value = from_.value(v);
    if (value.op != kNone) return is_moved_[value.op] && is_in(value.op, body);
    return outside_[v] != kNone;
  }
  bool is_in(OpId id, RegionId body) const {
    return std::ranges::binary_search(from_.region(body).ops, id);
  }

  Expected<bool> replaced(const Op& op) {
    if (op.def->parts == Parts::loop) return before_loop(op);
    const bool is_there = op.result_count == 1 && is_moved_[from_.value(op.results).op];
    return is_there;  // written before the loop
  }

  Expected<bool> before_loop(const Op& loop) {
    const Region& body = from_.region(from_.regions(loop)[1]);
    for (OpId id : body.ops) {
      if (!is_moved_[id]) continue;
      const Op& op = from_.op(id);
      Vars operands;
      for (ValueId v : from_.operands(op))
        operands.push_back(rewriter_.value(from_.value(v).op == kNone ? outside_[v] : v));
      rewriter_.to.at(rewriter_.location(op.loc));
      rewriter_.define_results(
          op, rewriter_.to.ops(op.def->name, operands, {from_.type_of(from_.result(op, 0))},
                               copied_attrs(from_, op)));
    }
    return false;
  }

  const Program& from_;
  std::vector<ValueId> outside_;  // by argument of a loop's body: what it is equal to
  std::vector<bool> is_moved_;    // by op
  Rewriter rewriter_;
};

}  // namespace

Expected<Program> with_invariants_outside(const Program& program) {
  constexpr int kMostRounds = 4;  // loops inside of each other
  Program now = program;
  for (int round = 0; round < kMostRounds; ++round) {
    InvariantMover mover(now);
    if (!mover.any()) break;
    HEDDLE_TRY(Program next, mover.run());
    now = std::move(next);
  }
  return now;
}

}  // namespace heddle
