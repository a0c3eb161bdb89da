// One element in, one element out.
#include "ir/eval/elementwise.h"

#include "ir/eval/elementwise_rules.h"
#include "ir/ops/op_families.h"
#include "ir/rules/index_rules.h"

namespace heddle {

namespace {

struct NamedScalar {
  std::string_view name;
  ScalarOp op;
  LinearIn linear = LinearIn::none;
};
constexpr NamedScalar kScalars[] = {
    {"abs", ScalarOp::abs},
    {"negate", ScalarOp::negate, LinearIn::first},
    {"sign", ScalarOp::sign},
    {"not", ScalarOp::logical_not},
    {"is_finite", ScalarOp::is_finite},
    {"popcnt", ScalarOp::popcnt},
    {"count_leading_zeros", ScalarOp::count_leading_zeros},
    {"floor", ScalarOp::floor},
    {"ceil", ScalarOp::ceil},
    {"round_nearest_even", ScalarOp::round_even},
    {"round_nearest_afz", ScalarOp::round_away},
    {"sqrt", ScalarOp::sqrt},
    {"rsqrt", ScalarOp::rsqrt},
    {"cbrt", ScalarOp::cbrt},
    {"exponential", ScalarOp::exp},
    {"exponential_minus_one", ScalarOp::expm1},
    {"log", ScalarOp::log},
    {"log_plus_one", ScalarOp::log1p},
    {"sine", ScalarOp::sin},
    {"cosine", ScalarOp::cos},
    {"tan", ScalarOp::tan},
    {"tanh", ScalarOp::tanh},
    {"logistic", ScalarOp::logistic},
    {"convert", ScalarOp::convert},
    {"add", ScalarOp::add, LinearIn::both},
    {"subtract", ScalarOp::subtract, LinearIn::both},
    {"multiply", ScalarOp::multiply, LinearIn::each},
    {"divide", ScalarOp::divide, LinearIn::first_of_reals},
    {"remainder", ScalarOp::remainder},
    {"minimum", ScalarOp::minimum},
    {"maximum", ScalarOp::maximum},
    {"power", ScalarOp::power},
    {"atan2", ScalarOp::atan2},
    {"and", ScalarOp::bit_and},
    {"or", ScalarOp::bit_or},
    {"xor", ScalarOp::bit_xor},
    {"shift_left", ScalarOp::shift_left},
    {"shift_right_arithmetic", ScalarOp::shift_right_arithmetic},
    {"shift_right_logical", ScalarOp::shift_right_logical},
    {"select", ScalarOp::select, LinearIn::choices},
    {"clamp", ScalarOp::clamp},
};

NamedScalar scalar_of(std::string_view short_name) {
  for (const NamedScalar& row : kScalars)
    if (row.name == short_name) return row;
  return {{}, ScalarOp::none};
}

}  // namespace

std::string_view elementwise_name(ScalarOp op) {
  for (const NamedScalar& row : kScalars)
    if (row.op == op) return row.name;
  return {};
}

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
    def.scalar = scalar_of(def.short_name()).op;
    def.linear = scalar_of(def.short_name()).linear;
    if (def.scalar != ScalarOp::none) def.emission = Emission::scalar;
    if (name == "stablehlo.compare") def.emission = Emission::compare;
    if (name == "stablehlo.bitcast_convert") def.emission = Emission::bitcast;
    if (name == "stablehlo.real" || name == "stablehlo.imag") def.emission = Emission::part;
    if (name == "stablehlo.complex") def.emission = Emission::pair;
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
