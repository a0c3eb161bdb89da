// The time of a per-device program by the cost model, op by op.
#include <algorithm>

#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "heddle/schedule.h"
#include "heddle/tune_schedule.h"
#include "ir/trips.h"
#include "schedule/worth.h"

namespace heddle {

namespace {

// Turns of a loop that does not say how many.
constexpr double kTurns = 10;

class DeviceClock {
 public:
  DeviceClock(const Program& program, const Mesh& mesh)
      : program_(program), mesh_(mesh), ready_(program.value_count(), 0) {}

  double run(RegionId region, double now) {
    for (OpId id : program_.region(region).ops) now = run_op(program_.op(id), now);
    return now;
  }

 private:
  double run_op(const Op& op, double now) {
    for (ValueId v : program_.operands(op)) now = std::max(now, ready_[v]);
    if (op.region_count > 0)
      for (ValueId v : captured_values(program_, op)) now = std::max(now, ready_[v]);
    if (op.def->cls == OpClass::communicate) return meet(op, now);
    if (op.def->control == Control::loop) {
      const double once = run(program_.regions(op)[1], now) - now;
      return give(op, now + kTurns * once, now + kTurns * once);
    }
    if (op.def->control == Control::branch || op.def->control == Control::choice) {
      double longest = now;
      for (RegionId r : program_.regions(op)) longest = std::max(longest, run(r, now));
      return give(op, longest, longest);
    }
    const bool is_free = op.def->view == ViewKind::always || op.def->form == Form::terminator ||
                         op.def->rearranges == Rearrange::constant;
    if (!is_free) now += op_seconds(program_, op, mesh_, 0);
    return give(op, now, now);
  }

  // One after the other on the links, beside what the device computes.
  double meet(const Op& op, double now) {
    if (op.operand_count == 0) return give(op, now, now);
    const double begun = std::max(now, links_);
    links_ = begun + collective_seconds(program_, op, mesh_);
    return give(op, now, links_);
  }

  double give(const Op& op, double now, double ready) {
    for (std::size_t i = 0; i < op.result_count; ++i) ready_[program_.result(op, i)] = ready;
    return now;
  }

  const Program& program_;
  const Mesh& mesh_;
  std::vector<double> ready_;  // by value: when it is there
  double links_ = 0;           // until when they are busy
};

}  // namespace

double predicted_seconds(const Program& ordered, const Function& function) {
  const Mesh mesh = mesh_of(ordered);
  return DeviceClock(ordered, mesh).run(function.body, 0);
}

}  // namespace heddle
