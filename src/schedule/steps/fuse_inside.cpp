#include "schedule/steps/fuse_inside.h"

#include <algorithm>
#include <set>

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "schedule/collective_key.h"
#include "schedule/fused_attr.h"
#include "schedule/steps/fuse_products.h"
#include "schedule/steps/meeting.h"

namespace heddle {

namespace {

bool is_kind(const Program& program, OpId id, CollectiveKind kind) {
  return program.op(id).def->collective == kind && program.op(id).operand_count == 1;
}

// Slices that lie one behind the other in memory.
Verdict check_dense(const Program& program, const Op& op, std::size_t dim) {
  const Type& type = program.type_of(op.results);
  for (std::size_t d = 0; d < dim; ++d)
    if (type.shape[d] != 1)
      return reason(
          "{} is cut along dimension {}, so that slices do not lie in one piece: split "
          "along 0",
          value_text(program, op.results), dim);
  return yes();
}

// Numbers that each device gives for a norm, all together.
constexpr std::int64_t kMostNumberBytes = 4096;

// From the sum to what is gathered, or to all that is made of it, only pointwise ops, but for what
// one all_reduce of numbers makes of all slices: a norm.
class Between {
 public:
  Between(const Program& program, const Meeting& meets, const FusedOps& ops,
          const std::vector<std::vector<OpId>>& users)
      : program_(program),
        meets_(meets),
        scatter_(ops.scatter),
        gather_(ops.gather),
        has_product_(ops.product != kNone || ops.user != kNone),
        users_(users) {}

  // The all_reduce of a norm; kNone where there is none.
  OpId norm() const { return norm_; }

  Verdict check() {
    const ValueId sum = program_.op(scatter_).results;
    const ValueId gathered = gather_ == kNone ? kNone : program_.operands(program_.op(gather_))[0];
    if (gathered == sum) {
      if (has_product_ && users_[sum].size() == 1) return yes();
      return reason("nothing is computed between them: an all_reduce does the same");
    }
    // What is done with rows that a product has made may be done apart.
    if (gather_ == kNone && has_product_) return yes();
    HEDDLE_TRY_VOID(follow(sum));
    if (gather_ == kNone) return yes();
    if (!made_.contains(gathered))
      return reason("{} does not come from {}", value_text(program_, gathered),
                    value_text(program_, sum));
    reach(sum);
    HEDDLE_TRY_VOID(check_back(gathered));
    if (whole_ == kNone || norm_ != kNone) return yes();
    return reason(
        "{} needs all of the sum, and is needed for what is gathered: it is neither pointwise nor "
        "made of numbers that an all_reduce sums up",
        value_text(program_, whole_));
  }

 private:
  // All that the sum has a part in, by whatever way.
  void reach(ValueId v) {
    if (!reached_.insert(v).second) return;
    for (OpId id : users_[v]) {
      const Op& op = program_.op(id);
      for (std::size_t i = 0; i < op.result_count; ++i) reach(program_.result(op, i));
    }
  }
  // What is gathered may need other values, but none that needs all of the sum first.
  Verdict check_back(ValueId v) {
    const OpId maker = program_.value(v).op;
    if (maker == scatter_ || !reached_.contains(v) || !seen_.insert(v).second) return yes();
    if (!made_.contains(v)) {
      whole_ = v;
      if (program_.op(maker).def->cls == OpClass::communicate) HEDDLE_TRY_VOID(take_norm(maker));
    }
    for (ValueId operand : program_.operands(program_.op(maker)))
      HEDDLE_TRY_VOID(check_back(operand));
    return yes();
  }

  Verdict take_norm(OpId id) {
    const Op& op = program_.op(id);
    const std::string text = value_text(program_, op.results);
    if (op.def->collective != CollectiveKind::all_reduce)
      return reason("{} comes between, and is no all_reduce of numbers", text);
    HEDDLE_TRY(const Meeting meets, meeting_of(program_, op));
    if (!(meets == meets_))
      return reason("{} is {}, the sum {}", text, over_text(program_, meets),
                    over_text(program_, meets_));
    std::int64_t bytes = 0;
    for (ValueId v : program_.operands(op)) bytes += program_.type_of(v).bytes();
    if (bytes > kMostNumberBytes)
      return reason("{} sums up {} bytes, which are more than numbers of a norm", text, bytes);
    if (norm_ != kNone && norm_ != id)
      return reason(
          "{} and {} both sum up numbers: `fuse` them first, where neither needs the "
          "other",
          value_text(program_, program_.op(norm_).results), text);
    norm_ = id;
    return yes();
  }

  Verdict follow(ValueId sum) {
    for (OpId id : users_[sum]) {
      const Op& op = program_.op(id);
      if (op.def->form == Form::terminator)
        return reason("{} is a result itself", value_text(program_, sum));
      if (!is_pointwise(op) || program_.type_of(op.results).shape != program_.type_of(sum).shape)
        return reason(
            "{} uses the sum, and is not pointwise: only what needs one element of it at a time "
            "goes "
            "inside",
            value_text(program_, op.results));
      mark(op.results);
    }
    return made_.empty() ? Verdict(reason("nobody uses {}", value_text(program_, sum))) : yes();
  }
  void mark(ValueId v) {
    if (!made_.insert(v).second) return;
    for (OpId id : users_[v]) {
      const Op& op = program_.op(id);
      if (is_pointwise(op) && program_.type_of(op.results).shape == program_.type_of(v).shape)
        mark(op.results);
    }
  }
  static bool is_pointwise(const Op& op) {
    const bool one_element = op.def->emission == Emission::scalar ||
                             op.def->emission == Emission::compare ||
                             op.def->emission == Emission::bitcast;
    return one_element && op.result_count == 1;
  }

  const Program& program_;
  const Meeting& meets_;
  OpId scatter_, gather_, norm_ = kNone;
  bool has_product_;
  ValueId whole_ = kNone;  // that needs all of the sum
  const std::vector<std::vector<OpId>>& users_;
  std::set<ValueId> made_, reached_, seen_;
};

std::int64_t next_number(const Program& program) {
  std::int64_t next = 0;
  for (RegionId r = 0; r < program.region_count(); ++r)
    for (OpId id : program.region(r).ops)
      if (const Attr* attr = program.attr(program.op(id), kFusedAttr))
        next = std::max(next, attr->get<Attr::Integer>()->value + 1);
  return next;
}

Expected<Meeting> check_meeting(const Program& program, OpId id, CollectiveKind kind) {
  const Op& op = program.op(id);
  if (!is_kind(program, id, kind))
    return reason("{} is no {} of one value", value_text(program, op.results), op_name(kind));
  HEDDLE_TRY(const Meeting meets, meeting_of(program, op));
  const bool sums = kind == CollectiveKind::reduce_scatter;
  HEDDLE_TRY_VOID(
      check_dense(program, op, sums ? *scattered_dim(program, op) : *gathered_dim(program, op)));
  return meets;
}

Expected<Meeting> check_pair(const Program& program, const FusedOps& ops) {
  for (OpId id : {ops.product, ops.scatter, ops.gather, ops.user})
    if (id != kNone && program.attr(program.op(id), kFusedAttr) != nullptr)
      return reason("{} is fused already", value_text(program, program.op(id).results));
  std::optional<Meeting> meets;
  if (ops.scatter != kNone) {
    HEDDLE_TRY(meets, check_meeting(program, ops.scatter, CollectiveKind::reduce_scatter));
  }
  if (ops.gather == kNone) return *meets;
  HEDDLE_TRY(const Meeting again, check_meeting(program, ops.gather, CollectiveKind::all_gather));
  if (meets && !(*meets == again))
    return reason("one is {}, the other {}", over_text(program, *meets),
                  over_text(program, again));
  return again;
}

RegionId region_of(const Program& program, OpId id) {
  for (RegionId r = 0; r < program.region_count(); ++r)
    if (std::ranges::find(program.region(r).ops, id) != program.region(r).ops.end()) return r;
  return kNone;
}

Verdict check_region(const Program& program, const FusedOps& ops) {
  std::set<RegionId> regions;
  for (OpId id : {ops.product, ops.scatter, ops.gather, ops.user})
    if (id != kNone) regions.insert(region_of(program, id));
  return regions.size() == 1 ? yes() : Verdict(reason("they lie in different regions"));
}

// The op as it is, with the marks.
Verdict write_marked(Edit& edit, const Program& program, RegionId at, const Op& op,
                     std::int64_t number, const FuseHow& how) {
  std::vector<RegionId> regions;
  ValueMap inside;
  for (RegionId r : program.regions(op))
    regions.push_back(clone_region(edit.out(), program, r, inside));
  AttrDict attrs = copied_attrs(program, op);
  const auto integer = [](std::int64_t value) { return Attr{Attr::Integer{.value = value}}; };
  if (op.def->cls == OpClass::communicate) set_attr(attrs, kApartAttr, Attr{Attr::Unit{}});
  set_attr(attrs, kFusedAttr, integer(number));
  set_attr(attrs, kFusedChunksAttr, integer(how.chunks));
  set_attr(attrs, kFusedByAttr, Attr{how.by.empty() ? std::string("direct") : how.by});
  if (!how.through.empty()) set_attr(attrs, kFusedThroughAttr, Attr{how.through});
  if (how.lanes > 0) set_attr(attrs, kFusedLanesAttr, integer(how.lanes));
  std::vector<ValueId> operands;
  std::vector<TypeId> types;
  for (ValueId v : program.operands(op)) operands.push_back(edit.now(v));
  for (std::size_t i = 0; i < op.result_count; ++i)
    types.push_back(edit.out().intern(program.type_of(program.result(op, i))));
  const OpId made =
      edit.out().add_op(at, *op.def, operands, types, std::move(attrs), std::move(regions));
  for (std::size_t i = 0; i < op.result_count; ++i)
    edit.define(program.result(op, i), edit.out().result(edit.out().op(made), i));
  edit.locate(at, op);
  return yes();
}

std::string said_of(const FusedOps& ops, OpId norm, const FuseHow& how) {
  std::string said = fmt::format("one collective, {}", how.by.empty() ? "direct" : how.by);
  if (ops.product != kNone) said += ", of rows that a product makes";
  if (ops.scatter != kNone && (ops.product == kNone || ops.gather != kNone))
    said += ", with what is computed on the slice inside of it";
  if (norm != kNone) said += " and the sum of its numbers";
  if (ops.user != kNone) said += ", and a product of what has come";
  if (how.chunks > 0) said += fmt::format(", in {} chunks", how.chunks);
  if (!how.through.empty()) said += fmt::format(", messages {}", how.through);
  if (how.lanes > 0) said += fmt::format(", on {} lanes", how.lanes);
  return said;
}

}  // namespace

Expected<FusedOps> FusedOps::of(const Program& program, const std::vector<OpId>& ops) {
  FusedOps found;
  OpId* const places[] = {&found.product, &found.scatter, &found.gather, &found.user};
  std::size_t next = 0;
  for (OpId id : ops) {
    const OpDef& def = *program.op(id).def;
    std::size_t at = 4;
    if (def.collective == CollectiveKind::reduce_scatter) at = 1;
    if (def.collective == CollectiveKind::all_gather) at = 2;
    if (def.cls == OpClass::contract) at = next == 0 ? 0 : 3;
    if (at < next || at == 4)
      return reason(
          "{} does not fit there: fuse takes a product, a reduce_scatter, an all_gather and a "
          "product, in this order, of which some may be left out",
          value_text(program, program.op(id).results));
    *places[at] = id;
    next = at + 1;
  }
  if (found.scatter == kNone && (found.gather == kNone || found.user == kNone))
    return reason("a product goes into a reduce_scatter of its sums, or an all_gather before it");
  if (found.product != kNone && found.scatter == kNone)
    return reason("the rows of the first product are not summed: there is no reduce_scatter");
  if (found.user != kNone && found.gather == kNone)
    return reason("the last product takes what nobody gathers");
  return found;
}

Expected<Rewritten> fuse_inside(const Program& program, std::uint32_t mesh, const FusedOps& ops,
                                const FuseHow& how) {
  HEDDLE_TRY(const Meeting meets, check_pair(program, ops));
  HEDDLE_TRY_VOID(check_region(program, ops));
  const std::vector<std::vector<OpId>> users = users_of(program);
  if (ops.product != kNone)
    HEDDLE_TRY_VOID(check_makes_rows(program, ops.product, ops.scatter, users));
  if (ops.user != kNone) HEDDLE_TRY_VOID(check_takes_rows(program, ops.gather, ops.user));
  Between between(program, meets, ops, users);
  if (ops.scatter != kNone) HEDDLE_TRY_VOID(between.check());
  const std::int64_t number = next_number(program);
  Edit edit(program, mesh);
  for (OpId id : {ops.product, ops.scatter, ops.gather, ops.user, between.norm()})
    if (id != kNone)
      edit.replace(id, [&](RegionId at, const Op& op) {
        return write_marked(edit, program, at, op, number, how);
      });
  HEDDLE_TRY(Rewritten all, edit.done());
  for (OpId id : {ops.scatter, ops.gather, ops.user})
    if (id != kNone) all.made.push_back(all.values.at(program.op(id).results));
  all.said = {said_of(ops, between.norm(), how)};
  return all;
}

Expected<Rewritten> fuse_inside_any(const Program& program, std::uint32_t mesh, FusedOps ops,
                                    const FuseHow& how) {
  for (RegionId r = 0; r < program.region_count(); ++r)
    for (OpId id : program.region(r).ops) {
      if (!is_kind(program, id, CollectiveKind::all_gather)) continue;
      ops.gather = id;
      if (auto fused = fuse_inside(program, mesh, ops, how)) return fused;
    }
  ops.gather = kNone;
  return fuse_inside(program, mesh, ops, how);
}

}  // namespace heddle
