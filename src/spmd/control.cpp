// Loops and branches.
#include <algorithm>

#include "ir/clone.h"
#include "spmd/partitioner.h"

namespace heddle {

Expected<RegionId> Partitioner::write_region(RegionId region, const std::vector<int>& args,
                                             const std::vector<int>& returned, bool loop,
                                             const std::vector<ValueId>& kept) {
  const RegionId made = out_.add_region();
  const std::size_t mark = trail_.size(), back = scope_;
  const OpId around = current_;
  scopes_.push_back({made, loop});
  scope_ = scopes_.size() - 1;
  std::vector<ValueId> locals;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const ValueId v = from_.region(region).args[i];
    const Type local = local_type(type_of(v), splits_[args[i]]);
    locals.push_back(out_.add_arg(made, out_.intern(local)));
    if (i >= kept.size() || kept[i] == kNone) {
      define(v, args[i], locals[i]);
      continue;
    }
    forms_[v] = forms_[kept[i]];
    std::ranges::stable_partition(forms_[v], [&](const Form& f) { return f.split == args[i]; });
    trail_.insert(trail_.end(), forms_[v].size(), v);
  }
  w_.at = made;
  HEDDLE_TRY_VOID(write_ops(region));
  current_ = around;
  const Op& end = from_.op(from_.region(region).ops.back());
  std::vector<ValueId> values;
  for (std::size_t i = 0; i < returned.size(); ++i) {
    const ValueId v = from_.operands(end)[i];
    const bool same = i < kept.size() && kept[i] != kNone && v == from_.region(region).args[i];
    values.push_back(same ? locals[i] : get(v, returned[i]));
  }
  out_.add_op(made, *find_op("stablehlo.return"), values, {}, {}, {}, location(end.loc));
  forget_since(mark);
  scopes_.pop_back();
  scope_ = back;
  w_.at = scopes_[scope_].at;
  return made;
}

// What the loop carries lies as propagation says; nothing is pending.
Verdict Partitioner::write_loop(OpId id) {
  const Op& op = from_.op(id);
  std::vector<int> carried;
  std::vector<ValueId> operands;
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId v = from_.result(op, i);
    Split split = splits_[resting(v)];
    split.pending.clear();
    carried.push_back(split_id(std::move(split)));
    operands.push_back(get(from_.operands(op)[i], carried[i]));
    types.push_back(out_.intern(local_type(type_of(v), splits_[carried[i]])));
  }
  // What every round hands on as it is stays what it was before the loop.
  const Region& body_from = from_.region(from_.regions(op)[1]);
  std::vector<ValueId> kept;
  for (std::size_t i = 0; i < op.result_count; ++i)
    kept.push_back(from_.operands(from_.op(body_from.ops.back()))[i] == body_from.args[i] &&
                           type_of(body_from.args[i]).is_tensor()
                       ? from_.operands(op)[i]
                       : kNone);
  ++depth_;
  std::vector<RegionId> regions;
  const ValueId goes_on =
      from_.operands(from_.op(from_.region(from_.regions(op)[0]).ops.back()))[0];
  HEDDLE_TRY(RegionId condition,
             write_region(from_.regions(op)[0], carried, {whole_id(goes_on)}, true, kept));
  HEDDLE_TRY(RegionId body, write_region(from_.regions(op)[1], carried, carried, true, kept));
  --depth_;
  regions = {condition, body};
  const OpId made = out_.add_op(w_.at, *op.def, operands, types, copied_attrs(from_, op), regions,
                                location(op.loc));
  for (std::size_t i = 0; i < op.result_count; ++i)
    define(from_.result(op, i), carried[i], out_.result(out_.op(made), i));
  return yes();
}

Verdict Partitioner::write_branch(OpId id) {
  const Op& op = from_.op(id);
  const ValueId choice = from_.operands(op)[0];
  const ValueId operand = get(choice, whole_id(choice));
  std::vector<int> given;
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId v = from_.result(op, i);
    Split split = splits_[resting(v)];
    split.pending.clear();
    given.push_back(split_id(std::move(split)));
    types.push_back(out_.intern(local_type(type_of(v), splits_[given[i]])));
  }
  std::vector<RegionId> regions;
  for (RegionId region : from_.regions(op)) {
    HEDDLE_TRY(RegionId made, write_region(region, {}, given, false));
    regions.push_back(made);
  }
  const OpId made = out_.add_op(w_.at, *op.def, {&operand, 1}, types, copied_attrs(from_, op),
                                regions, location(op.loc));
  for (std::size_t i = 0; i < op.result_count; ++i)
    define(from_.result(op, i), given[i], out_.result(out_.op(made), i));
  return yes();
}

}  // namespace heddle
