#include "schedule/steps/fuse_products.h"

#include <algorithm>

#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "ir/attr_access.h"

namespace heddle {

namespace {

// The first dimension that has more than one element, else the first.
std::size_t outermost(const Type& type) {
  for (std::size_t d = 0; d < type.shape.size(); ++d)
    if (type.shape[d] != 1) return d;
  return 0;
}

// The factor that a dimension is, alone and from its start.
int factor_of(const DimRule& dim) {
  const bool plain = dim.terms.size() == 1 && dim.offset == 0 && dim.dilation == 1 &&
                     dim.terms[0].stride == 1 && dim.terms[0].divide == 1;
  return plain ? dim.terms[0].factor : -1;
}

Verdict check_product(const Program& program, const Op& op) {
  if (op.def->cls == OpClass::contract && op.result_count == 1 &&
      program.type_of(op.results).rank() > 0)
    return yes();
  return reason("{} is no product of matrices", value_text(program, op.results));
}

}  // namespace

Verdict check_makes_rows(const Program& program, OpId product, OpId scatter,
                         const std::vector<std::vector<OpId>>& users) {
  const Op& op = program.op(product);
  HEDDLE_TRY_VOID(check_product(program, op));
  const ValueId taken = program.operands(program.op(scatter))[0];
  if (taken != op.results)
    return reason("{} is not what {} sums up: nothing may be between them",
                  value_text(program, op.results),
                  value_text(program, program.op(scatter).results));
  if (users[taken].size() != 1)
    return reason("{} is used by others, too, that need all of it", value_text(program, taken));
  return yes();
}

OpId pad_behind(const Program& program, OpId product, OpId scatter) {
  const ValueId summed = program.operands(program.op(scatter))[0];
  const OpId maker = program.value(summed).op;
  if (maker == kNone || maker == product) return kNone;
  const Op& pad = program.op(maker);
  if (pad.def->short_name() != "pad" || program.operands(pad)[0] != program.op(product).results)
    return kNone;
  const std::size_t rows = outermost(program.type_of(program.op(product).results));
  const auto only_behind = [&](std::string_view attr, bool may_be_rows) {
    const std::vector<std::int64_t> sizes = integers_or(program.attr(pad, attr));
    for (std::size_t d = 0; d < sizes.size(); ++d)
      if (sizes[d] != 0 && !(may_be_rows && d == rows && sizes[d] > 0)) return false;
    return true;
  };
  const bool fits = only_behind("edge_padding_low", false) &&
                    only_behind("interior_padding", false) &&
                    only_behind("edge_padding_high", true);
  return fits ? maker : kNone;
}

Expected<Rewritten> pad_before(const Program& program, std::uint32_t mesh, OpId product, OpId pad) {
  const Op &op = program.op(product), &padding = program.op(pad);
  HEDDLE_TRY_VOID(check_product(program, op));
  const Type& whole = program.type_of(padding.results);
  const std::size_t d = outermost(program.type_of(op.results));
  const std::int64_t behind = whole.shape[d] - program.type_of(op.results).shape[d];
  const IndexRule rule = index_rule(program, op);
  const int rows = factor_of(rule.results[0].dims[d]);
  if (rows < 0) return reason("{} has no rows of its own", value_text(program, op.results));
  Edit edit(program, mesh);
  edit.leave_out(product);
  edit.replace(pad, [&](RegionId at, const Op&) -> Verdict {
    Writer& writer = edit.writer(at, op);
    std::vector<ValueId> operands;
    for (std::size_t i = 0; i < op.operand_count; ++i) {
      ValueId v = edit.now(program.operands(op)[i]);
      for (std::size_t e = 0; e < rule.operands[i].dims.size(); ++e)
        if (factor_of(rule.operands[i].dims[e]) == rows)
          v = writer.pad(v, e, 0, behind, writer.zero(edit.out().type_of(v).dtype));
      operands.push_back(v);
    }
    edit.define(padding.results,
                writer.op(op.def->name, std::move(operands), whole, copied_attrs(program, op)));
    return yes();
  });
  return edit.done();
}

Verdict check_takes_rows(const Program& program, OpId gather, OpId product) {
  const Op& op = program.op(product);
  HEDDLE_TRY_VOID(check_product(program, op));
  const ValueId whole = program.op(gather).results;
  const auto operands = program.operands(op);
  const auto times = std::ranges::count(operands, whole);
  if (times != 1)
    return reason("{} takes {} {}: a product is to take what is gathered once, as it is",
                  value_text(program, op.results), value_text(program, whole),
                  times == 0 ? "not at all" : "twice");
  const IndexRule rule = index_rule(program, op);
  const auto which =
      static_cast<std::size_t>(std::ranges::find(operands, whole) - operands.begin());
  const int rows = factor_of(rule.operands[which].dims[outermost(program.type_of(whole))]);
  const int of_result = factor_of(rule.results[0].dims[outermost(program.type_of(op.results))]);
  if (rows < 0 || rule.factors[static_cast<std::size_t>(rows)].kind == FactorKind::reduce)
    return reason("{} sums over what is gathered: no rows of it are done before all have come",
                  value_text(program, op.results));
  if (rows != of_result)
    return reason("rows of {} do not lie one behind the other in {}", value_text(program, whole),
                  value_text(program, op.results));
  return yes();
}

}  // namespace heddle
