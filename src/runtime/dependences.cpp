#include "runtime/dependences.h"

#include <algorithm>
#include <map>
#include <set>

namespace heddle::runtime {

namespace {

// Bytes of one memory: the arena is 0, every other slot has one of its own.
struct Range {
  std::int64_t memory = 0, begin = 0, end = 0;
};

Range range_of(const SlotTable& slots, SlotId id) {
  const Slot& slot = slots[id];
  if (slot.kind == SlotKind::arena) return {0, slot.offset, slot.offset + slot.bytes};
  return {std::int64_t{id} + 1, 0, slot.bytes};
}

// Who touched which bytes last.
class Touches {
 public:
  void read(const Range& range, std::uint32_t step, std::vector<std::uint32_t>& after) {
    visit(range, [&](Segment& s) {
      if (s.writer != kNone) after.push_back(s.writer);
      s.readers.push_back(step);
    });
  }

  void write(const Range& range, std::uint32_t step, std::vector<std::uint32_t>& after) {
    visit(range, [&](Segment& s) {
      if (s.writer != kNone) after.push_back(s.writer);
      after.insert(after.end(), s.readers.begin(), s.readers.end());
      s = {s.end, step, {}};
    });
  }

 private:
  struct Segment {
    std::int64_t end = 0;
    std::uint32_t writer = kNone;
    std::vector<std::uint32_t> readers;
  };
  using Key = std::pair<std::int64_t, std::int64_t>;  // memory, begin

  // Makes `at` a border between segments.
  void cut(std::int64_t memory, std::int64_t at) {
    auto after = segments_.upper_bound({memory, at});
    if (after == segments_.begin()) return;
    const auto inside = std::prev(after);
    if (inside->first.first != memory || inside->first.second == at || inside->second.end <= at)
      return;
    Segment tail = inside->second;
    inside->second.end = at;
    segments_.emplace(Key{memory, at}, std::move(tail));
  }

  template <typename Change>
  void visit(const Range& range, Change change) {
    if (range.begin >= range.end) return;
    cut(range.memory, range.begin);
    cut(range.memory, range.end);
    std::int64_t at = range.begin;
    while (at < range.end) {
      auto found = segments_.lower_bound({range.memory, at});
      const bool there = found != segments_.end() && found->first.first == range.memory &&
                         found->first.second < range.end;
      if (!there || found->first.second > at) {
        const std::int64_t end = there ? found->first.second : range.end;
        found = segments_.emplace(Key{range.memory, at}, Segment{end, kNone, {}}).first;
      }
      change(found->second);
      at = found->second.end;
    }
  }

  std::map<Key, Segment> segments_;
};

// `exchanged` are slots that loops around the list exchange after its end: while it runs, the two
// of a pair are two places.
void add_dependences(StepList& list, const SlotTable& slots, const std::set<SlotId>& exchanged) {
  Touches touches;
  for (std::uint32_t i = 0; i < list.steps.size(); ++i) {
    Step& step = list.steps[i];
    for (SlotId s : step.reads) {
      touches.read(range_of(slots, s), i, step.after);
      if (slots[s].partner != kNone && !exchanged.contains(s))
        touches.read(range_of(slots, slots[s].partner), i, step.after);
    }
    for (SlotId s : step.writes) touches.write(range_of(slots, s), i, step.after);
    std::sort(step.after.begin(), step.after.end());
    step.after.erase(std::unique(step.after.begin(), step.after.end()), step.after.end());
    std::erase(step.after, i);
    if (auto* loop = std::get_if<LoopStep>(&step.work)) {
      std::set<SlotId> inside = exchanged;
      for (const auto& [a, b] : loop->swaps) inside.insert({a, b});
      add_dependences(loop->condition, slots, inside);
      add_dependences(loop->body, slots, inside);
    }
    if (auto* branch = std::get_if<BranchStep>(&step.work))
      for (StepList& inner : branch->branches) add_dependences(inner, slots, exchanged);
  }
}

}  // namespace

void add_dependences(StepList& list, const SlotTable& slots) { add_dependences(list, slots, {}); }

void verify_overlaps(const StepList& list) {
  std::map<std::size_t, std::uint32_t> under_way;  // collective, to the step that began it
  for (std::uint32_t i = 0; i < list.steps.size(); ++i) {
    const Step& step = list.steps[i];
    if (const auto* wait = std::get_if<WaitStep>(&step.work)) under_way.erase(wait->number);
    for (const auto& [number, began] : under_way)
      HEDDLE_CHECK(!std::ranges::binary_search(step.after, began),
                   "step {} touches what collective {} has under way", step.info, number);
    if (const auto* start = std::get_if<StartStep>(&step.work); start && start->op->travels())
      under_way.emplace(start->number, i);
    if (const auto* loop = std::get_if<LoopStep>(&step.work)) {
      verify_overlaps(loop->condition);
      verify_overlaps(loop->body);
    }
    if (const auto* branch = std::get_if<BranchStep>(&step.work))
      for (const StepList& inner : branch->branches) verify_overlaps(inner);
  }
  HEDDLE_CHECK(under_way.empty(), "a collective that nobody waits for");
}

}  // namespace heddle::runtime
