// One element in, one element out.
#include "ir/eval/elementwise.h"

#include "ir/eval/elementwise_rules.h"
#include "ir/ops/op_families.h"
#include "ir/rules/index_rules.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

std::optional<ReduceOp> reduction_of(ScalarOp op) {
  switch (op) {
    case ScalarOp::add:
      return ReduceOp::sum;
    case ScalarOp::multiply:
      return ReduceOp::product;
    case ScalarOp::minimum:
      return ReduceOp::min;
    case ScalarOp::maximum:
      return ReduceOp::max;
    case ScalarOp::bit_and:
      return ReduceOp::logical_and;
    case ScalarOp::bit_or:
      return ReduceOp::logical_or;
    default:
      return std::nullopt;
  }
}

LinearIn linear_in(ScalarOp op) {
  switch (op) {
    case ScalarOp::negate:
      return LinearIn::first;
    case ScalarOp::divide:
      return LinearIn::first_of_reals;
    case ScalarOp::multiply:
      return LinearIn::each;
    case ScalarOp::add:
    case ScalarOp::subtract:
      return LinearIn::both;
    case ScalarOp::select:
      return LinearIn::choices;
    default:
      return LinearIn::none;
  }
}

constexpr Kinds kReal = kFloat | kComplex, kBits = kTruth | kInteger;

// A row of its own; its evaluation is that of its name.
OpDef row(std::string_view name, int operands, TypeRule rule, ScalarOp scalar) {
  OpDef def{.name = name,
            .cls = is_heavy(scalar) || scalar == ScalarOp::sqrt ? OpClass::heavy : OpClass::light,
            .operands = operands,
            .type_rule = rule,
            .index_rule = elementwise_index_rule,
            .emission = scalar == ScalarOp::none ? Emission::none : Emission::scalar,
            .scalar = scalar,
            .combines = reduction_of(scalar),
            .linear = linear_in(scalar)};
  for (auto family : {light_unary_evaluation, math_evaluation, binary_evaluation,
                      conversion_evaluation, choice_evaluation})
    if (!def.evaluate) def.evaluate = family(def.short_name());
  return def;
}

// A function of mathematics, which may say how exact it must be.
OpDef function(std::string_view name, ScalarOp scalar) {
  OpDef def = row(name, 1, same_type_rule<kReal>, scalar);
  def.attributes = "result_accuracy";
  return def;
}

OpDef part_row(std::string_view name, Emission part, IndexRuleOf index_rule) {
  OpDef def = row(name, 1, part_rule<kReal>, ScalarOp::none);
  def.emission = part;
  def.index_rule = index_rule;
  return def;
}

OpDef complex_row() {
  OpDef def = row("stablehlo.complex", 2, complex_rule, ScalarOp::none);
  def.emission = Emission::pair;
  return def;
}

OpDef bitcast_row() {
  OpDef def = row("stablehlo.bitcast_convert", 1, given<bitcast_convert_rule>, ScalarOp::none);
  def.form = Form::functional;
  def.index_rule = bitcast_index_rule;
  def.emission = Emission::bitcast;
  def.view = ViewKind::whole_bytes;
  return def;
}

OpDef compare_row() {
  OpDef def = row("stablehlo.compare", 2, compare_rule, ScalarOp::none);
  def.form = Form::compare;
  def.attributes = "comparison_direction compare_type";
  def.emission = Emission::compare;
  return def;
}

OpDef select_row() {
  OpDef def = row("stablehlo.select", 3, select_rule, ScalarOp::select);
  def.form = Form::select;
  return def;
}

OpDef reduce_precision_row() {
  OpDef def = row("stablehlo.reduce_precision", 1, reduce_precision_rule, ScalarOp::none);
  def.form = Form::reduce_precision;
  def.attributes = "exponent_bits mantissa_bits";
  return def;
}

}  // namespace

std::string_view elementwise_name(ScalarOp op) {
  static const std::vector<OpDef> rows = elementwise_ops();
  for (const OpDef& def : rows)
    if (def.scalar == op) return def.short_name();
  return {};
}

std::vector<OpDef> elementwise_ops() {
  return {
      row("stablehlo.abs", 1, part_rule < kSigned | kReal >, ScalarOp::abs),
      row("stablehlo.ceil", 1, same_type_rule<kFloat>, ScalarOp::ceil),
      row("stablehlo.floor", 1, same_type_rule<kFloat>, ScalarOp::floor),
      row("stablehlo.negate", 1, same_type_rule<kNumber>, ScalarOp::negate),
      row("stablehlo.not", 1, same_type_rule<kBits>, ScalarOp::logical_not),
      row("stablehlo.sign", 1, same_type_rule < kSigned | kReal >, ScalarOp::sign),
      row("stablehlo.is_finite", 1, is_finite_rule, ScalarOp::is_finite),
      row("stablehlo.round_nearest_afz", 1, same_type_rule<kFloat>, ScalarOp::round_away),
      row("stablehlo.round_nearest_even", 1, same_type_rule<kFloat>, ScalarOp::round_even),
      row("stablehlo.popcnt", 1, same_type_rule<kInteger>, ScalarOp::popcnt),
      row("stablehlo.count_leading_zeros", 1, same_type_rule<kInteger>,
          ScalarOp::count_leading_zeros),
      row("stablehlo.convert", 1, given<convert_rule>, ScalarOp::convert),
      bitcast_row(),
      reduce_precision_row(),
      part_row("stablehlo.real", Emission::real_part, elementwise_index_rule),
      part_row("stablehlo.imag", Emission::imaginary_part, imag_index_rule),
      complex_row(),

      function("stablehlo.cbrt", ScalarOp::cbrt),
      function("stablehlo.cosine", ScalarOp::cos),
      function("stablehlo.exponential", ScalarOp::exp),
      function("stablehlo.exponential_minus_one", ScalarOp::expm1),
      function("stablehlo.log", ScalarOp::log),
      function("stablehlo.log_plus_one", ScalarOp::log1p),
      function("stablehlo.logistic", ScalarOp::logistic),
      function("stablehlo.rsqrt", ScalarOp::rsqrt),
      function("stablehlo.sine", ScalarOp::sin),
      function("stablehlo.sqrt", ScalarOp::sqrt),
      function("stablehlo.tan", ScalarOp::tan),
      function("stablehlo.tanh", ScalarOp::tanh),

      row("stablehlo.add", 2, same_type_rule<kAnything>, ScalarOp::add),
      row("stablehlo.subtract", 2, same_type_rule<kNumber>, ScalarOp::subtract),
      row("stablehlo.multiply", 2, same_type_rule<kAnything>, ScalarOp::multiply),
      row("stablehlo.divide", 2, same_type_rule<kNumber>, ScalarOp::divide),
      row("stablehlo.remainder", 2, same_type_rule<kNumber>, ScalarOp::remainder),
      row("stablehlo.maximum", 2, same_type_rule<kAnything>, ScalarOp::maximum),
      row("stablehlo.minimum", 2, same_type_rule<kAnything>, ScalarOp::minimum),
      row("stablehlo.power", 2, same_type_rule<kNumber>, ScalarOp::power),
      row("stablehlo.atan2", 2, same_type_rule<kReal>, ScalarOp::atan2),
      row("stablehlo.and", 2, same_type_rule<kBits>, ScalarOp::bit_and),
      row("stablehlo.or", 2, same_type_rule<kBits>, ScalarOp::bit_or),
      row("stablehlo.xor", 2, same_type_rule<kBits>, ScalarOp::bit_xor),
      row("stablehlo.shift_left", 2, same_type_rule<kInteger>, ScalarOp::shift_left),
      row("stablehlo.shift_right_arithmetic", 2, same_type_rule<kInteger>,
          ScalarOp::shift_right_arithmetic),
      row("stablehlo.shift_right_logical", 2, same_type_rule<kInteger>,
          ScalarOp::shift_right_logical),
      compare_row(),
      select_row(),
      row("stablehlo.clamp", 3, clamp_rule, ScalarOp::clamp),
  };
}

}  // namespace heddle
