#include "runtime/stretch.h"

#include <algorithm>

#include "heddle/log.h"

namespace heddle::runtime {

namespace {

constexpr std::size_t kLeastStarts = 3;  // fewer are launched as fast one by one
constexpr std::size_t kMostPlaces = 16;  // that a stretch remembers

bool can_be_kept(const Step& step) {
  if (const auto* library = std::get_if<LibraryStep>(&step.work))
    return library->call->can_be_recorded();
  return std::holds_alternative<LaunchStep>(step.work) ||
         std::holds_alternative<CopyStep>(step.work);
}

std::size_t starts_of(const Step& step) {
  const auto* launch = std::get_if<LaunchStep>(&step.work);
  return launch ? launch->launch->starts() : 1;
}

class Finder {
 public:
  explicit Finder(const std::vector<Slot>& slots) : slots_(slots) {}

  void look_at(StepList& list) {
    for (std::size_t i = 0; i < list.steps.size();) {
      std::size_t end = i;
      while (end < list.steps.size() && can_be_kept(list.steps[end])) ++end;
      std::size_t starts = 0;
      for (std::size_t s = i; s < end; ++s) starts += starts_of(list.steps[s]);
      if (starts >= kLeastStarts) add(list, i, end);
      if (end < list.steps.size()) look_inside(list.steps[end]);
      i = end + 1;
    }
  }
  std::size_t count() const { return count_; }

 private:
  void look_inside(Step& step) {
    if (auto* loop = std::get_if<LoopStep>(&step.work)) {
      look_at(loop->condition);
      look_at(loop->body);
    }
    if (auto* branch = std::get_if<BranchStep>(&step.work))
      for (StepList& list : branch->branches) look_at(list);
  }

  void add(StepList& list, std::size_t begin, std::size_t end) {
    Stretch stretch{.begin = begin, .end = end, .number = count_++};
    for (std::size_t i = begin; i < end; ++i)
      for (const auto* touched : {&list.steps[i].reads, &list.steps[i].writes})
        std::ranges::copy_if(*touched, std::back_inserter(stretch.changing),
                             [&](SlotId s) { return may_change(slots_[s]); });
    std::ranges::sort(stretch.changing);
    const auto [first, last] = std::ranges::unique(stretch.changing);
    stretch.changing.erase(first, last);
    list.stretches.push_back(std::move(stretch));
  }

  // The arena and constants stay with the state of a run; loops exchange what is pinned.
  static bool may_change(const Slot& slot) {
    return slot.pinned || slot.partner != kNone || slot.kind == SlotKind::argument ||
           slot.kind == SlotKind::fresh;
  }

  const std::vector<Slot>& slots_;
  std::size_t count_ = 0;
};

}  // namespace

std::size_t find_stretches(StepList& list, const std::vector<Slot>& slots) {
  Finder finder(slots);
  finder.look_at(list);
  return finder.count();
}

StretchMemory::Next StretchMemory::next(const Stretch& stretch,
                                        const std::vector<DeviceAddress>& now) {
  if (is_refused_) return Next::run;
  addresses_.clear();
  for (SlotId s : stretch.changing) addresses_.push_back(now[s]);
  ++turns_;
  for (at_ = 0; at_ < places_.size(); ++at_) {
    if (places_[at_].addresses != addresses_) continue;
    places_[at_].used = turns_;
    return places_[at_].recording ? Next::replay : Next::record;
  }
  if (places_.size() == kMostPlaces) {
    at_ = static_cast<std::size_t>(std::ranges::min_element(places_, {}, &Place::used) -
                                   places_.begin());
    places_[at_] = {};
  } else {
    places_.emplace_back();
  }
  places_[at_].addresses = addresses_;
  places_[at_].used = turns_;
  return Next::run;
}

const Recording* StretchMemory::keep(Queue& queue, const std::function<Verdict()>& work) {
  if (const Verdict begun = queue.begin_recording(); !begun) {
    is_refused_ = true;
    log(kLogSteps, "steps are not kept: {}", begun.reason());
    return nullptr;
  }
  const Verdict worked = work();
  auto recording = queue.end_recording();
  if (!worked || !recording) {
    is_refused_ = true;
    log(kLogSteps, "steps are not kept: {}", worked ? recording.reason() : worked.reason());
    return nullptr;
  }
  places_[at_].recording = *std::move(recording);
  return places_[at_].recording.get();
}

}  // namespace heddle::runtime
