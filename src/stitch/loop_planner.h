// How a plan of loops is made; used by plan_loops() only.
#pragma once

#include <algorithm>

#include "heddle/op.h"
#include "ir/rules/scan.h"
#include "stitch/loop_plan.h"

namespace heddle {

inline bool has(const AxisList& list, int axis) {
  return std::find(list.begin(), list.end(), axis) != list.end();
}

class LoopPlanner {
 public:
  LoopPlanner(const Program& program, const StitchGroup& group, const MachineFigures& machine)
      : program_(program), group_(group), machine_(machine) {}

  Expected<LoopPlan> run() {
    members_.insert(group_.ops.begin(), group_.ops.end());
    outputs_.insert(group_.outputs.begin(), group_.outputs.end());
    relate_values();
    join_axes();
    find_reductions();
    find_tail();
    find_aside();
    HEDDLE_TRY_VOID(choose_outer());
    choose_blocks();
    HEDDLE_TRY_VOID(check_repeats());
    HEDDLE_TRY_VOID(check_tail());
    HEDDLE_TRY_VOID(keep_values());
    HEDDLE_TRY_VOID(check_reach());
    choose_read_back();
    return std::move(plan_);
  }

 private:
  void relate_values();
  void join_axes();
  std::vector<std::size_t> dims_apart(const Op& op, OpId id) const;
  void find_reductions();
  void find_tail();
  Verdict choose_outer();
  void choose_chunks();
  void drop_short_runs(const AxisList& order);
  void choose_blocks();
  void drop_whole_axes();
  Verdict check_repeats() const;
  Verdict keep_values();
  Verdict check_reach();
  void choose_read_back();
  std::int64_t tail_bytes() const;
  bool is_kept(const Reduction& r) const;
  void keep_tiles();
  void keep_wanted(const std::vector<ValueId>& wanted);
  std::int64_t most_kept_at_once(const std::vector<ValueId>& tiles) const;
  bool is_strided(ValueId v) const;
  std::vector<AxisList> sink_domains() const;
  void find_aside();
  int compute_level(ValueId value);
  std::int64_t inner_elements(const AxisList& axes) const;
  AxisList loops_of(const Reduction& r) const;
  Reduction scan(OpId id) const;
  Reduction scatter(OpId id) const;
  bool may_cross(const Reduction& r);
  bool needs_reduction(ValueId value) const;
  bool has_reduction_before(ValueId value);
  AxisList shifted_axes(const Op& op, OpId id) const;
  void keep_shifted_inside(std::unordered_set<int>& inside);
  Verdict check_tail() const;
  void place_factors(Reduction& r) const;
  bool is_tailable(const Op& op);
  std::int64_t elements(ValueId v) const { return program_.type_of(v).elements(); }
  std::int64_t product(const AxisList& axes) const {
    std::int64_t n = 1;
    for (int a : axes) n *= plan_.axes[static_cast<std::size_t>(a)].size;
    return n;
  }
  // Blocks of one worker are those of two: what they keep then fits its cache as well.
  int sharing() const { return std::max(machine_.workers, 2); }
  GroupAxis& axis(int a) { return plan_.axes[static_cast<std::size_t>(a)]; }

  const Program& program_;
  const StitchGroup& group_;
  const MachineFigures& machine_;
  std::unordered_set<OpId> members_;
  std::unordered_set<ValueId> outputs_;
  std::unordered_map<ValueId, std::vector<OpId>> users_;  // inside of the group
  std::unordered_map<OpId, Scan> scans_;
  std::unordered_map<ValueId, bool> reduced_before_;
  std::unordered_set<ValueId> aside_;  // small results that a phase of their own computes
  LoopPlan plan_;
};

}  // namespace heddle
