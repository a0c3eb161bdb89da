#include "schedule/steps/fuse.h"

#include <algorithm>
#include <set>

#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "schedule/collective_key.h"

namespace heddle {

namespace {

Verdict check_alike(const Program& program, const std::vector<OpId>& ops) {
  if (ops.size() < 2) return reason("there is nothing to fuse it with: name two collectives");
  for (OpId id : ops) {
    const Op& op = program.op(id);
    if (op.def->cls != OpClass::communicate)
      return reason(
          "{} is no collective: kernels are fused by the compiler by themselves, and none of them "
          "holds a collective",
          value_text(program, op.results));
    const std::string key = collective_key(program, op);
    if (key.empty()) return reason("{} stays alone", value_text(program, op.results));
    if (key != collective_key(program, program.op(ops[0])))
      return reason("{} and {} are not of one kind among the same devices",
                    value_text(program, program.op(ops[0]).results),
                    value_text(program, op.results));
  }
  const std::set<OpId> each(ops.begin(), ops.end());
  return each.size() == ops.size() ? yes() : reason("one of them is named twice");
}

// The region's ops with all that needs one of the fused ops behind the last of them.
Expected<std::vector<OpId>> order_of(const Program& program, RegionId region,
                                     const std::set<OpId>& fused) {
  const std::vector<OpId>& ops = program.region(region).ops;
  std::set<OpId> late;
  std::vector<OpId> before, after;
  std::size_t seen = 0;
  for (OpId id : ops) {
    const Op& op = program.op(id);
    const auto waits = [&](ValueId v) {
      const OpId maker = program.value(v).op;
      return maker != kNone && (late.contains(maker) || fused.contains(maker));
    };
    bool needs = std::ranges::any_of(program.operands(op), waits);
    if (op.region_count > 0)
      needs = needs || std::ranges::any_of(captured_values(program, op), waits);
    if (fused.contains(id)) {
      if (needs)
        return reason("{} needs another one of them: they would wait for each other",
                      value_text(program, op.results));
      before.push_back(id);
      ++seen;
    } else if (needs || (seen > 0 && op.def->form == Form::terminator)) {
      late.insert(id);
      after.push_back(id);
    } else {
      before.push_back(id);
    }
  }
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

}  // namespace

Expected<Rewritten> fuse(const Program& program, std::uint32_t mesh, const std::vector<OpId>& ops) {
  HEDDLE_TRY_VOID(check_alike(program, ops));
  const std::set<OpId> fused(ops.begin(), ops.end());
  RegionId region = kNone;
  OpId last = kNone;
  for (RegionId r = 0; r < program.region_count(); ++r)
    for (OpId id : program.region(r).ops)
      if (fused.contains(id)) {
        if (region != kNone && region != r) return reason("they lie in different regions");
        region = r;
        last = id;
      }
  HEDDLE_TRY(std::vector<OpId> order, order_of(program, region, fused));
  Edit edit(program, mesh);
  edit.reorder(region, std::move(order));
  std::vector<ValueId> made;
  for (OpId id : ops) edit.leave_out(id);
  edit.replace(last, [&](RegionId at, const Op&) {
    const Op& first = program.op(ops[0]);
    std::vector<ValueId> operands, results;
    std::vector<TypeId> types;
    for (OpId id : ops) {
      const Op& op = program.op(id);
      for (ValueId v : program.operands(op)) operands.push_back(edit.now(v));
      for (std::size_t i = 0; i < op.result_count; ++i) {
        results.push_back(program.result(op, i));
        types.push_back(edit.out().intern(program.type_of(results.back())));
      }
    }
    std::vector<RegionId> regions;
    ValueMap inside;
    for (RegionId r : program.regions(first))
      regions.push_back(clone_region(edit.out(), program, r, inside));
    const OpId all =
        edit.out().add_op(at, *first.def, operands, types, copied_attrs(program, first), regions);
    for (std::size_t i = 0; i < results.size(); ++i) {
      made.push_back(edit.out().result(edit.out().op(all), i));
      edit.define(results[i], made.back());
    }
    return yes();
  });
  HEDDLE_TRY(Rewritten all, edit.done());
  all.said = {
      fmt::format("one {} of {} values", program.op(ops[0]).def->short_name(), made.size())};
  all.made = std::move(made);
  return all;
}

}  // namespace heddle
