#include "schedule/steps/as_slice.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "schedule/steps/slice_writer.h"

namespace heddle {

namespace {

// What one use takes of an argument.
struct Use {
  std::vector<OpId> ops;  // a pad, then slices
  std::size_t dim = 0;
  std::int64_t block = 0;
  std::vector<std::int64_t> starts;  // by position
};

// Only what lies behind the end of one dimension.
bool only_pads_behind(const Program& program, const Op& op) {
  const auto low = integers_or(program.attr(op, "edge_padding_low"));
  const auto inside = integers_or(program.attr(op, "interior_padding"));
  const auto is_zero = [](std::int64_t n) { return n == 0; };
  return std::ranges::all_of(low, is_zero) && std::ranges::all_of(inside, is_zero);
}

std::optional<Use> slice_use(const Program& program, const Op& op, OpId id,
                             const Differs& differs) {
  if (op.def->emission != Emission::dynamic_slice) return std::nullopt;
  const auto operands = program.operands(op);
  const Shape &from = program.type_of(operands[0]).shape, &to = program.type_of(op.results).shape;
  Use use;
  use.ops = {id};
  bool found = false;
  for (std::size_t d = 0; d < from.size(); ++d) {
    const std::vector<std::int64_t>* starts = differs.number(operands[d + 1]);
    if (from[d] == to[d]) continue;
    if (found || starts == nullptr) return std::nullopt;
    found = true;
    use.dim = d;
    use.block = to[d];
    use.starts = *starts;
  }
  return found ? std::optional(use) : std::nullopt;
}

Expected<Use> all_uses(const Program& program, ValueId argument, const Differs& differs) {
  const auto users = users_of(program);
  std::optional<Use> all;
  if (users[argument].empty()) return reason("nobody uses it");
  std::vector<std::pair<ValueId, OpId>> through = {{argument, kNone}};
  for (std::size_t i = 0; i < through.size(); ++i)
    for (OpId id : users[through[i].first]) {
      const Op& op = program.op(id);
      if (op.def->rearranges == Rearrange::pad && i == 0 && only_pads_behind(program, op)) {
        through.emplace_back(op.results, id);
        continue;
      }
      auto use = slice_use(program, op, id, differs);
      const bool alike = use && (!all || (all->dim == use->dim && all->block == use->block &&
                                          all->starts == use->starts));
      if (!alike)
        return reason("{} needs more of it than the device's own slice",
                      value_text(program, op.result_count > 0 ? op.results : argument));
      if (!all)
        all = std::move(use);
      else
        all->ops.push_back(id);
    }
  if (!all) return reason("nobody uses it");
  for (std::size_t i = 1; i < through.size(); ++i) all->ops.push_back(through[i].second);
  return *all;
}

// The axes along which devices have these slices: those of one of the program's collectives.
Expected<Meeting> axes_of_slices(const Program& program, const SpmdFunction& placed,
                                 const Use& use) {
  const Mesh& mesh = program.meshes[placed.mesh].mesh;
  for (OpId id = 0; id < program.op_count(); ++id) {
    if (program.op(id).def->cls != OpClass::communicate) continue;
    const auto meeting = meeting_of(program, program.op(id));
    if (!meeting || meeting->mesh != placed.mesh || meeting->members < 2) continue;
    bool fits = true;
    for (std::int64_t p = 0; p < mesh.devices() && fits; ++p)
      fits = use.starts[static_cast<std::size_t>(p)] ==
             member_of(mesh, meeting->axes, p).second * use.block;
    if (fits) return *meeting;
  }
  return reason("its slices are not dealt out along axes that devices meet along");
}

// The split with slices along these axes, inside of the blocks that are there.
Expected<Split> split_further(const Type& type, const Split& split, std::size_t dim,
                              const SplitAxes& axes, std::int64_t block) {
  Split finer = split;
  DimSplit& of = finer.dims[dim];
  for (const SplitDigit& d : axes)
    if (split.uses(d)) return reason("it is split along these axes already");
  if (!of.whole() && !of.is_block()) return reason("dimension {} does not lie in blocks", dim);
  SplitAxes all = of.whole() ? SplitAxes{} : of.axes();
  const bool is_even = of.size % (total(all) * total(axes)) == 0;
  if (!all.empty() && !is_even) return reason("blocks of dimension {} are uneven", dim);
  all.insert(all.end(), axes.begin(), axes.end());
  of = DimSplit::blocks(type.shape[dim], all);
  finer.settle();
  if (local_type(type, finer).shape[dim] != block)
    return reason("slices of {} of {} elements leave devices without any", block, type.shape[dim]);
  return finer;
}

std::int64_t part_bytes(const Type& type, const Split& split) {
  return local_type(type, split).bytes();
}

}  // namespace

Expected<Rewritten> slice_argument(const Program& program, SpmdFunction& placed,
                                   std::size_t argument) {
  const Function& function = *program.find_function(placed.name);
  const ValueId v = program.region(function.body).args[argument];
  const Differs differs(program, function, placed);
  HEDDLE_TRY(const Use use, all_uses(program, v, differs));
  HEDDLE_TRY(const Meeting meeting, axes_of_slices(program, placed, use));
  if (placed.argument_meshes[argument] != placed.mesh)
    return reason("its devices come in another order");
  const Type& whole = placed.argument_types[argument];
  HEDDLE_TRY(Split finer,
             split_further(whole, placed.arguments[argument], use.dim, meeting.axes, use.block));
  Edit edit(program, placed.mesh);
  edit.retype(v, local_type(whole, finer));
  for (OpId id : use.ops)
    edit.replace(id, [&](RegionId, const Op& op) {
      edit.define(op.results, edit.now(v));
      return yes();
    });
  HEDDLE_TRY(Rewritten all, edit.done());
  all.said = {fmt::format("{} instead of {} on each device", local_type(whole, finer).str(),
                          program.type_of(v).str())};
  placed.argument_bytes += part_bytes(whole, finer) - part_bytes(whole, placed.arguments[argument]);
  placed.arguments[argument] = std::move(finer);
  return all;
}

Expected<Rewritten> slice_result(const Program& program, SpmdFunction& placed, std::size_t result) {
  const Function& function = *program.find_function(placed.name);
  const OpId end = program.region(function.body).ops.back();
  const ValueId v = program.operands(program.op(end))[result];
  OpId maker = program.value(v).op;
  if (maker != kNone && program.op(maker).def->rearranges == Rearrange::slice)
    maker = program.value(program.operands(program.op(maker))[0]).op;
  if (maker == kNone) return reason("it is an argument as it came");
  const auto users = users_of(program);
  const auto gathered = gathered_by(program, maker, users);
  if (!gathered || gathered->whole != v)
    return reason("{} is not gathered of slices", value_text(program, v));
  if (gathered->meeting.mesh != placed.mesh || placed.result_meshes[result] != placed.mesh)
    return reason("its devices come in another order");
  const Type& whole = placed.result_types[result];
  HEDDLE_TRY(Split finer, split_further(whole, placed.results[result], gathered->dim.dim,
                                        gathered->meeting.axes, gathered->dim.block));
  Edit edit(program, placed.mesh);
  edit.replace(end, [&](RegionId at, const Op& op) {
    std::vector<ValueId> returned;
    for (std::size_t i = 0; i < op.operand_count; ++i)
      returned.push_back(edit.now(i == result ? gathered->slice : program.operands(op)[i]));
    edit.out().add_op(at, *op.def, returned, {}, copied_attrs(program, op), {});
    return yes();
  });
  const auto returned = program.operands(program.op(end));
  if (users[v].size() == 1 && std::ranges::count(returned, v) == 1) {
    if (gathered->crop != kNone) edit.leave_out(gathered->crop);
    edit.leave_out(gathered->op);
  }
  HEDDLE_TRY(Rewritten all, edit.done());
  all.said = {fmt::format("{} instead of {} on each device", local_type(whole, finer).str(),
                          program.type_of(v).str())};
  placed.result_bytes += part_bytes(whole, finer) - part_bytes(whole, placed.results[result]);
  placed.results[result] = std::move(finer);
  return all;
}

}  // namespace heddle
