// What is spread out or easily had again, once for every stretch of work that needs it.
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "heddle/op.h"
#include "heddle/stitch.h"
#include "ir/rewrite.h"
#include "ir/spread_out.h"
#include "ir/unused.h"
#include "stitch/had_again.h"

namespace heddle {

namespace {

class OwnCopies {
 public:
  OwnCopies(const Program& program, const DeviceCalls* calls, const MachineFigures& machine)
      : program_(program), calls_(calls) {
    stretches_.of.assign(program.op_count(), kNone);
    readers_.assign(program.op_count(), 0);
    for (OpId id = 0; id < program.op_count(); ++id)
      for (ValueId v : program.operands(program.op(id)))
        if (const OpId maker = program.value(v).op; maker != kNone) ++readers_[maker];
    for (const Function& f : program.functions)
      if (f.body != kNone) number(f.body);
    again_.emplace(program, calls, machine, stretches_);
  }

  Expected<bool> operator()(Rewriter& rewriter, const Op& op) {
    if (op.result_count == 0) return false;
    const OpId id = program_.value(program_.result(op, 0)).op;
    HEDDLE_TRY_VOID(take_copies(rewriter, op, stretches_.of[id]));
    written_in_[id] = stretches_.of[id];
    for (ValueId v : program_.operands(op))
      if (ties_many(program_.value(v).op)) taken_.insert(program_.value(v).op);
    return false;
  }

 private:
  // Kernels end where something else is done; no stretch goes on in another region.
  void number(RegionId region) {
    std::uint32_t now = made_++;
    for (OpId id : program_.region(region).ops) {
      const Op& op = program_.op(id);
      const bool ends = op.def->form != Form::constant && op.def->form != Form::terminator &&
                        op.def->view == ViewKind::none && !is_stitchable(program_, op, calls_);
      if (ends) now = made_++;
      stretches_.of[id] = now;
      for (RegionId inner : program_.regions(op)) number(inner);
      if (ends) now = made_++;
      stretches_.region[id] = region;
    }
  }

  // Operands that were last written in another stretch of the same region are written again.
  Verdict take_copies(Rewriter& rewriter, const Op& op, std::uint32_t stretch) {
    for (ValueId v : program_.operands(op)) {
      const OpId maker = program_.value(v).op;
      const auto written = written_in_.find(maker);
      if (maker == kNone || written == written_in_.end()) continue;
      if (written->second == stretch && !(ties_many(maker) && taken_.contains(maker))) continue;
      if (stretches_.region.at(maker) != stretches_.region.at(program_.value(op.results).op))
        continue;
      const Op& again = program_.op(maker);
      if (!is_spread_out(program_, again) && !again_->is_worth(maker, stretch)) continue;
      written->second = stretch;
      taken_.erase(maker);
      HEDDLE_TRY_VOID(take_copies(rewriter, again, stretch));
      HEDDLE_TRY_VOID(rewriter.copy_op(again));
    }
    return yes();
  }

  // One number as a large tensor that many read: it would hold together what has nothing else in
  // common, as the update of all tensors of a size. Every reader has its own.
  bool ties_many(OpId maker) const {
    constexpr std::uint32_t kManyReaders = 8;
    if (maker == kNone || readers_[maker] <= kManyReaders) return false;
    const Op& op = program_.op(maker);
    return op.def->form != Form::constant && op.operand_count == 1 && op.result_count == 1 &&
           is_spread_out(program_, op) &&
           program_.type_of(program_.operands(op)[0]).elements() == 1;
  }

  const Program& program_;
  const DeviceCalls* const calls_;
  std::vector<std::uint32_t> readers_;  // by op
  std::unordered_set<OpId> taken_;      // copies that a reader has
  Stretches stretches_;
  std::uint32_t made_ = 0;  // stretches
  std::optional<HadAgain> again_;
  std::unordered_map<OpId, std::uint32_t> written_in_;  // the last copy
};

}  // namespace

Expected<Program> with_own_copies(const Program& program, const DeviceCalls* calls,
                                  const MachineFigures& machine) {
  OwnCopies copies(program, calls, machine);
  Rewriter rewriter(program, [&](Rewriter& r, const Op& op) { return copies(r, op); });
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  HEDDLE_TRY(const Program copied, rewriter.unverified());
  return without_unused(copied);
}

}  // namespace heddle
