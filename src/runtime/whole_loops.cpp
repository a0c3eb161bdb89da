#include "runtime/whole_loops.h"

namespace heddle::runtime {

namespace {

// Nothing where a step is more than launches, calls, copies, loops and branches.
std::optional<LoopParts> parts_of(const StepList& list);

std::optional<LoopWork> work_of(const LoopStep& loop) {
  auto condition = parts_of(loop.condition);
  auto body = parts_of(loop.body);
  if (!condition || !body) return std::nullopt;
  return LoopWork{.condition = *std::move(condition),
                  .body = *std::move(body),
                  .predicate = loop.predicate,
                  .swaps = loop.swaps,
                  .carried = loop.carried};
}

std::optional<LoopPart> part_of(const LaunchStep& step) {
  if (step.launch == nullptr) return std::nullopt;
  return step.launch.get();
}

std::optional<LoopPart> part_of(const CopyStep& step) {
  return LoopCopy{step.from, step.to, step.bytes};
}

std::optional<LoopPart> part_of(const LibraryStep& step) {
  return LoopCall{step.call.get(), step.operands, step.results};
}

std::optional<LoopPart> part_of(const LoopStep& step) {
  auto work = work_of(step);
  if (!work) return std::nullopt;
  return std::make_shared<const LoopWork>(*std::move(work));
}

std::optional<LoopPart> part_of(const BranchStep& step) {
  LoopBranch branch{.index = step.index, .is_case = step.is_case};
  for (const StepList& list : step.branches) {
    auto parts = parts_of(list);
    if (!parts) return std::nullopt;
    branch.branches.push_back(*std::move(parts));
  }
  return std::make_shared<const LoopBranch>(std::move(branch));
}

template <typename Other>
std::optional<LoopPart> part_of(const Other&) {
  return std::nullopt;
}

std::optional<LoopParts> parts_of(const StepList& list) {
  LoopParts parts;
  for (const Step& step : list.steps) {
    auto part = std::visit([](const auto& work) { return part_of(work); }, step.work);
    if (!part) return std::nullopt;
    parts.push_back(*std::move(part));
  }
  return parts;
}

class WholeLoops {
 public:
  WholeLoops(const std::vector<Slot>& slots, Device& device, std::vector<StepInfo>& infos)
      : device_(device), infos_(infos) {
    for (const Slot& slot : slots) slot_bytes_.push_back(slot.bytes);
  }

  void find(StepList& list) {
    for (Step& step : list.steps) {
      if (auto* loop = std::get_if<LoopStep>(&step.work)) find(*loop, infos_[step.info]);
      if (auto* branch = std::get_if<BranchStep>(&step.work))
        for (StepList& inner : branch->branches) find(inner);
    }
  }

 private:
  void find(LoopStep& loop, StepInfo& info) {
    if (auto work = work_of(loop)) loop.whole = device_.prepare_loop(*std::move(work), slot_bytes_);
    if (loop.whole != nullptr) {
      info.note = "its turns become one function where there are many";
      return;
    }
    find(loop.condition);
    find(loop.body);
  }

  Device& device_;
  std::vector<StepInfo>& infos_;
  std::vector<std::int64_t> slot_bytes_;
};

}  // namespace

void find_whole_loops(StepList& list, const std::vector<Slot>& slots, Device& device,
                      std::vector<StepInfo>& infos) {
  WholeLoops(slots, device, infos).find(list);
}

}  // namespace heddle::runtime
