// The client dialect: what JAX emits of it.
#include "ir/eval/chlo.h"

#include "ir/eval/elementwise.h"
#include "ir/eval/elementwise_rules.h"
#include "ir/lower/chlo.h"
#include "ir/ops/op_families.h"
#include "ir/rules/index_rules.h"

namespace heddle {

namespace {

constexpr FormWord kTopKWords[] = {{"k", "k", FormWord::Kind::integer}};

TypeRule function_rule(std::string_view op) {
  if (op == "mulhi") return same_type_rule<kInteger>;
  if (op == "conj" || op == "square") return same_type_rule<kNumber>;
  if (op == "is_inf" || op == "is_neg_inf" || op == "is_pos_inf") return chlo::infinity_rule;
  for (std::string_view real_only : {"bessel_i1e", "digamma", "erf", "erf_inv", "erfc", "lgamma",
                                     "next_after", "polygamma", "zeta"})
    if (op == real_only) return same_type_rule<kFloat>;
  return same_type_rule < kFloat | kComplex > ;
}

}  // namespace

std::vector<OpDef> chlo_ops() {
  std::vector<OpDef> rows = {
      {.name = "chlo.top_k",
       .cls = OpClass::heavy,
       .results = 2,
       .form = Form::call_like,
       .words = kTopKWords,
       .type_rule = chlo::top_k_rule,
       .evaluate = evaluate_top_k,
       .index_rule = top_k_index_rule,
       .call = DeviceCall::top_k},
      {.name = "chlo.ragged_dot",
       .cls = OpClass::contract,
       .operands = 3,
       .form = Form::generic,
       .attributes = "ragged_dot_dimension_numbers precision_config",
       .type_rule = chlo::ragged_dot_rule,
       .evaluate = evaluate_ragged_dot,
       .index_rule = ragged_dot_index_rule},
      {.name = "chlo.scan",
       .cls = OpClass::control,
       .operands = {1, -1},
       .results = {1, -1},
       .regions = 1,
       .form = Form::scan,
       .attributes = "dimension is_reverse is_associative",
       .type_rule = chlo::scan_rule,
       .evaluate = evaluate_scan,
       .index_rule = control_index_rule,
       .control = Control::scan},
  };
  auto function = [&](std::string_view name, int operands) {
    const std::string_view op = name.substr(name.find('.') + 1);
    rows.push_back({.name = name,
                    .cls = OpClass::heavy,
                    .operands = operands,
                    .type_rule = function_rule(op),
                    .evaluate = chlo_function_evaluation(op),
                    .index_rule = elementwise_index_rule,
                    .emission = op == "erf" ? Emission::scalar : Emission::none,
                    .scalar = op == "erf" ? ScalarOp::erf : ScalarOp::none});
  };
  for (std::string_view name :
       {"chlo.acos",       "chlo.acosh",      "chlo.asin", "chlo.asinh",  "chlo.atan",
        "chlo.atanh",      "chlo.bessel_i1e", "chlo.conj", "chlo.cosh",   "chlo.digamma",
        "chlo.erf",        "chlo.erf_inv",    "chlo.erfc", "chlo.is_inf", "chlo.is_neg_inf",
        "chlo.is_pos_inf", "chlo.lgamma",     "chlo.sinh", "chlo.square", "chlo.tan"})
    function(name, 1);
  for (std::string_view name : {"chlo.next_after", "chlo.polygamma", "chlo.zeta", "chlo.mulhi"})
    function(name, 2);
  for (std::string_view name :
       {"chlo.broadcast_add", "chlo.broadcast_subtract", "chlo.broadcast_multiply",
        "chlo.broadcast_divide", "chlo.broadcast_maximum", "chlo.broadcast_minimum",
        "chlo.broadcast_power"})
    rows.push_back({.name = name,
                    .cls = name == "chlo.broadcast_power" ? OpClass::heavy : OpClass::light,
                    .operands = 2,
                    .attributes = "broadcast_dimensions",
                    .type_rule = chlo::broadcast_rule,
                    .evaluate = binary_evaluation(name.substr(name.find('.') + 1)),
                    .index_rule = chlo_broadcast_index_rule});
  for (OpDef& def : rows) def.lower = chlo::lowering(def.short_name());
  return rows;
}

}  // namespace heddle
