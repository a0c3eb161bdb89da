#include "kernel/lower_group.h"

#include <algorithm>
#include <map>

#include "heddle/op.h"
#include "kernel/scratch.h"
#include "kernel/stage_writer.h"
#include "stitch/scatter.h"

namespace heddle {

namespace {

// Elements that a block of the later phases has.
constexpr std::int64_t kTailBlock = 1024;

class GroupLowering {
 public:
  GroupLowering(const Program& program, const StitchGroup& group, const Schedule& schedule,
                const MachineFigures& machine)
      : program_(program),
        group_(group),
        schedule_(schedule),
        machine_(machine),
        writer_{program, group, schedule, {}, {}, {}, {}, {}} {
    writer_.members.insert(group.ops.begin(), group.ops.end());
  }

  Expected<Kernel> run() {
    for (ValueId v : group_.outputs) writer_.buffer_of(v);
    make_kept_buffers();
    HEDDLE_TRY_VOID(main_phase());
    for (const Reduction& r : schedule_.reductions)
      if (r.crosses) HEDDLE_TRY_VOID(combine_phase(r));
    HEDDLE_TRY_VOID(tail_phases());
    mark_streamed();
    place_scratch(writer_.kernel);
    return std::move(writer_.kernel);
  }

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
  Verdict combine_phase(const Reduction& r);
  Verdict tail_phases();
  void mark_streamed();

  std::int64_t inner_elements(const AxisList& axes) const {
    std::int64_t n = 1;
    for (int a : axes) {
      const GroupAxis& axis = schedule_.axes[static_cast<std::size_t>(a)];
      n *= axis.outer < 0 ? axis.size : axis.block;
    }
    return n;
  }
  AxisList inner_axes(const AxisList& axes) const {
    AxisList out;
    for (int a : axes)
      if (schedule_.axes[static_cast<std::size_t>(a)].is_inner()) out.push_back(a);
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
    const Reduction* r = schedule_.reduction(program_.value(v).op);
    return r && (r->scans || r->scatters) && !r->crosses && !schedule_.kept.contains(v);
  }
  std::vector<std::int64_t> window_sizes(const Reduction& r) const {
    std::vector<std::int64_t> sizes;
    for (int f : r.windows)
      sizes.push_back(schedule_.rules.at(r.op).factors[static_cast<std::size_t>(f)].size);
    return sizes;
  }
  static AxisList sorted(AxisList axes) {
    std::sort(axes.begin(), axes.end());
    return axes;
  }

  const Program& program_;
  const StitchGroup& group_;
  const Schedule& schedule_;
  const MachineFigures& machine_;
  KernelWriter writer_;
  std::unordered_map<ValueId, std::uint32_t> partial_, carry_;
};

void GroupLowering::make_kept_buffers() {
  // In the order of the ops, so that equal groups give equal kernels.
  for (OpId id : group_.ops) {
    const Op& op = program_.op(id);
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId v = program_.result(op, i);
      const Type& type = program_.type_of(v);
      if (auto it = schedule_.kept.find(v); it != schedule_.kept.end())
        writer_.kept[v] =
            writer_.add_buffer(Reach::block, type.dtype, inner_elements(it->second.axes));
      const Reduction* r = schedule_.reduction(id);
      if (r && r->scans)
        carry_[v] = writer_.add_buffer(Reach::block, type.dtype, inner_elements(carry_axes(*r)));
      if (!r || !r->crosses) continue;
      partial_[v] =
          writer_.add_buffer(Reach::phases, type.dtype, schedule_.chunks * type.elements());
      auto out = writer_.buffers.find(v);
      writer_.whole[v] = out != writer_.buffers.end()
                             ? out->second
                             : writer_.add_buffer(Reach::phases, type.dtype, type.elements());
    }
  }
}

Verdict GroupLowering::main_phase() {
  Phase phase;
  for (int a : schedule_.outer) {
    const GroupAxis& axis = schedule_.axes[static_cast<std::size_t>(a)];
    phase.outer.push_back({axis.size, axis.block});
  }
  phase.chunks = schedule_.chunks;
  std::map<StageKey, Work> stages;
  auto key = [&](int level, const AxisList& axes) {
    return StageKey{.level = level, .axes = sorted(inner_axes(axes)), .windows = {}};
  };
  for (OpId id : group_.ops) {
    const Op& op = program_.op(id);
    if (schedule_.tail.contains(id)) continue;
    if (const Reduction* r = schedule_.reduction(id)) {
      StageKey k = key(schedule_.levels.at(program_.result(op, 0)), r->loops);
      k.windows = window_sizes(*r);
      if (r->scans || (r->scatters && !combines_in_any_order(program_, op))) k.alone = id;
      stages[k].reductions.push_back(r);
      continue;
    }
    const ValueId v = program_.result(op, 0);
    auto it = schedule_.kept.find(v);
    if (it != schedule_.kept.end())
      stages[key(it->second.level, it->second.axes)].tiles.push_back(v);
  }
  for (ValueId v : schedule_.stores) {
    auto it = schedule_.kept.find(v);
    if (stores_itself(v)) continue;
    // A result that the block keeps is there one level later; a tile is at hand at its own.
    const int level = schedule_.levels.at(v) + (it != schedule_.kept.end() && !it->second.is_tile);
    stages[key(level, schedule_.axes_of(v))].stores.push_back(v);
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

// Before a reduction its result holds the initial value; a part of one what changes nothing.
Verdict GroupLowering::begin_reductions(const Work& work, int level, Phase& phase) {
  std::map<AxisList, std::vector<const Reduction*>> by_axes;
  for (const Reduction* r : work.reductions) {
    if (!r->crosses) {
      by_axes[sorted(inner_axes(r->scans ? carry_axes(*r) : r->kept))].push_back(r);
      continue;
    }
    const Op& op = program_.op(r->op);
    const ValueId v = program_.result(op, 0);
    const Type& type = program_.type_of(v);
    HEDDLE_TRY(const Combiner combiner, combiner_of(program_, op, schedule_.rules.at(r->op)));
    StageWriter stage(writer_, level, true);
    const LeafId i = stage.open(type.elements());
    const LeafId c = stage.space.leaf(stage.nodes.chunk(), schedule_.chunks);
    const IndexSum at =
        stage.space.add(IndexSpace::of(i), stage.space.scaled(IndexSpace::of(c), type.elements()));
    stage.store(partial_.at(v), at,
                stage.nodes.constant(type.dtype, neutral_bits(combiner.op, type.dtype)));
    phase.begin.push_back(stage.finish());
  }
  for (const auto& [axes, reductions] : by_axes) {
    StageWriter stage(writer_, level, false);
    stage.open(axes);
    for (const Reduction* r : reductions) {
      const Op& op = program_.op(r->op);
      if (r->scans) {
        const ValueId v = program_.result(op, 0);
        HEDDLE_TRY(const IndexSum index, stage.local_index(carry_axes(*r)));
        HEDDLE_TRY(const NodeId first, stage.value_at(program_.operands(op)[1], {}));
        stage.store(carry_.at(v), index, first);
        continue;
      }
      for (std::size_t i = 0; i < op.result_count; ++i) {
        const ValueId v = program_.result(op, i);
        HEDDLE_TRY(const Indices at, stage.here(v));
        HEDDLE_TRY(const Room room, room_of(stage, v, at));
        HEDDLE_TRY(const NodeId first, first_value(stage, op, i, at));
        stage.store(room.buffer, room.index, first);
      }
    }
    phase.stages.push_back(stage.finish());
  }
  return yes();
}

// Where the elements of a reduction's result are kept while it runs.
Expected<GroupLowering::Room> GroupLowering::room_of(StageWriter& stage, ValueId v,
                                                     const Indices& at) {
  Room room;
  if (stores_itself(v)) {
    room = {writer_.buffer_of(v), stage.flat(program_.type_of(v).shape, at)};
  } else {
    HEDDLE_TRY(room.index, stage.kept_index(v, at));
    room.buffer = writer_.kept.at(v);
  }
  return room;
}

// What result i of a reduction holds before anything was reduced.
Expected<NodeId> GroupLowering::first_value(StageWriter& stage, const Op& op, std::size_t i,
                                            const Indices& at) {
  const auto operands = program_.operands(op);
  if (op.def->emission == Emission::contract)
    return stage.nodes.constant(program_.type_of(program_.result(op, i)).dtype, 0);
  if (op.def->emission == Emission::scatter) return stage.value_at(operands[i], at);
  return stage.value_at(operands[op.result_count + i], {});
}

Verdict GroupLowering::write_stage(const StageKey& key, const Work& work, Phase& phase) {
  StageWriter stage(writer_, key.level, false);
  // Loops in the order in which the first of its values lies in memory.
  if (!work.stores.empty())
    stage.open(schedule_.axes_of(work.stores[0]));
  else if (!work.tiles.empty())
    stage.open(schedule_.axes_of(work.tiles[0]));
  else
    stage.open(work.reductions[0]->loops);
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
    HEDDLE_TRY(const NodeId value, stage.value_at(v, at));
    stage.store(writer_.buffer_of(v), stage.flat(program_.type_of(v).shape, at), value);
  }
  for (const Reduction* r : work.reductions) HEDDLE_TRY_VOID(write_reduction(stage, *r, windows));
  phase.stages.push_back(stage.finish());
  return yes();
}

// Every step of a scan is a result: kept, or stored where it belongs.
Verdict GroupLowering::write_scan(StageWriter& stage, const Reduction& r) {
  const Op& op = program_.op(r.op);
  const ValueId result = program_.result(op, 0);
  const Shape& shape = program_.type_of(result).shape;
  HEDDLE_TRY(Indices at, stage.here(result));
  if (r.backward)
    at[r.scan_dim] = stage.space.add(stage.space.scaled(at[r.scan_dim], -1),
                                     IndexSpace::constant(shape[r.scan_dim] - 1));
  HEDDLE_TRY(const NodeId value, stage.value_at(program_.operands(op)[0], at));
  HEDDLE_TRY(Combiner combiner, combiner_of(program_, op, schedule_.rules.at(r.op)));
  HEDDLE_TRY(const IndexSum carry, stage.local_index(carry_axes(r)));
  const bool is_kept = schedule_.kept.contains(result);
  IndexSum to;
  if (is_kept) {
    HEDDLE_TRY(to, stage.kept_index(result, at));
  } else {
    to = stage.flat(shape, at);
  }
  stage.scan(carry_.at(result), carry, value,
             is_kept ? writer_.kept.at(result) : writer_.buffer_of(result), to,
             std::move(combiner));
  return yes();
}

Verdict GroupLowering::write_reduction(StageWriter& stage, const Reduction& r,
                                       const std::vector<LeafId>& windows) {
  if (r.scans) return write_scan(stage, r);
  if (r.scatters) return write_scatter(stage, r);
  const Op& op = program_.op(r.op);
  const IndexRule& rule = schedule_.rules.at(r.op);
  HEDDLE_TRY(const std::vector<IndexSum> factors, stage.factors_here(r, windows));
  const auto operands = program_.operands(op);
  const ValueId result = program_.result(op, 0);
  std::vector<NodeId> values;
  NodeId guard = kNone;
  const std::size_t inputs = op.def->emission == Emission::contract ? 2 : op.result_count;
  for (std::size_t i = 0; i < inputs; ++i) {
    const StageWriter::Place place = stage.operand_place(op, rule, i, factors);
    guard = stage.nodes.both(guard, place.exists);
    HEDDLE_TRY(const NodeId value, stage.value_at(operands[i], place.at, place.exists));
    values.push_back(value);
  }
  if (op.def->emission == Emission::contract) {
    const DType type = program_.type_of(result).dtype;
    for (NodeId& v : values)
      if (stage.nodes.type(v) != type) v = stage.nodes.scalar(ScalarOp::convert, type, v);
    values = {stage.nodes.scalar(ScalarOp::multiply, type, values[0], values[1])};
  }
  HEDDLE_TRY(const Indices at, stage.here(result));
  return write_update(stage, r, at, values, guard);
}

Verdict GroupLowering::write_scatter(StageWriter& stage, const Reduction& r) {
  const Op& op = program_.op(r.op);
  HEDDLE_TRY(const StageWriter::Target target, stage.scatter_target(op));
  std::vector<NodeId> values;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId updates = program_.operands(op)[op.result_count + 1 + i];
    HEDDLE_TRY(const NodeId value, stage.value_at(updates, target.from));
    values.push_back(value);
  }
  return write_update(stage, r, target.to, values, target.exists);
}

// Puts values to what the result holds at an index: of the block, or of the chunk.
Verdict GroupLowering::write_update(StageWriter& stage, const Reduction& r, const Indices& at,
                                    const std::vector<NodeId>& values, NodeId guard) {
  const Op& op = program_.op(r.op);
  const ValueId result = program_.result(op, 0);
  HEDDLE_TRY(Combiner combiner, combiner_of(program_, op, schedule_.rules.at(r.op)));
  std::vector<std::uint32_t> buffers;
  IndexSum index;
  if (r.crosses) {
    const Type& type = program_.type_of(result);
    const LeafId c = stage.space.leaf(stage.nodes.chunk(), schedule_.chunks);
    index = stage.space.add(stage.flat(type.shape, at),
                            stage.space.scaled(IndexSpace::of(c), type.elements()));
    buffers = {partial_.at(result)};
  } else {
    for (std::size_t i = 0; i < op.result_count; ++i) {
      HEDDLE_TRY(Room room, room_of(stage, program_.result(op, i), at));
      buffers.push_back(room.buffer);
      index = std::move(room.index);
    }
  }
  stage.update(buffers, index, values, guard, std::move(combiner));
  return yes();
}

// One result of all parts, in the order of the chunks.
Verdict GroupLowering::combine_phase(const Reduction& r) {
  const Op& op = program_.op(r.op);
  const ValueId v = program_.result(op, 0);
  const Type& type = program_.type_of(v);
  const std::int64_t n = type.elements(), block = std::min(n, kTailBlock);
  HEDDLE_TRY(Combiner combiner, combiner_of(program_, op, schedule_.rules.at(r.op)));
  Phase phase;
  phase.outer = {{n, block}};
  StageWriter first(writer_, 0, true);
  const LeafId i = first.open_flat(n, block);
  HEDDLE_TRY(const NodeId start,
             first_value(first, op, 0, first.unflat(type.shape, IndexSpace::of(i))));
  first.store(writer_.whole.at(v), IndexSpace::of(i), start);
  phase.stages.push_back(first.finish());
  StageWriter all(writer_, 0, true);
  const LeafId c = all.open(schedule_.chunks);
  const LeafId j = all.open_flat(n, block);
  const IndexSum at = all.space.add(IndexSpace::of(j), all.space.scaled(IndexSpace::of(c), n));
  const NodeId part = all.nodes.load(partial_.at(v), type.dtype, all.space.node(at));
  all.update({writer_.whole.at(v)}, IndexSpace::of(j), {part}, kNone, std::move(combiner));
  phase.stages.push_back(all.finish());
  writer_.kernel.phases.push_back(std::move(phase));
  return yes();
}

Verdict GroupLowering::tail_phases() {
  std::map<std::int64_t, std::vector<ValueId>> by_size;
  for (ValueId v : group_.outputs)
    if (schedule_.tail.contains(program_.value(v).op))
      by_size[program_.type_of(v).elements()].push_back(v);
  for (const auto& [n, values] : by_size) {
    Phase phase;
    const std::int64_t block = std::min(n, kTailBlock);
    phase.outer = {{n, block}};
    StageWriter stage(writer_, 0, true);
    const LeafId i = stage.open_flat(n, block);
    for (ValueId v : values) {
      const Shape& shape = program_.type_of(v).shape;
      HEDDLE_TRY(const NodeId value, stage.value_at(v, stage.unflat(shape, IndexSpace::of(i))));
      stage.store(writer_.buffer_of(v), IndexSpace::of(i), value);
    }
    phase.stages.push_back(stage.finish());
    writer_.kernel.phases.push_back(std::move(phase));
  }
  return yes();
}

// Results that no cache would keep until they are read go past the caches.
void GroupLowering::mark_streamed() {
  Kernel& kernel = writer_.kernel;
  for (KernelBuffer& b : kernel.buffers)
    b.streamed = b.reach == Reach::output && b.elements * byte_size(b.dtype) > machine_.far_cache;
  for (const Phase& phase : kernel.phases)
    for (const Stage& stage : phase.stages) {
      for (const Node& n : stage.nodes)
        if (n.kind == NodeKind::load) kernel.buffers[n.number].streamed = false;
      for (const Statement& s : stage.statements)
        if (s.kind != Statement::Kind::store)
          for (std::uint32_t b : s.buffers) kernel.buffers[b].streamed = false;
    }
}

}  // namespace

Expected<std::vector<IndexSum>> StageWriter::factors_here(const Reduction& r,
                                                          const std::vector<LeafId>& windows) {
  const Op& op = program_.op(r.op);
  const IndexRule& rule = schedule_.rules.at(r.op);
  const ValueId result = program_.result(op, 0);
  HEDDLE_TRY(const Indices at, here(result));
  std::vector<IndexSum> factors = result_factors(rule, at, program_.type_of(result).shape);
  for (std::size_t w = 0; w < r.windows.size(); ++w)
    factors[static_cast<std::size_t>(r.windows[w])] = IndexSpace::of(windows[w]);
  for (const Reduction::Place& place : r.places) {
    HEDDLE_TRY(factors[static_cast<std::size_t>(place.factor)],
               dim_here(program_.operands(op)[place.operand], place.dim));
  }
  return factors;
}

Expected<Kernel> lower_group(const Program& program, const StitchGroup& group,
                             const MachineFigures& machine) {
  HEDDLE_TRY(const Schedule schedule, schedule_group(program, group, machine));
  return GroupLowering(program, group, schedule, machine).run();
}

}  // namespace heddle
