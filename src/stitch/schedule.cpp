#include "stitch/schedule.h"

#include <algorithm>
#include <numeric>

#include "heddle/op.h"
#include "stitch/reach.h"
#include "stitch/scan.h"

namespace heddle {

namespace {

bool has(const AxisList& list, int axis) {
  return std::find(list.begin(), list.end(), axis) != list.end();
}

bool is_reducer(const Op& op) {
  return op.def->emission == Emission::reduce || op.def->emission == Emission::contract;
}

class Scheduler {
 public:
  Scheduler(const Program& program, const StitchGroup& group, const MachineFigures& machine)
      : program_(program), group_(group), machine_(machine) {}

  Expected<Schedule> run() {
    members_.insert(group_.ops.begin(), group_.ops.end());
    outputs_.insert(group_.outputs.begin(), group_.outputs.end());
    relate_values();
    join_axes();
    find_reductions();
    find_tail();
    HEDDLE_TRY_VOID(choose_outer());
    choose_blocks();
    HEDDLE_TRY_VOID(check_repeats());
    keep_values();
    HEDDLE_TRY_VOID(check_reach());
    return std::move(plan_);
  }

 private:
  void relate_values();
  void join_axes();
  std::vector<std::size_t> dims_apart(const Op& op, OpId id) const;
  void find_reductions();
  void find_tail();
  Verdict choose_outer();
  void drop_short_runs(const AxisList& order);
  void choose_blocks();
  Verdict check_repeats() const;
  void keep_values();
  void keep_tiles();
  Verdict check_reach();
  std::vector<AxisList> sink_domains() const;
  int compute_level(ValueId value);
  std::int64_t inner_elements(const AxisList& axes) const;
  AxisList domain(const Reduction& r) const;
  bool is_tailable(const Op& op);
  std::int64_t elements(ValueId v) const { return program_.type_of(v).elements(); }
  std::int64_t product(const AxisList& axes) const {
    std::int64_t n = 1;
    for (int a : axes) n *= plan_.axes[static_cast<std::size_t>(a)].size;
    return n;
  }
  GroupAxis& axis(int a) { return plan_.axes[static_cast<std::size_t>(a)]; }

  const Program& program_;
  const StitchGroup& group_;
  const MachineFigures& machine_;
  std::unordered_set<OpId> members_;
  std::unordered_set<ValueId> outputs_;
  std::unordered_map<ValueId, std::vector<OpId>> users_;  // inside of the group
  std::unordered_map<OpId, Scan> scans_;
  Schedule plan_;
};

void Scheduler::relate_values() {
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
}

// Dimensions of its result whose index an op uses by itself: those that it shifts, cuts, counts or
// scans along.
std::vector<std::size_t> Scheduler::dims_apart(const Op& op, OpId id) const {
  const std::size_t rank = program_.type_of(program_.result(op, 0)).rank();
  std::vector<std::size_t> dims;
  if (auto it = scans_.find(id); it != scans_.end()) return {it->second.dim};
  const IndexRule& rule = plan_.rules.at(id);
  const bool by_data = op.def->emission == Emission::dynamic_slice ||
                       op.def->emission == Emission::dynamic_update_slice ||
                       op.def->emission == Emission::gather;
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
void Scheduler::join_axes() {
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

void Scheduler::find_reductions() {
  for (OpId id : group_.ops) {
    const Op& op = program_.op(id);
    if (!is_reducer(op)) continue;
    const IndexRule& rule = plan_.rules.at(id);
    Reduction r{.op = id,
                .kept = plan_.axes_of(program_.result(op, 0)),
                .reduced = {},
                .windows = {},
                .crosses = false};
    if (auto it = scans_.find(id); it != scans_.end()) {
      r.scans = true;
      r.backward = it->second.backward;
      r.scan_dim = it->second.dim;
      for (AtomId a : plan_.space.atoms(program_.result(op, 0), r.scan_dim))
        r.reduced.push_back(plan_.axis_of.at(a));
      plan_.reductions.push_back(std::move(r));
      continue;
    }
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
    plan_.reductions.push_back(std::move(r));
  }
}

// Ops that only work on as many elements as the reduction gives, so that they can wait for it.
bool Scheduler::is_tailable(const Op& op) {
  const std::int64_t limit = elements(program_.result(op, 0));
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
    if (is_reducer(user) || elements(program_.result(user, 0)) > limit) return false;
    follow(user);
  }
  return true;
}

void Scheduler::find_tail() {
  for (Reduction& r : plan_.reductions) {
    const Op& op = program_.op(r.op);
    const bool known = op.def->emission == Emission::contract ||
                       (plan_.rules.at(r.op).combine.op.has_value() && op.result_count == 1);
    // For now: whether it may cross. choose_outer decides.
    r.crosses = known && r.windows.empty() && !r.scans && is_tailable(op);
  }
}

AxisList Scheduler::domain(const Reduction& r) const {
  AxisList all = r.kept;
  for (int a : r.reduced)
    if (!has(all, a)) all.push_back(a);
  return all;
}

// Every place where a block leaves something: outputs, and reductions that may cross.
std::vector<AxisList> Scheduler::sink_domains() const {
  std::vector<AxisList> all;
  std::unordered_set<OpId> waits;
  for (const Reduction& r : plan_.reductions)
    if (r.crosses) {
      // In the order of the operand: that is how it lies in memory. It may have axes of its own,
      // where the reduction reaches it by a window.
      const AxisList own = domain(r);
      AxisList order = plan_.axes_of(program_.operands(program_.op(r.op))[0]);
      std::erase_if(order, [&](int a) { return !has(own, a); });
      for (int a : own)
        if (!has(order, a)) order.push_back(a);
      all.push_back(order);
    }
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
      else if (outputs_.contains(v))
        all.push_back(plan_.axes_of(v));
    }
  }
  return all;
}

Verdict Scheduler::choose_outer() {
  std::unordered_set<int> inside;  // axes that a block must hold whole
  for (const Reduction& r : plan_.reductions)
    if (!r.crosses) inside.insert(r.reduced.begin(), r.reduced.end());
  const std::vector<AxisList> sinks = sink_domains();
  if (sinks.empty()) return Reason{"nobody uses what it computes"};
  const AxisList* largest = &sinks[0];
  for (const AxisList& s : sinks)
    if (product(s) > product(*largest)) largest = &s;
  std::unordered_set<int> reduced_by_sinks;
  for (const Reduction& r : plan_.reductions)
    if (r.crosses) reduced_by_sinks.insert(r.reduced.begin(), r.reduced.end());
  for (int a : *largest) {
    const bool shared =
        std::all_of(sinks.begin(), sinks.end(), [&](const AxisList& s) { return has(s, a); });
    if (!shared || inside.contains(a)) continue;
    if (!plan_.outer.empty() && reduced_by_sinks.contains(a)) continue;
    axis(a).outer = static_cast<int>(plan_.outer.size());
    axis(a).block = 1;
    plan_.outer.push_back(a);
  }
  drop_short_runs(*largest);
  for (Reduction& r : plan_.reductions)
    r.crosses = r.crosses && std::any_of(r.reduced.begin(), r.reduced.end(),
                                         [&](int a) { return axis(a).outer >= 0; });
  constexpr std::int64_t kAlone = 1 << 16;  // elements that one worker may do by itself
  std::int64_t points = product(*largest);
  for (const Reduction& r : plan_.reductions) points = std::max(points, product(domain(r)));
  if (plan_.outer.empty() && points > kAlone)
    return Reason{"its reductions leave nothing that could run at the same time"};
  if (std::any_of(plan_.reductions.begin(), plan_.reductions.end(),
                  [](const Reduction& r) { return r.crosses; }))
    plan_.chunks = machine_.workers;
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
      else if (outputs_.contains(v))
        plan_.stores.push_back(v);
    }
  }
  return yes();
}

// An outer axis with little behind it, but a loop of the block in front of it, would make every
// block read a few elements here and there: it runs inside where enough blocks are left.
void Scheduler::drop_short_runs(const AxisList& order) {
  constexpr std::int64_t kRun = 128;  // elements
  for (std::size_t i = order.size(); i-- > 0;) {
    const int a = order[i];
    if (axis(a).outer < 0) continue;
    std::int64_t behind = 1, others = 1;
    bool inner_before = false;
    for (std::size_t j = i + 1; j < order.size(); ++j) behind *= axis(order[j]).size;
    for (std::size_t j = 0; j < i; ++j) inner_before |= axis(order[j]).outer < 0;
    for (int o : plan_.outer)
      if (o != a) others *= axis(o).size;
    if (behind == 1 || behind >= kRun || !inner_before || others < 2 * machine_.workers) continue;
    std::erase(plan_.outer, a);
    axis(a).outer = -1;
    axis(a).block = 0;
  }
  for (std::size_t i = 0; i < plan_.outer.size(); ++i)
    axis(plan_.outer[i]).outer = static_cast<int>(i);
}

std::int64_t Scheduler::inner_elements(const AxisList& axes) const {
  std::int64_t n = 1;
  for (int a : axes) {
    const GroupAxis& x = plan_.axes[static_cast<std::size_t>(a)];
    n *= x.outer < 0 ? x.size : x.block;
  }
  return n;
}

// Blocks of about the wanted size, all alike as far as possible, and whole vectors where they are
// large.
std::int64_t even_block(std::int64_t size, std::int64_t wanted) {
  if (size <= 2 * wanted) return size;
  const std::int64_t count = (size + wanted - 1) / wanted;
  std::int64_t block = (size + count - 1) / count;
  constexpr std::int64_t kLine = 64;
  if (block > 4 * kLine) block = (block + kLine - 1) / kLine * kLine;
  return block;
}

// Blocks large enough to pay for their own start, small enough to stay in cache, and wide enough
// along axes that are contiguous in memory.
void Scheduler::choose_blocks() {
  constexpr std::int64_t kEnough = 4096;
  constexpr std::int64_t kLine = 64;
  AxisList widest;
  auto look = [&](const AxisList& s) {
    if (product(s) > product(widest)) widest = s;
  };
  for (const AxisList& s : sink_domains()) look(s);
  for (const Reduction& r : plan_.reductions) look(domain(r));
  std::int64_t inner = inner_elements(widest);
  const std::int64_t least_blocks = std::int64_t{4} * machine_.workers;
  for (std::size_t i = plan_.outer.size(); i-- > 0 && inner < kEnough;) {
    GroupAxis& x = axis(plan_.outer[i]);
    std::int64_t others = 1;
    for (std::size_t j = 0; j < i; ++j) others *= axis(plan_.outer[j]).size;
    std::int64_t block = even_block(x.size, std::max<std::int64_t>(1, kEnough / inner));
    while (block > 1 && others * ((x.size + block - 1) / block) < least_blocks) block /= 2;
    // Work that is small as a whole is one worker's.
    if (product(widest) <= kEnough) block = x.size;
    x.block = block;
    inner *= block;
    if (block < x.size) break;
  }
  // What is contiguous along an outer axis is read in whole lines.
  auto widen = [&](ValueId v) {
    const AxisList axes = plan_.axes_of(v);
    if (axes.empty() || elements(v) * 2 < product(widest)) return;
    GroupAxis& x = axis(axes.back());
    const std::int64_t line = kLine / byte_size(program_.type_of(v).dtype);
    if (x.outer >= 0 && x.block < line) x.block = std::min(x.size, 2 * line);
  };
  for (ValueId v : group_.inputs)
    if (plan_.space.contains(v)) widen(v);
  for (ValueId v : plan_.stores) widen(v);
}

// A reduction that knows nothing of an outer axis is done again by every block along it.
Verdict Scheduler::check_repeats() const {
  std::int64_t useful = 0;
  for (ValueId v : group_.outputs) useful += elements(v);
  for (const Reduction& r : plan_.reductions) {
    const AxisList own = domain(r);
    std::int64_t again = product(own);
    for (int a : plan_.outer) {
      const GroupAxis& x = plan_.axes[static_cast<std::size_t>(a)];
      if (!has(own, a)) again *= (x.size + x.block - 1) / x.block;
    }
    if (again > 2 * (product(own) + useful))
      return Reason{"every block would do the same reduction again"};
  }
  return yes();
}

int Scheduler::compute_level(ValueId value) {
  if (auto it = plan_.levels.find(value); it != plan_.levels.end()) return it->second;
  int level = 0;
  const OpId id = program_.value(value).op;
  if (members_.contains(id))
    for (ValueId v : program_.operands(program_.op(id))) {
      const int below = compute_level(v);
      level = std::max(level, plan_.kept.contains(v) ? below + 1 : below);
    }
  plan_.levels[value] = level;
  return level;
}

void Scheduler::keep_values() {
  for (const Reduction& r : plan_.reductions) {
    if (r.crosses) continue;
    const Op& op = program_.op(r.op);
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId v = program_.result(op, i);
      // A scan that nobody in the group uses goes right to where its results belong.
      if (r.scans && users_[v].empty()) continue;
      plan_.kept[v] = {.value = v, .axes = plan_.axes_of(v), .level = 0, .is_tile = false};
    }
  }
  for (ValueId v : repeated_values(program_, group_, plan_))
    plan_.kept[v] = {.value = v, .axes = plan_.axes_of(v), .level = 0, .is_tile = true};
  for (OpId id : group_.ops)
    for (std::size_t i = 0; i < program_.op(id).result_count; ++i)
      compute_level(program_.result(program_.op(id), i));
  keep_tiles();
  for (auto& [v, kept] : plan_.kept) kept.level = plan_.levels.at(v);
}

// A block must have what it keeps where it needs it; a tile can be computed again instead.
Verdict Scheduler::check_reach() {
  while (true) {
    const ValueId missing = out_of_reach(program_, group_, plan_);
    if (missing == kNone) return yes();
    if (!plan_.kept.at(missing).is_tile)
      return Reason{"a block would need what another block computes"};
    plan_.kept.erase(missing);
  }
}

// Values with an expensive function in them that stages of several levels need are kept, not
// computed again, where a block has the room.
void Scheduler::keep_tiles() {
  std::unordered_map<ValueId, std::unordered_set<int>> stages;  // levels at which it is computed
  std::unordered_map<ValueId, bool> heavy;
  for (OpId id : group_.ops) {
    const Op& op = program_.op(id);
    bool any = op.def->cls == OpClass::heavy;
    for (ValueId v : program_.operands(op)) any |= heavy[v] && !plan_.kept.contains(v);
    for (std::size_t i = 0; i < op.result_count; ++i) heavy[program_.result(op, i)] = any;
  }
  for (std::size_t n = group_.ops.size(); n-- > 0;) {
    const OpId id = group_.ops[n];
    if (plan_.tail.contains(id)) continue;
    const Op& op = program_.op(id);
    std::unordered_set<int> needed;
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId v = program_.result(op, i);
      if (outputs_.contains(v) || plan_.kept.contains(v) || is_reducer(op))
        stages[v].insert(plan_.levels.at(v));
      needed.insert(stages[v].begin(), stages[v].end());
    }
    for (ValueId v : program_.operands(op)) {
      if (!members_.contains(program_.value(v).op) || plan_.kept.contains(v)) continue;
      stages[v].insert(needed.begin(), needed.end());
    }
  }
  std::int64_t room = machine_.near_cache;
  for (OpId id : group_.ops) {
    const Op& op = program_.op(id);
    if (is_reducer(op) || op.result_count != 1 || plan_.tail.contains(id)) continue;
    const ValueId v = program_.result(op, 0);
    if (!heavy[v] || stages[v].size() < 2) continue;
    bool parts = false;  // some user needs it at fewer levels: behind it the ways part
    for (OpId user : users_[v])
      parts |= stages[program_.result(program_.op(user), 0)] != stages[v] ||
               is_reducer(program_.op(user));
    if (!parts && !outputs_.contains(v)) continue;
    const AxisList axes = plan_.axes_of(v);
    const std::int64_t bytes = inner_elements(axes) * byte_size(program_.type_of(v).dtype);
    if (bytes > room) continue;
    room -= bytes;
    plan_.kept[v] = {.value = v, .axes = axes, .level = 0, .is_tile = true};
  }
}

}  // namespace

const Reduction* Schedule::reduction(OpId op) const {
  for (const Reduction& r : reductions)
    if (r.op == op) return &r;
  return nullptr;
}

AxisList Schedule::axes_of(ValueId value) const {
  AxisList list;
  for (AtomId a : space.atoms(value)) {
    const int x = axis_of.at(a);
    if (list.empty() || list.back() != x) list.push_back(x);
  }
  return list;
}

Expected<Schedule> schedule_group(const Program& program, const StitchGroup& group,
                                  const MachineFigures& machine) {
  return Scheduler(program, group, machine).run();
}

}  // namespace heddle
