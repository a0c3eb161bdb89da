#include "runtime/fuse_steps.h"

#include <algorithm>
#include <set>

#include "runtime/fused_members.h"

namespace heddle::runtime {

namespace {

class Fuser {
 public:
  Fuser(StepList& list, SlotTable& slots, std::vector<StepInfo>& infos, bool in_host_memory)
      : list_(list), slots_(slots), infos_(infos), in_host_memory_(in_host_memory) {}

  void run() {
    for (std::size_t i = 0; i < list_.steps.size(); ++i) {
      const auto* start = std::get_if<StartStep>(&list_.steps[i].work);
      if (start == nullptr || start->op->fused.number < 0 || !is_first(*start->op)) continue;
      const Verdict fused = fuse(i);
      if (!fused) infos_[list_.steps[i].info].note = "not fused: " + fused.reason();
    }
    drop_infos();
  }

 private:
  const StartStep& start_at(std::size_t i) const {
    return std::get<StartStep>(list_.steps[i].work);
  }

  // Whether others are found from this one: a reduce_scatter, or an all_gather without one.
  bool is_first(const CollectiveOp& op) const {
    if (op.kind != CollectiveKind::all_gather) return op.kind == CollectiveKind::reduce_scatter;
    return std::ranges::none_of(list_.steps, [&](const Step& step) {
      const auto* other = std::get_if<StartStep>(&step.work);
      return other != nullptr && other->op->fused.number == op.fused.number &&
             other->op->kind == CollectiveKind::reduce_scatter;
    });
  }

  Verdict fuse(std::size_t collective) {
    HEDDLE_TRY(const FusedMembers found, find_members(list_, collective));
    HEDDLE_TRY_VOID(check_device(found));
    const std::vector<std::size_t> members = found.all();
    HEDDLE_TRY(std::vector<std::size_t> order, order_around(members));
    keep_for_all(members);
    const auto place = static_cast<std::size_t>(std::ranges::find(order, kNowhere) - order.begin());
    put_together(found, order);
    const auto& fused = std::get<FusedStep>(list_.steps[members.front() + place].work);
    if (in_host_memory_ && (fused.launch || fused.gather))
      for (SlotId s : {fused.sum, fused.made}) give_up(s);
    return yes();
  }

  Verdict check_device(const FusedMembers& found) const {
    if (in_host_memory_) return yes();
    if (found.product != kNowhere || found.user != kNowhere || found.launch == kNowhere ||
        found.scatter == kNowhere)
      return reason("products stay apart on this device");
    if (std::get<LaunchStep>(list_.steps[found.launch].work).grain == 0)
      return reason("the kernel does not take its elements one after the other");
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

  void put_together(const FusedMembers& found, const std::vector<std::size_t>& order) {
    Step fused = fused_step(found);
    std::vector<Step> span;
    for (std::size_t i : order) span.push_back(std::move(i == kNowhere ? fused : list_.steps[i]));
    const std::vector<std::size_t> members = found.all();
    const auto first = list_.steps.begin() + static_cast<std::ptrdiff_t>(members.front());
    const auto last = list_.steps.begin() + static_cast<std::ptrdiff_t>(members.back()) + 1;
    const auto at = list_.steps.erase(first, last);
    list_.steps.insert(at, std::make_move_iterator(span.begin()),
                       std::make_move_iterator(span.end()));
  }

  Step fused_step(const FusedMembers& found) {
    const StartStep& first = start_at(found.first());
    FusedStep work{.number = first.number};
    if (found.scatter != kNowhere) {
      work.reduce = first.op;
      work.given = first.operands[0];
      work.sum = first.results[0];
    }
    if (found.launch != kNowhere) {
      auto& launch = std::get<LaunchStep>(list_.steps[found.launch].work);
      work.launch = std::move(launch.launch);
      work.grain = launch.grain;
    }
    if (found.gather != kNowhere) {
      const StartStep& all = start_at(found.gather);
      work.gather = all.op;
      work.made = all.operands[0];
      work.gathered = all.results[0];
    }
    if (found.product != kNowhere) work.produce = product_of(found.product);
    if (found.user != kNowhere) work.consume = product_of(found.user);
    if (found.norm != kNowhere) work.norm = norm_of(found);
    if (!in_host_memory_) {
      FusedStep::Apart& apart = work.apart.emplace();
      const auto keep = [&](std::size_t start, std::size_t wait, StartStep& begins,
                            WaitStep& ends) {
        if (start == kNowhere) return;
        begins = start_at(start);
        ends = std::get<WaitStep>(list_.steps[wait].work);
      };
      keep(found.scatter, found.scattered, apart.scatter, apart.scattered);
      keep(found.norm, found.normed, apart.norm, apart.normed);
      keep(found.gather, found.gathered, apart.gather, apart.gathered);
    }
    const Step& begins = list_.steps[found.first()];
    Step step{.work = {}, .info = begins.info, .time = begins.time};
    const auto add = [&](std::vector<SlotId>& to, const std::vector<SlotId>& from) {
      for (SlotId s : from)
        if (!holds(to, s) && !(in_host_memory_ && is_inside(work, s))) to.push_back(s);
    };
    for (std::size_t i : found.all()) {
      add(step.reads, list_.steps[i].reads);
      add(step.writes, list_.steps[i].writes);
    }
    join_infos(found, work);
    step.work = std::move(work);
    return step;
  }

  // What lies elsewhere while the step runs, or nowhere as a whole.
  static bool is_inside(const FusedStep& work, SlotId slot) {
    if (!work.launch && !work.gather) return false;
    return (work.reduce && slot == work.sum) || (work.reduce && slot == work.made);
  }

  FusedStep::Product product_of(std::size_t i) {
    auto& call = std::get<LibraryStep>(list_.steps[i].work);
    return {std::move(call.rows), {call.operands[0], call.operands[1]}, call.results[0]};
  }

  FusedStep::Norm norm_of(const FusedMembers& found) {
    const StartStep& sum = start_at(found.norm);
    FusedStep::Norm norm{.op = sum.op, .operands = sum.operands, .results = sum.results};
    const auto take = [&](std::size_t i) {
      return std::move(std::get<LaunchStep>(list_.steps[i].work).launch);
    };
    for (std::size_t i : found.before) norm.before.push_back(take(i));
    for (std::size_t i : found.after) norm.after.push_back(take(i));
    return norm;
  }

  void join_infos(const FusedMembers& found, const FusedStep& work) {
    StepInfo& info = infos_[list_.steps[found.first()].info];
    info.name = name_of(found, work);
    info.note = "computed inside of the collective, chunk by chunk";
    if (work.launch && work.grain == 0) info.note = "computed inside of the collective, as a whole";
    if (work.norm.op)
      info.note += in_host_memory_ ? ", with the sum of its numbers" : ", once its norm is known";
    for (std::size_t i : found.all())
      if (i != found.first() && !std::holds_alternative<WaitStep>(list_.steps[i].work)) {
        join(info, infos_[list_.steps[i].info]);
        gone_.insert(list_.steps[i].info);
      }
    // Behind a norm a device has written all sums, and reads them again.
    const bool keeps_sums = !in_host_memory_ && work.norm.op != nullptr;
    if (work.reduce && (work.launch || work.gather) && !keeps_sums) {
      info.bytes_read -= slots_[work.sum].bytes;
      info.bytes_written -= slots_[work.sum].bytes;
    }
    if (work.launch && work.gather) {
      info.bytes_written -= slots_[work.made].bytes;
      info.bytes_read -= slots_[work.made].bytes;
    }
  }
  // "gemm 64x64x64 f32, all_reduce with fused_add": what it does, in order.
  std::string name_of(const FusedMembers& found, const FusedStep& work) const {
    std::string name = work.produce.rows ? work.produce.rows->text() + ", " : "";
    name += !work.reduce ? "all_gather" : work.gather ? "all_reduce" : "reduce_scatter";
    if (work.launch) name += " with " + infos_[list_.steps[found.launch].info].name;
    if (work.consume.rows) name += ", " + work.consume.rows->text();
    return name;
  }
  static void join(StepInfo& info, const StepInfo& with) {
    info.ops += ", " + with.ops;
    info.op_count += with.op_count;
    info.from.insert(info.from.end(), with.from.begin(), with.from.end());
    info.because.insert(info.because.end(), with.because.begin(), with.because.end());
    info.bytes_apart += with.bytes_apart;
    info.bytes_read += with.bytes_read;
    info.bytes_written += with.bytes_written;
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
  const bool in_host_memory_;
  std::set<std::uint32_t> gone_;
};

}  // namespace

void fuse_steps(StepList& list, SlotTable& slots, std::vector<StepInfo>& infos,
                bool in_host_memory) {
  Fuser(list, slots, infos, in_host_memory).run();
}

}  // namespace heddle::runtime
