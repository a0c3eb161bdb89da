// One element in, one element out.
#include "ir/eval_elementwise.h"
#include "ir/eval_elementwise_rules.h"
#include "ir/index_rules.h"
#include "ir/op_families.h"

namespace heddle {

std::vector<OpDef> elementwise_ops() {
  std::vector<OpDef> rows;
  auto row = [&](std::string_view name, OpClass cls, int operands, Form form = Form::operands,
                 std::string_view attributes = "") {
    OpDef def{.name = name,
              .cls = cls,
              .operands = operands,
              .form = form,
              .attributes = attributes,
              .index_rule = elementwise_index_rule};
    def.type_rule = elementwise_rule(def.short_name());
    for (auto family : {light_unary_evaluation, math_evaluation, binary_evaluation,
                        conversion_evaluation, choice_evaluation})
      if (!def.evaluate) def.evaluate = family(def.short_name());
    if (name == "stablehlo.bitcast_convert") def.index_rule = bitcast_index_rule;
    if (name == "stablehlo.imag") def.index_rule = imag_index_rule;
    rows.push_back(def);
  };
  for (std::string_view name :
       {"stablehlo.abs", "stablehlo.ceil", "stablehlo.floor", "stablehlo.negate", "stablehlo.not",
        "stablehlo.sign", "stablehlo.is_finite", "stablehlo.round_nearest_afz",
        "stablehlo.round_nearest_even", "stablehlo.popcnt", "stablehlo.count_leading_zeros",
        "stablehlo.convert", "stablehlo.real", "stablehlo.imag"})
    row(name, OpClass::light, 1);
  row("stablehlo.bitcast_convert", OpClass::light, 1, Form::functional);
  for (std::string_view name :
       {"stablehlo.cbrt", "stablehlo.cosine", "stablehlo.exponential",
        "stablehlo.exponential_minus_one", "stablehlo.log", "stablehlo.log_plus_one",
        "stablehlo.logistic", "stablehlo.rsqrt", "stablehlo.sine", "stablehlo.sqrt",
        "stablehlo.tan", "stablehlo.tanh"})
    row(name, OpClass::heavy, 1, Form::operands, "result_accuracy");
  for (std::string_view name :
       {"stablehlo.add", "stablehlo.subtract", "stablehlo.multiply", "stablehlo.divide",
        "stablehlo.maximum", "stablehlo.minimum", "stablehlo.and", "stablehlo.or", "stablehlo.xor",
        "stablehlo.shift_left", "stablehlo.shift_right_arithmetic", "stablehlo.shift_right_logical",
        "stablehlo.complex"})
    row(name, OpClass::light, 2);
  for (std::string_view name : {"stablehlo.atan2", "stablehlo.power", "stablehlo.remainder"})
    row(name, OpClass::heavy, 2);
  row("stablehlo.compare", OpClass::light, 2, Form::compare, "comparison_direction compare_type");
  row("stablehlo.select", OpClass::light, 3, Form::select);
  row("stablehlo.clamp", OpClass::light, 3);
  row("stablehlo.reduce_precision", OpClass::light, 1, Form::reduce_precision,
      "exponent_bits mantissa_bits");
  return rows;
}

}  // namespace heddle
