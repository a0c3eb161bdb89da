#include "schedule/steps/fuse_inside.h"

#include <algorithm>
#include <set>

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "schedule/collective_key.h"
#include "schedule/fused_attr.h"
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

// From the sum to what is gathered, or to all that is made of it, only pointwise ops.
class Between {
 public:
  Between(const Program& program, OpId scatter, OpId gather)
      : program_(program), scatter_(scatter), gather_(gather), users_(users_of(program)) {}

  Verdict check() {
    const ValueId sum = program_.op(scatter_).results;
    const ValueId gathered = gather_ == kNone ? kNone : program_.operands(program_.op(gather_))[0];
    if (gathered == sum)
      return reason("nothing is computed between them: an all_reduce does the same");
    HEDDLE_TRY_VOID(follow(sum));
    if (gather_ == kNone) return yes();
    if (!made_.contains(gathered))
      return reason("{} does not come from {}", value_text(program_, gathered),
                    value_text(program_, sum));
    reach(sum);
    return check_back(gathered);
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
    if (!made_.contains(v))
      return reason(
          "{} needs all of the sum, and is needed for what is gathered: a norm or the like "
          "is not pointwise",
          value_text(program_, v));
    for (ValueId operand : program_.operands(program_.op(maker)))
      HEDDLE_TRY_VOID(check_back(operand));
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
  OpId scatter_, gather_;
  std::vector<std::vector<OpId>> users_;
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

Verdict check_pair(const Program& program, OpId scatter, OpId gather) {
  if (!is_kind(program, scatter, CollectiveKind::reduce_scatter))
    return reason("{} is no reduce_scatter of one value",
                  value_text(program, program.op(scatter).results));
  const Op& sum = program.op(scatter);
  HEDDLE_TRY(const Meeting meets, meeting_of(program, sum));
  HEDDLE_TRY_VOID(check_dense(program, sum, *scattered_dim(program, sum)));
  for (OpId id : {scatter, gather})
    if (id != kNone && program.attr(program.op(id), kFusedAttr) != nullptr)
      return reason("{} is fused already", value_text(program, program.op(id).results));
  if (gather == kNone) return yes();
  const Op& all = program.op(gather);
  if (!is_kind(program, gather, CollectiveKind::all_gather))
    return reason("{} is no all_gather of one value", value_text(program, all.results));
  HEDDLE_TRY(const Meeting again, meeting_of(program, all));
  if (!(meets == again))
    return reason("one is {}, the other {}", over_text(program, meets), over_text(program, again));
  return check_dense(program, all, *gathered_dim(program, all));
}

}  // namespace

Expected<Rewritten> fuse_inside(const Program& program, std::uint32_t mesh, OpId scatter,
                                OpId gather, const FuseHow& how) {
  HEDDLE_TRY_VOID(check_pair(program, scatter, gather));
  HEDDLE_TRY_VOID(Between(program, scatter, gather).check());
  const std::int64_t number = next_number(program);
  const std::string by = how.by.empty() ? "direct" : how.by;
  Edit edit(program, mesh);
  const auto marked = [&](RegionId at, const Op& op) -> Verdict {
    std::vector<RegionId> regions;
    ValueMap inside;
    for (RegionId r : program.regions(op))
      regions.push_back(clone_region(edit.out(), program, r, inside));
    AttrDict attrs = copied_attrs(program, op);
    const auto integer = [](std::int64_t value) { return Attr{Attr::Integer{.value = value}}; };
    set_attr(attrs, kApartAttr, Attr{Attr::Unit{}});
    set_attr(attrs, kFusedAttr, integer(number));
    set_attr(attrs, kFusedChunksAttr, integer(how.chunks));
    set_attr(attrs, kFusedByAttr, Attr{by});
    edit.define(op.results, edit.writer(at, op).op(
                                op.def->name, {edit.now(program.operands(op)[0])},
                                program.type_of(op.results), std::move(attrs), std::move(regions)));
    edit.locate(at, op);
    return yes();
  };
  edit.replace(scatter, marked);
  if (gather != kNone) edit.replace(gather, marked);
  HEDDLE_TRY(Rewritten all, edit.done());
  all.made = {all.values.at(program.op(scatter).results)};
  if (gather != kNone) all.made.push_back(all.values.at(program.op(gather).results));
  all.said = {fmt::format("one collective, {}, with what is computed on the slice inside of it{}",
                          by, how.chunks > 0 ? fmt::format(", in {} chunks", how.chunks) : "")};
  return all;
}

Expected<Rewritten> fuse_inside_any(const Program& program, std::uint32_t mesh, OpId scatter,
                                    const FuseHow& how) {
  for (RegionId r = 0; r < program.region_count(); ++r)
    for (OpId id : program.region(r).ops)
      if (is_kind(program, id, CollectiveKind::all_gather))
        if (auto fused = fuse_inside(program, mesh, scatter, id, how)) return fused;
  return fuse_inside(program, mesh, scatter, kNone, how);
}

}  // namespace heddle
