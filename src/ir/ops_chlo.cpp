// The client dialect: what JAX emits of it.
#include "ir/eval_chlo.h"
#include "ir/eval_elementwise.h"
#include "ir/eval_elementwise_rules.h"
#include "ir/lower_chlo.h"
#include "ir/op_families.h"

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
  std::vector<OpDef> rows;
  auto row = [&](std::string_view name, Count operands, Count results, int regions, Form form,
                 TypeRule rule, Evaluate evaluate, std::span<const FormWord> words = {}) {
    OpDef def;
    def.name = name;
    def.cls = OpClass::heavy;
    def.operands = operands;
    def.results = results;
    def.regions = regions;
    def.form = form;
    def.words = words;
    def.type_rule = rule;
    def.evaluate = evaluate;
    rows.push_back(def);
  };
  auto function = [&](std::string_view name, int operands) {
    const std::string_view op = name.substr(name.find('.') + 1);
    row(name, operands, 1, 0, Form::operands, function_rule(op), chlo_function_evaluation(op));
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
    row(name, 2, 1, 0, Form::operands, chlo::broadcast_rule,
        binary_evaluation(name.substr(name.find('.') + 1)));
  row("chlo.top_k", 1, 2, 0, Form::call_like, chlo::top_k_rule, evaluate_top_k, kTopKWords);
  row("chlo.ragged_dot", 3, 1, 0, Form::generic, chlo::ragged_dot_rule, evaluate_ragged_dot);
  row("chlo.scan", {1, -1}, {1, -1}, 1, Form::scan, chlo::scan_rule, evaluate_scan);
  for (OpDef& def : rows) def.lower = chlo::lowering(def.short_name());
  return rows;
}

}  // namespace heddle
