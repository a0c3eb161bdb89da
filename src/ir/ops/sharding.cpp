// Shardings in the text: constraints, regions that are written per device, collectives of sdy's
// own.
#include "ir/eval/control.h"
#include "ir/manual_plan.h"
#include "ir/ops/op_families.h"
#include "ir/rules/index_rules.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

Expected<ResultTypes> constraint_rule(const Program& program, const Op& op) {
  return like_operand(program, op, 0, "");
}

Expected<std::vector<Array>> eval_nothing(EvalContext&) { return std::vector<Array>{}; }

constexpr FormWord kBarrierWords[] = {
    {"allowed_direction", "allowed_direction", FormWord::Kind::word, "sdy.propagation_direction"}};
constexpr FormWord kGroupWords[] = {{"group_id", "group_id", FormWord::Kind::integer}};

// The body takes and returns the parts that one device has.
Verdict manual_computation_rule(const Program& program, const Op& op) {
  auto plan = manual_plan(program, op);
  if (!plan) return broken(op, "", "{}", plan.reason());
  std::vector<Type> takes, returns;
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    auto local = local_type(*plan, plan->in[i], operand_type(program, op, i));
    if (!local) return broken(op, "", "operand {}: {}", i, local.reason());
    takes.push_back(*local);
  }
  for (std::size_t i = 0; i < op.result_count; ++i) {
    auto local = local_type(*plan, plan->out[i], result_type(program, op, i));
    if (!local) return broken(op, "", "result {}: {}", i, local.reason());
    returns.push_back(*local);
  }
  for (const std::vector<Type>* types : {&takes, &returns})
    for (const Type& type : *types)
      if (type.kind == Type::Kind::tuple) return broken(op, "", "tuples cannot be split");
  return check_region(program, op, 0, "", takes, returns);
}

// The body is of the whole value, under a name.
Verdict named_computation_rule(const Program& program, const Op& op) {
  std::vector<Type> takes, returns;
  for (std::size_t i = 0; i < op.operand_count; ++i) takes.push_back(operand_type(program, op, i));
  for (std::size_t i = 0; i < op.result_count; ++i) returns.push_back(result_type(program, op, i));
  return check_region(program, op, 0, "", takes, returns);
}

Expected<std::vector<Array>> eval_named_computation(EvalContext& ctx) {
  return ctx.run_region(ctx.region(0), {ctx.operands.begin(), ctx.operands.end()});
}

}  // namespace

std::vector<OpDef> sharding_ops() {
  // What only says where its operand is to lie: of the whole value nothing changes.
  auto moves = [](std::string_view name, std::string_view attributes) {
    return OpDef{.name = name,
                 .cls = OpClass::control,
                 .form = Form::sharding_constraint,
                 .attributes = attributes,
                 .type_rule = constraint_rule,
                 .evaluate = eval_same,
                 .index_rule = elementwise_index_rule,
                 .parts = Parts::reshard};
  };
  OpDef constraint = moves("sdy.sharding_constraint", "sharding");
  constraint.view = ViewKind::always;
  return {
      constraint,
      moves("sdy.reshard", "sharding"),
      moves("sdy.collective_permute", "sharding"),
      moves("sdy.all_gather", "gathering_axes sharding"),
      moves("sdy.all_slice", "slicing_axes sharding"),
      moves("sdy.all_to_all", "params sharding"),
      moves("sdy.all_reduce", "reduction_axes sharding"),
      moves("sdy.reduce_scatter", "reduce_scatter_axes sharding"),
      moves("sdy.sharded_to_unreduced", "axes sharding"),
      moves("sdy.replicated_to_unreduced", "axes sharding"),
      moves("sdy.data_flow_edge", "sharding"),
      {.name = "sdy.propagation_barrier",
       .cls = OpClass::control,
       .form = Form::words_same,
       .words = kBarrierWords,
       .type_rule = constraint_rule,
       .evaluate = eval_same,
       .index_rule = elementwise_index_rule,
       .parts = Parts::barrier},
      {.name = "sdy.sharding_group",
       .cls = OpClass::control,
       .results = 0,
       .form = Form::words_same,
       .words = kGroupWords,
       .evaluate = eval_nothing,
       .parts = Parts::unseen},
      {.name = "sdy.manual_computation",
       .cls = OpClass::control,
       .operands = kAny,
       .results = kAny,
       .regions = 1,
       .form = Form::manual_computation,
       .attributes = "in_shardings out_shardings manual_axes",
       .type_rule = given<manual_computation_rule>,
       .evaluate = eval_manual_computation,
       .control = Control::manual,
       .parts = Parts::manual},
      {.name = "sdy.named_computation",
       .cls = OpClass::control,
       .operands = kAny,
       .results = kAny,
       .regions = 1,
       .form = Form::manual_computation,
       .attributes = "name in_shardings out_shardings",
       .type_rule = given<named_computation_rule>,
       .evaluate = eval_named_computation,
       .control = Control::named},
      {.name = "sdy.return",
       .cls = OpClass::control,
       .operands = kAny,
       .results = 0,
       .form = Form::terminator},
  };
}

}  // namespace heddle
