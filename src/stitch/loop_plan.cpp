#include "stitch/loop_plan.h"

#include <map>

#include "cost/fitted.h"
#include "stitch/loop_planner.h"
#include "stitch/scatter.h"

namespace heddle {

void LoopPlanner::relate_values() {
  for (ValueId v : group_.inputs)
    if (program_.type_of(v).is_tensor()) plan_.space.add(v, program_.type_of(v).shape);
  for (OpId id : group_.ops) {
    const Op& op = program_.op(id);
    const std::optional<Scan> scan = scan_of(program_, op);
    if (scan) scans_[id] = *scan;
    plan_.rules.emplace(id, scan ? scan_rule(program_, op) : index_rule(program_, op));
    for (std::size_t i = 0; i < op.result_count; ++i)
      plan_.space.add(program_.result(op, i), program_.type_of(program_.result(op, i)).shape);
    for (ValueId v : program_.operands(op)) users_[v].push_back(id);
  }
  // From the results backward: where not all can be equal, what is near the results wins.
  for (std::size_t i = group_.ops.size(); i-- > 0;)
    plan_.space.relate(program_, program_.op(group_.ops[i]), plan_.rules.at(group_.ops[i]));
  // Results that have nothing to do with each other share their loops where they are alike.
  std::map<Shape, ValueId> first;
  for (ValueId v : group_.outputs)
    if (auto [it, fresh] = first.emplace(program_.type_of(v).shape, v); !fresh)
      plan_.space.align(it->second, v);
}

// Dimensions of its result whose index an op uses by itself: those that it shifts, cuts, counts or
// scans along.
std::vector<std::size_t> LoopPlanner::dims_apart(const Op& op, OpId id) const {
  const std::size_t rank = program_.type_of(program_.result(op, 0)).rank();
  std::vector<std::size_t> dims;
  if (auto it = scans_.find(id); it != scans_.end()) return {it->second.dim};
  const IndexRule& rule = plan_.rules.at(id);
  const bool by_data = op.def->emission == Emission::dynamic_slice ||
                       op.def->emission == Emission::dynamic_update_slice ||
                       op.def->emission == Emission::gather;
  if (op.def->emission == Emission::scatter) {
    const ScatterDims scatter = scatter_dimensions(program_, op);
    for (std::size_t d = 0; d < rank; ++d)
      if (scatter.by_data[d]) dims.push_back(d);
    return dims;
  }
  std::unordered_set<int> used_alone;  // factors
  for (std::size_t i = 0; i < op.operand_count && i < rule.operands.size(); ++i) {
    const Shape& shape = program_.type_of(program_.operands(op)[i]).shape;
    for (std::size_t k = 0; k < shape.size() && k < rule.operands[i].dims.size(); ++k)
      if (!is_plain(rule.operands[i].dims[k], rule, shape[k]))
        for (const IndexTerm& t : rule.operands[i].dims[k].terms) used_alone.insert(t.factor);
  }
  for (std::size_t d = 0; d < rank; ++d) {
    bool apart = by_data || op.def->emission == Emission::iota;
    for (const IndexTerm& t : rule.results[0].dims[d].terms) apart |= used_alone.contains(t.factor);
    if (apart) dims.push_back(d);
  }
  return dims;
}

// Atoms that follow one another in every value that has one of them are one axis.
void LoopPlanner::join_axes() {
  std::unordered_map<AtomId, AtomId> next, previous;
  std::unordered_map<AtomId, int> first_seen;
  AtomList order;
  auto note = [&](std::unordered_map<AtomId, AtomId>& map, AtomId a, AtomId b) {
    auto [it, fresh] = map.emplace(a, b);
    if (!fresh && it->second != b) it->second = kNone;
  };
  auto visit = [&](ValueId v) {
    const AtomList list = plan_.space.atoms(v);
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (first_seen.emplace(list[i], 0).second) order.push_back(list[i]);
      note(next, list[i], i + 1 < list.size() ? list[i + 1] : kNone);
      note(previous, list[i], i > 0 ? list[i - 1] : kNone);
    }
  };
  for (std::size_t i = group_.ops.size(); i-- > 0;) {
    const Op& op = program_.op(group_.ops[i]);
    for (std::size_t r = 0; r < op.result_count; ++r) visit(program_.result(op, r));
  }
  for (ValueId v : group_.inputs)
    if (plan_.space.contains(v)) visit(v);
  // Where an op looks at one dimension by itself, joining it with others would cost a division at
  // every point.
  for (OpId id : group_.ops) {
    const ValueId v = program_.result(program_.op(id), 0);
    for (std::size_t d : dims_apart(program_.op(id), id)) {
      const AtomList atoms = plan_.space.atoms(v, d);
      if (!atoms.empty()) previous[atoms.front()] = next[atoms.back()] = kNone;
    }
  }
  auto follows = [&](AtomId a) {
    const AtomId b = next[a];
    return b != kNone && previous[b] == a ? b : kNone;
  };
  for (AtomId atom : order) {
    const AtomId before = previous[atom];
    if (before != kNone && next[before] == atom) continue;
    GroupAxis axis;
    for (AtomId a = atom; a != kNone; a = follows(a)) {
      axis.atoms.push_back(a);
      axis.size *= plan_.space.size(a);
      plan_.axis_of[a] = static_cast<int>(plan_.axes.size());
    }
    plan_.axes.push_back(std::move(axis));
  }
}

Verdict LoopPlanner::choose_outer() {
  std::unordered_set<int> inside;  // axes that a block must hold whole
  for (const Reduction& r : plan_.reductions)
    if (!r.crosses) {
      inside.insert(r.reduced.begin(), r.reduced.end());
      inside.insert(r.reaches.begin(), r.reaches.end());
    }
  keep_shifted_inside(inside);
  const std::vector<AxisList> sinks = sink_domains();
  if (sinks.empty()) return Reason{"nobody uses what it computes"};
  const AxisList* largest = &sinks[0];
  for (const AxisList& s : sinks)
    if (product(s) > product(*largest)) largest = &s;
  std::unordered_set<int> reduced_by_sinks;
  for (const Reduction& r : plan_.reductions)
    if (r.crosses) reduced_by_sinks.insert(r.reduced.begin(), r.reduced.end());
  const auto can_be_outer = [&](int a) {
    const bool shared =
        std::all_of(sinks.begin(), sinks.end(), [&](const AxisList& s) { return has(s, a); });
    return shared && !inside.contains(a);
  };
  // Of axes that sums go over one can be outer: the first, unless it is too short for all workers.
  std::int64_t longest = 0;
  for (int a : *largest)
    if (can_be_outer(a) && reduced_by_sinks.contains(a)) longest = std::max(longest, axis(a).size);
  for (int a : *largest) {
    if (!can_be_outer(a)) continue;
    const bool is_reduced = reduced_by_sinks.contains(a);
    if (is_reduced && !plan_.outer.empty()) continue;
    if (is_reduced && axis(a).size < std::min<std::int64_t>(longest, sharing())) continue;
    axis(a).outer = static_cast<int>(plan_.outer.size());
    axis(a).block = 1;
    plan_.outer.push_back(a);
  }
  drop_short_runs(*largest);
  for (Reduction& r : plan_.reductions)
    r.crosses = r.crosses && std::any_of(r.reduced.begin(), r.reduced.end(),
                                         [&](int a) { return axis(a).outer >= 0; });
  std::int64_t points = product(*largest);
  for (const Reduction& r : plan_.reductions) points = std::max(points, product(r.loops));
  // A single op has no better place.
  if (plan_.outer.empty() && points > cost::kAloneElements && group_.ops.size() > 1)
    return Reason{"its reductions leave nothing that could run at the same time"};
  choose_chunks();
  std::unordered_set<ValueId> behind;
  for (OpId id : group_.ops) {
    const Op& op = program_.op(id);
    bool later = false;
    for (ValueId v : program_.operands(op)) later |= behind.contains(v);
    if (later) plan_.tail.insert(id);
    const Reduction* r = plan_.reduction(id);
    const bool crosses = r && r->crosses;
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId v = program_.result(op, i);
      if (later || crosses)
        behind.insert(v);
      else if (aside_.contains(v))
        plan_.tail.insert(id);
      else if (outputs_.contains(v))
        plan_.stores.push_back(v);
    }
  }
  return yes();
}

// A chunk for every worker, as long as what the chunks leave is little beside what they read.
void LoopPlanner::choose_chunks() {
  for (const Reduction& r : plan_.reductions) {
    if (!r.crosses) continue;
    const std::int64_t left = elements(program_.result(program_.op(r.op), 0));
    const std::int64_t most =
        std::max(cost::kLeastChunks, product(r.loops) / (cost::kReadPerLeft * left));
    plan_.chunks = std::min<std::int64_t>(
        {plan_.chunks == 0 ? machine_.workers : plan_.chunks, machine_.workers, most});
  }
}

// An outer axis with little behind it, but a loop of the block in front of it, would make every
// block read a few elements here and there: it runs inside where enough blocks are left.
void LoopPlanner::drop_short_runs(const AxisList& order) {
  for (std::size_t i = order.size(); i-- > 0;) {
    const int a = order[i];
    if (axis(a).outer < 0) continue;
    std::int64_t behind = 1, others = 1;
    bool inner_before = false;
    for (std::size_t j = i + 1; j < order.size(); ++j) behind *= axis(order[j]).size;
    for (std::size_t j = 0; j < i; ++j) inner_before |= axis(order[j]).outer < 0;
    for (int o : plan_.outer)
      if (o != a) others *= axis(o).size;
    if (behind == 1 || behind >= cost::kShortRun || !inner_before || others < 2 * sharing())
      continue;
    std::erase(plan_.outer, a);
    axis(a).outer = -1;
    axis(a).block = 0;
  }
  for (std::size_t i = 0; i < plan_.outer.size(); ++i)
    axis(plan_.outer[i]).outer = static_cast<int>(i);
}

// Blocks of about the wanted size, all alike as far as possible, and whole vectors where they are
// large.
std::int64_t even_block(std::int64_t size, std::int64_t wanted) {
  if (size <= 2 * wanted) return size;
  const std::int64_t count = (size + wanted - 1) / wanted;
  std::int64_t block = (size + count - 1) / count;
  constexpr std::int64_t kLanes = cost::kLineBytes;  // elements: whole vectors of any type
  if (block > 4 * kLanes) block = (block + kLanes - 1) / kLanes * kLanes;
  return block;
}

// Blocks large enough to pay for their own start, small enough to stay in cache, and wide enough
// along axes that are contiguous in memory.
void LoopPlanner::choose_blocks() {
  const std::int64_t enough = group_.choice.block_elements;
  AxisList widest;
  auto look = [&](const AxisList& s) {
    if (product(s) > product(widest)) widest = s;
  };
  for (const AxisList& s : sink_domains()) look(s);
  for (const Reduction& r : plan_.reductions) look(r.loops);
  std::int64_t inner = inner_elements(widest);
  const std::int64_t least_blocks = cost::kBlocksPerWorker * sharing();
  const std::int64_t least_elements = enough / cost::kSmallestBlock;
  for (std::size_t i = plan_.outer.size(); i-- > 0 && inner < enough;) {
    GroupAxis& x = axis(plan_.outer[i]);
    std::int64_t others = 1;
    for (std::size_t j = 0; j < i; ++j) others *= axis(plan_.outer[j]).size;
    std::int64_t block = even_block(x.size, std::max<std::int64_t>(1, enough / inner));
    while (block > 1 && inner * block > least_elements &&
           others * ((x.size + block - 1) / block) < least_blocks)
      block /= 2;
    // Work that is small as a whole is one worker's.
    if (product(widest) <= enough) block = x.size;
    x.block = block;
    inner *= block;
    if (block < x.size) break;
  }
  // What is contiguous along an outer axis is read in whole lines, of masks at least in parts of
  // one where workers would have no block otherwise.
  auto widen = [&](ValueId v) {
    const AxisList axes = plan_.axes_of(v);
    if (axes.empty() || elements(v) * 2 < product(widest)) return;
    GroupAxis& x = axis(axes.back());
    const std::int64_t size = byte_size(program_.type_of(v).dtype);
    std::int64_t others = 1, lines = 2;
    for (int o : plan_.outer)
      if (o != axes.back()) others *= (axis(o).size + axis(o).block - 1) / axis(o).block;
    std::int64_t line = cost::kLineBytes / size;
    if (others * x.size < 2 * line * sharing()) {
      line = cost::kLineBytes / std::max<std::int64_t>(size, 4);
      lines = others * x.size < 2 * line * sharing() ? 1 : 2;
    }
    if (x.outer >= 0 && x.block < line) x.block = std::min(x.size, lines * line);
  };
  for (ValueId v : group_.inputs)
    if (plan_.space.contains(v)) widen(v);
  for (ValueId v : plan_.stores) widen(v);
  drop_whole_axes();
}

// An outer axis that one block has all of is no outer axis, unless parts are combined along it.
void LoopPlanner::drop_whole_axes() {
  auto is_whole = [&](int a) {
    return axis(a).block == axis(a).size &&
           std::ranges::none_of(plan_.reductions,
                                [&](const Reduction& r) { return r.crosses && has(r.reduced, a); });
  };
  for (int a : AxisList(plan_.outer))
    if (is_whole(a)) {
      std::erase(plan_.outer, a);
      axis(a).outer = -1;
      axis(a).block = 0;
    }
  for (std::size_t i = 0; i < plan_.outer.size(); ++i)
    axis(plan_.outer[i]).outer = static_cast<int>(i);
}

const Reduction* LoopPlan::reduction(OpId op) const {
  for (const Reduction& r : reductions)
    if (r.op == op) return &r;
  return nullptr;
}

AxisList LoopPlan::axes_of(ValueId value) const {
  AxisList list;
  for (AtomId a : space.atoms(value)) {
    const int x = axis_of.at(a);
    if (list.empty() || list.back() != x) list.push_back(x);
  }
  return list;
}

Expected<LoopPlan> plan_loops(const Program& program, const StitchGroup& group,
                              const MachineFigures& machine) {
  return LoopPlanner(program, group, machine).run();
}

}  // namespace heddle
