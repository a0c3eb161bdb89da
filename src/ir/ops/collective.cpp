// Between devices.
#include "ir/eval/collective.h"

#include <limits>

#include "ir/eval/reduce_common.h"
#include "ir/ops/op_families.h"
#include "ir/replica_groups.h"
#include "ir/rules/index_rules.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

Verdict groups_rule(const Program& program, const Op& op, std::string_view label) {
  if (const Verdict groups = check_groups(program, op); !groups)
    return broken(op, label, "{}", groups.reason());
  return yes();
}

Expected<std::size_t> dimension_of(const Program& program, const Op& op, std::string_view label,
                                   std::string_view name, const Type& type) {
  HEDDLE_TRY(std::int64_t dim, (OpAttrs{program, op}.integer(name)));
  if (dim < 0 || dim >= static_cast<std::int64_t>(type.rank()))
    return broken(op, label, "{} = {} is not a dimension of {}", name, dim, type.str());
  return static_cast<std::size_t>(dim);
}

// Equal but for one dimension, where `large` is a multiple of `small`.
Verdict multiple_along(const Op& op, std::string_view label, const Type& small, const Type& large,
                       std::size_t dim) {
  bool good = small.rank() == large.rank();
  for (std::size_t d = 0; good && d < small.rank(); ++d)
    good = d == dim || small.shape[d] == large.shape[d];
  if (good) {
    const std::int64_t a = small.shape[dim], b = large.shape[dim];
    good = a == 0 ? b == 0 : b % a == 0;
  }
  if (good) return yes();
  return broken(op, label, "{} and {} must be equal but for dimension {}, a multiple there",
                small.str(), large.str(), dim);
}

Verdict all_gather_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(check_as_many(op, "C6"));
  HEDDLE_TRY_VOID(groups_rule(program, op, "C2"));
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const Type& operand = operand_type(program, op, i);
    const Type& result = result_type(program, op, i);
    HEDDLE_TRY(std::size_t dim, dimension_of(program, op, "C1", "all_gather_dim", operand));
    HEDDLE_TRY_VOID(check_same_dtype(op, "C6", operand, result));
    HEDDLE_TRY_VOID(multiple_along(op, "C6", operand, result, dim));
  }
  return yes();
}

// The element type of the results: the computation takes two scalars of it and gives one.
Expected<DType> reducer(const Program& program, const Op& op, std::string_view label) {
  const auto returned =
      program.operands(program.op(program.region(program.regions(op)[0]).ops.back()));
  const DType dtype =
      returned.empty() ? operand_type(program, op, 0).dtype : program.type_of(returned[0]).dtype;
  const Type scalar = Type::tensor(dtype, {});
  const Type two[] = {scalar, scalar};
  HEDDLE_TRY_VOID(check_region(program, op, 0, label, two, {&scalar, 1}));
  for (std::size_t i = 0; i < op.operand_count; ++i)
    if (!reduction::promotable(operand_type(program, op, i).dtype, dtype))
      return broken(op, label, "the computation is over {}, but operand {} is {}", name(dtype), i,
                    operand_type(program, op, i).str());
  return dtype;
}

Expected<ResultTypes> all_reduce_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(check_as_many(op, "C6"));
  HEDDLE_TRY_VOID(groups_rule(program, op, "C1"));
  HEDDLE_TRY(DType dtype, reducer(program, op, "C5"));
  ResultTypes types;
  for (std::size_t i = 0; i < op.operand_count; ++i)
    types.add(typed(Type::tensor(dtype, operand_type(program, op, i).shape), "C5", "C6"));
  return types;
}

Verdict reduce_scatter_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(check_as_many(op, "C8"));
  HEDDLE_TRY_VOID(groups_rule(program, op, "C3"));
  HEDDLE_TRY(DType dtype, reducer(program, op, "C7"));
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const Type& operand = operand_type(program, op, i);
    const Type& result = result_type(program, op, i);
    if (dtype != result.dtype)
      return broken(op, "C7", "the computation is over {}, but the result is {}", name(dtype),
                    result.str());
    HEDDLE_TRY(std::size_t dim, dimension_of(program, op, "C2", "scatter_dimension", operand));
    HEDDLE_TRY_VOID(multiple_along(op, "C8", result, operand, dim));
  }
  return yes();
}

Expected<ResultTypes> all_to_all_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(check_as_many(op, "C9"));
  HEDDLE_TRY_VOID(groups_rule(program, op, "C5"));
  HEDDLE_TRY(std::int64_t count, (OpAttrs{program, op}.integer("split_count")));
  if (count < 1) return broken(op, "C4", "split_count must be positive, got {}", count);
  ResultTypes types;
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const Type& operand = operand_type(program, op, i);
    HEDDLE_TRY(std::size_t split, dimension_of(program, op, "C1", "split_dimension", operand));
    HEDDLE_TRY(std::size_t concat, dimension_of(program, op, "C3", "concat_dimension", operand));
    if (operand.shape[split] % count != 0)
      return broken(op, "C2", "dimension {} of {} is no multiple of split_count {}", split,
                    operand.str(), count);
    Shape wanted = operand.shape;
    wanted[split] /= count;
    if (wanted[concat] > std::numeric_limits<std::int64_t>::max() / count)
      return broken(op, "C9", "{} times dimension {} of {} is too large", count, concat,
                    operand.str());
    wanted[concat] *= count;
    types.add(typed(Type::tensor(operand.dtype, std::move(wanted)), "C9", "C9"));
  }
  return types;
}

Expected<ResultTypes> cross_replica_sum_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(groups_rule(program, op, ""));
  return like_operand(program, op, 0, "");
}

Expected<ResultTypes> collective_permute_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(check_as_many(op, "C5"));
  if (!program.attr(op, "source_target_pairs"))
    return broken(op, "C1", "attribute source_target_pairs is missing");
  if (const Verdict pairs = check_pairs(program, op); !pairs)
    return broken(op, "C1", "{}", pairs.reason());
  return like_operands(program, op, "C5", op.operand_count);
}

Expected<ResultTypes> collective_broadcast_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(groups_rule(program, op, "C1"));
  const bool dynamic = flag_or(program.attr(op, "has_dynamic_root"), false);
  const std::size_t count = op.operand_count - (dynamic ? 1 : 0);
  if (results_given(op)) HEDDLE_TRY_VOID(check_count(op, "C3", "results", op.result_count, count));
  if (dynamic)
    HEDDLE_TRY_VOID(
        check_integer_vector(op, "", "the root", operand_type(program, op, count), count));
  return like_operands(program, op, "C3", count);
}

Expected<ResultTypes> id_rule(const Program&, const Op&) {
  return typed(Type::tensor(DType::ui32, {}), "");
}

Verdict transfer_rule(const Program& program, const Op& op, const Type& token,
                      const Type& other_token) {
  if (token.kind != Type::Kind::token || other_token.kind != Type::Kind::token)
    return broken(op, "", "the last operand and the last result must be tokens, got {} and {}",
                  token.str(), other_token.str());
  if (auto pairs = source_target_pairs(program, op); !pairs)
    return broken(op, "", "{}", pairs.reason());
  return yes();
}

Verdict send_rule(const Program& program, const Op& op) {
  return transfer_rule(program, op, operand_type(program, op, op.operand_count - 1),
                       result_type(program, op));
}

Verdict recv_rule(const Program& program, const Op& op) {
  for (std::size_t i = 0; i + 1 < op.result_count; ++i)
    if (!result_type(program, op, i).is_tensor())
      return broken(op, "", "result {} must be a tensor, got {}", i,
                    result_type(program, op, i).str());
  return transfer_rule(program, op, operand_type(program, op, 0),
                       result_type(program, op, op.result_count - 1));
}

}  // namespace

std::vector<OpDef> collective_ops() {
  return {
      {.name = "stablehlo.all_gather",
       .cls = OpClass::communicate,
       .operands = {1, -1},
       .results = {1, -1},
       .form = Form::generic,
       .attributes = "all_gather_dim replica_groups channel_handle use_global_device_ids",
       .type_rule = given<all_gather_rule>,
       .evaluate = eval_all_gather,
       .index_rule = all_gather_index_rule,
       .collective = CollectiveKind::all_gather},
      {.name = "stablehlo.all_reduce",
       .cls = OpClass::communicate,
       .operands = {1, -1},
       .results = {1, -1},
       .regions = 1,
       .form = Form::generic,
       .attributes = "replica_groups channel_handle use_global_device_ids",
       .type_rule = all_reduce_rule,
       .evaluate = eval_all_reduce,
       .index_rule = pairwise_index_rule,
       .collective = CollectiveKind::all_reduce},
      {.name = "stablehlo.reduce_scatter",
       .cls = OpClass::communicate,
       .operands = {1, -1},
       .results = {1, -1},
       .regions = 1,
       .form = Form::generic,
       .attributes = "scatter_dimension replica_groups channel_handle use_global_device_ids",
       .type_rule = given<reduce_scatter_rule>,
       .evaluate = eval_reduce_scatter,
       .index_rule = reduce_scatter_index_rule,
       .collective = CollectiveKind::reduce_scatter},
      {.name = "stablehlo.all_to_all",
       .cls = OpClass::communicate,
       .operands = {1, -1},
       .results = {1, -1},
       .form = Form::generic,
       .attributes = "split_dimension concat_dimension split_count replica_groups channel_handle",
       .type_rule = all_to_all_rule,
       .evaluate = eval_all_to_all,
       .index_rule = all_to_all_index_rule,
       .collective = CollectiveKind::all_to_all},
      {.name = "stablehlo.collective_permute",
       .cls = OpClass::communicate,
       .operands = {1, -1},
       .results = {1, -1},
       .form = Form::generic,
       .attributes = "source_target_pairs channel_handle",
       .type_rule = collective_permute_rule,
       .evaluate = eval_collective_permute,
       .index_rule = pairwise_index_rule,
       .collective = CollectiveKind::permute},
      {.name = "stablehlo.collective_broadcast",
       .cls = OpClass::communicate,
       .operands = {1, -1},
       .results = {1, -1},
       .form = Form::generic,
       .attributes = "replica_groups channel_handle has_dynamic_root",
       .type_rule = collective_broadcast_rule,
       .evaluate = eval_collective_broadcast,
       .index_rule = pairwise_index_rule,
       .collective = CollectiveKind::broadcast},
      {.name = "stablehlo.collective_reduce",
       .cls = OpClass::communicate,
       .operands = {1, -1},
       .results = {1, -1},
       .regions = 1,
       .form = Form::generic,
       .attributes = "replica_groups channel_handle use_global_device_ids",
       .type_rule = all_reduce_rule,
       .evaluate = eval_collective_reduce,
       .index_rule = pairwise_index_rule,
       .collective = CollectiveKind::reduce},
      {.name = "stablehlo.cross-replica-sum",
       .cls = OpClass::communicate,
       .form = Form::generic,
       .attributes = "replica_groups",
       .type_rule = cross_replica_sum_rule,
       .evaluate = eval_cross_replica_sum,
       .index_rule = pairwise_index_rule,
       .collective = CollectiveKind::all_reduce},
      {.name = "stablehlo.partition_id",
       .cls = OpClass::communicate,
       .operands = 0,
       .type_rule = id_rule,
       .evaluate = eval_partition_id,
       .index_rule = constant_index_rule,
       .collective = CollectiveKind::partition_id},
      {.name = "stablehlo.replica_id",
       .cls = OpClass::communicate,
       .operands = 0,
       .type_rule = id_rule,
       .evaluate = eval_replica_id,
       .index_rule = constant_index_rule,
       .collective = CollectiveKind::replica_id},
      {.name = "stablehlo.send",
       .cls = OpClass::communicate,
       .operands = {1, -1},
       .form = Form::generic,
       .attributes = "channel_handle is_host_transfer source_target_pairs",
       .type_rule = given<send_rule>,
       .evaluate = eval_send,
       .collective = CollectiveKind::send},
      {.name = "stablehlo.recv",
       .cls = OpClass::communicate,
       .results = {1, -1},
       .form = Form::generic,
       .attributes = "channel_handle is_host_transfer source_target_pairs",
       .type_rule = given<recv_rule>,
       .evaluate = eval_recv,
       .collective = CollectiveKind::receive},
  };
}

}  // namespace heddle
