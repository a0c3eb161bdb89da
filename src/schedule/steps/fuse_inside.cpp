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

// Numbers that each device gives for a norm, all together.
constexpr std::int64_t kMostNumberBytes = 4096;

// From the sum to what is gathered, or to all that is made of it, only pointwise ops, but for what
// one all_reduce of numbers makes of all slices: a norm.
class Between {
 public:
  Between(const Program& program, const Meeting& meets, OpId scatter, OpId gather)
      : program_(program),
        meets_(meets),
        scatter_(scatter),
        gather_(gather),
        users_(users_of(program)) {}

  // The all_reduce of a norm; kNone where there is none.
  OpId norm() const { return norm_; }

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
  ValueId whole_ = kNone;  // that needs all of the sum
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

Expected<Meeting> check_pair(const Program& program, OpId scatter, OpId gather) {
  if (!is_kind(program, scatter, CollectiveKind::reduce_scatter))
    return reason("{} is no reduce_scatter of one value",
                  value_text(program, program.op(scatter).results));
  const Op& sum = program.op(scatter);
  HEDDLE_TRY(const Meeting meets, meeting_of(program, sum));
  HEDDLE_TRY_VOID(check_dense(program, sum, *scattered_dim(program, sum)));
  for (OpId id : {scatter, gather})
    if (id != kNone && program.attr(program.op(id), kFusedAttr) != nullptr)
      return reason("{} is fused already", value_text(program, program.op(id).results));
  if (gather == kNone) return meets;
  const Op& all = program.op(gather);
  if (!is_kind(program, gather, CollectiveKind::all_gather))
    return reason("{} is no all_gather of one value", value_text(program, all.results));
  HEDDLE_TRY(const Meeting again, meeting_of(program, all));
  if (!(meets == again))
    return reason("one is {}, the other {}", over_text(program, meets), over_text(program, again));
  HEDDLE_TRY_VOID(check_dense(program, all, *gathered_dim(program, all)));
  return meets;
}

}  // namespace

Expected<Rewritten> fuse_inside(const Program& program, std::uint32_t mesh, OpId scatter,
                                OpId gather, const FuseHow& how) {
  HEDDLE_TRY(const Meeting meets, check_pair(program, scatter, gather));
  Between between(program, meets, scatter, gather);
  HEDDLE_TRY_VOID(between.check());
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
  };
  edit.replace(scatter, marked);
  for (OpId id : {gather, between.norm()})
    if (id != kNone) edit.replace(id, marked);
  HEDDLE_TRY(Rewritten all, edit.done());
  all.made = {all.values.at(program.op(scatter).results)};
  if (gather != kNone) all.made.push_back(all.values.at(program.op(gather).results));
  all.said = {fmt::format("one collective, {}, with what is computed on the slice inside of it{}{}",
                          by, between.norm() != kNone ? " and the sum of its numbers" : "",
                          how.chunks > 0 ? fmt::format(", in {} chunks", how.chunks) : "")};
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
