#include "schedule/steps/fuse_products.h"

#include <algorithm>

#include "heddle/index_rule.h"
#include "heddle/op.h"

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
  const auto which = static_cast<std::size_t>(std::ranges::find(operands, whole) -
                                              operands.begin());
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
