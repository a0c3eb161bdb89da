#include "stitch/reach.h"

#include <algorithm>

#include "cost/fitted.h"

namespace heddle {

namespace {

class Reach {
 public:
  Reach(const Program& program, const StitchGroup& group, const LoopPlan& loop_plan)
      : program_(program), loop_plan_(loop_plan), members_(group.ops.begin(), group.ops.end()) {}

  // What the op needs and its block does not have; kNone where there is nothing.
  ValueId missing(OpId id) const {
    const Op& op = program_.op(id);
    if (loop_plan_.tail.contains(id)) return kNone;
    const IndexRule& rule = loop_plan_.rules.at(id);
    const auto operands = program_.operands(op);
    for (std::size_t i = 0; i < operands.size() && i < rule.operands.size(); ++i) {
      if (!members_.contains(program_.value(operands[i]).op)) continue;
      const std::vector<int> away = axes_away(op, id, i);
      if (away.empty()) continue;
      if (const ValueId kept = kept_behind(operands[i], away); kept != kNone) return kept;
    }
    return kNone;
  }

 private:
  // Outer axes along which the op takes an operand somewhere else than where it stands itself.
  std::vector<int> axes_away(const Op& op, OpId id, std::size_t operand) const {
    const IndexRule& rule = loop_plan_.rules.at(id);
    const ValueId value = program_.operands(op)[operand];
    const Shape& shape = program_.type_of(value).shape;
    std::vector<int> away;
    for (std::size_t d = 0; d < shape.size() && d < rule.operands[operand].dims.size(); ++d)
      for (AtomId atom : loop_plan_.space.atoms(value, d)) {
        const int axis = loop_plan_.axis_of.at(atom);
        if (loop_plan_.axes[static_cast<std::size_t>(axis)].outer >= 0 &&
            !stands_at(op, id, operand, d, atom))
          away.push_back(axis);
      }
    return away;
  }

  // Whether the loops of the op have the same index there.
  bool stands_at(const Op& op, OpId id, std::size_t operand, std::size_t dim, AtomId atom) const {
    const IndexRule& rule = loop_plan_.rules.at(id);
    const DimRule& taken = rule.operands[operand].dims[dim];
    const Shape& shape = program_.type_of(program_.operands(op)[operand]).shape;
    if (!is_plain(taken, rule, shape[dim])) return false;
    return std::ranges::any_of(taken.terms, [&](const IndexTerm& term) {
      const AtomList here = atoms_of(op, id, term.factor);
      return std::ranges::find(here, atom) != here.end();
    });
  }

  // What a factor of the op's rule runs over: a dimension of its result, or one that it reduces.
  AtomList atoms_of(const Op& op, OpId id, int factor) const {
    const IndexRule& rule = loop_plan_.rules.at(id);
    const auto& dims = rule.results[0].dims;
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (std::ranges::any_of(dims[d].terms,
                              [&](const IndexTerm& t) { return t.factor == factor; }))
        return loop_plan_.space.atoms(program_.result(op, 0), d);
    if (const Reduction* r = loop_plan_.reduction(id))
      for (const Reduction::Place& place : r->places)
        if (place.factor == factor)
          return loop_plan_.space.atoms(program_.operands(op)[place.operand], place.dim);
    return {};
  }

  // What a value is made of that blocks keep along these axes; kNone where there is nothing.
  ValueId kept_behind(ValueId value, const std::vector<int>& axes) const {
    std::vector<ValueId> open = {value};
    std::unordered_set<ValueId> seen = {value};
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      if (loop_plan_.kept.contains(v)) {
        const AxisList own = loop_plan_.axes_of(v);
        if (std::ranges::any_of(axes,
                                [&](int a) { return std::ranges::find(own, a) != own.end(); }))
          return v;
        continue;
      }
      const OpId id = program_.value(v).op;
      if (!members_.contains(id)) continue;
      for (ValueId u : program_.operands(program_.op(id)))
        if (seen.insert(u).second) open.push_back(u);
    }
    return kNone;
  }

  const Program& program_;
  const LoopPlan& loop_plan_;
  std::unordered_set<OpId> members_;
};

}  // namespace

ValueId out_of_reach(const Program& program, const StitchGroup& group, const LoopPlan& loop_plan) {
  const Reach reach(program, group, loop_plan);
  for (OpId id : group.ops)
    if (const ValueId missing = reach.missing(id); missing != kNone) return missing;
  return kNone;
}

std::vector<ValueId> repeated_values(const Program& program, const StitchGroup& group,
                                     const LoopPlan& loop_plan) {
  const auto positions = [&](int a) {
    const GroupAxis& axis = loop_plan.axes[static_cast<std::size_t>(a)];
    return axis.outer < 0 ? axis.size : axis.block;
  };
  std::unordered_set<ValueId> heavy, repeated;
  std::vector<ValueId> all;
  for (OpId id : group.ops) {
    const Op& op = program.op(id);
    if (loop_plan.tail.contains(id)) continue;
    AxisList domain = loop_plan.axes_of(program.result(op, 0));
    const int vectors = domain.empty() ? -1 : domain.back();  // whose elements are neighbours
    if (const Reduction* r = loop_plan.reduction(id))
      domain.insert(domain.end(), r->reduced.begin(), r->reduced.end());
    bool is_expensive = op.def->cls == OpClass::heavy;
    for (ValueId v : program.operands(op)) {
      if (!heavy.contains(v) || repeated.contains(v)) continue;
      const AxisList own = loop_plan.axes_of(v);
      std::int64_t again = 1, longest = 1, elements = 1;
      bool by_vectors = false;
      for (int a : own) {
        by_vectors |= a == vectors && positions(a) > 1;
        longest = std::max(longest, positions(a));
        elements *= positions(a);
      }
      for (int a : domain)
        if (std::ranges::find(own, a) == own.end()) again *= positions(a);
      const bool often = again < longest || (by_vectors && again >= cost::kOftenAgain);
      if (again > 1 && often && elements <= cost::kMostRepeated && repeated.insert(v).second)
        all.push_back(v);
      else
        is_expensive = true;
    }
    if (is_expensive && op.result_count == 1 && !loop_plan.reduction(id))
      heavy.insert(program.result(op, 0));
  }
  return all;
}

}  // namespace heddle
