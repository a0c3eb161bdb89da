#include "ir/eval/control.h"

#include <algorithm>

#include "ir/attr_access.h"
#include "ir/eval/check.h"
#include "ir/eval/process_group.h"
#include "ir/eval/scalar.h"

namespace heddle {

namespace {

using Arrays = std::vector<Array>;

Arrays all(const EvalContext& ctx) { return {ctx.operands.begin(), ctx.operands.end()}; }

Results call_by_name(EvalContext& ctx, std::string_view key) {
  const std::string_view callee = text_or(ctx.attr(key), "");
  const Function* f = ctx.program.find_function(callee);
  if (!f) return reason("there is no function @{}", callee);
  return ctx.call(*f, all(ctx));
}

}  // namespace

Results eval_call(EvalContext& ctx) { return call_by_name(ctx, "callee"); }

Results eval_composite(EvalContext& ctx) { return call_by_name(ctx, "decomposition"); }

Results eval_while(EvalContext& ctx) {
  Arrays state = all(ctx);
  while (true) {
    if (ctx.machine != nullptr && ctx.machine->is_stopped()) return reason("the run was stopped");
    HEDDLE_TRY(Arrays go_on, ctx.run_region(ctx.region(0), state));
    if (!to_bool(go_on[0])) return state;
    HEDDLE_TRY(state, ctx.run_region(ctx.region(1), std::move(state)));
  }
}

Results eval_if(EvalContext& ctx) {
  return ctx.run_region(ctx.region(to_bool(ctx.operands[0]) ? 0 : 1), {});
}

Results eval_case(EvalContext& ctx) {
  const std::int64_t last = ctx.op.region_count - 1;
  const std::int64_t index = to_int64(ctx.operands[0]);
  const std::int64_t branch = index < 0 || index > last ? last : index;
  return ctx.run_region(ctx.region(static_cast<std::size_t>(branch)), {});
}

Results eval_same(EvalContext& ctx) { return all(ctx); }

Results eval_get_tuple_element(EvalContext& ctx) {
  const Type& tuple = ctx.operand_type(0);
  const auto index = static_cast<std::size_t>(integer_or(ctx.attr("index"), 0));
  std::size_t first = 0;
  for (std::size_t i = 0; i < index; ++i) first += leaf_count(tuple.parts[i]);
  const auto leaves = ctx.operands.subspan(first, leaf_count(tuple.parts[index]));
  return Arrays(leaves.begin(), leaves.end());
}

Results eval_token(EvalContext&) { return Arrays{Array(Type::token())}; }

Results eval_infeed(EvalContext& ctx) {
  ProcessGroup* group = ctx.process.group;
  if (!group || group->infeed.empty())
    return reason(
        "the infeed queue is empty; interpreter.run_parallel fills it from the functions "
        "of its attribute infeed");
  Arrays results = std::move(group->infeed.front());
  group->infeed.pop_front();
  results.push_back(Array(Type::token()));
  if (results.size() != ctx.op.result_count)
    return reason("the infeed queue gives {} values, {} expected", results.size() - 1,
                  ctx.op.result_count - 1);
  for (std::size_t i = 0; i < results.size(); ++i)
    if (!(results[i].type() == ctx.result_type(i)))
      return reason("the infeed queue gives {}, {} expected", results[i].type().str(),
                    ctx.result_type(i).str());
  return results;
}

bool is_annotation(std::string_view target) {
  static constexpr std::string_view names[] = {
      "Sharding",   "SPMDFullToShardShape",      "SPMDShardToFullShape", "LayoutConstraint",
      "MoveToHost", "annotate_device_placement", "MoveToDevice"};
  return std::find(std::begin(names), std::end(names), target) != std::end(names) ||
         target.starts_with("xla.sdy.");
}

bool is_check(std::string_view target) {
  static constexpr std::string_view names[] = {
      "check.expect_eq", "check.expect_eq_const", "check.expect_almost_eq",
      "check.expect_almost_eq_const", "check.expect_close"};
  return std::find(std::begin(names), std::end(names), target) != std::end(names);
}

Results eval_custom_call(EvalContext& ctx) {
  const std::string_view target = text_or(ctx.attr("call_target_name"), "");
  if (is_check(target))
    return run_check(target, ctx.operands[0], ctx.operands[1], ctx.program.attrs_of(ctx.op));
  if (is_annotation(target)) {
    bool same = ctx.op.operand_count == ctx.op.result_count;
    for (std::size_t i = 0; same && i < ctx.op.result_count; ++i)
      same = ctx.operand_type(i) == ctx.result_type(i);
    if (same) return all(ctx);
    return reason("@{} changes types, which means something only between devices", target);
  }
  const HostCaller* host = ctx.machine == nullptr ? nullptr : ctx.machine->host_caller();
  if (host != nullptr) return (*host)({ctx.program, ctx.op, ctx.operands});
  if (target.find("python") != std::string_view::npos && target.ends_with("_callback"))
    return reason(
        "@{} calls back into Python (jax.pure_callback, io_callback), and the text does not hold "
        "the Python function: compute what it gives outside, and pass that as an argument",
        target);
  return reason(
      "the custom call @{} is not implemented; known are LAPACK's (lapack_*_ffi, Qr), ApproxTopK, "
      "check.expect_eq and its like, and annotations such as Sharding",
      target);
}

}  // namespace heddle
