#include "kernel/lower_group.h"

#include <algorithm>
#include <map>

#include "cost/fitted.h"
#include "heddle/op.h"
#include "kernel/group_lowering.h"
#include "kernel/lower_sweeps.h"
#include "kernel/refine_stage.h"
#include "kernel/scratch.h"
#include "stitch/scatter.h"

namespace heddle {

Expected<Kernel> GroupLowering::run() {
  for (ValueId v : group_.outputs) writer_.buffer_of(v);
  make_kept_buffers();
  HEDDLE_TRY_VOID(main_phase());
  HEDDLE_TRY_VOID(combine_phases());
  HEDDLE_TRY_VOID(tail_phases());
  mark_streamed();
  place_scratch(writer_.kernel);
  return std::move(writer_.kernel);
}

void GroupLowering::make_kept_buffers() {
  for (ValueId v : group_.inputs)
    if (auto it = loop_plan_.kept.find(v); it != loop_plan_.kept.end())
      writer_.kept[v] = writer_.add_buffer(Reach::block, program_.type_of(v).dtype,
                                           inner_elements(it->second.axes));
  // In the order of the ops, so that equal groups give equal kernels.
  for (OpId id : group_.ops) {
    const Op& op = program_.op(id);
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId v = program_.result(op, i);
      const Type& type = program_.type_of(v);
      if (auto it = loop_plan_.kept.find(v); it != loop_plan_.kept.end())
        writer_.kept[v] =
            writer_.add_buffer(Reach::block, type.dtype, inner_elements(it->second.axes));
      const Reduction* r = loop_plan_.reduction(id);
      if (r && r->scans)
        carry_[v] = writer_.add_buffer(Reach::block, type.dtype, inner_elements(carry_axes(*r)));
      if (!r || !r->crosses) continue;
      partial_[v] =
          writer_.add_buffer(Reach::phases, type.dtype, loop_plan_.chunks * type.elements());
      auto out = writer_.buffers.find(v);
      writer_.whole[v] = out != writer_.buffers.end()
                             ? out->second
                             : writer_.add_buffer(Reach::phases, type.dtype, type.elements());
    }
  }
}

Verdict GroupLowering::main_phase() {
  Phase phase;
  for (int a : loop_plan_.outer) {
    const GroupAxis& axis = loop_plan_.axes[static_cast<std::size_t>(a)];
    phase.outer.push_back({axis.size, axis.block});
  }
  phase.chunks = loop_plan_.chunks;
  std::map<StageKey, Work> stages;
  auto key = [&](int level, const AxisList& axes) {
    return StageKey{.level = level, .axes = sorted(inner_axes(axes)), .windows = {}};
  };
  for (ValueId v : group_.inputs)
    if (auto it = loop_plan_.kept.find(v); it != loop_plan_.kept.end())
      stages[key(it->second.level, it->second.axes)].tiles.push_back(v);
  for (OpId id : group_.ops) {
    const Op& op = program_.op(id);
    if (loop_plan_.tail.contains(id)) continue;
    if (const Reduction* r = loop_plan_.reduction(id)) {
      StageKey k = key(loop_plan_.levels.at(program_.result(op, 0)), r->loops);
      k.windows = window_sizes(*r);
      if (r->scans || (r->scatters && !combines_in_any_order(program_, op))) k.alone = id;
      stages[k].reductions.push_back(r);
      continue;
    }
    const ValueId v = program_.result(op, 0);
    auto it = loop_plan_.kept.find(v);
    if (it != loop_plan_.kept.end())
      stages[key(it->second.level, it->second.axes)].tiles.push_back(v);
  }
  for (ValueId v : loop_plan_.stores) {
    auto it = loop_plan_.kept.find(v);
    if (stores_itself(v)) continue;
    // A result that the block keeps is there one level later; a tile is at hand at its own.
    const int level =
        loop_plan_.levels.at(v) + (it != loop_plan_.kept.end() && !it->second.is_tile);
    stages[key(level, loop_plan_.axes_of(v))].stores.push_back(v);
  }
  int begun = -1;
  for (const auto& [k, work] : stages) {
    if (k.level != begun) {
      begun = k.level;
      Work all;
      for (const auto& [other, more] : stages)
        if (other.level == k.level)
          all.reductions.insert(all.reductions.end(), more.reductions.begin(),
                                more.reductions.end());
      HEDDLE_TRY_VOID(begin_reductions(all, k.level, phase));
    }
    HEDDLE_TRY_VOID(write_stage(k, work, phase));
  }
  writer_.kernel.phases.push_back(std::move(phase));
  return yes();
}

// The last axes of a stage, as one loop, where the very last one is too short for vectors and other
// loops run around them.
AxisList GroupLowering::short_run(const StageKey& key, const AxisList& axes) const {
  if (key.alone != kNone || !key.windows.empty()) return {};
  AxisList run;
  std::int64_t size = 1;
  const AxisList inner = inner_axes(axes);
  for (std::size_t i = inner.size(); i-- > 1 && size < cost::kLongEnough;) {
    const GroupAxis& axis = loop_plan_.axes[static_cast<std::size_t>(inner[i])];
    if (axis.outer >= 0 || (run.empty() && axis.size >= cost::kShortAxis)) break;
    run.insert(run.begin(), inner[i]);
    size *= axis.size;
  }
  return run.size() > 1 ? run : AxisList{};
}

Verdict GroupLowering::write_stage(const StageKey& key, const Work& work, Phase& phase) {
  // Loops in the order in which the first of its values lies in memory.
  const AxisList axes = !work.stores.empty()  ? loop_plan_.axes_of(work.stores[0])
                        : !work.tiles.empty() ? loop_plan_.axes_of(work.tiles[0])
                                              : work.reductions[0]->loops;
  StageWriter plain(writer_, key.level, false);
  HEDDLE_TRY_VOID(fill_stage(plain, key, work, axes, {}));
  Stage stage = plain.finish();
  if (const AxisList run = short_run(key, axes); !run.empty()) {
    StageWriter even(writer_, key.level, false);
    HEDDLE_TRY_VOID(fill_stage(even, key, work, axes, run));
    if (even.runs_evenly()) stage = even.finish();
  }
  RefinedStages refined = refine(writer_.kernel, std::move(stage), machine_.near_cache / 8,
                                 [&](DType dtype, std::int64_t elements) {
                                   return writer_.add_buffer(Reach::block, dtype, elements);
                                 });
  for (Stage& s : refined.before) phase.stages.push_back(std::move(s));
  phase.stages.push_back(std::move(refined.stage));
  for (Stage& s : refined.behind) phase.stages.push_back(std::move(s));
  return yes();
}

Verdict GroupLowering::fill_stage(StageWriter& stage, const StageKey& key, const Work& work,
                                  const AxisList& axes, const AxisList& run) {
  AxisList single = axes;
  std::erase_if(single, [&](int a) { return std::ranges::find(run, a) != run.end(); });
  stage.open(single);
  if (!run.empty()) stage.open_run(run);
  std::vector<LeafId> windows;
  for (std::int64_t size : key.windows) windows.push_back(stage.open(size));
  for (ValueId v : work.tiles) {
    HEDDLE_TRY(const Indices at, stage.here(v));
    HEDDLE_TRY(const IndexSum index, stage.kept_index(v, at));
    HEDDLE_TRY(const NodeId value, stage.value_at(v, at));
    stage.store(writer_.kept.at(v), index, value);
  }
  for (ValueId v : work.stores) {
    HEDDLE_TRY(const Indices at, stage.here(v));
    HEDDLE_TRY_VOID(stage.store_output(v, at));
  }
  for (const Reduction* r : work.reductions) HEDDLE_TRY_VOID(write_reduction(stage, *r, windows));
  return yes();
}

// One result of all parts, in the order of the chunks. Results of one size share a phase.
Verdict GroupLowering::combine_phases() {
  std::map<std::int64_t, Phase> by_size;
  for (const Reduction& r : loop_plan_.reductions) {
    if (!r.crosses) continue;
    const std::int64_t n = program_.type_of(program_.result(program_.op(r.op), 0)).elements();
    Phase& phase = by_size[n];
    phase.outer = {{n, std::min(n, cost::kTailBlock)}};
    HEDDLE_TRY_VOID(combine(r, phase));
  }
  for (auto& [n, phase] : by_size) writer_.kernel.phases.push_back(std::move(phase));
  return yes();
}

Verdict GroupLowering::combine(const Reduction& r, Phase& phase) {
  const Op& op = program_.op(r.op);
  const ValueId v = program_.result(op, 0);
  const Type& type = program_.type_of(v);
  const std::int64_t n = phase.outer[0].extent, block = phase.outer[0].block;
  HEDDLE_TRY(Combiner combiner, combiner_of(program_, op, loop_plan_.rules.at(r.op)));
  StageWriter first(writer_, 0, true);
  const LeafId i = first.open_flat(n, block);
  HEDDLE_TRY(const NodeId start,
             first_value(first, op, 0, first.unflat(type.shape, IndexSpace::of(i))));
  first.store(writer_.whole.at(v), IndexSpace::of(i), start);
  phase.stages.push_back(first.finish());
  StageWriter all(writer_, 0, true);
  const LeafId c = all.open(loop_plan_.chunks);
  const LeafId j = all.open_flat(n, block);
  const IndexSum at = all.space.add(IndexSpace::of(j), all.space.scaled(IndexSpace::of(c), n));
  const NodeId part = all.nodes.load(partial_.at(v), type.dtype, all.space.node(at));
  all.update({writer_.whole.at(v)}, IndexSpace::of(j), {part}, kNone, std::move(combiner));
  phase.stages.push_back(all.finish());
  return yes();
}

Verdict GroupLowering::tail_phases() {
  std::map<std::int64_t, std::vector<ValueId>> by_size;
  std::map<Shape, std::vector<ValueId>> by_shape;  // of those with rows that are worth a loop
  for (ValueId v : group_.outputs) {
    if (!loop_plan_.tail.contains(program_.value(v).op)) continue;
    const Type& type = program_.type_of(v);
    if (type.rank() > 1 && type.shape.back() >= cost::kTailRow)
      by_shape[type.shape].push_back(v);
    else
      by_size[type.elements()].push_back(v);
  }
  for (const auto& [shape, values] : by_shape) HEDDLE_TRY_VOID(tail_of_rows(shape, values));
  for (const auto& [n, values] : by_size) {
    Phase phase;
    const std::int64_t block = std::min(n, cost::kTailBlock);
    phase.outer = {{n, block}};
    StageWriter stage(writer_, 0, true);
    const LeafId i = stage.open_flat(n, block);
    for (ValueId v : values) {
      const Shape& shape = program_.type_of(v).shape;
      HEDDLE_TRY_VOID(stage.store_output(v, stage.unflat(shape, IndexSpace::of(i))));
    }
    phase.stages.push_back(stage.finish());
    writer_.kernel.phases.push_back(std::move(phase));
  }
  return yes();
}

// No index is taken apart at every element.
Verdict GroupLowering::tail_of_rows(const Shape& shape, const std::vector<ValueId>& values) {
  const Shape outside(shape.begin(), shape.end() - 1);
  std::int64_t rows = 1;
  for (std::int64_t n : outside) rows *= n;
  const std::int64_t block =
      std::min(rows, std::max<std::int64_t>(1, group_.choice.block_elements / shape.back()));
  Phase phase;
  phase.outer = {{rows, block}};
  StageWriter stage(writer_, 0, true);
  const LeafId row = stage.open_flat(rows, block), column = stage.open_row(shape.back());
  Indices at = stage.unflat(outside, IndexSpace::of(row));
  at.push_back(IndexSpace::of(column));
  for (ValueId v : values) HEDDLE_TRY_VOID(stage.store_output(v, at));
  phase.stages.push_back(stage.finish());
  writer_.kernel.phases.push_back(std::move(phase));
  return yes();
}

// Results that no cache would keep until they are read go past the caches.
void GroupLowering::mark_streamed() {
  Kernel& kernel = writer_.kernel;
  for (KernelBuffer& b : kernel.buffers)
    b.streamed = b.reach == Reach::output &&
                 (group_.choice.streams || b.elements * byte_size(b.dtype) > machine_.far_cache);
  for (const Phase& phase : kernel.phases)
    for (const Stage& stage : phase.stages) {
      for (const Node& n : stage.nodes)
        if (n.kind == NodeKind::load) kernel.buffers[n.number].streamed = false;
      for (const Statement& s : stage.statements)
        if (s.kind != Statement::Kind::store)
          for (std::uint32_t b : s.buffers) kernel.buffers[b].streamed = false;
    }
}

Expected<Kernel> lower_group(const Program& program, const StitchGroup& group,
                             const MachineFigures& machine) {
  if (group.choice.sweep_rows > 0)
    if (const auto sweeps = find_sweeps(program, group))
      return lower_sweeps(program, group, *sweeps);
  HEDDLE_TRY(const LoopPlan loop_plan, plan_loops(program, group, machine));
  return GroupLowering(program, group, loop_plan, machine).run();
}

}  // namespace heddle
