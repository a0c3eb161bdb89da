// Reductions, scans and scatters of a group: the loops they run over, and what may wait for them.
#include "cost/fitted.h"
#include "stitch/group.h"
#include "stitch/loop_planner.h"
#include "stitch/scatter.h"

namespace heddle {

Reduction LoopPlanner::scan(OpId id) const {
  const Scan& scan = scans_.at(id);
  Reduction r{.op = id, .scans = true, .backward = scan.backward, .scan_dim = scan.dim};
  const ValueId result = program_.result(program_.op(id), 0);
  for (AtomId a : plan_.space.atoms(result, r.scan_dim)) r.reduced.push_back(plan_.axis_of.at(a));
  return r;
}

// It runs over the updates. Along axes that an update and its place have in common it stays where
// it is; any other axis of the result it may reach anywhere along.
Reduction LoopPlanner::scatter(OpId id) const {
  const Op& op = program_.op(id);
  const ScatterDims dims = scatter_dimensions(program_, op);
  const ValueId result = program_.result(op, 0);
  const ValueId updates = program_.operands(op)[dims.inputs + 1];
  Reduction r{.op = id, .loops = plan_.axes_of(updates), .scatters = true};
  AxisList aligned;
  for (std::size_t u = 0; u < dims.updates.size(); ++u) {
    const int d = dims.updates[u].input;
    if (d < 0 || dims.by_data[static_cast<std::size_t>(d)]) continue;
    const AtomList atoms = plan_.space.atoms(updates, u);
    if (atoms != plan_.space.atoms(result, static_cast<std::size_t>(d))) continue;
    for (AtomId a : atoms) aligned.push_back(plan_.axis_of.at(a));
  }
  for (int a : r.loops)
    if (!has(aligned, a)) r.reduced.push_back(a);
  for (int a : plan_.axes_of(result))
    if (!has(aligned, a)) r.reaches.push_back(a);
  return r;
}

// The axes of what it keeps and what it reduces, as they lie in memory. The operand may have axes
// of its own, where the reduction reaches it by a window.
AxisList LoopPlanner::loops_of(const Reduction& r) const {
  AxisList all = plan_.axes_of(program_.operands(program_.op(r.op))[0]);
  std::erase_if(all, [&](int a) { return !has(r.kept, a) && !has(r.reduced, a); });
  for (const AxisList* list : {&r.kept, &r.reduced})
    for (int a : *list)
      if (!has(all, a)) all.push_back(a);
  return all;
}

void LoopPlanner::place_factors(Reduction& r) const {
  const Op& op = program_.op(r.op);
  const IndexRule& rule = plan_.rules.at(r.op);
  const auto operands = program_.operands(op);
  std::vector<bool> placed(rule.factors.size(), false);
  // Where an operand meets itself (x · xᵀ), other ops may have made what is reduced one with what
  // is kept, or two reduced dimensions one; then the factor gets a loop of its own.
  AtomList taken = plan_.space.atoms(program_.result(op, 0));
  auto is_taken = [&](AtomId a) { return std::ranges::find(taken, a) != taken.end(); };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Shape& shape = program_.type_of(operands[i]).shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const DimRule& dim = rule.operands[i].dims[d];
      if (!is_plain(dim, rule, shape[d]) || dim.terms.size() != 1) continue;
      const auto f = static_cast<std::size_t>(dim.terms[0].factor);
      if (rule.factors[f].kind != FactorKind::reduce || placed[f]) continue;
      const AtomList atoms = plan_.space.atoms(operands[i], d);
      if (std::ranges::any_of(atoms, is_taken)) continue;
      taken.insert(taken.end(), atoms.begin(), atoms.end());
      placed[f] = true;
      r.places.push_back({dim.terms[0].factor, i, d});
      for (AtomId a : atoms) {
        const int x = plan_.axis_of.at(a);
        if (!has(r.reduced, x)) r.reduced.push_back(x);
      }
    }
  }
  for (std::size_t f = 0; f < rule.factors.size(); ++f)
    if (rule.factors[f].kind != FactorKind::parallel && !placed[f] && rule.factors[f].size != 1)
      r.windows.push_back(static_cast<int>(f));
}

void LoopPlanner::find_reductions() {
  for (OpId id : group_.ops) {
    const Op& op = program_.op(id);
    if (!is_reducer(program_, op)) continue;
    Reduction r{.op = id};
    if (scans_.contains(id))
      r = scan(id);
    else if (op.def->emission == Emission::scatter)
      r = scatter(id);
    else
      place_factors(r);
    r.kept = plan_.axes_of(program_.result(op, 0));
    if (!r.scatters) r.loops = loops_of(r);
    plan_.reductions.push_back(std::move(r));
  }
}

// Ops that only work on as many elements as the reduction gives, so that they can wait for it; or
// all that follow, where that is the choice.
bool LoopPlanner::is_tailable(const Op& op) {
  const std::int64_t limit = group_.choice.across ? INT64_MAX : elements(program_.result(op, 0));
  std::vector<OpId> open;
  std::unordered_set<OpId> seen;
  auto follow = [&](const Op& from) {
    for (std::size_t i = 0; i < from.result_count; ++i)
      for (OpId user : users_[program_.result(from, i)])
        if (seen.insert(user).second) open.push_back(user);
  };
  follow(op);
  while (!open.empty()) {
    const Op& user = program_.op(open.back());
    open.pop_back();
    if (is_reducer(program_, user) || elements(program_.result(user, 0)) > limit) return false;
    follow(user);
  }
  return true;
}

// Whether parts of it can be combined later: it then waits for all blocks.
bool LoopPlanner::may_cross(const Reduction& r) {
  const Op& op = program_.op(r.op);
  if (!r.windows.empty() || r.scans || !is_tailable(op)) return false;
  if (r.scatters) {
    const std::int64_t updates = elements(program_.operands(op)[op.result_count + 1]);
    return combines_in_any_order(program_, op) && updates >= cost::kManyUpdates &&
           updates >= cost::kLeastChunks * elements(program_.result(op, 0)) &&
           !needs_reduction(program_.operands(op)[0]);
  }
  return op.def->emission == Emission::contract ||
         (plan_.rules.at(r.op).combine.op.has_value() && op.result_count == 1);
}

// Whether it may cross; choose_outer decides.
void LoopPlanner::find_tail() {
  for (Reduction& r : plan_.reductions) r.crosses = may_cross(r);
}

// Whether a block has to reduce something for it.
bool LoopPlanner::needs_reduction(ValueId value) const {
  std::vector<ValueId> open = {value};
  std::unordered_set<ValueId> seen;
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    const OpId id = program_.value(v).op;
    if (!members_.contains(id) || !seen.insert(v).second) continue;
    const Op& op = program_.op(id);
    if (is_reducer(program_, op)) {
      const Reduction* r = plan_.reduction(id);
      if (!r || !r->crosses) return true;
      continue;
    }
    for (ValueId from : program_.operands(op)) open.push_back(from);
  }
  return false;
}

// Whether some reduction of the group comes before it.
bool LoopPlanner::has_reduction_before(ValueId value) {
  const OpId id = program_.value(value).op;
  if (!members_.contains(id)) return false;
  if (auto it = reduced_before_.find(value); it != reduced_before_.end()) return it->second;
  const Op& op = program_.op(id);
  bool any = is_reducer(program_, op);
  for (ValueId v : program_.operands(op)) any = any || has_reduction_before(v);
  return reduced_before_[value] = any;
}

// Axes of its operands along which an op looks at another place than that of its result.
AxisList LoopPlanner::shifted_axes(const Op& op, OpId id) const {
  const IndexRule& rule = plan_.rules.at(id);
  const ValueId result = program_.result(op, 0);
  std::unordered_map<int, AtomList> of_factor;
  for (std::size_t d = 0; d < rule.results[0].dims.size(); ++d)
    if (const DimRule& dim = rule.results[0].dims[d]; dim.terms.size() == 1)
      of_factor[dim.terms[0].factor] = plan_.space.atoms(result, d);
  AxisList axes;
  const auto operands = program_.operands(op);
  for (std::size_t i = 0; i < operands.size() && i < rule.operands.size(); ++i) {
    const Shape& shape = program_.type_of(operands[i]).shape;
    for (std::size_t d = 0; d < shape.size() && d < rule.operands[i].dims.size(); ++d) {
      const DimRule& dim = rule.operands[i].dims[d];
      AtomList here;
      bool known = is_plain(dim, rule, shape[d]);
      for (const IndexTerm& t : dim.terms) {
        const auto it = of_factor.find(t.factor);
        known = known && it != of_factor.end();
        if (known) here.insert(here.end(), it->second.begin(), it->second.end());
      }
      const AtomList own = plan_.space.atoms(operands[i], d);
      if (known && here == own) continue;
      for (AtomId a : own) axes.push_back(plan_.axis_of.at(a));
    }
  }
  return axes;
}

// What a block has reduced must be there wherever it is looked at.
void LoopPlanner::keep_shifted_inside(std::unordered_set<int>& inside) {
  for (OpId id : group_.ops) {
    const Op& op = program_.op(id);
    const bool reads_reduced = std::ranges::any_of(
        program_.operands(op), [&](ValueId v) { return has_reduction_before(v); });
    if (is_reducer(program_, op) || !reads_reduced) continue;
    for (int a : shifted_axes(op, id)) inside.insert(a);
  }
}

// The later phases know only what went in and what was reduced over all blocks.
Verdict LoopPlanner::check_tail() const {
  auto fine = [&](const Op& op) {
    return std::ranges::none_of(program_.operands(op),
                                [&](ValueId v) { return needs_reduction(v); });
  };
  for (OpId id : group_.ops)
    if (plan_.tail.contains(id) && !fine(program_.op(id)))
      return Reason{"what comes after all blocks would need what one block reduces"};
  for (const Reduction& r : plan_.reductions) {
    const Op& op = program_.op(r.op);
    if (!r.crosses || op.def->emission == Emission::contract) continue;
    if (needs_reduction(program_.operands(op)[r.scatters ? 0 : 1]))
      return Reason{"a reduction over all blocks would begin with what one block reduces"};
  }
  return yes();
}

// Every place where a block leaves something: outputs, and reductions that may cross.
std::vector<AxisList> LoopPlanner::sink_domains() const {
  std::vector<AxisList> all;
  std::unordered_set<OpId> waits;
  for (const Reduction& r : plan_.reductions)
    if (r.crosses) all.push_back(r.loops);
  std::unordered_set<ValueId> behind;
  for (OpId id : group_.ops) {
    const Op& op = program_.op(id);
    const Reduction* r = plan_.reduction(id);
    bool later = r && r->crosses;
    for (ValueId v : program_.operands(op)) later |= behind.contains(v);
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId v = program_.result(op, i);
      if (later)
        behind.insert(v);
      else if (outputs_.contains(v) && !aside_.contains(v))
        all.push_back(plan_.axes_of(v));
    }
  }
  return all;
}

// Small results beside a large one whose loops they do not have would leave no loop that all of
// them share. Where they need no reduction they wait until the blocks are done.
void LoopPlanner::find_aside() {
  AxisList largest;
  for (const AxisList& s : sink_domains())
    if (product(s) > product(largest)) largest = s;
  if (product(largest) < cost::kLargeResult) return;
  for (ValueId v : group_.outputs) {
    const AxisList own = plan_.axes_of(v);
    const bool apart = std::ranges::any_of(largest, [&](int a) { return !has(own, a); });
    if (apart && elements(v) * cost::kSmallShare <= product(largest) && !has_reduction_before(v))
      aside_.insert(v);
  }
}

}  // namespace heddle
