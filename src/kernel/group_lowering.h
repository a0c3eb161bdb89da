// How a group becomes a kernel; used by lower_group() only.
#pragma once

#include "kernel/stage_writer.h"

namespace heddle {

class GroupLowering {
 public:
  GroupLowering(const Program& program, const StitchGroup& group, const LoopPlan& loop_plan,
                const MachineFigures& machine)
      : program_(program),
        group_(group),
        loop_plan_(loop_plan),
        machine_(machine),
        writer_{program, group, loop_plan, {}, {}, {}, {}, {}} {
    writer_.members.insert(group.ops.begin(), group.ops.end());
  }

  Expected<Kernel> run();

 private:
  // Statements that run over the same loops at the same level are one stage.
  struct StageKey {
    int level;
    AxisList axes;
    std::vector<std::int64_t> windows;
    OpId alone = kNone;  // whose loops have to run in their own order
    friend auto operator<=>(const StageKey&, const StageKey&) = default;
  };
  struct Work {
    std::vector<ValueId> tiles, stores;
    std::vector<const Reduction*> reductions;
  };

  void make_kept_buffers();
  Verdict main_phase();
  Verdict begin_reductions(const Work& work, int level, Phase& phase);
  Verdict write_stage(const StageKey& key, const Work& work, Phase& phase);
  Verdict fill_stage(StageWriter& stage, const StageKey& key, const Work& work,
                     const AxisList& axes, const AxisList& run);
  AxisList short_run(const StageKey& key, const AxisList& axes) const;
  Verdict write_reduction(StageWriter& stage, const Reduction& r,
                          const std::vector<LeafId>& windows);
  Verdict write_scan(StageWriter& stage, const Reduction& r);
  Verdict write_scatter(StageWriter& stage, const Reduction& r);
  Verdict write_update(StageWriter& stage, const Reduction& r, const Indices& at,
                       const std::vector<NodeId>& values, NodeId guard);
  struct Room {
    std::uint32_t buffer = 0;
    IndexSum index;
  };
  Expected<Room> room_of(StageWriter& stage, ValueId v, const Indices& at);
  Expected<NodeId> first_value(StageWriter& stage, const Op& op, std::size_t i, const Indices& at);
  Verdict combine_phases();
  Verdict combine(const Reduction& r, Phase& phase);
  Verdict tail_phases();
  Verdict tail_of_rows(const Shape& shape, const std::vector<ValueId>& values);
  void mark_streamed();

  std::int64_t inner_elements(const AxisList& axes) const {
    std::int64_t n = 1;
    for (int a : axes) {
      const GroupAxis& axis = loop_plan_.axes[static_cast<std::size_t>(a)];
      n *= axis.outer < 0 ? axis.size : axis.block;
    }
    return n;
  }
  AxisList inner_axes(const AxisList& axes) const {
    AxisList out;
    for (int a : axes)
      if (loop_plan_.axes[static_cast<std::size_t>(a)].is_inner()) out.push_back(a);
    return out;
  }
  // Of what a scan carries from step to step.
  AxisList carry_axes(const Reduction& r) const {
    AxisList axes;
    for (int a : r.kept)
      if (std::find(r.reduced.begin(), r.reduced.end(), a) == r.reduced.end()) axes.push_back(a);
    return axes;
  }
  // Whether a scan or scatter leaves its results right where they belong.
  bool stores_itself(ValueId v) const {
    const Reduction* r = loop_plan_.reduction(program_.value(v).op);
    return r && (r->scans || r->scatters) && !r->crosses && !loop_plan_.kept.contains(v);
  }
  std::vector<std::int64_t> window_sizes(const Reduction& r) const {
    std::vector<std::int64_t> sizes;
    for (int f : r.windows)
      sizes.push_back(loop_plan_.rules.at(r.op).factors[static_cast<std::size_t>(f)].size);
    return sizes;
  }
  static AxisList sorted(AxisList axes) {
    std::sort(axes.begin(), axes.end());
    return axes;
  }

  const Program& program_;
  const StitchGroup& group_;
  const LoopPlan& loop_plan_;
  const MachineFigures& machine_;
  KernelWriter writer_;
  std::unordered_map<ValueId, std::uint32_t> partial_, carry_;
};

}  // namespace heddle
