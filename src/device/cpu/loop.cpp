#include "device/cpu/loop.h"

#include <algorithm>

#include "base/fork.h"
#include "heddle/log.h"

namespace heddle::cpu {

namespace {

// In evaluations of nodes, which are a nanosecond or less each: about a millisecond.
constexpr double kEvaluationsAtOnce = 1 << 20;

}  // namespace

CpuLoop::CpuLoop(CpuJit& jit, LoopWork work, const std::vector<std::int64_t>& slot_bytes)
    : jit_(jit), work_(std::move(work)), slot_bytes_(slot_bytes) {
  turns_at_once_ = static_cast<std::int64_t>(kEvaluationsAtOnce /
                                             (16 + evaluations_of_turn(work_, slot_bytes_)));
}

void CpuLoop::count(std::int64_t turns) {
  const std::int64_t before = turns_.fetch_add(turns, std::memory_order_relaxed);
  if (before + turns >= jit_.options().turns_before_code) make_ready();
}

void CpuLoop::make_ready() {
  if (is_ready()) return;
  const ForkHold hold;
  std::call_once(made_, [&] {
    auto code = make();
    if (!code) return log(kLogPlans, "a loop stays a list of steps: {}", code.reason());
    kept_ = *std::move(code);
    code_.store(kept_->phases[0], std::memory_order_release);
  });
}

Expected<std::shared_ptr<const CpuKernel>> CpuLoop::make() {
  HEDDLE_TRY(const CpuTarget target, jit_.target());
  HEDDLE_TRY(text_, loop_text(work_, slot_bytes_, target.vectors));
  auto code = jit_.compile_text(text_.ir, 1);
  text_.ir.clear();
  return code;
}

TurnsDone CpuLoop::run(const DeviceAddress* slots, void** pointers, std::byte* scratch,
                       std::int64_t most) const {
  alignas(64) std::int64_t said[2] = {0, 0};  // as all that functions are given
  for (std::size_t i = 0; i < text_.slots.size(); ++i)
    pointers[i] = host_pointer(slots[text_.slots[i]]);
  pointers[text_.slots.size()] = said;
  code_.load(std::memory_order_relaxed)(pointers, most, 0, scratch, 0);
  return {.turns = said[0], .over = said[1] != 0};
}

std::unique_ptr<LoopLaunch> prepare_loop(CpuJit& jit, LoopWork work,
                                         const std::vector<std::int64_t>& slot_bytes) {
  if (!may_be_text(work, slot_bytes)) return nullptr;
  return std::make_unique<CpuLoop>(jit, std::move(work), slot_bytes);
}

}  // namespace heddle::cpu
