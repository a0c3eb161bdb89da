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
  std::vector<std::size_t> steps = {product, scatter, scattered, norm, normed,
                                    launch,  gather,  gathered,  user};
  steps.insert(steps.end(), before.begin(), before.end());
  steps.insert(steps.end(), after.begin(), after.end());
  std::erase(steps, kNowhere);
  std::ranges::sort(steps);
  return steps;
}

namespace {

class MemberSearch {
 public:
  MemberSearch(const StepList& list, std::size_t collective) : list_(list) {
    const CollectiveKind kind = start_at(collective).op->kind;
    (kind == CollectiveKind::all_gather ? found_.gather : found_.scatter) = collective;
    number_ = start_at(collective).op->fused.number;
  }

  Expected<FusedMembers> run() {
    if (found_.scatter == kNowhere) return run_gather();
    const StartStep& sum = start_at(found_.scatter);
    found_.scattered = wait_of(found_.scatter);
    if (sum.op->combiner || found_.scattered == kNowhere)
      return reason("transports do not know its reduction");
    if (pieces_in(*sum.op, 0).runs != 1) return reason("slices do not lie in one piece");
    found_.gather = find(CollectiveKind::all_gather);
    if (found_.gather != kNowhere) found_.gathered = wait_of(found_.gather);
    found_.norm = find(CollectiveKind::all_reduce);
    HEDDLE_TRY_VOID(find_products());
    HEDDLE_TRY_VOID(found_.norm == kNowhere ? find_launch() : find_around_norm());
    if (found_.gather != kNowhere) HEDDLE_TRY_VOID(check_gather());
    for (std::size_t i : found_.all())
      if (std::holds_alternative<LaunchStep>(list_.steps[i].work) &&
          holds(list_.steps[i].writes, sum.operands[0]))
        return reason("the kernel writes over what is summed");
    HEDDLE_TRY_VOID(check_products());
    return found_;
  }

 private:
  const StartStep& start_at(std::size_t i) const {
    return std::get<StartStep>(list_.steps[i].work);
  }

  // What is gathered goes into a product.
  Expected<FusedMembers> run_gather() {
    const StartStep& all = start_at(found_.gather);
    found_.gathered = wait_of(found_.gather);
    HEDDLE_TRY_VOID(find_products());
    if (found_.user == kNowhere) return reason("no product uses what is gathered");
    if (pieces_out(*all.op, 0).runs != 1) return reason("slices do not lie in one piece");
    HEDDLE_TRY_VOID(check_products());
    return found_;
  }

  Verdict find_products() {
    for (std::size_t i = 0; i < list_.steps.size(); ++i) {
      const auto* call = std::get_if<LibraryStep>(&list_.steps[i].work);
      if (call == nullptr || call->fused != number_) continue;
      if (!call->rows) return reason("the product cannot be done in parts: {}", call->why_whole);
      const bool makes = found_.scatter != kNowhere &&
                         holds(call->results, start_at(found_.scatter).operands[0]);
      (makes ? found_.product : found_.user) = i;
    }
    return yes();
  }

  // Parts of products are done early and late: nobody else of the step may touch what they use.
  Verdict check_products() const {
    for (std::size_t product : {found_.product, found_.user}) {
      if (product == kNowhere) continue;
      const Step& step = list_.steps[product];
      const SlotId link = product == found_.product ? start_at(found_.scatter).operands[0]
                                                    : start_at(found_.gather).results[0];
      for (std::size_t i : found_.all()) {
        if (i == product) continue;
        const auto touches = [&](const std::vector<SlotId>& mine, const std::vector<SlotId>& its) {
          return std::ranges::any_of(mine, [&](SlotId s) { return s != link && holds(its, s); });
        };
        const Step& other = list_.steps[i];
        if (touches(step.writes, other.reads) || touches(step.writes, other.writes) ||
            touches(step.reads, other.writes))
          return reason("the product shares memory with what is done beside it");
      }
    }
    if (found_.product == kNowhere) return yes();
    const auto users = readers(start_at(found_.scatter).operands[0], found_.product);
    for (std::size_t i : users)
      if (i != found_.scatter && i != found_.scattered)
        return reason("others use what is summed, too");
    return yes();
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
    for (std::size_t i = 0; i < list_.steps.size(); ++i)
      if (const auto* start = std::get_if<StartStep>(&list_.steps[i].work))
        if (start->op->fused.number == number_ && start->op->kind == kind) return i;
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
    const bool has_product = found_.product != kNowhere || found_.user != kNowhere;
    const auto users = readers(start_at(found_.scatter).results[0], found_.scattered);
    const bool is_kernel = users.size() == 1 && is_launch(users[0]);
    const bool in_parts =
        is_kernel && std::get<LaunchStep>(list_.steps[users[0]].work).grain > 0;
    if (has_product && found_.gather == kNowhere && !in_parts) return yes();  // it stays outside
    if (has_product && found_.gather != kNowhere &&
        users == std::vector{found_.gather, found_.gathered})
      return yes();
    if (users.size() != 1) return reason("{} steps use the sum", users.size());
    if (!is_kernel) return reason("what uses the sum is no kernel");
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
    const Step& computes = list_.steps[found_.launch == kNowhere ? found_.scatter : found_.launch];
    if (found_.launch != kNowhere && found_.gather < found_.launch)
      return reason("another kernel makes what is gathered");
    if (!holds(computes.writes, all.operands[0]))
      return reason("another kernel makes what is gathered");
    if (sum.op->groups != all.op->groups || sum.op->by != all.op->by)
      return reason("other devices meet to gather");
    if (pieces_out(*all.op, 0).runs != 1) return reason("slices do not lie in one piece");
    const std::size_t made = found_.launch == kNowhere ? found_.scattered : found_.launch;
    if (readers(all.operands[0], made) != std::vector{found_.gather, found_.gathered})
      return reason("what is gathered is used in slices, too");
    if (holds(computes.reads, all.results[0]) || holds(computes.writes, all.results[0]) ||
        all.results[0] == sum.operands[0])
      return reason("what is gathered lies where something is still read");
    return yes();
  }

  const StepList& list_;
  FusedMembers found_;
  std::int64_t number_ = -1;
};

}  // namespace

Expected<FusedMembers> find_members(const StepList& list, std::size_t collective) {
  return MemberSearch(list, collective).run();
}

}  // namespace heddle::runtime
