// Calls, loops, branches, tuples, tokens, and what only others understand.
#include "ir/eval_control.h"
#include "ir/index_rules.h"
#include "ir/op_families.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

std::vector<Type> operand_types(const Program& program, const Op& op) {
  std::vector<Type> types;
  for (ValueId v : program.operands(op)) types.push_back(program.type_of(v));
  return types;
}

std::vector<Type> result_types(const Program& program, const Op& op) {
  std::vector<Type> types;
  for (std::size_t i = 0; i < op.result_count; ++i) types.push_back(result_type(program, op, i));
  return types;
}

Verdict same_operands_and_results(const Program& program, const Op& op, std::string_view label) {
  if (op.operand_count != op.result_count)
    return broken(op, label, "there are {} operands and {} results", op.operand_count,
                  op.result_count);
  for (std::size_t i = 0; i < op.operand_count; ++i)
    if (program.value(program.operands(op)[i]).type != program.value(program.result(op, i)).type)
      return broken(op, label, "operand {} is {} and result {} is {}", i,
                    operand_type(program, op, i).str(), i, result_type(program, op, i).str());
  return yes();
}

Verdict scalar_operand(const Program& program, const Op& op, std::string_view label, DType dtype) {
  const Type wanted = Type::tensor(dtype, {});
  if (operand_type(program, op, 0) == wanted) return yes();
  return broken(op, label, "the operand must be {}, got {}", wanted.str(),
                operand_type(program, op, 0).str());
}

Verdict while_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(same_operands_and_results(program, op, "C3"));
  const std::vector<Type> state = operand_types(program, op);
  const Type truth = Type::tensor(DType::i1, {});
  HEDDLE_TRY_VOID(check_region(program, op, 0, "C1", state, {&truth, 1}));
  return check_region(program, op, 1, "C2", state, state);
}

Verdict branches(const Program& program, const Op& op, std::string_view label) {
  const std::vector<Type> results = result_types(program, op);
  for (std::size_t i = 0; i < op.region_count; ++i)
    HEDDLE_TRY_VOID(check_region(program, op, i, label, {}, results));
  return yes();
}

Verdict if_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(scalar_operand(program, op, "I1", DType::i1));
  return branches(program, op, "C3");
}

Verdict case_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(scalar_operand(program, op, "I1", DType::i32));
  return branches(program, op, "C4");
}

Verdict tuple_rule(const Program& program, const Op& op) {
  const Type wanted = Type::tuple(operand_types(program, op));
  const Type& got = result_type(program, op);
  if (got == wanted) return yes();
  return broken(op, "C1", "the result must be {}, got {}", wanted.str(), got.str());
}

Verdict get_tuple_element_rule(const Program& program, const Op& op) {
  const Type& tuple = operand_type(program, op, 0);
  if (tuple.kind != Type::Kind::tuple)
    return broken(op, "I1", "the operand must be a tuple, got {}", tuple.str());
  HEDDLE_TRY(std::int64_t index, (OpAttrs{program, op}.integer("index")));
  if (index < 0 || index >= static_cast<std::int64_t>(tuple.parts.size()))
    return broken(op, "C1", "index {} is not one of the {} elements", index, tuple.parts.size());
  const Type& part = tuple.parts[static_cast<std::size_t>(index)];
  if (part == result_type(program, op)) return yes();
  return broken(op, "C2", "element {} is {}, but the result is {}", index, part.str(),
                result_type(program, op).str());
}

Verdict barrier_rule(const Program& program, const Op& op) {
  return same_operands_and_results(program, op, "C1");
}

Verdict is_token(const Op& op, const Type& type, std::string_view what) {
  if (type.kind == Type::Kind::token) return yes();
  return broken(op, "", "{} must be a token, got {}", what, type.str());
}

Verdict after_all_rule(const Program& program, const Op& op) {
  for (std::size_t i = 0; i < op.operand_count; ++i)
    HEDDLE_TRY_VOID(is_token(op, operand_type(program, op, i), "an operand"));
  return is_token(op, result_type(program, op), "the result");
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
  std::vector<OpDef> rows;
  auto row = [&](std::string_view name, Count operands, Count results, Count regions, Form form,
                 TypeRule rule, Evaluate evaluate, OpClass cls = OpClass::control,
                 IndexRuleOf index_rule = nullptr) {
    OpDef def;
    def.name = name;
    def.cls = cls;
    def.operands = operands;
    def.results = results;
    def.regions = regions;
    def.form = form;
    def.type_rule = rule;
    def.evaluate = evaluate;
    def.index_rule = index_rule;
    rows.push_back(def);
  };
  // verify() itself checks calls and returns: it knows the functions.
  row("func.call", kAny, kAny, 0, Form::call, nullptr, eval_call);
  row("func.return", kAny, 0, 0, Form::terminator, nullptr, nullptr);
  row("stablehlo.return", kAny, 0, 0, Form::terminator, nullptr, nullptr);
  row("stablehlo.while", kAny, kAny, 2, Form::while_loop, while_rule, eval_while, OpClass::control,
      control_index_rule);
  row("stablehlo.if", 1, kAny, 2, Form::generic, if_rule, eval_if, OpClass::control,
      control_index_rule);
  row("stablehlo.case", 1, kAny, {1, -1}, Form::generic, case_rule, eval_case, OpClass::control,
      control_index_rule);
  row("stablehlo.tuple", kAny, 1, 0, Form::operands, tuple_rule, eval_same);
  row("stablehlo.get_tuple_element", 1, 1, 0, Form::get_tuple_element, get_tuple_element_rule,
      eval_get_tuple_element);
  row("stablehlo.optimization_barrier", kAny, kAny, 0, Form::operands, barrier_rule, eval_same,
      OpClass::control, pairwise_index_rule);
  row("stablehlo.custom_call", kAny, kAny, 0, Form::custom_call, custom_call_rule, eval_custom_call,
      OpClass::opaque);
  row("stablehlo.composite", kAny, kAny, 0, Form::composite, nullptr, eval_composite);
  row("stablehlo.create_token", 0, 1, 0, Form::operands, after_all_rule, eval_token);
  row("stablehlo.after_all", kAny, 1, 0, Form::operands, after_all_rule, eval_token);
  row("stablehlo.infeed", 1, {1, -1}, 0, Form::generic, infeed_rule, eval_infeed, OpClass::opaque);
  row("stablehlo.outfeed", {1, -1}, 1, 0, Form::generic, outfeed_rule, eval_token, OpClass::opaque);
  return rows;
}

}  // namespace heddle
