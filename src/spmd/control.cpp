// Loops and branches.
#include "heddle/op.h"
#include "ir/clone.h"
#include "spmd/writers.h"

namespace heddle {

namespace {

// `kept` are the values from around a loop that its arguments stay equal to; kNone for others.
Expected<RegionId> write_region(Core& c, RegionId region, const std::vector<int>& args, bool loop,
                                const std::vector<ValueId>& kept = {}) {
  const RegionId made = c.out.add_region();
  const std::size_t mark = c.mark();
  const OpId around = c.current;
  c.enter(made, loop);
  std::vector<ValueId> locals;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const ValueId v = c.from.region(region).args[i];
    const Type local = local_type(c.type_of(v), c.split(args[i]));
    locals.push_back(c.out.add_arg(made, c.out.intern(local)));
    if (i >= kept.size() || kept[i] == kNone)
      c.define(v, args[i], locals[i]);
    else
      c.same_as(v, kept[i], args[i]);
  }
  HEDDLE_TRY_VOID(write_ops(c, region));
  c.current = around;
  const OpId end = c.from.region(region).ops.back();
  c.carry_out(end);
  const Op& op = c.from.op(end);
  const std::vector<int>& returned = c.decision(end).choice->operands;
  std::vector<ValueId> values;
  for (std::size_t i = 0; i < returned.size(); ++i) {
    const ValueId v = c.from.operands(op)[i];
    const bool same = i < kept.size() && kept[i] != kNone && v == c.from.region(region).args[i];
    values.push_back(same ? locals[i] : c.get(v, returned[i]));
  }
  c.out.add_op(made, *find_op("stablehlo.return"), values, {}, {}, {}, c.location(op.loc));
  c.forget_since(mark);
  c.leave();
  return made;
}

// The op itself around its regions.
void write_around(Core& c, const Op& op, const Choice& choice, const std::vector<ValueId>& operands,
                  const std::vector<RegionId>& regions) {
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < op.result_count; ++i)
    types.push_back(c.out.intern(c.local_result(op, choice, i)));
  const OpId made = c.out.add_op(c.w.at, *op.def, operands, types, copied_attrs(c.from, op),
                                 regions, c.location(op.loc));
  for (std::size_t i = 0; i < op.result_count; ++i)
    c.define(c.from.result(op, i), choice.results[i], c.out.result(c.out.op(made), i));
}

}  // namespace

Verdict write_loop(Core& c, OpId id) {
  const Op& op = c.from.op(id);
  const Choice& choice = *c.decision(id).choice;
  const std::vector<ValueId> operands = c.get_operands(id);
  const std::vector<ValueId> kept = kept_in_loop(c.from, op);
  ++c.depth;
  std::vector<RegionId> regions;
  for (RegionId region : c.from.regions(op)) {
    HEDDLE_TRY(RegionId made, write_region(c, region, choice.operands, true, kept));
    regions.push_back(made);
  }
  --c.depth;
  write_around(c, op, choice, operands, regions);
  return yes();
}

Verdict write_branch(Core& c, OpId id) {
  const Op& op = c.from.op(id);
  const Choice& choice = *c.decision(id).choice;
  const std::vector<ValueId> operands{c.get(c.from.operands(op)[0], choice.operands[0])};
  std::vector<RegionId> regions;
  for (RegionId region : c.from.regions(op)) {
    HEDDLE_TRY(RegionId made, write_region(c, region, {}, false));
    regions.push_back(made);
  }
  write_around(c, op, choice, operands, regions);
  return yes();
}

}  // namespace heddle
