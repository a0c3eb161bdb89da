// What is spread out, once for every stretch of work that needs it.
#include <unordered_map>

#include "heddle/op.h"
#include "heddle/stitch.h"
#include "ir/rewrite.h"
#include "ir/spread_out.h"

namespace heddle {

namespace {

class OwnCopies {
 public:
  OwnCopies(const Program& program, const DeviceCalls* calls)
      : program_(program), calls_(calls), stretch_(program.op_count(), kNone) {
    for (const Function& f : program.functions)
      if (f.body != kNone) number(f.body);
  }

  Expected<bool> operator()(Rewriter& rewriter, const Op& op) {
    if (op.result_count == 0) return false;
    const OpId id = program_.value(program_.result(op, 0)).op;
    HEDDLE_TRY_VOID(take_copies(rewriter, op, stretch_[id]));
    if (is_spread_out(program_, op)) written_in_[id] = stretch_[id];
    return false;
  }

 private:
  // Kernels end where something else is done; no stretch goes on in another region.
  void number(RegionId region) {
    ++now_;
    for (OpId id : program_.region(region).ops) {
      const Op& op = program_.op(id);
      const bool ends = op.def->form != Form::constant && op.def->form != Form::terminator &&
                        op.def->view == ViewKind::none && !is_stitchable(program_, op, calls_);
      if (ends) ++now_;
      stretch_[id] = now_;
      for (RegionId inner : program_.regions(op)) number(inner);
      if (ends) ++now_;
      region_[id] = region;
    }
    ++now_;
  }

  // Operands that were last written in another stretch of the same region are written again.
  Verdict take_copies(Rewriter& rewriter, const Op& op, std::uint32_t stretch) {
    for (ValueId v : program_.operands(op)) {
      const OpId maker = program_.value(v).op;
      const auto written = written_in_.find(maker);
      if (maker == kNone || written == written_in_.end() || written->second == stretch) continue;
      if (region_.at(maker) != region_.at(program_.value(op.results).op)) continue;
      written->second = stretch;
      const Op& again = program_.op(maker);
      HEDDLE_TRY_VOID(take_copies(rewriter, again, stretch));
      HEDDLE_TRY_VOID(rewriter.copy_op(again));
    }
    return yes();
  }

  const Program& program_;
  const DeviceCalls* const calls_;
  std::vector<std::uint32_t> stretch_;  // by OpId
  std::uint32_t now_ = 0;
  std::unordered_map<OpId, RegionId> region_;
  std::unordered_map<OpId, std::uint32_t> written_in_;  // the last copy
};

}  // namespace

Expected<Program> with_own_copies(const Program& program, const DeviceCalls* calls) {
  Rewriter rewriter(program, OwnCopies(program, calls));
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  return rewriter.finish();
}

}  // namespace heddle
