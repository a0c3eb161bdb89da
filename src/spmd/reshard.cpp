// Ops that leave a value as it is and say where it is to lie.
#include <unordered_set>

#include "spmd/partitioner.h"

namespace heddle {

namespace {

AxisList named_axes(const Program& program, const Op& op, const Mesh& mesh) {
  AxisList axes;
  auto take = [&](const ShardingAxis& said) {
    for (std::size_t a = 0; a < mesh.axes().size(); ++a)
      if (mesh.axes()[a].name == said.name)
        if (auto part = axis_part(mesh.axes()[a].size, said))
          axes.push_back({part->size, static_cast<int>(a), part->stride});
  };
  for (const char* name : {"reduction_axes", "reduce_scatter_axes"})
    if (const Attr* attr = program.attr(op, name))
      if (const auto* said = attr->get<Sharding>()) {
        for (const ShardingAxis& a : said->unreduced) take(a);
        for (const ShardingDim& d : said->dims)
          for (const ShardingAxis& a : d.axes) take(a);
      }
  std::erase_if(axes, [](const SplitDigit& d) { return d.extent == 1; });
  return axes;
}

}  // namespace

// Whether an op that the value is made of took something that is split over one of the axes, as the
// text says, and gave something that is not: then a sum over them completes the value, and adds
// nothing to one that is complete already. What sdy moves is complete.
bool Partitioner::comes_from(ValueId v, const AxisList& axes) const {
  constexpr std::size_t kMostLookedAt = 1000;
  auto lies_over = [&](ValueId one) {
    const bool said = from_.layout_of(one) != nullptr || from_.value(one).op == kNone;
    for (const DimSplit& dim : layouts_.splits[one].dims)
      for (const SplitDigit& d : dim.digits)
        if (said && overlap(axes, d)) return true;
    return false;
  };
  std::vector<ValueId> open{v};
  std::unordered_set<ValueId> seen{v};
  while (!open.empty() && seen.size() < kMostLookedAt) {
    const ValueId one = open.back();
    open.pop_back();
    if (from_.value(one).op == kNone) continue;
    const Op& op = from_.op(from_.value(one).op);
    if (op.def->name == "sdy.manual_computation") continue;
    bool complete = false;
    for (const SplitDigit& d : named_axes(from_, op, mesh_.mesh))
      complete = complete || overlap(axes, d);
    for (ValueId operand : from_.operands(op)) {
      if (complete) break;
      if (lies_over(operand)) {
        if (op.def->form != heddle::Form::sharding_constraint) return true;
      } else if (seen.insert(operand).second) {
        open.push_back(operand);
      }
    }
  }
  return false;
}

// The value as it is, lying elsewhere. A sum that sdy asks for of what was never split over its
// axes is taken literally: each device's copy is a contribution.
Verdict Partitioner::write_reshard(OpId id) {
  const Op& op = from_.op(id);
  const ValueId source = from_.operands(op)[0], result = from_.result(op, 0);
  const int wanted = resting(result);
  const AxisList sums = named_axes(from_, op, mesh_.mesh);
  bool pends = sums.empty() || comes_from(source, sums);
  for (const Form& form : forms_[source])
    for (const SplitDigit& d : splits_[form.split].pending) pends = pends || overlap(sums, d);
  if (pends) {
    define(result, wanted, get(source, wanted));
    return yes();
  }
  Split base = splits_[wanted];
  for (DimSplit& dim : base.dims) {
    AxisList left;
    for (const SplitDigit& d : dim.axes())
      if (!overlap(sums, d)) left.push_back(d);
    dim = DimSplit::blocks(dim.size, left);
  }
  const ValueId local = get(source, split_id(base));
  Split contributions = base;
  contributions.pending.insert(contributions.pending.end(), sums.begin(), sums.end());
  const int from = split_id(contributions);
  define(result, from, local);
  get(result, wanted);
  // The contributions themselves are no form of the result for anyone else.
  std::erase_if(forms_[result], [&](const Form& f) { return f.split == from; });
  return yes();
}

}  // namespace heddle
