// Calls, loops, branches, tuples, tokens, and what only others understand.
#include "ir/eval/control.h"

#include "ir/lower/annotation.h"
#include "ir/ops/op_families.h"
#include "ir/rules/index_rules.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

std::vector<Type> operand_types(const Program& program, const Op& op) {
  std::vector<Type> types;
  for (ValueId v : program.operands(op)) types.push_back(program.type_of(v));
  return types;
}

Expected<ResultTypes> same_operands_and_results(const Program& program, const Op& op,
                                                std::string_view label) {
  HEDDLE_TRY_VOID(check_as_many(op, label));
  return like_operands(program, op, label, op.operand_count);
}

Verdict scalar_operand(const Program& program, const Op& op, std::string_view label, DType dtype) {
  const Type wanted = Type::tensor(dtype, {});
  if (operand_type(program, op, 0) == wanted) return yes();
  return broken(op, label, "the operand must be {}, got {}", wanted.str(),
                operand_type(program, op, 0).str());
}

Expected<ResultTypes> while_rule(const Program& program, const Op& op) {
  const std::vector<Type> state = operand_types(program, op);
  const Type truth = Type::tensor(DType::i1, {});
  HEDDLE_TRY_VOID(check_region(program, op, 0, "C1", state, {&truth, 1}));
  HEDDLE_TRY_VOID(check_region(program, op, 1, "C2", state, state));
  return same_operands_and_results(program, op, "C3");
}

// All branches return what the first one does, or what is given.
Expected<ResultTypes> branches(const Program& program, const Op& op, std::string_view label) {
  std::vector<Type> results;
  ResultTypes types;
  auto add = [&](ValueId v) {
    results.push_back(program.type_of(v));
    types.add(ResultType{.id = program.value(v).type, .label = label});
  };
  if (results_given(op))
    for (std::size_t i = 0; i < op.result_count; ++i) add(program.result(op, i));
  else
    for (ValueId v :
         program.operands(program.op(program.region(program.regions(op)[0]).ops.back())))
      add(v);
  for (std::size_t i = 0; i < op.region_count; ++i)
    HEDDLE_TRY_VOID(check_region(program, op, i, label, {}, results));
  return types;
}

Expected<ResultTypes> if_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(scalar_operand(program, op, "I1", DType::i1));
  return branches(program, op, "C3");
}

Expected<ResultTypes> case_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(scalar_operand(program, op, "I1", DType::i32));
  return branches(program, op, "C4");
}

Expected<ResultTypes> tuple_rule(const Program& program, const Op& op) {
  return typed(Type::tuple(operand_types(program, op)), "C1");
}

Expected<ResultTypes> get_tuple_element_rule(const Program& program, const Op& op) {
  const Type& tuple = operand_type(program, op, 0);
  if (tuple.kind != Type::Kind::tuple)
    return broken(op, "I1", "the operand must be a tuple, got {}", tuple.str());
  HEDDLE_TRY(std::int64_t index, (OpAttrs{program, op}.integer("index")));
  if (index < 0 || index >= static_cast<std::int64_t>(tuple.parts.size()))
    return broken(op, "C1", "index {} is not one of the {} elements", index, tuple.parts.size());
  return typed(tuple.parts[static_cast<std::size_t>(index)], "C2");
}

Expected<ResultTypes> barrier_rule(const Program& program, const Op& op) {
  return same_operands_and_results(program, op, "C1");
}

Verdict is_token(const Op& op, const Type& type, std::string_view what) {
  if (type.kind == Type::Kind::token) return yes();
  return broken(op, "", "{} must be a token, got {}", what, type.str());
}

Expected<ResultTypes> after_all_rule(const Program& program, const Op& op) {
  for (std::size_t i = 0; i < op.operand_count; ++i)
    HEDDLE_TRY_VOID(is_token(op, operand_type(program, op, i), "an operand"));
  return typed(Type::token(), "");
}

Verdict infeed_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(is_token(op, operand_type(program, op, 0), "the operand"));
  return is_token(op, result_type(program, op, op.result_count - 1), "the last result");
}

Verdict outfeed_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(
      is_token(op, operand_type(program, op, op.operand_count - 1), "the last operand"));
  return is_token(op, result_type(program, op), "the result");
}

// Only what a known target needs; others have rules of their own that nobody told us.
Verdict custom_call_rule(const Program& program, const Op& op) {
  const std::string_view target = text_or(program.attr(op, "call_target_name"), "");
  if (target.empty()) return broken(op, "I2", "attribute call_target_name must be a string");
  if (!is_check(target)) return yes();
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(check_count(op, "", "operands", op.operand_count, 2));
  HEDDLE_TRY_VOID(check_count(op, "", "results", op.result_count, 0));
  if (operand_type(program, op, 0) == operand_type(program, op, 1)) return yes();
  return broken(op, "", "@{} compares {} with {}", target, operand_type(program, op, 0).str(),
                operand_type(program, op, 1).str());
}

}  // namespace

std::vector<OpDef> control_ops() {
  return {
      // verify() itself checks calls and returns: it knows the functions.
      {.name = "func.call",
       .cls = OpClass::control,
       .operands = kAny,
       .results = kAny,
       .form = Form::call,
       .attributes = "callee arg_attrs res_attrs no_inline",
       .evaluate = eval_call,
       .control = Control::call},
      {.name = "func.return",
       .cls = OpClass::control,
       .operands = kAny,
       .results = 0,
       .form = Form::terminator},
      {.name = "stablehlo.return",
       .cls = OpClass::control,
       .operands = kAny,
       .results = 0,
       .form = Form::terminator},
      {.name = "stablehlo.while",
       .cls = OpClass::control,
       .operands = kAny,
       .results = kAny,
       .regions = 2,
       .form = Form::while_loop,
       .type_rule = while_rule,
       .evaluate = eval_while,
       .index_rule = control_index_rule,
       .control = Control::loop,
       .parts = Parts::loop},
      {.name = "stablehlo.if",
       .cls = OpClass::control,
       .results = kAny,
       .regions = 2,
       .form = Form::generic,
       .type_rule = if_rule,
       .evaluate = eval_if,
       .index_rule = control_index_rule,
       .control = Control::branch,
       .parts = Parts::branch},
      {.name = "stablehlo.case",
       .cls = OpClass::control,
       .results = kAny,
       .regions = {1, -1},
       .form = Form::generic,
       .type_rule = case_rule,
       .evaluate = eval_case,
       .index_rule = control_index_rule,
       .control = Control::choice,
       .parts = Parts::branch},
      {.name = "stablehlo.tuple",
       .cls = OpClass::control,
       .operands = kAny,
       .type_rule = tuple_rule,
       .evaluate = eval_same,
       .control = Control::tuple},
      {.name = "stablehlo.get_tuple_element",
       .cls = OpClass::control,
       .form = Form::get_tuple_element,
       .attributes = "index",
       .type_rule = get_tuple_element_rule,
       .evaluate = eval_get_tuple_element,
       .control = Control::tuple_part},
      {.name = "stablehlo.optimization_barrier",
       .cls = OpClass::control,
       .operands = kAny,
       .results = kAny,
       .type_rule = barrier_rule,
       .evaluate = eval_same,
       .index_rule = pairwise_index_rule,
       .view = ViewKind::always,
       .linear = LinearIn::first},
      // What one micro-batch has of a sum over all of them (micro_batches.h).
      {.name = "heddle.sum_over_micro_batches",
       .cls = OpClass::light,
       .form = Form::generic,
       .type_rule = barrier_rule,
       .evaluate = eval_same,
       .index_rule = pairwise_index_rule,
       .view = ViewKind::always,
       .linear = LinearIn::first},
      {.name = "stablehlo.custom_call",
       .cls = OpClass::opaque,
       .operands = kAny,
       .results = kAny,
       .form = Form::custom_call,
       .attributes = "call_target_name has_side_effect backend_config api_version "
                     "called_computations operand_layouts result_layouts output_operand_aliases",
       .type_rule = given<custom_call_rule>,
       .evaluate = eval_custom_call,
       .lower = lower_annotation},
      {.name = "stablehlo.composite",
       .cls = OpClass::control,
       .operands = kAny,
       .results = kAny,
       .form = Form::composite,
       .attributes = "name composite_attributes decomposition version",
       .evaluate = eval_composite,
       .control = Control::composite},
      {.name = "stablehlo.create_token",
       .cls = OpClass::control,
       .operands = 0,
       .type_rule = after_all_rule,
       .evaluate = eval_token},
      {.name = "stablehlo.after_all",
       .cls = OpClass::control,
       .operands = kAny,
       .type_rule = after_all_rule,
       .evaluate = eval_token},
      {.name = "stablehlo.infeed",
       .cls = OpClass::opaque,
       .results = {1, -1},
       .form = Form::generic,
       .attributes = "infeed_config layout",
       .type_rule = given<infeed_rule>,
       .evaluate = eval_infeed,
       .interpreted = "is fed"},
      {.name = "stablehlo.outfeed",
       .cls = OpClass::opaque,
       .operands = {1, -1},
       .form = Form::generic,
       .attributes = "outfeed_config",
       .type_rule = given<outfeed_rule>,
       .evaluate = eval_token},
  };
}

}  // namespace heddle
