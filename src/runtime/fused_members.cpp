#include "runtime/fused_members.h"

#include <algorithm>
#include <set>

#include "runtime/packed.h"

namespace heddle::runtime {

bool holds(const std::vector<SlotId>& slots, SlotId slot) {
  return std::ranges::find(slots, slot) != slots.end();
}

bool meet(const Step& a, const Step& b) {
  const auto one_way = [](const Step& x, const Step& y) {
    return std::ranges::any_of(x.writes,
                               [&](SlotId s) { return holds(y.reads, s) || holds(y.writes, s); });
  };
  return one_way(a, b) || one_way(b, a);
}

std::vector<std::size_t> FusedMembers::all() const {
  std::vector<std::size_t> steps = {scatter, scattered, norm, normed, launch, gather, gathered};
  steps.insert(steps.end(), before.begin(), before.end());
  steps.insert(steps.end(), after.begin(), after.end());
  std::erase(steps, kNowhere);
  std::ranges::sort(steps);
  return steps;
}

namespace {

class MemberSearch {
 public:
  MemberSearch(const StepList& list, std::size_t scatter) : list_(list) {
    found_.scatter = scatter;
  }

  Expected<FusedMembers> run() {
    const StartStep& sum = start_at(found_.scatter);
    found_.scattered = wait_of(found_.scatter);
    if (sum.op->combiner || found_.scattered == kNowhere)
      return reason("transports do not know its reduction");
    if (pieces_in(*sum.op, 0).runs != 1) return reason("slices do not lie in one piece");
    found_.gather = find(CollectiveKind::all_gather);
    if (found_.gather != kNowhere) found_.gathered = wait_of(found_.gather);
    found_.norm = find(CollectiveKind::all_reduce);
    HEDDLE_TRY_VOID(found_.norm == kNowhere ? find_launch() : find_around_norm());
    if (found_.gather != kNowhere) HEDDLE_TRY_VOID(check_gather());
    for (std::size_t i : found_.all())
      if (std::holds_alternative<LaunchStep>(list_.steps[i].work) &&
          holds(list_.steps[i].writes, sum.operands[0]))
        return reason("the kernel writes over what is summed");
    return found_;
  }

 private:
  const StartStep& start_at(std::size_t i) const {
    return std::get<StartStep>(list_.steps[i].work);
  }

  std::size_t wait_of(std::size_t start) const {
    const std::size_t number = start_at(start).number;
    for (std::size_t i = start + 1; i < list_.steps.size(); ++i)
      if (const auto* wait = std::get_if<WaitStep>(&list_.steps[i].work))
        if (wait->number == number) return i;
    return kNowhere;
  }

  // The collective with the mark of this one.
  std::size_t find(CollectiveKind kind) const {
    const std::int64_t number = start_at(found_.scatter).op->fused.number;
    for (std::size_t i = 0; i < list_.steps.size(); ++i)
      if (const auto* start = std::get_if<StartStep>(&list_.steps[i].work))
        if (start->op->fused.number == number && start->op->kind == kind) return i;
    return kNowhere;
  }

  // The steps that read a value, which lies in its slot until another is written there.
  std::vector<std::size_t> readers(SlotId slot, std::size_t after) const {
    std::vector<std::size_t> found;
    for (std::size_t i = after + 1; i < list_.steps.size(); ++i) {
      if (holds(list_.steps[i].reads, slot)) found.push_back(i);
      if (holds(list_.steps[i].writes, slot)) break;
    }
    return found;
  }

  bool is_launch(std::size_t i) const {
    return std::holds_alternative<LaunchStep>(list_.steps[i].work);
  }

  Verdict find_launch() {
    const auto users = readers(start_at(found_.scatter).results[0], found_.scattered);
    if (users.size() != 1) return reason("{} steps use the sum", users.size());
    if (!is_launch(users[0])) return reason("what uses the sum is no kernel");
    found_.launch = users[0];
    return yes();
  }

  // All between the sum and what is gathered that needs the one for the other, and all else that
  // uses the sum.
  Verdict find_around_norm() {
    found_.normed = wait_of(found_.norm);
    if (found_.gather == kNowhere || found_.gather < found_.normed)
      return reason("its norm is for what nobody gathers");
    if (start_at(found_.norm).op->combiner || found_.normed == kNowhere)
      return reason("transports do not know the reduction of its norm");
    if (start_at(found_.norm).op->groups != start_at(found_.scatter).op->groups)
      return reason("other devices meet for its norm");
    const auto users = readers(start_at(found_.scatter).results[0], found_.scattered);
    const std::set<std::size_t> needed = needed_steps();
    if (!needed.contains(found_.norm)) return reason("its norm does not come from the sum");
    std::set<std::size_t> inside = needed;
    inside.insert(users.begin(), users.end());
    for (std::size_t i : inside) {
      if (i == found_.norm || i == found_.normed) continue;
      if (!is_launch(i)) return reason("what uses the sum is no kernel");
      if (holds(list_.steps[i].writes, start_at(found_.gather).operands[0])) {
        if (found_.launch != kNowhere) return reason("two kernels make what is gathered");
        found_.launch = i;
        continue;
      }
      (i < found_.normed ? found_.before : found_.after).push_back(i);
    }
    if (found_.launch == kNowhere || found_.launch < found_.normed ||
        *inside.rbegin() != found_.launch)
      return reason("the kernel that makes what is gathered is not the last to use the sum");
    return yes();
  }

  std::set<std::size_t> needed_steps() const {
    std::set<SlotId> from_sum = {start_at(found_.scatter).results[0]};
    std::vector<std::size_t> later;
    const auto touches = [](const std::set<SlotId>& slots, const std::vector<SlotId>& some) {
      return std::ranges::any_of(some, [&](SlotId s) { return slots.contains(s); });
    };
    for (std::size_t i = found_.scattered + 1; i < found_.gather; ++i) {
      const Step& step = list_.steps[i];
      if (!touches(from_sum, step.reads)) continue;
      later.push_back(i);
      from_sum.insert(step.writes.begin(), step.writes.end());
    }
    std::set<SlotId> wanted = {start_at(found_.gather).operands[0]};
    std::set<std::size_t> needed;
    for (std::size_t k = later.size(); k-- > 0;) {
      const Step& step = list_.steps[later[k]];
      if (!touches(wanted, step.writes)) continue;
      needed.insert(later[k]);
      wanted.insert(step.reads.begin(), step.reads.end());
    }
    return needed;
  }

  Verdict check_gather() const {
    const StartStep &sum = start_at(found_.scatter), &all = start_at(found_.gather);
    const Step& computes = list_.steps[found_.launch];
    if (found_.gather < found_.launch || !holds(computes.writes, all.operands[0]))
      return reason("another kernel makes what is gathered");
    if (sum.op->groups != all.op->groups || sum.op->by != all.op->by)
      return reason("other devices meet to gather");
    if (pieces_out(*all.op, 0).runs != 1) return reason("slices do not lie in one piece");
    if (readers(all.operands[0], found_.launch) != std::vector{found_.gather, found_.gathered})
      return reason("what is gathered is used in slices, too");
    if (holds(computes.reads, all.results[0]) || holds(computes.writes, all.results[0]) ||
        all.results[0] == sum.operands[0])
      return reason("what is gathered lies where something is still read");
    return yes();
  }

  const StepList& list_;
  FusedMembers found_;
};

}  // namespace

Expected<FusedMembers> find_members(const StepList& list, std::size_t scatter) {
  return MemberSearch(list, scatter).run();
}

}  // namespace heddle::runtime
