#include "runtime/dependences.h"

#include <algorithm>

namespace heddle::runtime {

namespace {

void make_set(std::vector<std::uint32_t>& steps) {
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
}

Range memory_of_its_own(const SlotTable& slots, SlotId id) {
  return {std::int64_t{id} + 1, 0, slots[id].bytes};
}

// The arena is memory 0.
Range planned_range(const SlotTable& slots, SlotId id) {
  const Slot& slot = slots[id];
  if (slot.kind == SlotKind::arena) return {0, slot.offset, slot.offset + slot.bytes};
  return memory_of_its_own(slots, id);
}

// `exchanged` are slots that loops around the list exchange after its end: while it runs, the two
// of a pair are two places. Else what lies in the one may lie in the other.
template <typename RangeOf>
Effects effects_of(const Step& step, const SlotTable& slots, const std::set<SlotId>& exchanged,
                   RangeOf range_of) {
  Effects effects;
  for (SlotId s : step.reads) {
    effects.reads.push_back(range_of(slots, s));
    if (slots[s].partner != kNone && !exchanged.contains(s))
      effects.reads.push_back(range_of(slots, slots[s].partner));
  }
  for (SlotId s : step.writes) effects.writes.push_back(range_of(slots, s));
  return effects;
}

// The collectives of one list that are under way, and who may not touch what they have.
void verify_overlaps(const StepList& list, const SlotTable& slots,
                     const std::set<SlotId>& exchanged) {
  Touches touches;
  std::map<std::size_t, std::uint32_t> under_way;  // collective, to the step that began it
  for (std::uint32_t i = 0; i < list.steps.size(); ++i) {
    const Step& step = list.steps[i];
    const Effects effects = effects_of(step, slots, exchanged, planned_range);
    const std::vector<std::uint32_t> after = touches.before(effects);
    touches.add(i, effects);
    if (const auto* wait = std::get_if<WaitStep>(&step.work)) under_way.erase(wait->number);
    for (const auto& [number, began] : under_way)
      HEDDLE_CHECK(!std::ranges::binary_search(after, began),
                   "step {} touches what collective {} has under way", step.info, number);
    if (const auto* start = std::get_if<StartStep>(&step.work); start && start->op->travels())
      under_way.emplace(start->number, i);
    if (const auto* loop = std::get_if<LoopStep>(&step.work)) {
      std::set<SlotId> inside = exchanged;
      for (const auto& [a, b] : loop->swaps) inside.insert({a, b});
      verify_overlaps(loop->condition, slots, inside);
      verify_overlaps(loop->body, slots, inside);
    }
    if (const auto* branch = std::get_if<BranchStep>(&step.work))
      for (const StepList& inner : branch->branches) verify_overlaps(inner, slots, exchanged);
  }
  HEDDLE_CHECK(under_way.empty(), "a collective that nobody waits for");
}

}  // namespace

Touches::Segments::const_iterator Touches::first_in(const Range& range) const {
  auto found = segments_.upper_bound({range.memory, range.begin});
  if (found == segments_.begin()) return found;
  const auto inside = std::prev(found);
  const bool reaches = inside->first.first == range.memory && inside->second.end > range.begin;
  return reaches ? inside : found;
}

std::vector<std::uint32_t> Touches::before(const Effects& effects) const {
  std::vector<std::uint32_t> found;
  const auto look = [&](const Range& range, bool writes) {
    const Key end{range.memory, range.end};
    if (range.begin >= range.end) return;
    for (auto s = first_in(range); s != segments_.end() && s->first < end; ++s) {
      if (s->second.writer != kNone) found.push_back(s->second.writer);
      if (writes) found.insert(found.end(), s->second.readers.begin(), s->second.readers.end());
    }
  };
  for (const Range& range : effects.reads) look(range, false);
  for (const Range& range : effects.writes) look(range, true);
  make_set(found);
  return found;
}

void Touches::add(std::uint32_t step, const Effects& effects) {
  for (const Range& range : effects.reads)
    visit(range, [&](Segment& s) { s.readers.push_back(step); });
  for (const Range& range : effects.writes)
    visit(range, [&](Segment& s) { s = {s.end, step, {}}; });
}

// Makes `at` a border between segments.
void Touches::cut(std::int64_t memory, std::int64_t at) {
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
void Touches::visit(const Range& range, Change change) {
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

Effects effects_by_slot(const Step& step, const SlotTable& slots) {
  return effects_of(step, slots, {}, memory_of_its_own);
}

void verify_overlaps(const StepList& list, const SlotTable& slots) {
  verify_overlaps(list, slots, {});
}

}  // namespace heddle::runtime
