#include "ir/rewrite.h"

#include "heddle/op.h"
#include "heddle/verify.h"
#include "ir/clone.h"
#include "ir/eval/eval.h"

namespace heddle {

namespace {

// Whether the text names a line of a file, not an op alone.
bool has_user_line(const Location& place) {
  const std::size_t colon = place.user.rfind(':');
  return colon != place.user.npos && colon + 1 < place.user.size() &&
         place.user.find_first_not_of("0123456789", colon + 1) == place.user.npos;
}

}  // namespace

Rewriter::Rewriter(const Program& source, Replace replace, std::size_t most_ops)
    : from(source),
      to(source.name),
      replace_(std::move(replace)),
      most_ops_(most_ops),
      values_(source.value_count(), kNone) {
  to.program.file = source.file;
  to.program.attrs = source.attrs;
  to.program.meshes = source.meshes;
  to.program.axes = source.axes;
}

LocId Rewriter::location(LocId loc) {
  if (call_ != 0 && !has_user_line(from.location(loc))) {
    const auto [place, added] = called_.try_emplace({call_, loc}, 0);
    if (added) {
      Location here = from.location(loc);
      here.user = to.program.location(call_).user;
      place->second = to.program.add_location(std::move(here));
    }
    return place->second;
  }
  if (loc == 0) return 0;
  if (loc >= locations_.size()) locations_.resize(loc + 1, 0);
  if (locations_[loc] == 0) locations_[loc] = to.program.add_location(from.location(loc));
  return locations_[loc];
}

TypeId Rewriter::type(TypeId id) {
  if (id >= types_.size()) types_.resize(id + 1, kNone);
  if (types_[id] == kNone) types_[id] = to.program.intern(from.type(id));
  return types_[id];
}

LayoutId Rewriter::layout(LayoutId id) {
  return id == kNone ? kNone : to.program.intern(*from.layout(id));
}

Var Rewriter::value(ValueId v) {
  HEDDLE_CHECK(values_[v] != kNone, "value {} is used before it is defined", v);
  return {to, values_[v]};
}

Vars Rewriter::operands(const Op& op) {
  Vars now;
  for (ValueId v : from.operands(op)) now.push_back(value(v));
  return now;
}

void Rewriter::define(ValueId v, Var now) { values_[v] = now.id(); }

void Rewriter::define_results(const Op& op, const Vars& now) {
  HEDDLE_CHECK(now.size() == op.result_count, "{} results for {}", now.size(), op.def->name);
  for (std::size_t i = 0; i < now.size(); ++i) define(from.result(op, i), now[i]);
}

Verdict Rewriter::copy(const Function& function) {
  Function head = function;
  for (std::vector<TypeId>* types : {&head.results, &head.inputs})
    for (TypeId& t : *types) t = to.program.intern(from.type(t));
  for (LayoutId& l : head.result_layouts) l = layout(l);
  head.loc = location(function.loc);
  if (function.body != kNone) {
    HEDDLE_TRY(head.body, copy_region(function.body));
  }
  to.program.functions.push_back(std::move(head));
  return yes();
}

Expected<RegionId> Rewriter::copy_region(RegionId source) {
  const RegionId made = to.program.add_region();
  for (ValueId v : from.region(source).args) {
    const ValueId arg = to.program.add_arg(made, to.program.intern(from.type_of(v)));
    to.program.set_layout(arg, layout(from.value(v).layout));
    define(v, {to, arg});
  }
  Verdict copied = yes();
  to.inside(made, [&] { copied = copy_ops(source); });
  if (!copied) return copied.why();
  return made;
}

Verdict Rewriter::copy_ops(RegionId source, bool open) {
  if (depth_ >= kMostNesting)
    return reason("{}: calls and regions are nested more than {} deep", from.where(0),
                  kMostNesting);
  ++depth_;
  const std::vector<OpId>& ops = from.region(source).ops;
  for (std::size_t i = 0; i + (open ? 1 : 0) < ops.size(); ++i) {
    const Op& op = from.op(ops[i]);
    to.at(location(op.loc));
    if (++steps_ > most_ops_)
      return located(from, op,
                     fmt::format("the program grows beyond {} ops: functions that call others "
                                 "several times multiply",
                                 most_ops_));
    HEDDLE_TRY(const bool replaced, replace_(*this, op));
    if (!replaced) HEDDLE_TRY_VOID(copy_op(op));
    if (to.failed()) return to.finish().why();
  }
  --depth_;
  return yes();
}

Verdict Rewriter::copy_op(const Op& op) { return copy_op(op, copied_attrs(from, op)); }

Verdict Rewriter::copy_called(RegionId source, LocId call) {
  const LocId now = location(call), before = call_;
  if (has_user_line(to.program.location(now))) call_ = now;
  const Verdict copied = copy_ops(source, true);
  call_ = before;
  return copied;
}

// By numbers: most ops of a program are copied by every pass.
Verdict Rewriter::copy_op(const Op& op, AttrDict attrs) {
  std::vector<RegionId> regions;
  for (RegionId r : from.regions(op)) {
    HEDDLE_TRY(const RegionId made, copy_region(r));
    regions.push_back(made);
  }
  std::vector<ValueId> operands;
  for (ValueId v : from.operands(op)) operands.push_back(value(v).id());
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < op.result_count; ++i)
    types.push_back(type(from.value(from.result(op, i)).type));
  const LocId loc = location(op.loc);
  to.at(loc);  // the regions have moved it
  const OpId made =
      to.program.add_op(to.here(), *op.def, operands, types, std::move(attrs), regions, loc);
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId before = from.result(op, i), now = to.program.result(to.program.op(made), i);
    values_[before] = now;
    if (const LayoutId id = from.value(before).layout; id != kNone)
      to.program.set_layout(now, layout(id));
  }
  std::vector<LayoutId> taken;
  for (LayoutId id : from.operand_layouts(op)) taken.push_back(layout(id));
  if (!taken.empty()) to.program.set_operand_layouts(made, taken);
  return yes();
}

}  // namespace heddle
