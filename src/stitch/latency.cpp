#include "stitch/latency.h"

#include <algorithm>
#include <map>

#include "cost/fitted.h"
#include "cost/rates.h"
#include "heddle/op.h"
#include "stitch/cost.h"
#include "stitch/group.h"
#include "stitch/sweeps.h"

namespace heddle {

namespace {

class Evaluator {
 public:
  Evaluator(const Program& program, const StitchGroup& group, const LoopPlan& loop_plan,
            const MachineFigures& machine)
      : program_(program), group_(group), loop_plan_(loop_plan), machine_(machine) {
    members_.insert(group.ops.begin(), group.ops.end());
    outputs_.insert(group.outputs.begin(), group.outputs.end());
    for (OpId id : group.ops)
      for (ValueId v : program.operands(program.op(id))) users_[v].push_back(id);
  }

  KernelEstimate run() {
    count_times();
    count_instructions();
    count_accesses();
    count_registers();
    count_blocks();
    finish();
    return result_;
  }

 private:
  using ByLevel = std::map<int, double>;  // how often a value is computed, at its points
  static constexpr int kTailLevel = std::numeric_limits<int>::max();  // behind all blocks

  double elements(ValueId v) const { return static_cast<double>(program_.type_of(v).elements()); }
  ValueId result_of(OpId id) const { return program_.result(program_.op(id), 0); }
  bool is_kept(ValueId v) const { return loop_plan_.kept.contains(v); }
  bool is_member(ValueId v) const {
    const OpId from = program_.value(v).op;
    return from != kNone && members_.contains(from);
  }

  // Points at which an op computes.
  double points(OpId id) const {
    double n = elements(result_of(id));
    const Reduction* r = loop_plan_.reduction(id);
    if (!r) return n;
    double loops = 1;
    for (int a : r->loops)
      loops *= static_cast<double>(loop_plan_.axes[static_cast<std::size_t>(a)].size);
    for (int f : r->windows)
      loops *=
          static_cast<double>(loop_plan_.rules.at(id).factors[static_cast<std::size_t>(f)].size);
    return std::max(n, loops);
  }

  // From the last op to the first: at which levels it is needed, and how often.
  void count_times() {
    for (std::size_t n = group_.ops.size(); n-- > 0;) {
      const OpId id = group_.ops[n];
      const ValueId v = result_of(id);
      ByLevel& times = times_[id];
      const int own = level_of(id);
      if (is_reducer(program_, program_.op(id)) || is_kept(v)) {
        times[own] = 1;
        continue;
      }
      if (outputs_.contains(v)) times[own] = 1;
      for (OpId user : users_[v]) add_need(user, v, times);
      if (loop_plan_.read_back.contains(v)) times.erase(kTailLevel);
      if (times.empty()) times[own] = 1;
    }
  }

  int level_of(OpId id) const {
    if (loop_plan_.tail.contains(id)) return kTailLevel;
    const auto found = loop_plan_.levels.find(result_of(id));
    return found == loop_plan_.levels.end() ? 0 : found->second;
  }

  void add_need(OpId user, ValueId v, ByLevel& times) const {
    const Op& op = program_.op(user);
    const bool elsewhere = takes_elsewhere(op);
    const double again = elsewhere ? 1.0 : std::max(1.0, points(user) / elements(v));
    for (const auto& [level, count] : times_.at(user)) {
      double& at = times[level];
      at = elsewhere ? at + count : std::max(at, is_reducer(program_, op) ? again : count);
    }
  }

  static double sum(const ByLevel& times) {
    double all = 0;
    for (const auto& [level, count] : times) all += count;
    return all;
  }

  void count_instructions() {
    for (OpId id : group_.ops) {
      const Instructions one = instructions_of(program_, program_.op(id), machine_.rounding);
      const double n = sum(times_[id]) * points(id);
      result_.light += one.light * n;
      result_.heavy += one.heavy * n;
    }
  }

  // Loads from memory and of what the block keeps; an input that several stages read comes from
  // memory once, and then from the cache where the block's part of it fits.
  void count_accesses() {
    std::map<std::pair<ValueId, int>, double> loads;
    std::unordered_map<ValueId, std::unordered_set<int>> levels;
    for (OpId id : group_.ops) {
      const Op& op = program_.op(id);
      for (ValueId v : program_.operands(op)) {
        if ((is_member(v) && !is_kept(v)) || elements(v) <= 1) continue;
        if (memory_bytes(program_, v) == 0) continue;
        for (const auto& [level, count] : times_[id]) {
          double& at = loads[{v, level}];
          const double n = std::min(points(id), elements(v) * std::max(1.0, count)) * count;
          at = takes_elsewhere(op) ? at + n : std::max(at, n);
          levels[v].insert(level);
        }
      }
    }
    for (const auto& [key, count] : loads) result_.loads += count;
    for (ValueId v : group_.outputs) result_.stores += elements(v);
    for (const auto& [v, kept] : loop_plan_.kept) result_.stores += elements(v);
    result_.block_bytes += kept_at_once();
    for (ValueId v : group_.inputs) {
      if (!program_.type_of(v).is_tensor() || !loop_plan_.space.contains(v)) continue;
      const auto bytes = static_cast<double>(memory_bytes(program_, v));
      traffic_.add_value(bytes, machine_);
      if (levels[v].contains(kTailLevel) && levels[v].size() > 1) {
        traffic_.add_value(bytes, machine_);
        add_again(bytes);
        levels[v].erase(kTailLevel);
      }
      if (levels[v].size() < 2) continue;
      // Levels may read parts of it, and each another one.
      double most = 0, all = 0;
      for (int level : levels[v]) {
        const double there =
            loads[{v, level}] * static_cast<double>(byte_size(program_.type_of(v).dtype));
        most = std::max(most, std::min(bytes, there));
        all += std::min(bytes, there);
      }
      if (all <= bytes) continue;
      result_.block_bytes += static_cast<std::int64_t>(
          static_cast<double>(block_bytes(v, loop_plan_.axes_of(v))) * most / bytes);
      again_ += all - bytes;
    }
    for (ValueId v : group_.outputs)
      traffic_.add_value(static_cast<double>(program_.type_of(v).bytes()), machine_);
    for (ValueId v : loop_plan_.read_back) {
      const auto bytes = static_cast<double>(program_.type_of(v).bytes());
      traffic_.add_value(bytes, machine_);
      add_again(bytes);
      result_.loads += elements(v);
    }
    // What chunks leave is written and read once more.
    for (const Reduction& r : loop_plan_.reductions) {
      if (!r.crosses) continue;
      const double left = 2.0 * static_cast<double>(loop_plan_.chunks) *
                          static_cast<double>(program_.type_of(result_of(r.op)).bytes());
      traffic_.add_value(left, machine_);
      add_again(left);
    }
    // What stages read once more comes from the cache of a block that fits it, which is no traffic;
    // else from the cache of all, or from memory.
    if (result_.block_bytes <= machine_.near_cache) return;
    result_.bytes_again += again_;
    result_.bytes_by_stages = again_;
    (result_.block_bytes * machine_.workers > machine_.far_cache ? traffic_.memory
                                                                 : traffic_.cached) += again_;
  }

  // Bytes of what a block keeps, at the level that needs most: from where a value is made to the
  // last level that reads it.
  std::int64_t kept_at_once() {
    std::map<std::int64_t, std::int64_t> change;
    for (const auto& [v, kept] : loop_plan_.kept) {
      std::int64_t last = kept.level;
      for (OpId user : users_[v])
        if (const auto& times = times_[user]; !times.empty() && times.rbegin()->first != kTailLevel)
          last = std::max<std::int64_t>(last, times.rbegin()->first);
      change[kept.level] += block_bytes(v, kept.axes);
      change[last + 1] -= block_bytes(v, kept.axes);
    }
    std::int64_t now = 0, most = 0;
    for (const auto& [level, bytes] : change) most = std::max(most, now += bytes);
    return most;
  }

  // What one phase leaves for another, or reads behind it, comes from the cache where it is small.
  // The cache of two workers, so that counts of machines compare.
  void add_again(double bytes) {
    cost::Traffic again;
    again.add_value(bytes, cost::of_two_workers(machine_));
    result_.bytes_again += again.memory;
  }

  std::int64_t block_bytes(ValueId v, const AxisList& axes) const {
    std::int64_t n = byte_size(program_.type_of(v).dtype);
    for (int a : axes) {
      const GroupAxis& x = loop_plan_.axes[static_cast<std::size_t>(a)];
      n *= x.outer < 0 ? x.size : x.block;
    }
    return n;
  }

  // Values that are alive at once at one point of a stage, the ops taken in their order.
  void count_registers() {
    std::map<int, std::vector<OpId>> stages;
    for (OpId id : group_.ops)
      for (const auto& [level, count] : times_[id])
        if (program_.op(id).def->cls != OpClass::move) stages[level].push_back(id);
    for (const auto& [level, ops] : stages) {
      std::unordered_map<ValueId, std::size_t> last;
      for (std::size_t i = 0; i < ops.size(); ++i)
        for (ValueId v : program_.operands(program_.op(ops[i]))) last[v] = i;
      std::vector<int> ends(ops.size() + 1, 0);
      int alive = 0;
      for (std::size_t i = 0; i < ops.size(); ++i) {
        const auto found = last.find(result_of(ops[i]));
        if (found != last.end() && found->second > i) {
          ++alive;
          ++ends[found->second];
        }
        result_.registers = std::max(result_.registers, alive + 1);
        alive -= ends[i];
      }
    }
    const int there = machine_.vector_bytes >= 64 ? 32 : 16;
    if (result_.registers <= there - cost::kAddressRegisters) return;
    // What does not fit goes to the stack and comes back.
    double most = 0;
    for (OpId id : group_.ops) most = std::max(most, points(id));
    const double spilled = result_.registers - (there - cost::kAddressRegisters);
    result_.loads += spilled * most;
    result_.stores += spilled * most;
  }

  void count_blocks() {
    for (int a : loop_plan_.outer) {
      const GroupAxis& x = loop_plan_.axes[static_cast<std::size_t>(a)];
      result_.blocks *= (x.size + x.block - 1) / x.block;
    }
  }

  void finish() {
    const double instructions = cost::work_seconds(
        {.light = result_.light + result_.loads + result_.stores, .heavy = result_.heavy},
        machine_);
    int stages = 1;
    for (const auto& [v, level] : loop_plan_.levels) stages = std::max(stages, level + 1);
    const double starts = static_cast<double>(result_.blocks) * stages * cost::kStageSeconds;
    const double alone = instructions + starts;
    result_.parts =
        loop_plan_.chunks > 0 ? std::min(loop_plan_.chunks, result_.blocks) : result_.blocks;
    const auto parts = static_cast<double>(result_.parts);
    const double workers = cost::busy_workers(alone, parts, machine_);
    // The last turn may leave workers without a block; memory has then more for the others.
    const double turns = std::ceil(parts / workers);
    result_.work = alone * turns / parts;
    result_.memory = cost::traffic_seconds(traffic_, workers, machine_);
    const int phases = 1 + (loop_plan_.chunks > 0) + !loop_plan_.tail.empty();
    result_.seconds = cost::kStepSeconds + phases * machine_.launch_seconds +
                      cost::overlapped(result_.memory, result_.work);
  }

  const Program& program_;
  const StitchGroup& group_;
  const LoopPlan& loop_plan_;
  const MachineFigures& machine_;
  std::unordered_set<OpId> members_;
  std::unordered_set<ValueId> outputs_;
  std::unordered_map<ValueId, std::vector<OpId>> users_;
  std::unordered_map<OpId, ByLevel> times_;
  cost::Traffic traffic_;
  double again_ = 0;  // bytes that stages read once more
  KernelEstimate result_;
};

// Choices that would make another kernel of the one that the first gave.
std::vector<LaunchChoice> other_choices(const LoopPlan& first, bool across) {
  std::vector<LaunchChoice> all;
  if (across) all.push_back({.across = true});
  const bool has_tiles =
      std::ranges::any_of(first.kept, [](const auto& k) { return k.second.is_tile; });
  std::int64_t positions = 1;
  for (int a : first.outer) positions *= first.axes[static_cast<std::size_t>(a)].size;
  if (positions > 1)
    for (std::int64_t elements : {1024, 16384}) all.push_back({.block_elements = elements});
  if (has_tiles) all.push_back({.keep_heavy = false});
  return all;
}

// Whether workers have nothing to do while large reductions stay inside of a few blocks.
bool may_run_across(const LoopPlan& loop_plan, const KernelEstimate& estimate,
                    const MachineFigures& machine) {
  if (estimate.parts >= machine.workers || estimate.work < cost::kWorthSharing) return false;
  return std::ranges::any_of(loop_plan.reductions, [](const Reduction& r) {
    return !r.crosses && !r.scans && !r.scatters && r.windows.empty();
  });
}

// As one pass over rows, where the group is stencils and the device can.
std::optional<ScheduledGroup> sweep_launch(const Program& program, const StitchGroup& group,
                                           const MachineFigures& machine) {
  if (!machine.sweeps) return {};
  const auto sweeps = find_sweeps(program, group);
  if (!sweeps) return {};
  ScheduledGroup made;
  made.choice.sweep_rows = rows_of_sweeps(program, group, *sweeps, machine);
  made.best = estimate_sweeps(program, group, *sweeps, made.choice.sweep_rows, machine);
  return made;
}

}  // namespace

KernelEstimate estimate(const Program& program, const StitchGroup& group, const LoopPlan& loop_plan,
                        const MachineFigures& machine) {
  return Evaluator(program, group, loop_plan, machine).run();
}

Expected<KernelEstimate> first_estimate(const Program& program, StitchGroup group,
                                        const MachineFigures& machine) {
  group.choice = {};
  HEDDLE_TRY(const LoopPlan first, plan_loops(program, group, machine));
  KernelEstimate best = estimate(program, group, first, machine);
  if (!may_run_across(first, best, machine)) return best;
  group.choice.across = true;
  if (const auto loop_plan = plan_loops(program, group, machine))
    if (const KernelEstimate other = estimate(program, group, *loop_plan, machine);
        other.seconds < best.seconds)
      best = other;
  return best;
}

Expected<ScheduledGroup> choose_launch(const Program& program, StitchGroup group,
                                       const MachineFigures& machine) {
  group.choice = {};
  const auto swept = sweep_launch(program, group, machine);
  const auto planned = plan_loops(program, group, machine);
  if (!planned && swept) return *swept;
  if (!planned) return planned.why();
  const LoopPlan& first = *planned;
  ScheduledGroup found{.choice = {}, .best = estimate(program, group, first, machine)};
  for (const LaunchChoice& choice :
       other_choices(first, may_run_across(first, found.best, machine))) {
    group.choice = choice;
    const auto loop_plan = plan_loops(program, group, machine);
    if (!loop_plan) continue;
    const KernelEstimate other = estimate(program, group, *loop_plan, machine);
    // Small differences are not worth another kernel.
    const bool better = cost::kClearly * other.seconds < found.best.seconds;
    found.others.push_back(better ? ScheduledGroup::Other{found.choice, found.best.seconds}
                                  : ScheduledGroup::Other{choice, other.seconds});
    if (!better) continue;
    found.choice = choice;
    found.best = other;
  }
  if (!swept) return found;
  const bool better = cost::kClearly * swept->best.seconds < found.best.seconds;
  found.others.push_back(better ? ScheduledGroup::Other{found.choice, found.best.seconds}
                                : ScheduledGroup::Other{swept->choice, swept->best.seconds});
  if (!better) return found;
  found.choice = swept->choice;
  found.best = swept->best;
  return found;
}

}  // namespace heddle
