#include "runtime/fuse_steps.h"

#include <algorithm>
#include <set>

#include "runtime/packed.h"

namespace heddle::runtime {

namespace {

constexpr std::size_t kNowhere = SIZE_MAX;

bool holds(const std::vector<SlotId>& slots, SlotId slot) {
  return std::ranges::find(slots, slot) != slots.end();
}

// Whether the order of two steps matters.
bool meet(const Step& a, const Step& b) {
  const auto one_way = [](const Step& x, const Step& y) {
    return std::ranges::any_of(x.writes,
                               [&](SlotId s) { return holds(y.reads, s) || holds(y.writes, s); });
  };
  return one_way(a, b) || one_way(b, a);
}

class Fuser {
 public:
  Fuser(StepList& list, SlotTable& slots, std::vector<StepInfo>& infos)
      : list_(list), slots_(slots), infos_(infos) {}

  void run() {
    for (std::size_t i = 0; i < list_.steps.size(); ++i) {
      const auto* start = std::get_if<StartStep>(&list_.steps[i].work);
      if (start == nullptr || start->op->fused.number < 0 ||
          start->op->kind != CollectiveKind::reduce_scatter)
        continue;
      const Verdict fused = fuse(i);
      if (!fused) infos_[list_.steps[i].info].note = "not fused: " + fused.reason();
    }
    drop_infos();
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

  // The steps that read a value, which lies in its slot until another is written there.
  std::vector<std::size_t> readers(SlotId slot, std::size_t after) const {
    std::vector<std::size_t> found;
    for (std::size_t i = after + 1; i < list_.steps.size(); ++i) {
      if (holds(list_.steps[i].reads, slot)) found.push_back(i);
      if (holds(list_.steps[i].writes, slot)) break;
    }
    return found;
  }

  std::size_t find_gather(std::int64_t number) const {
    for (std::size_t i = 0; i < list_.steps.size(); ++i)
      if (const auto* start = std::get_if<StartStep>(&list_.steps[i].work))
        if (start->op->fused.number == number && start->op->kind == CollectiveKind::all_gather)
          return i;
    return kNowhere;
  }

  Verdict fuse(std::size_t scatter) {
    const StartStep& sum = start_at(scatter);
    const std::size_t wait = wait_of(scatter);
    if (sum.op->combiner || wait == kNowhere) return reason("transports do not know its reduction");
    if (pieces_in(*sum.op, 0).runs != 1) return reason("slices do not lie in one piece");
    const std::vector<std::size_t> users = readers(sum.results[0], wait);
    if (users.size() != 1) return reason("{} steps use the sum", users.size());
    const std::size_t launch = users[0];
    if (!std::holds_alternative<LaunchStep>(list_.steps[launch].work))
      return reason("what uses the sum is no kernel");
    std::vector<std::size_t> members = {scatter, wait, launch};
    const std::size_t gather = find_gather(sum.op->fused.number);
    if (gather != kNowhere) {
      HEDDLE_TRY_VOID(check_gather(scatter, launch, gather));
      members.push_back(gather);
      members.push_back(wait_of(gather));
    }
    const Step& computes = list_.steps[launch];
    if (holds(computes.writes, sum.operands[0]))
      return reason("the kernel writes over what is summed");
    HEDDLE_TRY(std::vector<std::size_t> order, order_around(members));
    keep_for_all(members);
    put_together(members, order);
    const auto& fused = std::get<FusedStep>(
        list_
            .steps[members.front() +
                   static_cast<std::size_t>(std::ranges::find(order, kNowhere) - order.begin())]
            .work);
    for (SlotId s : {fused.sum, fused.made}) give_up(s);
    return yes();
  }

  Verdict check_gather(std::size_t scatter, std::size_t launch, std::size_t gather) const {
    const StartStep &sum = start_at(scatter), &all = start_at(gather);
    const Step& computes = list_.steps[launch];
    if (gather < launch || !holds(computes.writes, all.operands[0]))
      return reason("another kernel makes what is gathered");
    if (sum.op->groups != all.op->groups || sum.op->by != all.op->by)
      return reason("other devices meet to gather");
    if (pieces_out(*all.op, 0).runs != 1) return reason("slices do not lie in one piece");
    if (readers(all.operands[0], launch) != std::vector{gather, wait_of(gather)})
      return reason("what is gathered is used in slices, too");
    if (holds(computes.reads, all.results[0]) || holds(computes.writes, all.results[0]) ||
        all.results[0] == sum.operands[0])
      return reason("what is gathered lies where something is still read");
    return yes();
  }

  // Steps from the first of them to the last, those in between before or behind all of them.
  Expected<std::vector<std::size_t>> order_around(const std::vector<std::size_t>& members) const {
    std::vector<std::size_t> before, behind;
    const auto is_member = [&](std::size_t i) {
      return std::ranges::find(members, i) != members.end();
    };
    for (std::size_t i = members.front(); i <= members.back(); ++i) {
      const Step& step = list_.steps[i];
      const auto comes_after = [&](std::size_t j) { return meet(list_.steps[j], step); };
      if (is_member(i)) {
        if (std::ranges::any_of(behind, comes_after))
          return reason("{} comes between and is needed", infos_[step.info].name);
        continue;
      }
      if (std::holds_alternative<LoopStep>(step.work) ||
          std::holds_alternative<BranchStep>(step.work))
        return reason("a loop or branch comes between");
      bool late = std::ranges::any_of(behind, comes_after);
      for (std::size_t m : members) late = late || (m < i && comes_after(m));
      (late ? behind : before).push_back(i);
    }
    before.push_back(kNowhere);  // here they are
    before.insert(before.end(), behind.begin(), behind.end());
    return before;
  }

  void keep_for_all(const std::vector<std::size_t>& members) {
    const std::int64_t begin = list_.steps[members.front()].time;
    const std::int64_t end = list_.steps[members.back()].time;
    for (std::size_t i = members.front(); i <= members.back(); ++i)
      for (const auto* touched : {&list_.steps[i].reads, &list_.steps[i].writes})
        for (SlotId s : *touched) {
          slots_[s].first = std::min(slots_[s].first, begin);
          slots_[s].last = std::max(slots_[s].last, end);
        }
  }

  // Memory that a chunk at a time has taken the place of.
  void give_up(SlotId slot) {
    if (slot == kNone || slots_[slot].kind != SlotKind::arena || touches(list_, slot)) return;
    slots_[slot].first = slots_[slot].last = -1;
  }
  static bool touches(const StepList& list, SlotId slot) {
    return std::ranges::any_of(list.steps, [&](const Step& step) {
      if (holds(step.reads, slot) || holds(step.writes, slot)) return true;
      if (const auto* loop = std::get_if<LoopStep>(&step.work))
        return touches(loop->condition, slot) || touches(loop->body, slot);
      const auto* branch = std::get_if<BranchStep>(&step.work);
      return branch != nullptr && std::ranges::any_of(branch->branches, [&](const StepList& inner) {
               return touches(inner, slot);
             });
    });
  }

  void put_together(const std::vector<std::size_t>& members,
                    const std::vector<std::size_t>& order) {
    Step fused = fused_step(members);
    std::vector<Step> span;
    for (std::size_t i : order) span.push_back(std::move(i == kNowhere ? fused : list_.steps[i]));
    const auto first = list_.steps.begin() + static_cast<std::ptrdiff_t>(members.front());
    const auto last = list_.steps.begin() + static_cast<std::ptrdiff_t>(members.back()) + 1;
    const auto at = list_.steps.erase(first, last);
    list_.steps.insert(at, std::make_move_iterator(span.begin()),
                       std::make_move_iterator(span.end()));
  }

  Step fused_step(const std::vector<std::size_t>& members) {
    Step& begins = list_.steps[members[0]];
    Step& computes = list_.steps[members[2]];
    auto& launch = std::get<LaunchStep>(computes.work);
    const StartStep& sum = start_at(members[0]);
    FusedStep work{.reduce = sum.op,
                   .number = sum.number,
                   .launch = std::move(launch.launch),
                   .grain = launch.grain,
                   .given = sum.operands[0],
                   .sum = sum.results[0]};
    if (members.size() > 3) {
      const StartStep& all = start_at(members[3]);
      work.gather = all.op;
      work.made = all.operands[0];
      work.gathered = all.results[0];
    }
    Step step{.work = {}, .info = begins.info, .time = begins.time};
    const auto add = [&](std::vector<SlotId>& to, const std::vector<SlotId>& from) {
      for (SlotId s : from)
        if (s != work.sum && s != work.made) to.push_back(s);
    };
    add(step.reads, begins.reads);
    add(step.reads, computes.reads);
    add(step.writes, computes.writes);
    if (work.gather) add(step.writes, {work.gathered});
    join_infos(members, work);
    step.work = std::move(work);
    return step;
  }

  void join_infos(const std::vector<std::size_t>& members, const FusedStep& work) {
    StepInfo& info = infos_[list_.steps[members[0]].info];
    const StepInfo& kernel = infos_[list_.steps[members[2]].info];
    info.name =
        fmt::format("{} with {}", work.gather ? "all_reduce" : "reduce_scatter", kernel.name);
    info.ops += ", " + kernel.ops;
    info.op_count += kernel.op_count;
    info.from.insert(info.from.end(), kernel.from.begin(), kernel.from.end());
    info.because.insert(info.because.end(), kernel.because.begin(), kernel.because.end());
    const std::int64_t sum = slots_[work.sum].bytes;
    info.bytes_apart += kernel.bytes_apart;
    info.bytes_read += kernel.bytes_read - sum;
    info.bytes_written += kernel.bytes_written - sum;
    info.note = "computed inside of the collective, chunk by chunk";
    if (work.grain == 0) info.note = "computed inside of the collective, as a whole";
    gone_.insert(list_.steps[members[2]].info);
    if (!work.gather) return;
    const StepInfo& gather = infos_[list_.steps[members[3]].info];
    info.ops += ", " + gather.ops;
    info.op_count += gather.op_count;
    info.bytes_apart += gather.bytes_apart;
    info.bytes_written += gather.bytes_written - slots_[work.made].bytes;
    gone_.insert(list_.steps[members[3]].info);
  }

  // Those of steps that are no longer there.
  void drop_infos() {
    if (gone_.empty()) return;
    std::vector<StepInfo> left;
    std::vector<std::uint32_t> now;
    for (std::uint32_t i = 0; i < infos_.size(); ++i) {
      now.push_back(static_cast<std::uint32_t>(left.size()));
      if (!gone_.contains(i)) left.push_back(std::move(infos_[i]));
    }
    infos_ = std::move(left);
    renumber(list_, now);
  }
  static void renumber(StepList& list, const std::vector<std::uint32_t>& now) {
    for (Step& step : list.steps) {
      step.info = now[step.info];
      if (auto* loop = std::get_if<LoopStep>(&step.work)) {
        renumber(loop->condition, now);
        renumber(loop->body, now);
      }
      if (auto* branch = std::get_if<BranchStep>(&step.work))
        for (StepList& inner : branch->branches) renumber(inner, now);
    }
  }

  StepList& list_;
  SlotTable& slots_;
  std::vector<StepInfo>& infos_;
  std::set<std::uint32_t> gone_;
};

}  // namespace

void fuse_steps(StepList& list, SlotTable& slots, std::vector<StepInfo>& infos) {
  Fuser(list, slots, infos).run();
}

}  // namespace heddle::runtime
