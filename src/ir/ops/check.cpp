// What test programs check, and how they run on several devices.
#include "ir/eval/check.h"

#include "ir/eval/run_parallel.h"
#include "ir/ops/op_families.h"
#include "ir/rules/index_rules.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

using Kind = FormWord::Kind;
constexpr FormWord kCloseWords[] = {{"min_ulp_difference", "min_ulp_difference", Kind::integer},
                                    {"max_ulp_difference", "max_ulp_difference", Kind::integer}};
constexpr FormWord kToleranceWords[] = {{"tolerance", "tolerance", Kind::real}};
constexpr FormWord kProbeWords[] = {{"probe_id", "probe_id", Kind::text}};
constexpr FormWord kSerializedWords[] = {{"probe_id", "probe_id", Kind::text},
                                         {"iter", "iter", Kind::integer}};

Expected<ResultTypes> expect_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  if (operand_type(program, op, 0) == operand_type(program, op, 1)) return ResultTypes{};
  return broken(op, "", "it compares {} with {}", operand_type(program, op, 0).str(),
                operand_type(program, op, 1).str());
}

Expected<ResultTypes> expect_const_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Attr* value = program.attr(op, "value");
  const Array* array = value ? value->get<Array>() : nullptr;
  if (!array) return broken(op, "", "value: expected a dense array, got {}", describe(value));
  if (array->type() == operand_type(program, op, 0)) return ResultTypes{};
  return broken(op, "", "it compares {} with {}", operand_type(program, op, 0).str(),
                array->type().str());
}

Expected<ResultTypes> probe_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  if (op.def->results.allows(0)) return ResultTypes{};
  return like_operand(program, op, 0, "");
}

// All arguments and results of the functions, one process after the other.
Verdict run_parallel_rule(const Program& program, const Op& op) {
  auto grid = program_grid(program, op);
  if (!grid) return broken(op, "", "{}", grid.reason());
  std::vector<TypeId> arguments, results;
  for (const Function* f : grid->functions) {
    for (ValueId v : program.region(f->body).args) arguments.push_back(program.value(v).type);
    results.insert(results.end(), f->results.begin(), f->results.end());
  }
  HEDDLE_TRY_VOID(check_count(op, "", "operands", op.operand_count, arguments.size()));
  HEDDLE_TRY_VOID(check_count(op, "", "results", op.result_count, results.size()));
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (program.value(program.operands(op)[i]).type != arguments[i])
      return broken(op, "", "operand {} is {}, its function takes {}", i,
                    operand_type(program, op, i).str(), program.type(arguments[i]).str());
  for (std::size_t i = 0; i < results.size(); ++i)
    if (program.value(program.result(op, i)).type != results[i])
      return broken(op, "", "result {} is {}, its function gives {}", i,
                    result_type(program, op, i).str(), program.type(results[i]).str());
  for (const Function* f : grid->infeed)
    if (!program.region(f->body).args.empty())
      return broken(op, "", "function @{} of infeed must take no arguments", f->name);
  return yes();
}

}  // namespace

std::vector<OpDef> check_ops() {
  return {
      {.name = "check.expect_eq_const",
       .cls = OpClass::control,
       .results = 0,
       .form = Form::check_const,
       .attributes = "value tolerance",
       .type_rule = expect_const_rule,
       .evaluate = eval_expect_const},
      {.name = "check.expect_almost_eq_const",
       .cls = OpClass::control,
       .results = 0,
       .form = Form::check_const,
       .attributes = "value tolerance",
       .type_rule = expect_const_rule,
       .evaluate = eval_expect_const},
      {.name = "check.expect_eq",
       .cls = OpClass::control,
       .operands = 2,
       .results = 0,
       .type_rule = expect_rule,
       .evaluate = eval_expect},
      {.name = "check.expect_almost_eq",
       .cls = OpClass::control,
       .operands = 2,
       .results = 0,
       .form = Form::words,
       .words = kToleranceWords,
       .type_rule = expect_rule,
       .evaluate = eval_expect},
      {.name = "check.expect_close",
       .cls = OpClass::control,
       .operands = 2,
       .results = 0,
       .form = Form::words,
       .words = kCloseWords,
       .type_rule = expect_rule,
       .evaluate = eval_expect},
      {.name = "check.expect_serialized_eq",
       .cls = OpClass::control,
       .results = 0,
       .form = Form::words,
       .words = kSerializedWords,
       .type_rule = probe_rule,
       .evaluate = eval_expect_serialized},
      {.name = "interpreter.run_parallel",
       .cls = OpClass::control,
       .operands = kAny,
       .results = kAny,
       .form = Form::generic,
       .attributes = "programs infeed",
       .type_rule = given<run_parallel_rule>,
       .evaluate = eval_run_parallel,
       .control = Control::processes},
      {.name = "interpreter.probe",
       .cls = OpClass::control,
       .form = Form::words,
       .words = kProbeWords,
       .type_rule = probe_rule,
       .evaluate = eval_probe,
       .index_rule = elementwise_index_rule,
       .interpreted = "records what the interpreter sees"},
      {.name = "interpreter.print",
       .cls = OpClass::control,
       .operands = kAny,
       .results = 0,
       .evaluate = eval_print},
  };
}

}  // namespace heddle
